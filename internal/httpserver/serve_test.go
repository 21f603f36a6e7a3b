package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipes is a listener with connections within the process.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	select {
	case <-l.closed:
		return net.ErrClosed
	default:
		close(l.closed)
		return nil
	}
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (l *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

// A client that reads slowly but steadily gets all of a long event. The clock is that of the
// bubble.
func TestPatientWriter_SteadyReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, part = 4 << 20, 4 << 10
		ln := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := NewPatientWriter(w, time.Second, time.Minute).Write(make([]byte, size))
			assert.NoError(t, err)
		})}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ln) }()
		conn := ln.dial()
		_, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		require.NoError(t, err)
		began, got := time.Now(), 0
		for err == nil {
			var n int
			n, err = conn.Read(make([]byte, part))
			got += n
			time.Sleep(10 * time.Millisecond)
		}
		require.ErrorIs(t, err, io.EOF)
		assert.Greater(t, got, size)
		assert.Greater(t, time.Since(began), 10*time.Second)
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
		require.NoError(t, conn.Close())
	})
}

// A server that stops waits for requests in progress, but not for a connection that a
// browser opened in advance. The clock is that of the bubble.
func TestServe_UnusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		working, stopping := make(chan struct{}), false
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(working)
			time.Sleep(time.Second)
			_, _ = w.Write([]byte("done"))
		})}
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, ln, server, func() { stopping = true }) }()

		unused, used := ln.dial(), ln.dial()
		_, err := used.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		require.NoError(t, err)
		<-working
		cancel()
		closed := make(chan error, 1)
		go func() {
			_, err := unused.Read(make([]byte, 1))
			closed <- err
		}()
		answer := make([]byte, 1000)
		n, err := used.Read(answer)
		require.NoError(t, err)
		assert.Contains(t, string(answer[:n]), "done")
		require.NoError(t, <-ended)
		require.Error(t, <-closed)
		assert.True(t, stopping)
		require.NoError(t, errors.Join(used.Close(), unused.Close()))
	})
	synctest.Test(t, func(t *testing.T) {
		ln := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, ln, &http.Server{ReadHeaderTimeout: time.Minute}, func() {}) }()
		unused := ln.dial()
		synctest.Wait()
		began := time.Now()
		cancel()
		require.NoError(t, <-ended)
		assert.Less(t, time.Since(began), 1500*time.Millisecond, "Shutdown alone waits for two seconds")
		require.NoError(t, unused.Close())
	})
}
