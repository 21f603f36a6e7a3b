package relay

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCall measures one small call over a socket, with and without the relay
// between the client's pipes and the socket. The difference is the cost of the relay.
func BenchmarkCall(b *testing.B) {
	b.Run("direct", func(b *testing.B) {
		conn := echoDaemon(b)
		benchmarkCalls(b, conn, conn)
	})
	b.Run("relayed", func(b *testing.B) {
		conn := echoDaemon(b)
		inReader, inWriter, err := os.Pipe()
		require.NoError(b, err)
		outReader, outWriter, err := os.Pipe()
		require.NoError(b, err)
		ended := make(chan error, 1)
		relay := &Relay{In: inReader, Out: outWriter, Dial: func(context.Context, bool) (io.ReadWriteCloser, error) {
			return conn, nil
		}}
		go func() { ended <- relay.Run(context.Background()) }()
		benchmarkCalls(b, inWriter, outReader)
		require.NoError(b, inWriter.Close())
		require.NoError(b, <-ended)
		require.NoError(b, outReader.Close())
	})
}

// echoDaemon returns a connection to a daemon that answers each line immediately.
func echoDaemon(b *testing.B) net.Conn {
	b.Helper()
	ln, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	require.NoError(b, err)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := c.Write([]byte(benchAnswer)); err != nil {
				return
			}
		}
	}()
	b.Cleanup(func() { ln.Close() })
	conn, err := net.Dial("unix", ln.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	return conn
}

const (
	benchCall   = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_notes","arguments":{"query":"garden plan"}}}` + "\n"
	benchAnswer = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + benchText + `"}]}}` + "\n"
	benchText   = `a result of a few hundred bytes, with \"quotes\" and \n lines, much like a hit of a search: its path, its title, its heading, the lines and a snippet`
)

func benchmarkCalls(b *testing.B, in io.Writer, out io.Reader) {
	b.Helper()
	lines := bufio.NewReader(out)
	call := []byte(benchCall)
	for b.Loop() {
		if _, err := in.Write(call); err != nil {
			b.Fatal(err)
		}
		if _, err := lines.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/call")
}
