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

// readDaemon handles the lines of one daemon until the connection ends. It drops an
// unterminated last line, which is incomplete.
func (l *link) readDaemon() {
	defer close(l.lost)
	lines := jsonrpc.NewReader(l.conn, maxLine)
	for {
		line, err := lines.Next()
		if err == nil && line[len(line)-1] != '\n' {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			l.mu.Lock()
			l.live = nil
			l.mu.Unlock()
			l.logger.Debug("the daemon's connection ended", "generation", l.generation, "error", err)
			return
		}
		l.fromDaemon(line)
	}
}

// fromDaemon handles one message from the daemon.
func (l *link) fromDaemon(line []byte) {
	m, ok := jsonrpc.Scan(line)
	switch {
	case !ok:
		l.logger.Warn("the daemon sent a line that is no message")
	case m.Method.Found() && m.ID.Found():
		l.questionFromDaemon(line, m)
	case m.Method.Found():
		l.notificationFromDaemon(line, m)
	default:
		l.responseFromDaemon(line, m)
	}
}

// questionFromDaemon forwards a request of the daemon (elicitation, roots, sampling, ping)
// under an id of the relay's own: every daemon counts its ids from 1, and those that the
// client sees are unique across generations.
func (l *link) questionFromDaemon(line []byte, m jsonrpc.Message) {
	l.mu.Lock()
	l.asking++
	id := strconv.Itoa(l.asking)
	l.questions[id] = string(m.ID.Of(line))
	l.mu.Unlock()
	l.client.write(jsonrpc.Replace(line, m.ID, id))
	l.answered()
}

// responseFromDaemon forwards an answer and records its effect on the session. It drops answers
// to requests that the client has cancelled.
func (l *link) responseFromDaemon(line []byte, m jsonrpc.Message) {
	id, proper := jsonrpc.ParseID(m.ID.Of(line))
	l.mu.Lock()
	if waiter, own := l.replies[id]; own {
		delete(l.replies, id)
		l.mu.Unlock()
		waiter <- reply{bytes.Clone(line), m}
		return
	}
	r := l.requests.find(id)
	if r != nil {
		l.useful.Store(true)
		l.requests.remove(r)
		if m.Result.Found() {
			l.handshake.note(r, line, m)
		}
	}
	l.mu.Unlock()
	if r != nil || !proper {
		l.client.write(line)
	}
	l.answered()
}

// notificationFromDaemon forwards a notification if the client should see it.
func (l *link) notificationFromDaemon(line []byte, m jsonrpc.Message) {
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
	l.client.write(line)
}

// closing starts to drain a daemon that is about to stop.
func (l *link) closing(reason string) {
	l.logger.Info("the daemon is stopping", "reason", reason)
	l.mu.Lock()
	l.live = nil
	if l.reason == "" {
		l.reason = cmp.Or(reason, daemon.ReasonStopping)
		l.draining = true
	}
	l.mu.Unlock()
	l.answered()
}

// withdrawn translates the id of a request that the daemon cancels.
func (l *link) withdrawn(line []byte, m jsonrpc.Message) []byte {
	at := jsonrpc.Lookup(line, m.Params, "requestId")
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, rawID := range l.questions {
		if rawID == string(at.Of(line)) {
			delete(l.questions, id)
			return jsonrpc.Replace(line, at, id)
		}
	}
	return line
}

// progresses reports whether a progress notification is news to the client. A resent
// request reports its progress twice, and the protocol requires increasing values.
func (s *session) progresses(line []byte, m jsonrpc.Message) bool {
	token, _ := jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "progressToken").Of(line))
	now, _ := strconv.ParseFloat(string(jsonrpc.Lookup(line, m.Params, "progress").Of(line)), 64)
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

// metaSubscription is the member of a notification's params._meta that identifies its
// subscriptions/listen request.
const metaSubscription = "io.modelcontextprotocol/subscriptionId"

// acknowledgedBefore reports whether line acknowledges a resent listen. The client
// already has that acknowledgment; instead it gets notifications that everything it
// listens to has changed.
func (s *session) acknowledgedBefore(line []byte, m jsonrpc.Message) bool {
	id, _ := jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "_meta", metaSubscription).Of(line))
	s.mu.Lock()
	r := s.requests.find(id)
	before := r != nil && r.acknowledged
	if r != nil {
		r.acknowledged = true
	}
	s.mu.Unlock()
	if !before {
		return false
	}
	selected := jsonrpc.Lookup(line, m.Params, "notifications")
	var uris, lists []string
	_ = json.Unmarshal(jsonrpc.Lookup(line, selected, "resourceSubscriptions").Of(line), &uris) // none, if it is not a list
	for _, list := range changingLists {
		if isTrue(line, selected, list.selector) {
			lists = append(lists, list.method)
		}
	}
	for _, note := range everythingChanged(uris, lists, map[string]json.RawMessage{metaSubscription: r.rawID}) {
		s.client.write(note)
	}
	return true
}

// link is the session's connection to one generation of the daemon.
type link struct {
	*session
	conn       io.ReadWriteCloser
	generation int
	lost       chan struct{} // closed when reading has ended
	drained    chan struct{} // closed when a closing daemon has sent all answers
	useful     atomic.Bool   // whether it has answered a request

	writing sync.Mutex

	// Guarded by session.mu:
	replies     map[jsonrpc.ID]chan<- reply
	initialized bool // it was sent notifications/initialized
	draining    bool
	reason      string // why the daemon closes; "" until announced
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

// write sends one line. It closes the connection after an error, because the line may
// have been sent in part.
func (l *link) write(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if c, ok := l.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = c.SetWriteDeadline(time.Now().Add(daemonWriteTimeout)) // an error shows in Write
	}
	_, err := l.conn.Write(line)
	if err != nil {
		_ = l.conn.Close()
	}
	return err
}
