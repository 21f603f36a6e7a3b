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
// While no link is live, the client's lines are added to the backlog. A request is also
// in the table of unanswered requests, from when it is read until it is answered or
// cancelled. The table decides whether it is sent: flush drops a request that is no
// longer in the table.
//
// When a link is lost, lose rebuilds the backlog: the requests in the table, in the
// order in which the client sent them, then the notifications that were not sent to any
// daemon. Notifications that the lost daemon received are not repeated, except
// notifications/initialized, which belongs to the handshake.
//
// resume replays the handshake to the next daemon under ids of the relay's own, and
// flush sends the backlog. flush checks that the backlog is empty and makes the link
// live in one critical section, so that no line of the client overtakes an earlier one.
// Finally the client is notified that every list and every subscribed resource has
// changed, because changes made while there was no daemon were not reported.
//
// The client must not notice that a request was resent:
//
//  - A read is repeated. A tool call carries the same key every time. If the next daemon
//    finds in the journal that the write was made, it answers with the recorded result.
//  - Progress starts over. progresses drops values that are not above the last one that
//    the client received, since the protocol requires increasing values.
//  - A listen is acknowledged again. acknowledgedBefore replaces the second
//    acknowledgment with notifications of change.
//  - The ids of the daemon's own requests start from 1 in every daemon. The client sees
//    ids of the relay's own. Unanswered requests are cancelled when their daemon is lost,
//    and answers that arrive later are dropped.
//  - A request may be what kills each daemon: after maxSends the client gets an error,
//    which says that the outcome is unknown if it was a tool call.
//
// A daemon that announces its shutdown is not lost yet. The relay sends it no more
// lines and waits for its answers. Then the link ends as drained, and nothing has to be
// resent.

// resume restores the state of the session in a new daemon and brings the client up to
// date.
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

// replay repeats the handshake, log level and subscriptions, if the client had
// completed a handshake. The client does not see the answers.
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

// dropInitialized removes notifications/initialized from the backlog, which contains it
// if the last daemon died over it: the replay has already sent it.
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

// ask sends a request under an id of the relay's own and waits for the answer.
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

// flush sends the backlog and makes l live once the backlog is empty, in the same
// critical section as that check.
func (l *link) flush() error {
	for {
		l.mu.Lock()
		if l.reason != "" {
			l.mu.Unlock()
			return nil // already closing; the rest is for the next daemon
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
			l.post(p) // back into the backlog, which lose reorders
			return err
		}
	}
}

// dequeued updates the counts for p and reports whether it still has to be sent.
func (s *session) dequeued(p posting) bool {
	if p.request != nil {
		return s.requests.holds(p.request)
	}
	s.held -= len(p.line)
	return true
}

// lose ends a generation: it cancels the daemon's requests and keeps the client's
// unanswered ones for the next daemon. It returns the daemon's announced reason for
// closing, or "".
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
			continue // readClient is about to post it
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
			continue // in the table, so already queued again
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

// queueNote adds a line that is not a request to the backlog while lose rebuilds it.
func (s *session) queueNote(p posting) {
	s.held += len(p.line)
	s.backlog = append(s.backlog, p)
}

// cancelled returns a notification that cancels a daemon's request.
func cancelled(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + id +
		`,"reason":"the daemon that asked has ended"}}` + "\n")
}
