package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"notesd/internal/jsonrpc"
)

// The methods that the relay interprets.
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

// JSON-RPC error codes of the relay's own responses.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeInternal       = -32603
)

// readClient handles the client's lines until end of input.
func (s *session) readClient(in io.Reader) {
	lines := jsonrpc.NewReader(in, jsonrpc.MaxMessage)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrLineTooLong):
			s.refuse(nil, codeInvalidRequest, err)
		case err != nil:
			s.inputEnded()
			return
		default:
			if line[len(line)-1] != '\n' {
				line = append(bytes.Clone(line), '\n')
			}
			s.fromClient(line)
		}
	}
}

// inputEnded ends the session when the client has all its answers, or after endGrace.
func (s *session) inputEnded() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	time.AfterFunc(endGrace, func() { s.finish(errClientDone) })
	s.answered()
}

// fromClient handles one line. The relay refuses whatever it cannot route, so that a
// client gets the error even while there is no daemon; the daemon checks the rest.
func (s *session) fromClient(line []byte) {
	if !json.Valid(line) || !utf8.Valid(line) {
		s.refuse(nil, codeParseError, errors.New("the line is not JSON in UTF-8"))
		return
	}
	var batch []json.RawMessage
	if s.takesBatches() && json.Unmarshal(line, &batch) == nil {
		for _, element := range batch {
			s.objectFromClient(append(element, '\n'))
		}
	}
	if len(batch) == 0 {
		s.objectFromClient(line)
	}
}

// takesBatches reports whether the session's protocol version supports batches.
func (s *session) takesBatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handshake.version == jsonrpc.BatchVersion
}

// objectFromClient handles one message.
func (s *session) objectFromClient(line []byte) {
	m, ok := jsonrpc.Scan(line)
	id, proper := jsonrpc.ParseID(m.ID.Of(line))
	switch method := jsonrpc.Text(m.Method.Of(line)); {
	case method != "" && proper:
		s.requestFromClient(line, m, id, method)
	case method == methodInitialized && !m.ID.Found():
		s.initializedFromClient(line)
	case method == methodCancelled && !m.ID.Found():
		s.cancelledFromClient(line, m)
	case method != "" && !m.ID.Found():
		s.otherFromClient(line)
	case ok && !m.Method.Found() && (m.Result.Found() || m.Failure.Found()):
		s.answerFromClient(line, m)
	default:
		s.refuse(nil, codeInvalidRequest, errNoMessage)
	}
}

// refuse answers a line that is not forwarded. rawID is nil if the line has no usable id.
func (s *session) refuse(rawID []byte, code int64, err error) {
	s.client.write(failure(rawID, code, err))
}

// requestFromClient registers a request and sends it. If no daemon is live, or writing fails,
// the next one is sent it: see flush.
func (s *session) requestFromClient(line []byte, m jsonrpc.Message, id jsonrpc.ID, method string) {
	rawID := bytes.Clone(m.ID.Of(line))
	s.mu.Lock()
	if err := s.requests.admits(id, len(line)); err != nil {
		s.mu.Unlock()
		if errors.Is(err, errDuplicateID) {
			// With that id, the client would mistake it for the answer to the other
			// request.
			rawID, err = nil, fmt.Errorf("%w: %s", err, rawID)
		}
		s.refuse(rawID, codeInvalidRequest, err)
		return
	}
	r := &request{id: id, rawID: rawID, method: method, line: bytes.Clone(line)}
	if method == methodCallTool {
		r.line = withRequestKey(r.line, m.Params, s.ownName())
	}
	r.progressToken, _ = jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "_meta", "progressToken").Of(line))
	s.requests.add(r)
	l := s.live
	if l != nil {
		r.sentTo(l)
	} else {
		s.wake()
	}
	s.mu.Unlock()
	if l != nil {
		_ = l.write(r.line)
	}
}

// initializedFromClient records that the handshake is complete.
func (s *session) initializedFromClient(line []byte) {
	s.mu.Lock()
	s.handshake.initialized = bytes.Clone(line)
	l := s.live
	if l != nil {
		l.initialized = true
	}
	s.mu.Unlock()
	if l != nil {
		_ = l.write(line)
	}
}

// cancelledFromClient removes the cancelled request, and notifies the daemon if it was sent.
func (s *session) cancelledFromClient(line []byte, m jsonrpc.Message) {
	id, _ := jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "requestId").Of(line))
	s.mu.Lock()
	r, l := s.requests.find(id), s.current
	if r == nil || r.method == methodInitialize {
		s.mu.Unlock()
		return // already answered, or not cancellable
	}
	s.requests.remove(r)
	s.mu.Unlock()
	if l != nil && r.generation == l.generation {
		_ = l.write(line)
	}
	s.answered()
}

// otherFromClient forwards any other notification, live or not: all concern the daemon's own
// questions, which the next one asks again.
func (s *session) otherFromClient(line []byte) {
	s.mu.Lock()
	l := s.current
	s.mu.Unlock()
	if l != nil {
		_ = l.write(line)
	}
}

// answerFromClient forwards the answer to a daemon's request, unless that daemon is gone.
func (s *session) answerFromClient(line []byte, m jsonrpc.Message) {
	id := string(m.ID.Of(line))
	s.mu.Lock()
	rawID, ok := s.questions[id]
	delete(s.questions, id)
	l := s.current
	s.mu.Unlock()
	if ok {
		_ = l.write(jsonrpc.Replace(line, m.ID, rawID))
	}
}

// failAll answers all requests except open listens with err.
func (s *session) failAll(err error) {
	s.mu.Lock()
	var lines [][]byte
	for _, r := range slices.Clone(s.requests.list) {
		if !r.listens() {
			s.requests.remove(r)
			lines = append(lines, failure(r.rawID, codeInternal, r.unanswered(err)))
		}
	}
	s.mu.Unlock()
	for _, line := range lines {
		s.client.write(line)
	}
	s.answered()
}

// failure returns the relay's own error response to a request.
func failure(rawID []byte, code int64, err error) []byte {
	return jsonrpc.Failure(rawID, code, "notesd: "+err.Error())
}

// withRequestKey returns line, a request whose params are at params, with the request
// key added to params._meta. A key set by the client is kept. params or _meta of a
// wrong type are left for the daemon to reject.
func withRequestKey(line []byte, params jsonrpc.Span, key string) []byte {
	if !params.Found() || line[params.From] != '{' {
		return line
	}
	meta := jsonrpc.Lookup(line, params, "_meta")
	switch {
	case !meta.Found():
		return jsonrpc.Insert(line, params, "_meta", `{"`+RequestKeyMeta+`":"`+key+`"}`)
	case line[meta.From] != '{', jsonrpc.Lookup(line, meta, RequestKeyMeta).Found():
		return line
	default:
		return jsonrpc.Insert(line, meta, RequestKeyMeta, `"`+key+`"`)
	}
}

// RequestKeyMeta is the member of params._meta in a tools/call request that holds its
// request key, a string. The daemon records the key with each write, and answers a
// repeated request with the recorded result.
const RequestKeyMeta = "notesd/requestKey"
