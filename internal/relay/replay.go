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

var errGaveUp = errors.New("the daemon stopped each time it worked on this request; it is not sent again")

// bring replays the session to a new daemon: it repeats the handshake, sends
// unanswered requests, passes the client's lines on, and makes the client read
// everything again.
func (s *session) bring(ctx context.Context, l *link) error {
	s.mu.Lock()
	s.current = l
	h := s.handshake.clone()
	s.mu.Unlock()
	if err := s.replay(ctx, l, &h); err != nil {
		return err
	}
	if err := s.flush(l); err != nil {
		return err
	}
	if h.answered {
		for _, note := range h.everythingChanged() {
			s.client.write(note)
		}
	}
	return nil
}

// replay repeats the handshake, log level and subscriptions, if there was a
// handshake. The client does not see the answers.
func (s *session) replay(ctx context.Context, l *link, h *handshake) error {
	if !h.answered {
		return nil
	}
	s.logger.Info("the session continues with another daemon", "generation", l.generation)
	answer, err := s.ask(ctx, l, h.initialize)
	if err != nil {
		return err
	}
	if !answer.Result.Found() {
		return changed("it refuses to initialize: %s", answer.Failure.Of(answer.line))
	}
	before := h.version
	h.read(answer.line, answer.Message)
	if h.version != before {
		return changed("the protocol version was %s and would be %s", before, h.version)
	}
	s.mu.Lock()
	s.handshake.version, s.handshake.lists = h.version, h.lists
	s.mu.Unlock()
	if h.initialized != nil {
		if err := l.write(h.initialized); err != nil {
			return err
		}
		s.dropInitialized()
	}
	if h.level != nil {
		if _, err := s.ask(ctx, l, h.level); err != nil {
			return err
		}
	}
	for _, sub := range h.subscriptions {
		if _, err := s.ask(ctx, l, sub.line); err != nil {
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
func (s *session) ask(ctx context.Context, l *link, line []byte) (reply, error) {
	m, _ := jsonrpc.Scan(line)
	answered := make(chan reply, 1)
	s.mu.Lock()
	s.ownID++
	id := relayID(s.ownID)
	l.replies[id] = answered
	s.mu.Unlock()
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
func (s *session) flush(l *link) error {
	for {
		s.mu.Lock()
		if l.reason != "" {
			s.mu.Unlock()
			return nil // closing already; the rest is for the next one
		}
		if len(s.backlog) == 0 {
			s.backlog = nil
			s.live = l
			s.mu.Unlock()
			return nil
		}
		p := s.backlog[0]
		s.backlog = s.backlog[1:]
		wanted := s.dequeued(p)
		if wanted {
			s.sent(p, l)
		}
		s.mu.Unlock()
		if !wanted {
			continue
		}
		if err := l.write(p.line); err != nil {
			s.post(p) // back into the backlog, which lose puts in order
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
func (s *session) lose(l *link) (reason string) {
	s.mu.Lock()
	s.current, s.live = nil, nil
	reason = l.reason
	var lines [][]byte
	for _, id := range s.questions.drop(l.generation) {
		lines = append(lines, cancelled(id))
	}
	rest := s.backlog
	s.backlog = nil
	for _, r := range s.requests.inOrder() {
		if !r.posted {
			continue // readClient is about to
		}
		if r.sends >= maxSends && !r.listens() {
			s.requests.remove(r)
			if line := r.batch.Answer(failure(r.rawID, codeInternal, r.unanswered(errGaveUp))); line != nil {
				lines = append(lines, line)
			}
			continue
		}
		s.backlog = append(s.backlog, posting{line: r.line, request: r})
		if r.method == methodInitialize && s.handshake.initialized != nil {
			s.queueNote(posting{line: bytes.Clone(s.handshake.initialized), initialized: true})
		}
	}
	for _, p := range rest {
		if p.request != nil {
			continue // in the table, and so in the backlog again
		}
		s.held -= len(p.line)
		if !p.initialized {
			s.queueNote(p)
		}
	}
	s.mu.Unlock()
	for _, line := range lines {
		s.client.write(line)
	}
	s.settled()
	return reason
}

// queueNote adds a line that is not a request to the backlog while that is
// rebuilt.
func (s *session) queueNote(p posting) {
	s.held += len(p.line)
	s.backlog = append(s.backlog, p)
}

// cancelled returns the notification that a question needs no answer any more.
func cancelled(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + id +
		`,"reason":"the daemon that asked has ended"}}` + "\n")
}
