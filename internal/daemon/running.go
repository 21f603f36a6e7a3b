package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/jsonrpc"
)

// running is the state of one call of Serve.
type running struct {
	server *Server
	handle func(context.Context, *Session) error
	over   chan error // buffered, size 1: why a client stops the daemon
	ctx    context.Context
	cancel context.CancelFunc
	open   sync.WaitGroup

	mu       sync.Mutex
	closing  bool
	sessions map[*sessionConn]Kind // all connections; "" until the handshake is done
}

// untilOver waits until the server has to stop and returns the reason. When ctx ends,
// that is nil unless its cause is ErrReplaced.
func (r *running) untilOver(ctx context.Context) error {
	idleExit := cmp.Or(r.server.IdleExit, math.MaxInt64)
	look := time.NewTicker(min(cmp.Or(r.server.lookEvery, placeCheck), idleExit))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			if why := context.Cause(ctx); errors.Is(why, ErrReplaced) {
				return why
			}
			return nil
		case err := <-r.over:
			return err
		case <-look.C:
			switch {
			case r.server.displaced():
				return ErrDisplaced
			case r.server.Busy != nil && r.server.Busy():
				r.server.use.add(0)
			case r.server.use.idle(idleExit):
				return ErrIdle
			}
		}
	}
}

// accept accepts connections until the listener is closed.
func (r *running) accept(ctx context.Context) {
	for {
		conn, err := r.server.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.server.logger().Error("a connection could not be accepted", "error", err)
			within(ctx.Done(), acceptPause)
			continue
		}
		r.open.Go(func() { r.connection(conn) })
	}
}

// connection serves one connection.
func (r *running) connection(conn net.Conn) {
	c := &sessionConn{newOpening(conn), make(chan struct{})}
	defer c.Close()
	if !r.enter(c) {
		return
	}
	defer r.leave(c)
	hello, err := r.welcome(c)
	if err != nil {
		r.server.logger().Warn("a connection was refused", "error", err)
		return
	}
	switch hello.Kind {
	case KindProbe:
		return
	case KindReplace, KindRestart, KindStop:
		why := ErrReplaced
		if hello.Kind == KindStop {
			why = ErrStopped
		}
		select {
		case r.over <- why:
		default:
		}
		return
	case KindMCP, KindCLI:
		r.server.use.add(1)
		defer r.server.use.add(-1)
	}
	if err := r.handle(r.ctx, &Session{Hello: hello, Conn: c}); err != nil && !hungUp(err) && r.ctx.Err() == nil {
		r.server.logger().Warn("a session ended with an error", "kind", hello.Kind, "error", err)
	}
}

// welcome exchanges the first lines. An error means that the connection was refused.
func (r *running) welcome(c *sessionConn) (Hello, error) {
	defer close(c.welcomed)
	if err := c.SetDeadline(time.Now().Add(cmp.Or(r.server.helloWait, frameTimeout))); err != nil {
		return Hello{}, err
	}
	if err := checkPeer(c.Conn); err != nil {
		return Hello{}, err
	}
	var hello Hello
	readErr := c.receive(&hello)
	if errors.Is(readErr, io.EOF) {
		return Hello{}, errors.New("the client disconnected before its first message")
	}
	refusal := RefusedHello
	if readErr == nil {
		refusal = r.judge(c, hello)
	}
	answer := Welcome{Identity: r.server.Identity, Refused: refusal, Vault: r.server.Vault}
	if refusal == "" && r.server.Remarks != nil {
		answer.Remarks = r.server.Remarks(hello)
	}
	if err := c.send(answer); err != nil {
		return Hello{}, fmt.Errorf("answer the first line: %w", err)
	}
	if refusal != "" {
		return Hello{}, errors.Join(fmt.Errorf("refused: %s (client version %q, kind %q)", refusal,
			hello.Version, hello.Kind), readErr)
	}
	return hello, c.SetDeadline(time.Time{})
}

// judge returns the refusal of a hello, or registers the connection if it is a session
// or a probe.
func (r *running) judge(c *sessionConn, hello Hello) Refusal {
	if hello.Vault != "" && !fsid.SameFolder(hello.Vault, r.server.Vault) {
		return RefusedVault
	}
	switch hello.Kind {
	case KindReplace, KindStop, KindRestart: // have no session, so wire versions may differ
		newer := Identity{Wire: hello.Wire, Version: hello.Version}.Supersedes(r.server.Identity)
		switch {
		case hello.Kind == KindReplace && !newer:
			return RefusedNotNewer
		case r.server.Foreground:
			return RefusedStop
		}
		return ""
	case KindMCP, KindCLI, KindStatus, KindProbe:
	default:
		return RefusedHello
	}
	if hello.Wire != r.server.Identity.Wire {
		return RefusedWire
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return RefusedClosing
	}
	if len(r.sessions) > maxSessions {
		return RefusedBusy
	}
	r.sessions[c] = hello.Kind
	return ""
}

func (r *running) enter(c *sessionConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing || len(r.sessions) > 2*maxSessions {
		return false
	}
	r.sessions[c] = ""
	return true
}

func (r *running) leave(c *sessionConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, c)
}

// stop closes the listener, notifies the relays, waits for requests in flight, and
// closes the remaining sessions. It closes a connection before it cancels the work, so
// that the relay sees a lost connection and resends its requests, rather than see an
// error.
func (r *running) stop(why error, accepting <-chan struct{}) error {
	reason := ReasonStopping
	if errors.Is(why, ErrReplaced) {
		reason = ReasonReplaced
	}
	if errors.Is(why, ErrStopped) {
		reason = ReasonStopped
	}
	lockErr := r.server.Lock.setClosing(errors.Is(why, ErrStopped))
	// If another process holds the lock by now, the socket belongs to it.
	if unix, ok := r.server.Listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(r.server.Lock.InPlace())
	}
	_ = r.server.Listener.Close() // only to end accept
	<-accepting
	r.mu.Lock()
	r.closing = true
	for c, kind := range r.sessions {
		switch kind {
		case KindMCP:
			r.open.Go(func() { c.announce(reason) })
		case "", KindProbe:
			_ = c.Close()
		}
	}
	r.mu.Unlock()

	done := make(chan struct{})
	go func() {
		defer close(done)
		r.open.Wait()
	}()
	if within(done, cmp.Or(r.server.drainWait, drainTimeout)) {
		return lockErr
	}
	r.mu.Lock()
	left := len(r.sessions)
	for c := range r.sessions {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.server.logger().Info("busy sessions were closed", "sessions", left)
	r.cancel()
	if within(done, cutTimeout) {
		return lockErr
	}
	return errors.Join(lockErr, fmt.Errorf("%w: up to %d", ErrUnended, left))
}

// sessionConn is the daemon's end of a connection.
type sessionConn struct {
	opening
	welcomed chan struct{} // closed when the Welcome has been sent
}

// announce notifies the relay that the daemon is closing, after the Welcome, which has to
// be the first line. The line cannot split another: every write consists of whole lines,
// and a connection serializes writes.
func (c *sessionConn) announce(reason string) {
	<-c.welcomed
	_, _ = c.Write(jsonrpc.Notification(ClosingMethod, map[string]string{"reason": reason})) // a lost client needs no notice
}
