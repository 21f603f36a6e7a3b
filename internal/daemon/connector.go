package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"
)

const (
	// startTimeout bounds one Connect, including the start of a daemon. It is longer
	// than a stopping daemon takes to release the lock.
	startTimeout = 30 * time.Second
	// dialPoll is the first wait for a daemon that another process starts; later waits
	// double, up to maxDialPoll.
	dialPoll    = time.Millisecond
	maxDialPoll = 50 * time.Millisecond
	// startAgain is the wait before the next start if the last started daemon found the
	// lock held but no daemon can be reached.
	startAgain = time.Second
	// maxKilled bounds how many daemons that were killed while starting one Connect
	// replaces. A daemon that cannot start says why and is not started again.
	maxKilled = 2
	// maxReplacements bounds the replacements within one Connect: more than one older
	// daemon is found only if other programs keep starting it.
	maxReplacements = 3
)

// Connector connects to the daemon of a state directory, and starts or replaces it if
// configured to. Of many concurrent connectors, one starts a daemon and the others wait
// for it. It is safe for concurrent use.
type Connector struct {
	Dir   string // the state directory
	Hello Hello
	// Start starts a daemon and returns when it is listening or has failed to start;
	// see the function Start. ErrLocked means that another daemon came first. If Start
	// is nil, Connect returns ErrNotRunning when no daemon runs.
	Start func(context.Context) error
	// Lazy makes Connect return ErrStopped instead of starting a daemon after the user
	// has stopped one.
	Lazy bool
	// Successor, if not nil, starts a daemon in place of one of an older version, which is
	// stopped.
	Successor func(context.Context) error
	// Logger receives unusual events. If nil, they are discarded.
	Logger *slog.Logger
}

// Connect returns a connection that the daemon has accepted. Its errors are
// those of Dial and of Start, and ErrStopped.
func (c *Connector) Connect(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	w := wait{next: dialPoll, begin: c.Start}
	for replaced := 0; ; {
		conn, err := Dial(ctx, c.Dir, c.Hello)
		if older, ok := c.older(conn, err); ok && replaced < maxReplacements {
			if conn != nil {
				_ = conn.Close() // no data to lose
			}
			replaced++
			c.logger().Info("replacing an older daemon", "pid", older.PID, "version", older.Version)
			_, err := Stop(ctx, c.Dir, Hello{Wire: c.Hello.Wire, Version: c.Hello.Version, Kind: KindReplace})
			var replacedAlready *RefusedError // by another connector, with a daemon that is not older
			if err != nil && !errors.As(err, &replacedAlready) {
				return nil, err
			}
			w.begin = c.Successor
			continue
		}
		if err == nil || !retryable(err) || (w.begin == nil && errors.Is(err, ErrNotRunning)) {
			return conn, err
		}
		started, err := c.start(ctx, &w, err)
		if err != nil {
			return nil, err
		}
		if started {
			continue
		}
		if err := w.forNext(ctx); err != nil {
			return nil, err
		}
	}
}

// older returns the daemon that Dial found, and whether to replace it.
func (c *Connector) older(conn *Conn, err error) (Identity, bool) {
	var other *RefusedError
	var daemon Identity
	switch {
	case conn != nil:
		daemon = conn.Daemon
	case errors.Is(err, ErrIncompatible) && errors.As(err, &other):
		daemon = other.Daemon
	default:
		return Identity{}, false
	}
	self := Identity{Wire: c.Hello.Wire, Version: c.Hello.Version}
	return daemon, c.Successor != nil && self.Supersedes(daemon)
}

// retryable reports whether a daemon may be listening soon despite err.
func retryable(err error) bool {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Reason == RefusedClosing
	}
	return errors.Is(err, ErrNotRunning)
}

// start starts a daemon unless another process is starting one or it is too soon. It
// reports whether a daemon is listening now. why is the error of Dial.
func (c *Connector) start(ctx context.Context, w *wait, why error) (bool, error) {
	if w.why == nil {
		w.why = why
	}
	if w.begin == nil || time.Now().Before(w.startAt) {
		return false, nil
	}
	dir, err := SecureStateDir(c.Dir)
	if err != nil {
		return false, err
	}
	turn, err := openLocked(filepath.Join(dir, startFile))
	if errors.Is(err, errHeld) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock the start of a daemon: %w", err)
	}
	defer turn.Close()
	if _, err := Probe(ctx, dir); err == nil {
		return true, nil // another process has started one
	}
	if c.Lazy && isStopped(dir) {
		return false, ErrStopped
	}
	switch err := w.begin(ctx); {
	case errors.Is(err, ErrLocked):
		w.why = err
		w.startAt = time.Now().Add(startAgain)
		return false, nil
	case errors.Is(err, errNoReport) && w.killed < maxKilled:
		w.killed++
		return false, nil
	case err != nil:
		return false, fmt.Errorf("start the daemon: %w", err)
	}
	return true, nil
}

// wait is the state of waiting for a daemon.
type wait struct {
	begin   func(context.Context) error // starts a daemon
	next    time.Duration               // until the next attempt
	startAt time.Time                   // earliest time of the next start
	killed  int                         // started daemons that ended without a report
	why     error                       // why no daemon listens yet
}

// forNext waits for the next attempt.
func (w *wait) forNext(ctx context.Context) error {
	within(ctx.Done(), w.next)
	if ctx.Err() != nil {
		return fmt.Errorf("no daemon can be reached (%w): %w", context.Cause(ctx), w.why)
	}
	w.next = min(2*w.next, maxDialPoll)
	return nil
}

func (c *Connector) logger() *slog.Logger { return cmp.Or(c.Logger, discard) }
