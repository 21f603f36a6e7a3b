package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"notesd/internal/jsonrpc"
)

var errGaveUp = errors.New("the daemon stopped each time it handled this request; it is not sent again")

// A session between two daemons
//
// A request is in the table of unanswered requests from when it is read until it is
// answered or cancelled, and has the generation that it was sent to. There is no other
// queue: what a daemon still has to be sent are the requests with another generation, in
// the order of the table.
//
// While a link is live, readClient writes each request to it. While none is, requests
// only enter the table. resume replays the handshake to the next daemon under ids of the
// relay's own, and flush sends it the requests. flush checks that none is left and makes
// the link live in one critical section, so that no request overtakes an earlier one.
// Finally the client is notified that every list and every subscribed resource has
// changed, because changes made while there was no daemon were not reported.
//
// Notifications are not repeated, except notifications/initialized, which belongs to the
// handshake: it is sent once to each daemon, after initialize.
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
// requests and waits for its answers. Then the link ends as drained, and nothing has to be
// resent.

// resume restores the state of the session in a new daemon and brings the client up to
// date.
func (l *link) resume(ctx context.Context) error {
	l.mu.Lock()
	l.current = l
	h := l.handshake.clone()
	l.initialized = h.answered && h.initialized != nil // replay sends it
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
	before := h.version
	h.read(answer.line, answer.Message)
	if h.version != before {
		now := cmp.Or(h.version, string(answer.Failure.Of(answer.line)))
		return fmt.Errorf("%w: the protocol version was %s, and the answer to initialize is now %s", ErrSessionChanged, before, now)
	}
	if h.initialized != nil {
		if err := l.write(h.initialized); err != nil {
			return err
		}
	}
	var lines [][]byte
	if h.level != nil {
		lines = append(lines, h.level)
	}
	for _, sub := range h.subscriptions {
		lines = append(lines, sub.line)
	}
	_, err = l.ask(ctx, lines...)
	return err
}

// ask sends requests under ids of the relay's own, all at once, and waits for the answers.
// It returns the last.
func (l *link) ask(ctx context.Context, lines ...[]byte) (last reply, err error) {
	answered := make(chan reply, len(lines))
	for _, line := range lines {
		m, _ := jsonrpc.Scan(line)
		l.mu.Lock()
		id := l.ownName()
		l.replies[jsonrpc.ID{Text: id}] = answered
		l.mu.Unlock()
		if err := l.write(jsonrpc.Replace(line, m.ID, strconv.Quote(id))); err != nil {
			return reply{}, err
		}
	}
	for range lines {
		select {
		case last = <-answered:
		case <-l.lost:
			return reply{}, errLinkLost
		case <-l.drained:
			return reply{}, errLinkLost
		case <-time.After(replayTimeout):
			return reply{}, fmt.Errorf("%w: it does not answer", errLinkLost)
		case <-ctx.Done():
			return reply{}, context.Cause(ctx)
		}
	}
	return last, nil
}

// flush sends the daemon what it lacks and makes l live.
func (l *link) flush() error {
	for {
		l.mu.Lock()
		line := l.next()
		if line == nil && l.reason == "" {
			l.live = l
		}
		l.mu.Unlock()
		if line == nil {
			return nil
		}
		if err := l.write(line); err != nil {
			return err
		}
	}
}

// next returns the next line that l has to be sent before it is live, or nil, and records
// it as sent. A closing daemon is sent nothing. It must be called with mu held.
func (l *link) next() []byte {
	if l.reason != "" {
		return nil
	}
	var first *request
	begins := false // initialize has to be sent, and notifications/initialized follows it
	for _, r := range l.requests.list {
		if r.generation != l.generation {
			first = cmp.Or(first, r)
			begins = begins || r.method == methodInitialize
		}
	}
	switch {
	case l.handshake.initialized != nil && !l.initialized && !begins:
		l.initialized = true
		return l.handshake.initialized
	case first == nil:
		return nil
	}
	first.sentTo(l)
	return first.line
}

// lose ends a generation: it cancels the daemon's requests and keeps the client's
// unanswered ones for the next daemon. It returns the daemon's announced reason for
// closing, or "".
func (l *link) lose() (reason string) {
	l.mu.Lock()
	l.current, l.live = nil, nil
	reason = l.reason
	var lines [][]byte
	for id := range l.questions {
		lines = append(lines, cancelled(id))
	}
	clear(l.questions)
	for _, r := range slices.Clone(l.requests.list) {
		if r.sends >= maxSends && !r.listens() {
			l.requests.remove(r)
			lines = append(lines, failure(r.rawID, codeInternal, r.unanswered(errGaveUp)))
		}
	}
	l.mu.Unlock()
	for _, line := range lines {
		l.client.write(line)
	}
	l.answered()
	return reason
}

// cancelled returns a notification that cancels a daemon's request.
func cancelled(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + id +
		`,"reason":"the daemon that asked has ended"}}` + "\n")
}
