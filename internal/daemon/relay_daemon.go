package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
)

// readDaemon takes the lines of one daemon until the connection ends. A last
// line without newline was cut off and is dropped.
func (s *relaySession) readDaemon(l *link) {
	defer close(l.lost)
	lines := newLineReader(l.conn, maxLine)
	for {
		line, err := lines.next()
		if err != nil {
			s.abandon(l)
			s.logger.Debug("the daemon's connection ended", "generation", l.generation, "error", err)
			return
		}
		s.fromDaemon(l, line)
	}
}

// fromDaemon takes one message of the daemon.
func (s *relaySession) fromDaemon(l *link, line []byte) {
	m, ok := scan(line)
	switch {
	case !ok:
		s.logger.Warn("the daemon sent a line that is no message")
	case m.method.found() && m.id.found():
		s.fromQuestion(l, line, m)
	case m.method.found():
		s.fromNotification(l, line, m)
	default:
		s.fromResponse(l, line, m)
	}
}

// fromQuestion passes a request of the daemon on under an id of the relay's own.
func (s *relaySession) fromQuestion(l *link, line []byte, m message) {
	s.mu.Lock()
	id := s.questions.add(l.generation, m.id.of(line))
	s.mu.Unlock()
	s.client.write(replaceSpan(line, m.id, id))
}

// fromResponse passes an answer on, after noting what it means for the session.
func (s *relaySession) fromResponse(l *link, line []byte, m message) {
	id, proper := parseID(m.id.of(line))
	s.mu.Lock()
	if waiter, own := l.replies[id]; own {
		delete(l.replies, id)
		s.mu.Unlock()
		waiter <- reply{bytes.Clone(line), m}
		return
	}
	r := s.requests.byWire[id]
	if !proper || r == nil {
		if !proper {
			s.untracked--
		}
		s.mu.Unlock()
		if !proper || id.survives() { // to a line that no one could track, or to a cancelled request
			s.client.write(line)
		}
		s.settled()
		return
	}
	l.fruitful.Store(true)
	s.requests.remove(r)
	if m.result.found() {
		s.handshake.note(r, line, m)
	}
	if r.wire != r.client {
		line = replaceSpan(line, m.id, string(r.rawID))
	}
	line = r.batch.answer(line)
	s.mu.Unlock()
	if line != nil {
		s.client.write(line)
	}
	s.settled()
}

// fromNotification passes a notification on where the client should see it.
func (s *relaySession) fromNotification(l *link, line []byte, m message) {
	switch text(m.method.of(line)) {
	case closingMethod:
		s.closing(l, text(lookup(line, m.params, "reason").of(line)))
		return
	case methodCancelled:
		line = s.withdrawn(l, line, m)
	case methodProgress:
		if !s.progresses(line, m) {
			return
		}
	case methodAcknowledged:
		if s.acknowledgedBefore(line, m) {
			return
		}
	}
	s.client.write(s.withClientSubscription(line, m))
}

// closing lets a daemon that is about to stop finish what it was sent. Where the
// client is the reason, another daemon would not help.
func (s *relaySession) closing(l *link, reason string) {
	if reason == reasonUnanswered {
		s.finish(ErrUnanswered)
		return
	}
	s.logger.Info("the daemon is stopping", "reason", reason)
	s.mu.Lock()
	if s.live == l {
		s.live = nil
	}
	if l.reason == "" {
		l.reason = cmp.Or(reason, reasonStopping)
		l.draining = true
	}
	s.mu.Unlock()
	s.settled()
}

// withdrawn translates the id of a question that the daemon takes back.
func (s *relaySession) withdrawn(l *link, line []byte, m message) []byte {
	at := lookup(line, m.params, "requestId")
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.questions.withdraw(l.generation, at.of(line)); ok {
		return replaceSpan(line, at, id)
	}
	return line
}

// progresses reports whether a progress notification tells the client something
// new. A request that is sent again makes its progress a second time, and the
// protocol demands values that rise.
func (s *relaySession) progresses(line []byte, m message) bool {
	token, ok := parseID(lookup(line, m.params, "progressToken").of(line))
	now, err := strconv.ParseFloat(string(lookup(line, m.params, "progress").of(line)), 64)
	if !ok || err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests.withProgressToken(token)
	if r == nil {
		return true
	}
	if r.progressed && now <= r.progress {
		return false
	}
	r.progress, r.progressed = now, true
	return true
}

// metaSubscription is the member of a notification's params._meta that names the
// subscriptions/listen request that it belongs to.
const metaSubscription = "io.modelcontextprotocol/subscriptionId"

// acknowledgedBefore reports whether line acknowledges a listen that was sent
// again. The client knows that acknowledgment; it is told instead that all it
// listens to may have changed.
func (s *relaySession) acknowledgedBefore(line []byte, m message) bool {
	id, ok := parseID(lookup(line, m.params, "_meta", metaSubscription).of(line))
	if !ok {
		return false
	}
	s.mu.Lock()
	r := s.requests.byWire[id]
	before := r != nil && r.acknowledged
	if r != nil {
		r.acknowledged = true
	}
	s.mu.Unlock()
	if before {
		var filter listenFilter
		if err := json.Unmarshal(lookup(line, m.params, "notifications").of(line), &filter); err != nil {
			s.logger.Warn("the daemon sent an acknowledgment that cannot be read", "error", err)
		}
		for _, note := range filter.everythingChanged(r.rawID) {
			s.client.write(note)
		}
	}
	return before
}

// withClientSubscription translates the id of the listen that a notification
// belongs to, where the daemon knows that by another.
func (s *relaySession) withClientSubscription(line []byte, m message) []byte {
	at := lookup(line, m.params, "_meta", metaSubscription)
	id, ok := parseID(at.of(line))
	if !ok || id.survives() {
		return line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.requests.byWire[id]; r != nil {
		return replaceSpan(line, at, string(r.rawID))
	}
	return line
}
