package relay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"notesd/internal/daemon"
)

const (
	// stallTimeout is how long a client may leave one message unread before it is
	// disconnected.
	stallTimeout = 30 * time.Second
	// endGrace is how long the relay waits for answers after the client has closed its
	// input. A shell pipeline closes it right after its last request; if the host is
	// gone, a write fails sooner.
	endGrace = 5 * time.Second
	// joinGrace bounds the wait for a goroutine that may be blocked writing to a client
	// that does not read.
	joinGrace = time.Second
	// daemonWriteTimeout is how long a daemon may leave one message unread before it is
	// considered dead.
	daemonWriteTimeout = 30 * time.Second
	// replayTimeout bounds the wait for each answer during a replay.
	replayTimeout = 10 * time.Second
	// refusalGrace is how long a session that cannot start waits for the client's first
	// request, so that it can answer with the reason.
	refusalGrace = time.Second
	// replacedPause lets the newer relay that replaced a daemon start its own before
	// other relays start one.
	replacedPause = 300 * time.Millisecond
	// retryPause is the wait before the next attempt to reach a daemon while no request
	// is pending.
	retryPause = 5 * time.Second
	// maxBackoff bounds the wait between daemons that die without having answered.
	maxBackoff = 2 * time.Second
)

var (
	// ErrStalled reports that the client stopped reading.
	ErrStalled = errors.New("the client does not read its messages")
	// ErrSessionChanged reports that the session could not be carried over to another
	// daemon because the two negotiate differently.
	ErrSessionChanged = errors.New("the session cannot be continued with another daemon")

	errClientDone = errors.New("the client is done")
	errLinkLost   = errors.New("the connection to the daemon was lost")
)

// Relay connects one client, which speaks newline-delimited JSON-RPC on a pair of
// streams, to whichever daemon is serving, and hides restarts of the daemon from it. It
// supports both eras of the protocol: it replays the state of an initialized session,
// and resends open subscriptions/listen requests.
type Relay struct {
	// In is the client's input to the relay. Run closes it.
	In io.ReadCloser
	// Out is the output to the client: whole lines, one Write each. Run closes it.
	Out io.WriteCloser
	// Dial connects to a daemon, starting one if necessary. It is called again whenever
	// the connection is lost; asked reports whether the client is waiting for an
	// answer. After daemon.ErrStopped the relay waits for a request,
	// daemon.ErrIncompatible ends the session, and after any other error the relay
	// retries later.
	Dial func(ctx context.Context, asked bool) (io.ReadWriteCloser, error)
	// Logger receives events that explain an interruption to the user. If nil, they are
	// discarded.
	Logger *slog.Logger
}

// Run relays until the client closes its input or stops reading, the context ends, or
// the session cannot continue. It returns nil if the client closed its input or the
// context ended.
//
// Run closes In and Out before it returns, but does not wait for a Read or Write that
// closing does not interrupt.
func (r *Relay) Run(ctx context.Context) error {
	logger := cmp.Or(r.Logger, slog.New(slog.DiscardHandler))
	relaying, finish := context.WithCancelCause(ctx)
	defer finish(nil)
	s := newSession(r.Out, logger, finish)
	go s.readClient(r.In)
	defer r.In.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.run(relaying, r.Dial) }()

	var err error
	select {
	case err = <-ended:
		defer r.Out.Close()
	case <-relaying.Done():
		// The last answers may still be on their way, but a client that does not read
		// must not delay shutdown.
		cut := time.AfterFunc(joinGrace, func() { r.Out.Close() })
		defer cut.Stop()
		select {
		case <-ended: //nolint:errcheck // the cause of the context is returned instead
			defer r.Out.Close()
		case <-time.After(2 * joinGrace):
		}
		err = context.Cause(relaying)
	}
	if errors.Is(err, errClientDone) || ctx.Err() != nil {
		return nil
	}
	return err
}

// run serves the client with one daemon after another until ctx ends or the session
// cannot continue.
func (s *session) run(ctx context.Context, dial func(ctx context.Context, asked bool) (io.ReadWriteCloser, error)) error {
	silent := 0 // consecutive daemons that answered nothing
	for generation := 1; ctx.Err() == nil; generation++ {
		conn, err := dial(ctx, generation == 1 || s.waiting() > 0)
		if errors.Is(err, daemon.ErrStopped) {
			s.awaitRequest(ctx, math.MaxInt64)
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
			s.awaitRequest(ctx, math.MaxInt64)
		case reason == daemon.ReasonReplaced:
			pause(ctx, replacedPause+rand.N(replacedPause))
		case l.useful.Load() || reason != "":
			silent = 0
		default:
			silent++
			pause(ctx, backoff(silent))
		}
	}
	return context.Cause(ctx)
}

// backoff returns the wait after n consecutive daemons that answered nothing: none
// after the first, which may have been stopped.
func backoff(n int) time.Duration {
	if n < 2 {
		return 0
	}
	return min(maxBackoff, 50*time.Millisecond<<min(n-2, 10))
}

// serve replays the session to one daemon, then relays between it and the client until
// the daemon is lost or ctx ends.
func (l *link) serve(ctx context.Context) error {
	go l.readDaemon()
	// A daemon that does not read must not delay shutdown.
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
	_ = l.conn.Close() // best effort: the link ends here
	<-l.lost
	return err
}

// unreachable handles a failed dial. A session that never started ends with the error;
// any other continues, and retries when the client sends a request or after a pause.
func (s *session) unreachable(ctx context.Context, err error, first bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.logger.Warn("no daemon can be reached", "error", err)
	fatal := first || errors.Is(err, daemon.ErrIncompatible)
	if fatal {
		s.awaitRequest(ctx, refusalGrace)
		s.finish(err) // before failAll ends a session whose input has ended
	}
	s.failAll(err)
	if fatal {
		return err
	}
	s.awaitRequest(ctx, retryPause)
	return nil
}

// awaitRequest waits until the client is waiting for an answer, for at most d.
func (s *session) awaitRequest(ctx context.Context, d time.Duration) {
	select {
	case <-s.asked: // a request that may have been answered since; if not, it is waiting
	default:
	}
	if s.waiting() > 0 {
		return
	}
	select {
	case <-s.asked:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
