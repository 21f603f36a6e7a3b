package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"notesd/internal/daemon"
	"notesd/internal/jsonrpc"
)

// readDaemon handles the lines of one daemon until the connection ends. It
// drops a last line without newline, which was cut off.
func (l *link) readDaemon() {
	defer close(l.lost)
	lines := jsonrpc.NewReader(l.conn, maxLine)
	for {
		line, err := lines.Next()
		if err == nil && line[len(line)-1] != '\n' {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			l.abandon()
			l.logger.Debug("the daemon's connection ended", "generation", l.generation, "error", err)
			return
		}
		l.fromDaemon(line)
	}
}

// fromDaemon handles one message of the daemon.
func (l *link) fromDaemon(line []byte) {
	m, ok := jsonrpc.Scan(line)
	switch {
	case !ok:
		l.logger.Warn("the daemon sent a line that is no message")
	case m.Method.Found() && m.ID.Found():
		l.fromQuestion(line, m)
	case m.Method.Found():
		l.fromNotification(line, m)
	default:
		l.fromResponse(line, m)
	}
}

// fromQuestion passes a request of the daemon on under an id of the relay's own.
func (l *link) fromQuestion(line []byte, m jsonrpc.Message) {
	l.mu.Lock()
	id := l.questions.add(l.generation, m.ID.Of(line))
	l.mu.Unlock()
	l.client.write(jsonrpc.Replace(line, m.ID, id))
}

// fromResponse passes an answer on, and records its effect on the session.
func (l *link) fromResponse(line []byte, m jsonrpc.Message) {
	id, proper := jsonrpc.ParseID(m.ID.Of(line))
	l.mu.Lock()
	if waiter, own := l.replies[id]; own {
		delete(l.replies, id)
		l.mu.Unlock()
		waiter <- reply{bytes.Clone(line), m}
		return
	}
	r := l.requests.byWire[id]
	if !proper || r == nil {
		if !proper {
			l.untracked--
		}
		l.mu.Unlock()
		if !proper || survives(id) { // to a line that no one could track, or to a cancelled request
			l.client.write(line)
		}
		l.answered()
		return
	}
	l.fruitful.Store(true)
	l.requests.remove(r)
	if m.Result.Found() {
		l.handshake.note(r, line, m)
	}
	if r.wire != r.client {
		line = jsonrpc.Replace(line, m.ID, string(r.rawID))
	}
	l.mu.Unlock()
	l.client.write(line)
	l.answered()
}

// fromNotification passes a notification on where the client should see it.
func (l *link) fromNotification(line []byte, m jsonrpc.Message) {
	switch jsonrpc.Text(m.Method.Of(line)) {
	case daemon.ClosingMethod:
		l.closing(jsonrpc.Text(jsonrpc.Lookup(line, m.Params, "reason").Of(line)))
		return
	case methodCancelled:
		line = l.withdrawn(line, m)
	case methodProgress:
		if !l.progresses(line, m) {
			return
		}
	case methodAcknowledged:
		if l.acknowledgedBefore(line, m) {
			return
		}
	}
	l.client.write(l.withClientSubscription(line, m))
}

// closing starts to drain a daemon that is about to stop.
func (l *link) closing(reason string) {
	l.logger.Info("the daemon is stopping", "reason", reason)
	l.mu.Lock()
	if l.live == l {
		l.live = nil
	}
	if l.reason == "" {
		l.reason = cmp.Or(reason, daemon.ReasonStopping)
		l.draining = true
	}
	l.mu.Unlock()
	l.answered()
}

// withdrawn translates the id of a question that the daemon cancels.
func (l *link) withdrawn(line []byte, m jsonrpc.Message) []byte {
	at := jsonrpc.Lookup(line, m.Params, "requestId")
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := l.questions.withdraw(l.generation, at.Of(line)); ok {
		return jsonrpc.Replace(line, at, id)
	}
	return line
}

// progresses reports whether a progress notification is news to the client. A
// request that is sent again makes its progress twice, and the protocol
// requires rising values.
func (s *session) progresses(line []byte, m jsonrpc.Message) bool {
	token, ok := jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "progressToken").Of(line))
	now, err := strconv.ParseFloat(string(jsonrpc.Lookup(line, m.Params, "progress").Of(line)), 64)
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
// again. The client has had that acknowledgment; it gets notifications that
// everything it listens to has changed.
func (s *session) acknowledgedBefore(line []byte, m jsonrpc.Message) bool {
	id, ok := jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "_meta", metaSubscription).Of(line))
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
		if err := json.Unmarshal(jsonrpc.Lookup(line, m.Params, "notifications").Of(line), &filter); err != nil {
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
func (s *session) withClientSubscription(line []byte, m jsonrpc.Message) []byte {
	at := jsonrpc.Lookup(line, m.Params, "_meta", metaSubscription)
	id, ok := jsonrpc.ParseID(at.Of(line))
	if !ok || survives(id) {
		return line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.requests.byWire[id]; r != nil {
		return jsonrpc.Replace(line, at, string(r.rawID))
	}
	return line
}

// link is the session's connection to one generation of the daemon, and what it does
// with it.
type link struct {
	*session
	conn       io.ReadWriteCloser
	generation int
	lost       chan struct{} // closed once nothing more will be read
	drained    chan struct{} // closed once a closing daemon owes no more answers
	fruitful   atomic.Bool   // a request has been answered

	writing sync.Mutex

	// Guarded by session.mu:
	replies  map[jsonrpc.ID]chan<- reply
	draining bool
	reason   string // why the daemon closes, once it said so
}

// reply is the answer to one of the relay's own requests.
type reply struct {
	line []byte
	jsonrpc.Message
}

func newLink(s *session, conn io.ReadWriteCloser, generation int) *link {
	return &link{
		session:    s,
		conn:       conn,
		generation: generation,
		lost:       make(chan struct{}),
		drained:    make(chan struct{}),
		replies:    map[jsonrpc.ID]chan<- reply{},
	}
}

// write sends one line, in one piece. After an error the connection is closed: a
// line may have been cut in two.
func (l *link) write(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if c, ok := l.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = c.SetWriteDeadline(time.Now().Add(daemonWriteTimeout)) // a closed connection: Write says so
	}
	_, err := l.conn.Write(line)
	if err != nil {
		_ = l.conn.Close()
	}
	return err
}
