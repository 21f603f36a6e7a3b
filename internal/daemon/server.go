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
	"time"
)

const (
	// drainTimeout is how long a stopping daemon lets sessions finish requests in
	// flight; cutTimeout is how long it then waits for their handlers after closing the
	// connections. Of the ten seconds within which a daemon stops, two are left to close
	// the store.
	drainTimeout = 6 * time.Second
	cutTimeout   = 2 * time.Second
	// maxSessions bounds concurrent sessions. Each has its own goroutines, queues and
	// files.
	maxSessions = 256
	// acceptPause is the wait after a failed accept, usually for lack of file
	// descriptors.
	acceptPause = 100 * time.Millisecond
	// placeCheck is how often a daemon checks whether it is in use and whether clients
	// can find it. After its state directory is removed, two daemons may serve until
	// the next check.
	placeCheck = 5 * time.Second
)

var (
	// ErrIdle reports that the server stopped because no client used it.
	ErrIdle = errors.New("the daemon was idle")
	// ErrDisplaced reports that the server stopped because its lock file or its socket
	// was removed: no client can find it, and another daemon may be starting.
	ErrDisplaced = errors.New("the daemon's state directory or socket was removed")
	// ErrReplaced reports that the server stopped in favour of another daemon.
	ErrReplaced = errors.New("the daemon was replaced by another")
	// ErrStopped reports that the user has stopped the daemon.
	ErrStopped = errors.New("the daemon was stopped")
	// ErrUnended reports that sessions did not end in time, as when a call waits for a disk.
	ErrUnended = errors.New("sessions did not end in time")
)

// Server accepts sessions on the daemon's socket. Its fields must not change once Serve
// is called.
type Server struct {
	Listener net.Listener // from Listen
	Lock     *Lock        // held by the caller, which releases it after Serve
	Identity Identity     // as given to Acquire
	Vault    string       // the served folder; see Hello.Vault
	// Foreground means that the process has a task of its own and ends with it. It cannot
	// make way for another daemon, so clients' requests to stop are refused.
	Foreground bool
	// IdleExit is how long the server runs without sessions and without being Busy before
	// it stops, which may take up to placeCheck more. Zero means no limit.
	IdleExit time.Duration
	Busy     func() bool // reports whether there is background work; nil: never
	Logger   *slog.Logger
	// Remarks, if not nil, returns the remarks of the Welcome.
	Remarks func(Hello) []string

	use       use
	lookEvery time.Duration // placeCheck, except in tests
	helloWait time.Duration // frameTimeout, except in tests
	drainWait time.Duration // drainTimeout, except in tests
}

// Session is one accepted connection.
type Session struct {
	Hello Hello
	// Conn carries lines in both directions; each Write must consist of whole lines.
	// Closing it ends the session for the client.
	Conn io.ReadWriteCloser
}

// Clients returns the number of open sessions of relays and shell commands.
func (s *Server) Clients() int {
	s.use.mu.Lock()
	defer s.use.mu.Unlock()
	return s.use.count
}

// Serve accepts connections and calls handle in a goroutine for each session; it waits
// for these goroutines. handle must return when its client disconnects. If the daemon
// cannot wait longer, it closes the connection, then cancels the context of handle.
//
// Serve returns nil when ctx ends, unless its cause is ErrReplaced; otherwise it
// returns ErrIdle, ErrReplaced, ErrStopped or ErrDisplaced. By then the socket is
// removed; while the lock is still held, another Server may listen on it. Sessions get
// ten seconds at most; if any remain, an error with their number is joined to the
// result.
func (s *Server) Serve(ctx context.Context, handle func(context.Context, *Session) error) error {
	r := &running{
		server:   s,
		handle:   handle,
		over:     make(chan error, 1),
		sessions: map[*sessionConn]Kind{},
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer r.cancel()
	s.use.add(0) // start the idle time

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
	return errors.Is(err, fs.ErrNotExist) || !s.Lock.InPlace()
}

func (s *Server) logger() *slog.Logger { return cmp.Or(s.Logger, discard) }

var discard = slog.New(slog.DiscardHandler)

// use counts the sessions that keep the daemon from becoming idle.
type use struct {
	mu    sync.Mutex
	count int
	since time.Time // when one last began or ended
}

// add adds n sessions, which may be negative or 0, and restarts the idle time.
func (u *use) add(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count += n
	u.since = time.Now()
}

// idle reports whether the daemon has been unused for at least the given time.
func (u *use) idle(after time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count == 0 && time.Since(u.since) >= after
}
