package daemon

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
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
	// acceptPause is the wait after a failed accept, which usually lacks file
	// descriptors.
	acceptPause = 100 * time.Millisecond
	// placeCheck is how often a daemon checks that clients can find it, and whether it
	// is used. Until it detects that its state directory was removed, two daemons may
	// serve.
	placeCheck = 5 * time.Second
)

var (
	// ErrIdle reports that the server stopped because no client used it.
	ErrIdle = errors.New("the daemon was idle")
	// ErrDisplaced reports that the server stopped because its lock file or
	// its socket was removed: no client can find it, and another daemon may be
	// starting.
	ErrDisplaced = errors.New("the daemon's state directory or socket was removed")
	// ErrReplaced reports that the server stopped for a newer version.
	ErrReplaced = errors.New("the daemon was replaced by another")
	// ErrStopped reports that the user has stopped the daemon.
	ErrStopped = errors.New("the daemon was stopped")
)

// Server accepts sessions on the daemon's socket. Its fields are set before
// Serve and not changed.
type Server struct {
	Listener net.Listener // from Listen
	Lock     *Lock        // held by the caller, who releases it after Serve
	Identity Identity     // as given to Acquire
	Vault    string       // the folder that is served; see Hello.Vault
	// IdleExit stops the server when it had no sessions and no holds for so long, and
	// up to placeCheck more; 0 never does.
	IdleExit time.Duration
	Logger   *slog.Logger
	// Remarks, when it is not nil, returns the remarks of the Welcome.
	Remarks func(Hello) []string

	use       use
	clients   atomic.Int64
	lookEvery time.Duration // placeCheck unless a test says otherwise
	helloWait time.Duration // frameTimeout unless a test says otherwise
	drainWait time.Duration // drainTimeout unless a test says otherwise
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
// Serve returns nil after ctx has ended, or its cause if that is ErrReplaced, ErrIdle,
// ErrReplaced, ErrStopped or ErrDisplaced. By then the socket is gone; with the lock
// still held, another Server may listen on it. The sessions are given ten seconds at most; an error
// that says how many are left is joined to the other.
func (s *Server) Serve(ctx context.Context, handle func(context.Context, *Session) error) error {
	r := &running{
		server:   s,
		handle:   handle,
		over:     make(chan error, 1),
		sessions: map[*sessionConn]Kind{},
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer r.cancel()
	s.use.hold()
	s.use.release() // it is idle from now on

	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		r.accept(ctx)
	}()
	err := r.untilOver(ctx)
	return errors.Join(err, r.stop(err, accepting))
}

// displaced reports whether the lock file or the socket was removed.
func (s *Server) displaced() bool {
	_, err := os.Lstat(s.Listener.Addr().String())
	return errors.Is(err, fs.ErrNotExist) || !s.Lock.inPlace()
}

func (s *Server) logger() *slog.Logger { return cmp.Or(s.Logger, discard) }

var discard = slog.New(slog.DiscardHandler)

// use counts the uses of the daemon.
type use struct {
	mu    sync.Mutex
	count int
	since time.Time // when the last one ended
}

func (u *use) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
}

func (u *use) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.since = time.Now()
}

// idle reports whether there has been no use for so long.
func (u *use) idle(after time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count == 0 && time.Since(u.since) >= after
}
