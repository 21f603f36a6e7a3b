// Package httpserver has what a server of notes needs besides net/http: a [Guard] that
// rejects requests that other web pages make a browser send, a [PatientWriter] for clients
// that read slowly or wait long, and [Serve], which stops without losing a response.
package httpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve runs the server on the listener until ctx is cancelled. It then calls
// stopping, which must end the streams that the server would wait for, and returns nil when
// no requests are left, or two seconds after stopping at the latest. Any other error is the
// listener's.
func Serve(ctx context.Context, ln net.Listener, server *http.Server, stopping func()) error {
	// Browsers open connections in advance. Those still unused after unusedWait are closed,
	// because Shutdown would wait for them for all of stopWait.
	const unusedWait, stopWait = 500 * time.Millisecond, 2 * time.Second
	var unused sync.Map
	server.IdleTimeout = 2 * time.Minute
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			unused.Store(c, nil)
		} else {
			unused.Delete(c)
		}
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = ln.Close() // a proxy then sends new requests to another server
		stopping()
		closing := time.AfterFunc(unusedWait, func() {
			for c := range unused.Range {
				_ = c.(net.Conn).Close() // no request is lost
			}
		})
		defer closing.Stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
		// Errors come from closing the listener again and from clients that do not read
		// their responses.
		_ = server.Shutdown(ctx)
		_ = server.Close()
	})
	err := server.Serve(ln)
	if stop() { // ctx was not cancelled
		stopping()
		return err
	}
	<-stopped
	return nil
}
