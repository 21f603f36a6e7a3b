package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// Methods whose meaning the relay knows.
const (
	methodInitialize   = "initialize"
	methodInitialized  = "notifications/initialized"
	methodCancelled    = "notifications/cancelled"
	methodProgress     = "notifications/progress"
	methodSetLevel     = "logging/setLevel"
	methodSubscribe    = "resources/subscribe"
	methodUnsubscribe  = "resources/unsubscribe"
	methodListen       = "subscriptions/listen"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
	methodCallTool     = "tools/call"
)

// JSON-RPC error codes of the answers that the relay gives itself.
const (
	codeInvalidRequest = -32600
	codeInternal       = -32603
)

// batchVersion is the only protocol version with JSON-RPC batches.
const batchVersion = "2025-03-26"

// byteOrderMark is what some programs on Windows begin every stream with.
var byteOrderMark = []byte("\uFEFF")

// readClient takes the client's lines until its input ends.
func (s *relaySession) readClient(in io.Reader) {
	lines := newLineReader(in, maxLine)
	for first := true; ; first = false {
		line, err := lines.next()
		if first {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if errors.Is(err, errLineTooLong) {
			s.refuse([]byte("null"), nil, codeInvalidRequest, err)
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if line[len(line)-1] != '\n' {
				line = append(bytes.Clone(line), '\n')
			}
			s.fromClient(line)
		}
		if err != nil {
			s.inputEnded()
			return
		}
	}
}

// inputEnded ends the session as soon as the client has its answers, and soon
// in any case.
func (s *relaySession) inputEnded() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	time.AfterFunc(endGrace, func() { s.finish(errClientDone) })
	s.settled()
}

// fromClient takes one line. What the daemon would refuse is passed on as it is,
// so that there is one place that words refusals.
func (s *relaySession) fromClient(line []byte) {
	if !json.Valid(line) || !utf8.Valid(line) {
		s.postUntracked(line)
		return
	}
	if top := value(line, 0); line[top.from] == '[' && s.takesBatches() {
		s.fromBatch(line, top)
		return
	}
	s.fromObject(line, nil)
}

// fromObject takes one message, of a batch or alone.
func (s *relaySession) fromObject(line []byte, b *batch) {
	m, ok := scan(line)
	if !ok {
		s.postUntracked(line)
		return
	}
	id, proper := parseID(m.id.of(line))
	switch method := text(m.method.of(line)); {
	case method != "" && proper:
		s.fromRequest(line, m, id, method, b)
	case method == methodInitialized && !m.id.found():
		s.fromInitialized(line)
	case method == methodCancelled && !m.id.found():
		s.fromCancelled(line, m)
	case method == "" && proper && (m.result.found() || m.failure.found()):
		s.fromAnswer(line, m)
	case !m.method.found() && (m.result.found() || m.failure.found()):
		s.logger.Debug("the client answered nothing that it was asked")
	case method == "" || m.id.found():
		s.postUntracked(line)
	default:
		s.post(posting{line: line})
	}
}

// postUntracked sends a line that the daemon is expected to refuse.
func (s *relaySession) postUntracked(line []byte) {
	s.mu.Lock()
	s.untracked++
	s.mu.Unlock()
	s.post(posting{line: line})
}

// fromRequest registers a request and sends it.
func (s *relaySession) fromRequest(line []byte, m message, id requestID, method string, b *batch) {
	s.mu.Lock()
	if err := s.requests.admits(id, len(line)); err != nil {
		s.mu.Unlock()
		rawID := m.id.of(line)
		if errors.Is(err, errDuplicateID) {
			// Under that id the client would take it for the other call's answer.
			rawID, err = []byte("null"), fmt.Errorf("%w: %s", err, rawID)
		}
		s.refuse(rawID, b, codeInvalidRequest, err)
		return
	}
	r := &request{
		client: id,
		wire:   id,
		rawID:  bytes.Clone(m.id.of(line)),
		method: method,
		line:   bytes.Clone(line),
		batch:  b,
	}
	if method == methodCallTool {
		s.keys++
		r.line = withRequestKey(r.line, m.params, s.keyPrefix+strconv.FormatUint(s.keys, 36))
	}
	if !id.survives() {
		s.ownID++
		r.wire = relayID(s.ownID)
		m, _ = scan(r.line)
		r.line = replaceSpan(r.line, m.id, r.wire.raw())
	}
	r.progressToken, _ = parseID(lookup(line, m.params, "_meta", "progressToken").of(line))
	s.requests.add(r)
	b.expect()
	s.mu.Unlock()
	s.post(posting{line: r.line, request: r})
}

// fromInitialized notes that the handshake is complete.
func (s *relaySession) fromInitialized(line []byte) {
	s.mu.Lock()
	s.handshake.initialized = bytes.Clone(line)
	s.mu.Unlock()
	s.post(posting{line: line, initialized: true})
}

// fromCancelled forgets the request that the client gives up, and tells the
// daemon if that was sent it.
func (s *relaySession) fromCancelled(line []byte, m message) {
	at := lookup(line, m.params, "requestId")
	id, _ := parseID(at.of(line))
	s.mu.Lock()
	r := s.requests.byClient[id]
	if r == nil || r.method == methodInitialize {
		s.mu.Unlock()
		return // answered already, or one that cannot be cancelled
	}
	s.requests.remove(r)
	complete := r.batch.forget()
	if r.wire != r.client {
		line = replaceSpan(line, at, r.wire.raw())
	}
	s.mu.Unlock()
	if r.generation != 0 {
		s.post(posting{line: line, generation: r.generation})
	}
	if complete != nil {
		s.client.write(complete)
	}
	s.settled()
}

// fromAnswer passes on the answer to a daemon's question, unless the daemon that
// asked is gone.
func (s *relaySession) fromAnswer(line []byte, m message) {
	s.mu.Lock()
	q, ok := s.questions.take(m.id.of(line))
	s.mu.Unlock()
	if ok {
		s.post(posting{line: replaceSpan(line, m.id, q.rawID), generation: q.generation})
	}
}

// refuse answers a request without asking the daemon.
func (s *relaySession) refuse(rawID []byte, b *batch, code int, err error) {
	line := failure(rawID, code, err)
	if b != nil {
		s.mu.Lock()
		b.expect()
		line = b.answer(line)
		s.mu.Unlock()
	}
	if line != nil {
		s.client.write(line)
	}
}

// failAll answers everything that the client waits for with err.
func (s *relaySession) failAll(err error) {
	s.mu.Lock()
	var lines [][]byte
	for _, r := range s.requests.inOrder() {
		if !r.listens() {
			s.requests.remove(r)
			lines = append(lines, r.batch.answer(failure(r.rawID, codeInternal, r.unanswered(err))))
		}
	}
	select {
	case <-s.asked:
	default:
	}
	s.mu.Unlock()
	for _, line := range lines {
		if line != nil {
			s.client.write(line)
		}
	}
	s.settled()
}

// failure is a JSON-RPC error response.
func failure(rawID []byte, code int, err error) []byte {
	message, _ := json.Marshal("notesd: " + err.Error()) // a string: cannot fail
	line := append([]byte(`{"jsonrpc":"2.0","id":`), rawID...)
	line = append(line, `,"error":{"code":`...)
	line = strconv.AppendInt(line, int64(code), 10)
	line = append(line, `,"message":`...)
	line = append(line, message...)
	return append(line, "}}\n"...)
}
