package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// rawSession starts a session over pipes, performs the handshake, and returns the ends.
func rawSession(b *testing.B, c *Core) (io.Writer, *bufio.Reader) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- c.ServeLines(context.Background(), toServer, fromServer, Profile{}) }()
	b.Cleanup(func() {
		_ = fromClient.Close()
		_ = toClient.Close()
		<-done
	})
	answers := bufio.NewReaderSize(toClient, 1<<20)
	_, err := io.WriteString(fromClient, handshake)
	require.NoError(b, err)
	_, err = answers.ReadString('\n')
	require.NoError(b, err)
	return fromClient, answers
}

func benchCore(b *testing.B, files map[string]string) *Core {
	w := newWorld(b, files, Limits{})
	return New(Options{Version: "bench", Vault: w.vault, Search: w.search})
}

// The start of a session with all tools, up to the response to initialize.
func BenchmarkInitialize(b *testing.B) {
	core := benchCore(b, sampleVault)
	for b.Loop() {
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- core.ServeLines(context.Background(), toServer, fromServer, Profile{}) }()
		go func() { _, _ = io.WriteString(fromClient, handshake) }()
		_, err := bufio.NewReader(toClient).ReadString('\n')
		require.NoError(b, err)
		_ = fromClient.Close()
		_ = toClient.Close()
		<-done
	}
}

// The overhead of the protocol: read_note of a 4 KB note, over pipes.
func BenchmarkCall(b *testing.B) {
	core := benchCore(b, map[string]string{"Note.md": strings.Repeat("A line of a note, with some words in it.\n", 100)})
	in, out := rawSession(b, core)
	n := 0
	for b.Loop() {
		n++
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Note.md"}}}`+"\n", n)
		require.NoError(b, err)
		answer, err := out.ReadString('\n')
		require.NoError(b, err)
		b.SetBytes(int64(len(answer)))
	}
}

// The time from a committed change to the client's completed read of it, while a hundred
// other sessions watch other notes.
func BenchmarkNotify(b *testing.B) {
	core := benchCore(b, sampleVault)
	notifier := NewNotifier(core, notes.Position{Store: "fake"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- notifier.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	subscribe := func(in io.Writer, out *bufio.Reader, uri string) {
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":"s%s","method":"resources/subscribe","params":{"uri":%q}}`+"\n", uri, uri)
		require.NoError(b, err)
		_, err = out.ReadString('\n')
		require.NoError(b, err)
	}
	for range 100 {
		in, out := rawSession(b, core)
		subscribe(in, out, "note:///Empty.md")
	}
	in, out := rawSession(b, core)
	for i := range 1000 { // in turn, because each is announced at most four times a second
		subscribe(in, out, fmt.Sprintf("note:///N%d.md", i))
	}
	for i := 0; b.Loop(); i++ {
		p := fmt.Sprintf("N%d.md", i%1000)
		require.NoError(b, notifier.Apply(ctx, notes.Position{Seq: uint64(i)}, []notes.Change{{Seq: uint64(i), Kind: notes.Modified, Path: p}}))
		_, err := out.ReadString('\n')
		require.NoError(b, err)
	}
}

// The memory of a connected, idle session.
func BenchmarkIdleSession(b *testing.B) {
	core := benchCore(b, sampleVault)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		rawSession(b, core)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(b.N)/1024, "KiB/session")
}

// A search through the protocol, the store and an index of a thousand notes.
func BenchmarkSearchCall(b *testing.B) {
	files := map[string]string{}
	words := strings.Fields("garden tomato snail water soil spring autumn bed row seed plant root leaf sun rain frost harvest compost")
	for i := range 1000 {
		var text strings.Builder
		for j := range 100 {
			text.WriteString(words[(i*7+j*j)%len(words)] + " ")
		}
		files[fmt.Sprintf("Folder %d/Note %d.md", i%10, i)] = text.String()
	}
	w := newRealWorld(b, files)
	bytes := 0
	for b.Loop() {
		res, err := w.session.CallTool(b.Context(), &sdk.CallToolParams{Name: "search_notes", Arguments: map[string]any{"query": "tomato frost compost"}})
		require.NoError(b, err)
		bytes = len(res.Content[0].(*sdk.TextContent).Text)
	}
	b.ReportMetric(float64(bytes), "text-B/result")
}
