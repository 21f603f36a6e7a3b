package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"notesd/internal/daemon"
)

const (
	// stallTimeout is how long a client may leave one message unread before it
	// is cut off.
	stallTimeout = 30 * time.Second
	// endGrace is how long, after the client closed its input, answers to what it
	// had asked are waited for. A shell pipeline closes it right after its last
	// request; a host that is gone shows by a failing write.
	endGrace = 5 * time.Second
	// joinGrace bounds the wait for the goroutine that may be blocked writing to
	// a client that does not read.
	joinGrace = time.Second
	// daemonWriteTimeout is how long a daemon may leave one message unread before
	// it counts as dead.
	daemonWriteTimeout = 30 * time.Second
	// replayTimeout bounds the wait for each answer during a replay.
	replayTimeout = 10 * time.Second
	// refusalGrace is how long a session that cannot begin waits for the client's
	// first request, to answer it with the reason.
	refusalGrace = time.Second
	// replacedPause gives the newer relay that replaced a daemon time to start
	// its own, before others start theirs again.
	replacedPause = 300 * time.Millisecond
	// retryPause is the wait before the next attempt to reach a daemon when the
	// last one failed and the client asks nothing.
	retryPause = 5 * time.Second
	// maxBackoff bounds the wait between daemons that die without an answer.
	maxBackoff = 2 * time.Second
)

var (
	// ErrStalled reports that the client stopped reading.
	ErrStalled = errors.New("the client does not read its messages")
	// ErrSessionChanged reports that the session could not be carried over to
	// another daemon, because that one negotiates otherwise than the first.
	ErrSessionChanged = errors.New("the session cannot be continued with another daemon")

	errClientDone = errors.New("the client is done")
	errLinkLost   = errors.New("the connection to the daemon was lost")
)

// Relay joins one client, which speaks newline-delimited JSON-RPC on a pair of
// streams, to whichever daemon serves, and hides from it that daemons come and
// go. It holds for both eras of the protocol: what an initialized session
// consists of is replayed, open subscriptions/listen requests are sent again.
type Relay struct {
	// In is what the client says. Run closes it.
	In io.ReadCloser
	// Out is what the client hears: whole lines, one Write each. Run closes it.
	Out io.WriteCloser
	// Dial connects to a daemon, starting one if need be. It is called again
	// whenever the connection is lost; asked reports whether the client waits for
	// an answer. After ErrStopped the relay waits until it does, ErrIncompatible
	// ends the session, and after any other error the relay tries again later.
	Dial func(ctx context.Context, asked bool) (io.ReadWriteCloser, error)
	// Logger receives what a user may need to understand an interruption. Nil
	// discards it.
	Logger *slog.Logger
}

// Run relays until the client closes its input or stops reading, the context
// ends, or the session cannot go on. It returns nil when the client was done.
//
// Run closes In and Out before it returns, but does not wait for a Read or Write
// that closing does not interrupt.
func (r *Relay) Run(ctx context.Context) error {
	logger := r.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	ctx, finish := context.WithCancelCause(ctx)
	defer finish(nil)
	s := newSession(r.Out, logger, finish)
	go s.readClient(r.In)
	defer r.In.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, r.Dial) }()

	var err error
	select {
	case err = <-ended:
		defer r.Out.Close()
	case <-ctx.Done():
		// What has been answered is on its way to the client; a client that
		// does not read must not keep us.
		cut := time.AfterFunc(joinGrace, func() { r.Out.Close() })
		defer cut.Stop()
		select {
		case <-ended: //nolint:errcheck // why it was told to end counts, and not how it did
			defer r.Out.Close()
		case <-time.After(2 * joinGrace):
		}
		err = context.Cause(ctx)
	}
	if errors.Is(err, errClientDone) {
		return nil
	}
	return err
}

// run goes from daemon to daemon until ctx ends or the session cannot go on.
func (s *session) run(ctx context.Context, dial func(ctx context.Context, asked bool) (io.ReadWriteCloser, error)) error {
	barren := 0 // daemons in a row that answered nothing
	for generation := 1; ctx.Err() == nil; generation++ {
		conn, err := dial(ctx, generation == 1 || s.waiting() > 0)
		if errors.Is(err, daemon.ErrStopped) {
			s.awaitAnyRequest(ctx)
			continue
		}
		if err != nil {
			if err := s.unreachable(ctx, err, generation == 1); err != nil {
				return err
			}
			continue
		}
		l := newLink(conn, generation)
		err = s.serve(ctx, l)
		reason := s.lose(l)
		switch {
		case errors.Is(err, ErrSessionChanged):
			s.failAll(err)
			return err
		case reason == daemon.ReasonStopped:
			s.awaitAnyRequest(ctx)
		case reason == daemon.ReasonReplaced:
			pause(ctx, replacedPause+rand.N(replacedPause))
		case l.fruitful.Load() || reason != "":
			barren = 0
		default:
			barren++
			pause(ctx, backoff(barren))
		}
	}
	return context.Cause(ctx)
}

// backoff is the wait after n daemons in a row answered nothing: none after the
// first, which may simply have been stopped.
func backoff(n int) time.Duration {
	if n < 2 {
		return 0
	}
	return min(maxBackoff, 50*time.Millisecond<<min(n-2, 10))
}

// serve carries the session over one daemon: it brings it up to date, opens it
// to the client, and returns when it is lost or done with.
func (s *session) serve(ctx context.Context, l *link) error {
	go s.readDaemon(l)
	// A daemon that does not read must not keep us.
	unblock := context.AfterFunc(ctx, func() { l.conn.Close() })
	defer unblock()
	err := s.bring(ctx, l)
	if err == nil {
		select {
		case <-l.lost:
		case <-l.drained:
		case <-ctx.Done():
		}
	}
	_ = l.conn.Close() // its end is what is wanted; there is nothing to do about an error
	<-l.lost
	return err
}

// unreachable deals with a failed dial. A session that never began ends with the
// error; one that did goes on, and tries again when the client asks for
// something or after a pause.
func (s *session) unreachable(ctx context.Context, err error, first bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.logger.Warn("no daemon can be reached", "error", err)
	fatal := first || errors.Is(err, daemon.ErrIncompatible)
	if fatal && s.waiting() == 0 {
		s.awaitRequest(ctx, refusalGrace)
	}
	if fatal {
		s.finish(err) // before the last answer ends a session whose input has ended
	}
	s.failAll(err)
	if fatal {
		return err
	}
	s.awaitRequest(ctx, retryPause)
	return nil
}

// awaitRequest returns when the client asks for something, or after d.
func (s *session) awaitRequest(ctx context.Context, d time.Duration) {
	select {
	case <-s.asked:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// awaitAnyRequest returns when the client waits for an answer or asks for
// something, however long that takes.
func (s *session) awaitAnyRequest(ctx context.Context) {
	s.mu.Lock()
	waiting := s.requests.awaited() > 0
	if !waiting {
		select {
		case <-s.asked: // of a line that has been answered since
		default:
		}
	}
	s.mu.Unlock()
	if waiting {
		return
	}
	select {
	case <-s.asked:
	case <-ctx.Done():
	}
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// changed wraps ErrSessionChanged with what changed.
func changed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSessionChanged, fmt.Sprintf(format, args...))
}
