package relay

import (
	"cmp"
	"context"
	"errors"
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
	// endGrace is how long the relay waits for answers after the client closed
	// its input. A shell pipeline closes it right after its last request; a
	// host that is gone makes a write fail.
	endGrace = 5 * time.Second
	// joinGrace bounds the wait for the goroutine that may be blocked writing to
	// a client that does not read.
	joinGrace = time.Second
	// daemonWriteTimeout is how long a daemon may leave one message unread before
	// it counts as dead.
	daemonWriteTimeout = 30 * time.Second
	// replayTimeout bounds the wait for each answer during a replay.
	replayTimeout = 10 * time.Second
	// refusalGrace is how long a session that cannot start waits for the
	// client's first request, to answer it with the reason.
	refusalGrace = time.Second
	// replacedPause lets the newer relay that replaced a daemon start its own
	// before other relays start theirs.
	replacedPause = 300 * time.Millisecond
	// retryPause is the wait before the next attempt to reach a daemon while
	// the client waits for nothing.
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
	logger := cmp.Or(r.Logger, slog.New(slog.DiscardHandler))
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
		// The last answers are on their way to the client. A client that does
		// not read must not delay the end.
		cut := time.AfterFunc(joinGrace, func() { r.Out.Close() })
		defer cut.Stop()
		select {
		case <-ended: //nolint:errcheck // the cause of the context is returned instead
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
		l := newLink(s, conn, generation)
		err = l.serve(ctx)
		reason := l.lose()
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

// backoff is the wait after n daemons in a row that answered nothing: none
// after the first, which may have been stopped.
func backoff(n int) time.Duration {
	if n < 2 {
		return 0
	}
	return min(maxBackoff, 50*time.Millisecond<<min(n-2, 10))
}

// serve relays between the client and one daemon, after a replay, until the
// daemon is lost or ctx ends.
func (l *link) serve(ctx context.Context) error {
	go l.readDaemon()
	// A daemon that does not read must not delay the end.
	unblock := context.AfterFunc(ctx, func() { l.conn.Close() })
	defer unblock()
	err := l.resume(ctx)
	if err == nil {
		select {
		case <-l.lost:
		case <-l.drained:
		case <-ctx.Done():
		}
	}
	_ = l.conn.Close() // an error does not matter at its end
	<-l.lost
	return err
}

// unreachable handles a failed dial. A session that never started ends with
// the error; another one continues, and tries again when the client sends a
// request or after a pause.
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
		s.finish(err) // before the last answer ends a session without input
	}
	s.failAll(err)
	if fatal {
		return err
	}
	s.awaitRequest(ctx, retryPause)
	return nil
}

// awaitRequest returns when the client sends a request, or after d.
func (s *session) awaitRequest(ctx context.Context, d time.Duration) {
	select {
	case <-s.asked:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// awaitAnyRequest returns when the client waits for an answer or sends a
// request.
func (s *session) awaitAnyRequest(ctx context.Context) {
	s.mu.Lock()
	waiting := s.requests.awaited() > 0
	if !waiting {
		select {
		case <-s.asked: // from a line that has been answered since
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
