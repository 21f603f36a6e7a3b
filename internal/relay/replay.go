package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"notesd/internal/jsonrpc"
)

var errGaveUp = errors.New("the daemon stopped each time it handled this request; it is not sent again")

// A session between two daemons
//
// While no link is live, what the client sends goes to the backlog. A request is also in
// the table of unanswered requests, from when it is read until it is answered or
// cancelled, and the table decides whether it is sent: flush drops a request that has
// left it.
//
// When a link is lost, lose makes a new backlog: the requests of the table in the order
// in which the client sent them, and then the notifications that no daemon has had. A
// notification that the lost daemon has had is not repeated, except
// notifications/initialized, which belongs to the handshake.
//
// resume repeats the handshake with the next daemon under ids of the relay's own, and
// flush sends the backlog. In the step in which it finds the backlog empty it makes the
// link live, so that no line of the client overtakes an earlier one. At last the client
// is notified that each list and each subscribed resource has changed, because nothing
// reported what changed while there was no daemon.
//
// A request that is sent again must not show:
//
//   - A read is repeated. A tool call has carried the same key from the first time on, by
//     which the next daemon finds in the journal that a write was made, and answers with
//     its result.
//   - Its progress begins again. progresses drops what is not above the last value that
//     the client had, since the protocol wants rising values.
//   - A listen is acknowledged again. acknowledgedBefore puts notifications of change in
//     the place of the second acknowledgment.
//   - The daemon's own questions have ids that count from 1 in every daemon. The client
//     sees ids of the relay's own; those that it has not answered are cancelled when the
//     daemon that asked is lost, and an answer that comes later is dropped.
//   - A request that each daemon dies over may be what kills them: after maxSends the
//     client gets an error. It says that the outcome is unknown if it was a tool call.
//
// A daemon that announces its end is not lost yet. It gets no more lines, its answers are
// awaited, and the link ends as drained; nothing of it has to be sent again then.

// resume brings a new daemon to the state of the session, and the client up to date.
func (l *link) resume(ctx context.Context) error {
	l.mu.Lock()
	l.current = l
	h := l.handshake.clone()
	l.mu.Unlock()
	if err := l.replay(ctx, &h); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	if h.answered {
		for _, note := range h.everythingChanged() {
			l.client.write(note)
		}
	}
	return nil
}

// replay repeats the handshake, log level and subscriptions, if there was a
// handshake. The client does not see the answers.
func (l *link) replay(ctx context.Context, h *handshake) error {
	if !h.answered {
		return nil
	}
	l.logger.Info("the session continues with another daemon", "generation", l.generation)
	answer, err := l.ask(ctx, h.initialize)
	if err != nil {
		return err
	}
	if !answer.Result.Found() {
		return fmt.Errorf("%w: it refuses to initialize: %s", ErrSessionChanged, answer.Failure.Of(answer.line))
	}
	before := h.version
	h.read(answer.line, answer.Message)
	if h.version != before {
		return fmt.Errorf("%w: the protocol version was %s and would be %s", ErrSessionChanged, before, h.version)
	}
	l.mu.Lock()
	l.handshake.version, l.handshake.lists = h.version, h.lists
	l.mu.Unlock()
	if h.initialized != nil {
		if err := l.write(h.initialized); err != nil {
			return err
		}
		l.dropInitialized()
	}
	if h.level != nil {
		if _, err := l.ask(ctx, h.level); err != nil {
			return err
		}
	}
	for _, sub := range h.subscriptions {
		if _, err := l.ask(ctx, sub.line); err != nil {
			return err
		}
	}
	return nil
}

// dropInitialized removes notifications/initialized from the backlog, where it
// is if the last daemon died over it: the replay has sent it.
func (s *session) dropInitialized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = slices.DeleteFunc(s.backlog, func(p posting) bool {
		if p.initialized {
			s.held -= len(p.line)
		}
		return p.initialized
	})
}

// ask sends a request with an id of the relay and waits for the answer.
func (l *link) ask(ctx context.Context, line []byte) (reply, error) {
	m, _ := jsonrpc.Scan(line)
	answered := make(chan reply, 1)
	l.mu.Lock()
	l.ownID++
	id := relayID(l.ownID)
	l.replies[id] = answered
	l.mu.Unlock()
	if err := l.write(jsonrpc.Replace(line, m.ID, rawIDOf(id))); err != nil {
		return reply{}, err
	}
	select {
	case r := <-answered:
		return r, nil
	case <-l.lost:
		return reply{}, errLinkLost
	case <-l.drained:
		return reply{}, errLinkLost
	case <-time.After(replayTimeout):
		return reply{}, fmt.Errorf("%w: no answer to %s", errLinkLost, m.Method.Of(line))
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
}

// flush sends the backlog. In one step with finding it empty it makes l live.
func (l *link) flush() error {
	for {
		l.mu.Lock()
		if l.reason != "" {
			l.mu.Unlock()
			return nil // closing already; the rest is for the next one
		}
		if len(l.backlog) == 0 {
			l.backlog = nil
			l.live = l
			l.mu.Unlock()
			return nil
		}
		p := l.backlog[0]
		l.backlog = l.backlog[1:]
		wanted := l.dequeued(p)
		if wanted {
			l.sent(p, l)
		}
		l.mu.Unlock()
		if !wanted {
			continue
		}
		if err := l.write(p.line); err != nil {
			l.post(p) // back into the backlog, which lose puts in order
			return err
		}
	}
}

// dequeued updates the counts for p and reports whether it is still to be
// sent.
func (s *session) dequeued(p posting) bool {
	if p.request != nil {
		return s.requests.holds(p.request)
	}
	s.held -= len(p.line)
	return true
}

// lose ends a generation: it cancels the questions of the daemon, and keeps
// unanswered requests for the next one. It returns why the daemon closed, or
// "".
func (l *link) lose() (reason string) {
	l.mu.Lock()
	l.current, l.live = nil, nil
	reason = l.reason
	var lines [][]byte
	for _, id := range l.questions.drop(l.generation) {
		lines = append(lines, cancelled(id))
	}
	rest := l.backlog
	l.backlog = nil
	for _, r := range l.requests.inOrder() {
		if !r.posted {
			continue // readClient is about to
		}
		if r.sends >= maxSends && !r.listens() {
			l.requests.remove(r)
			lines = append(lines, failure(r.rawID, codeInternal, r.unanswered(errGaveUp)))
			continue
		}
		l.backlog = append(l.backlog, posting{line: r.line, request: r})
		if r.method == methodInitialize && l.handshake.initialized != nil {
			l.queueNote(posting{line: bytes.Clone(l.handshake.initialized), initialized: true})
		}
	}
	for _, p := range rest {
		if p.request != nil {
			continue // in the table, and so in the backlog again
		}
		l.held -= len(p.line)
		if !p.initialized {
			l.queueNote(p)
		}
	}
	l.mu.Unlock()
	for _, line := range lines {
		l.client.write(line)
	}
	l.answered()
	return reason
}

// queueNote adds a line that is not a request to the backlog while that is
// rebuilt.
func (s *session) queueNote(p posting) {
	s.held += len(p.line)
	s.backlog = append(s.backlog, p)
}

// cancelled returns the notification that a question no longer needs an answer.
func cancelled(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + id +
		`,"reason":"the daemon that asked has ended"}}` + "\n")
}
