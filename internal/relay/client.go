package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
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
	codeInvalidRequest = -32600
	codeInternal       = -32603
)

// readClient handles the client's lines until end of input.
func (s *session) readClient(in io.Reader) {
	lines := jsonrpc.NewReader(in, maxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrLineTooLong):
			s.client.write(failure([]byte("null"), codeInvalidRequest, err))
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

// fromClient handles one line. It forwards invalid lines to the daemon, so that error
// messages are defined in one place.
func (s *session) fromClient(line []byte) {
	if !json.Valid(line) || !utf8.Valid(line) {
		s.postUntracked(line)
		return
	}
	if top := jsonrpc.Value(line, 0); line[top.From] == '[' && s.takesBatches() {
		s.fromBatch(line, top)
		return
	}
	s.fromObject(line)
}

// takesBatches reports whether the session's protocol version supports batches.
func (s *session) takesBatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handshake.version == jsonrpc.BatchVersion
}

// fromBatch splits a batch into messages. It forwards an empty batch to the daemon,
// which rejects it.
func (s *session) fromBatch(line []byte, at jsonrpc.Span) {
	empty := true
	for element := range jsonrpc.Elements(line, at) {
		empty = false
		s.fromObject(append(bytes.Clone(element.Of(line)), '\n'))
	}
	if empty {
		s.postUntracked(line)
	}
}

// fromObject handles one message.
func (s *session) fromObject(line []byte) {
	m, ok := jsonrpc.Scan(line)
	if !ok {
		s.postUntracked(line)
		return
	}
	id, proper := jsonrpc.ParseID(m.ID.Of(line))
	switch method := jsonrpc.Text(m.Method.Of(line)); {
	case method != "" && proper:
		s.fromRequest(line, m, id, method)
	case method == methodInitialized && !m.ID.Found():
		s.fromInitialized(line)
	case method == methodCancelled && !m.ID.Found():
		s.fromCancelled(line, m)
	case method == "" && proper && (m.Result.Found() || m.Failure.Found()):
		s.fromAnswer(line, m)
	case !m.Method.Found() && (m.Result.Found() || m.Failure.Found()):
		s.logger.Debug("the client answered nothing that it was asked")
	case method == "" || m.ID.Found():
		s.postUntracked(line)
	default:
		s.post(posting{line: line})
	}
}

// postUntracked sends a line that the daemon is expected to reject.
func (s *session) postUntracked(line []byte) {
	s.mu.Lock()
	s.untracked++
	s.mu.Unlock()
	s.post(posting{line: line})
}

// fromRequest registers a request and sends it.
func (s *session) fromRequest(line []byte, m jsonrpc.Message, id jsonrpc.ID, method string) {
	s.mu.Lock()
	if err := s.requests.admits(id, len(line)); err != nil {
		s.mu.Unlock()
		rawID := m.ID.Of(line)
		if errors.Is(err, errDuplicateID) {
			// With that id, the client would mistake it for the answer to the other
			// request.
			rawID, err = []byte("null"), fmt.Errorf("%w: %s", err, rawID)
		}
		s.client.write(failure(rawID, codeInvalidRequest, err))
		return
	}
	r := &request{
		client: id,
		wire:   id,
		rawID:  bytes.Clone(m.ID.Of(line)),
		method: method,
		line:   bytes.Clone(line),
	}
	if method == methodCallTool {
		s.keys++
		r.line = withRequestKey(r.line, m.Params, s.keyPrefix+strconv.FormatUint(s.keys, 36))
	}
	if !survives(id) {
		s.ownID++
		r.wire = relayID(s.ownID)
		m, _ = jsonrpc.Scan(r.line)
		r.line = jsonrpc.Replace(r.line, m.ID, rawIDOf(r.wire))
	}
	r.progressToken, _ = jsonrpc.ParseID(jsonrpc.Lookup(line, m.Params, "_meta", "progressToken").Of(line))
	s.requests.add(r)
	s.mu.Unlock()
	s.post(posting{line: r.line, request: r})
}

// fromInitialized records that the handshake is complete.
func (s *session) fromInitialized(line []byte) {
	s.mu.Lock()
	s.handshake.initialized = bytes.Clone(line)
	s.mu.Unlock()
	s.post(posting{line: line, initialized: true})
}

// fromCancelled removes the cancelled request, and notifies the daemon if it was sent.
func (s *session) fromCancelled(line []byte, m jsonrpc.Message) {
	at := jsonrpc.Lookup(line, m.Params, "requestId")
	id, _ := jsonrpc.ParseID(at.Of(line))
	s.mu.Lock()
	r := s.requests.byClient[id]
	if r == nil || r.method == methodInitialize {
		s.mu.Unlock()
		return // already answered, or not cancellable
	}
	s.requests.remove(r)
	if r.wire != r.client {
		line = jsonrpc.Replace(line, at, rawIDOf(r.wire))
	}
	s.mu.Unlock()
	if r.generation != 0 {
		s.post(posting{line: line, generation: r.generation})
	}
	s.answered()
}

// fromAnswer forwards the answer to a daemon's request, unless that daemon is gone.
func (s *session) fromAnswer(line []byte, m jsonrpc.Message) {
	s.mu.Lock()
	q, ok := s.questions.take(m.ID.Of(line))
	s.mu.Unlock()
	if ok {
		s.post(posting{line: jsonrpc.Replace(line, m.ID, q.rawID), generation: q.generation})
	}
}

// failAll answers all requests except open listens with err.
func (s *session) failAll(err error) {
	s.mu.Lock()
	var lines [][]byte
	for _, r := range s.requests.inOrder() {
		if !r.listens() {
			s.requests.remove(r)
			lines = append(lines, failure(r.rawID, codeInternal, r.unanswered(err)))
		}
	}
	select {
	case <-s.asked:
	default:
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
