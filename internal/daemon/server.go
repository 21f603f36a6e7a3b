package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// drainTimeout is how long a stopping daemon lets sessions finish what is in
	// flight; cutTimeout how long it waits for their handlers after cutting
	// them. Together they are the ten seconds in which a daemon stops.
	drainTimeout = 6 * time.Second
	cutTimeout   = 4 * time.Second
	// maxSessions bounds the sessions at once. Each has goroutines, queues and
	// files of its own.
	maxSessions = 256
	// acceptPause is the wait after a failed accept, which is usually for want of
	// file descriptors.
	acceptPause = 100 * time.Millisecond
)

var (
	// ErrIdle reports that the server stopped because nobody used it.
	ErrIdle = errors.New("the daemon was idle")
	// ErrReplaced reports that the server stopped for a newer version.
	ErrReplaced = errors.New("the daemon was replaced by a newer version")
)

// Server accepts sessions on the daemon's socket. Its fields are set before
// Serve and not changed.
type Server struct {
	Listener *net.UnixListener // from Listen
	Lock     *Lock             // held by the caller, who releases it after Serve
	Identity Identity          // as given to Acquire
	// IdleExit stops the server when it had no sessions and no holds for so long;
	// 0 never does.
	IdleExit time.Duration
	Logger   *slog.Logger

	use     use
	clients atomic.Int64
}

// Session is one accepted connection.
type Session struct {
	Hello Hello
	// Conn carries the client's lines both ways; each Write must hold whole
	// lines. Closing it ends the session for the client.
	Conn io.ReadWriteCloser
}

// Clients returns how many sessions of relays and shell commands are open.
func (s *Server) Clients() int { return int(s.clients.Load()) }

// Hold counts as use of the daemon until the returned function is called: for
// work and for clients that do not come through the socket.
func (s *Server) Hold() (release func()) {
	s.use.hold()
	return sync.OnceFunc(s.use.release)
}

// Serve accepts connections and calls handle for each session, in a goroutine
// that Serve waits for. handle ends when its client does; its context is
// cancelled, after the connection was cut, when the daemon has no more time to
// wait.
//
// Serve returns nil after ctx has ended, ErrIdle or ErrReplaced. By then the
// socket is gone. The sessions are given ten seconds at most; an error that says
// how many are left is joined to the other.
func (s *Server) Serve(ctx context.Context, handle func(context.Context, *Session) error) error {
	r := &running{
		server:   s,
		handle:   handle,
		replaced: make(chan struct{}, 1),
		sessions: map[*sessionConn]Kind{},
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer r.cancel()
	idle := s.use.start(s.IdleExit)
	defer s.use.stop()

	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		r.accept(ctx)
	}()
	var err error
	reason := reasonStopping
	select {
	case <-ctx.Done():
	case <-idle:
		err = ErrIdle
	case <-r.replaced:
		err = ErrReplaced
		reason = reasonReplaced
	}
	return errors.Join(err, r.stop(reason, accepting))
}

func (s *Server) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}

// running is the state of one Serve.
type running struct {
	server   *Server
	handle   func(context.Context, *Session) error
	replaced chan struct{} // one slot
	ctx      context.Context
	cancel   context.CancelFunc
	open     sync.WaitGroup

	mu       sync.Mutex
	closing  bool
	sessions map[*sessionConn]Kind // every connection; "" until it is a session
}

// accept takes connections until the listener is closed.
func (r *running) accept(ctx context.Context) {
	for {
		conn, err := r.server.Listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.server.logger().Error("a connection could not be accepted", "error", err)
			pause(ctx, acceptPause)
			continue
		}
		r.open.Go(func() { r.connection(conn) })
	}
}

// connection serves one connection to its end.
func (r *running) connection(conn *net.UnixConn) {
	c := newSessionConn(conn)
	defer c.Close()
	if !r.enter(c) {
		return
	}
	defer r.leave(c)
	hello, err := r.welcome(c)
	if err != nil {
		r.server.logger().Warn("a connection was turned away", "error", err)
		return
	}
	switch hello.Kind {
	case KindProbe:
		return
	case KindReplace:
		select {
		case r.replaced <- struct{}{}:
		default:
		}
		return
	case KindMCP, KindCLI:
		r.server.use.hold()
		defer r.server.use.release()
		r.server.clients.Add(1)
		defer r.server.clients.Add(-1)
	}
	if err := r.handle(r.ctx, &Session{Hello: hello, Conn: c}); err != nil && r.ctx.Err() == nil {
		r.server.logger().Warn("a session ended with an error", "kind", hello.Kind, "error", err)
	}
}

// welcome exchanges the first lines. An error means that the connection was not
// accepted.
func (r *running) welcome(c *sessionConn) (Hello, error) {
	if err := checkPeer(c.UnixConn); err != nil {
		return Hello{}, err
	}
	if err := c.SetDeadline(time.Now().Add(frameTimeout)); err != nil {
		return Hello{}, err
	}
	var hello Hello
	readErr := readFrame(c.in, &hello)
	if errors.Is(readErr, io.EOF) {
		return Hello{}, errors.New("the client hung up before it said anything")
	}
	refusal := RefusedHello
	if readErr == nil {
		refusal = r.judge(c, hello)
	}
	if err := writeFrame(c.UnixConn, Welcome{Identity: r.server.Identity, Refused: refusal}); err != nil {
		return Hello{}, fmt.Errorf("answer the first line: %w", err)
	}
	if refusal != "" {
		return Hello{}, errors.Join(fmt.Errorf("refused: %s (client version %q, kind %q)", refusal,
			hello.Version, hello.Kind), readErr)
	}
	return hello, c.SetDeadline(time.Time{})
}

// judge decides on a hello, and makes the connection a session if it is to be
// one.
func (r *running) judge(c *sessionConn, hello Hello) Refusal {
	switch hello.Kind {
	case KindReplace: // has no session, and no wire version to agree on
		if (Identity{Wire: hello.Wire, Version: hello.Version}).Supersedes(r.server.Identity) {
			return ""
		}
		return RefusedNotNewer
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

// stop ends the server: no more connections, the relays told, what is in flight
// finished, the rest cut. A connection is cut before its work is cancelled, so
// that the client sees a lost connection, which it repeats, and no error.
func (r *running) stop(reason string, accepting <-chan struct{}) error {
	lockErr := r.server.Lock.setClosing()
	_ = r.server.Listener.Close() // only that it is closed matters; accept ends by it
	<-accepting
	r.mu.Lock()
	r.closing = true
	for c, kind := range r.sessions {
		switch kind {
		case KindMCP:
			r.open.Go(func() { c.announce(reason) })
		case "", KindProbe, KindReplace:
			_ = c.Close()
		}
	}
	r.mu.Unlock()

	done := make(chan struct{})
	go func() {
		defer close(done)
		r.open.Wait()
	}()
	if within(done, drainTimeout) {
		return lockErr
	}
	r.mu.Lock()
	left := len(r.sessions)
	for c := range r.sessions {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.server.logger().Info("sessions that were still busy were cut", "sessions", left)
	r.cancel()
	if within(done, cutTimeout) {
		return lockErr
	}
	return errors.Join(lockErr, fmt.Errorf("not all of %d sessions ended in time", left))
}

// within reports whether done is closed within d.
func within(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}
