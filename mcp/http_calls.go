package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An openCall is a call in a session over Streamable HTTP, from its request to
// the end of its answer.
type openCall struct {
	cancelled bool // its answer must not be sent
	alone     bool // its request has ended before it: the answer waits in the event store
	answered  bool
}

// openCalls are the calls of all sessions over Streamable HTTP. The SDK answers
// a call that was cancelled, with an error, and keeps no account that could be
// asked; so what it writes to the client and to the event store is looked
// through here. Its methods may be called concurrently.
type openCalls struct {
	mu       sync.Mutex
	sessions map[string]map[jsonrpc.ID]*openCall
}

func newOpenCalls() *openCalls {
	return &openCalls{sessions: make(map[string]map[jsonrpc.ID]*openCall)}
}

// begin notes the calls among the messages as being answered, and refuses an
// id that belongs to one already: the SDK would answer neither of the two. The
// cancellations among the messages take effect. The returned function is to be
// called when the request has been served; gone says that its client has left.
func (o *openCalls) begin(session string, msgs []jsonrpc.Message) (served func(gone bool), bad *refusal) {
	if session == "" {
		return func(bool) {}, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	calls := o.sessions[session]
	if calls == nil {
		calls = make(map[jsonrpc.ID]*openCall)
		o.sessions[session] = calls
	}
	maps.DeleteFunc(calls, func(_ jsonrpc.ID, c *openCall) bool { return c.alone && c.answered })
	var ids []jsonrpc.ID
	for _, msg := range msgs {
		req, ok := msg.(*jsonrpc.Request)
		switch {
		case !ok:
		case req.IsCall():
			if calls[req.ID] != nil {
				o.forget(session, ids)
				return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the id %v belongs to a call that is still being answered", req.ID.Raw())
			}
			calls[req.ID] = new(openCall)
			ids = append(ids, req.ID)
		case req.Method == methodCancelled:
			if id, ok := cancelledID(req); ok && calls[id] != nil {
				calls[id].cancelled = true
			}
		}
	}
	return func(gone bool) { o.served(session, ids, gone) }, nil
}

func (o *openCalls) served(session string, ids []jsonrpc.ID, gone bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !gone {
		o.forget(session, ids)
		return
	}
	for _, id := range ids {
		if call := o.sessions[session][id]; call != nil {
			call.alone = true
		}
	}
}

// forget drops calls; the lock is held.
func (o *openCalls) forget(session string, ids []jsonrpc.ID) {
	for _, id := range ids {
		delete(o.sessions[session], id)
	}
	if len(o.sessions[session]) == 0 {
		delete(o.sessions, session)
	}
}

// unwanted reports whether message is the answer to a call that was cancelled.
func (o *openCalls) unwanted(session string, message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, call := range o.sessions[session] {
		if call.cancelled || call.alone { // worth reading the message
			return o.settle(session, message)
		}
	}
	return false
}

func (o *openCalls) settle(session string, message []byte) (unwanted bool) {
	id, ok := answeredID(message)
	call := o.sessions[session][id]
	if !ok || call == nil {
		return false
	}
	call.answered = true
	return call.cancelled
}

// end forgets the calls of a session.
func (o *openCalls) end(session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.sessions, session)
}

// answeredID returns the id of the call that message, if it is a response,
// answers.
func answeredID(message []byte) (jsonrpc.ID, bool) {
	var response struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if json.Unmarshal(message, &response) != nil || response.Method != nil {
		return jsonrpc.ID{}, false
	}
	id, bad := decodeID(response.ID, len(response.ID) > 0)
	return id, bad == nil
}

// A callStore keeps the events of sessions for clients that come back for them,
// but not the answers to calls that were cancelled.
type callStore struct {
	sdk.EventStore
	calls *openCalls
}

// Append keeps an empty event, which is not sent, for an unwanted one: those
// that follow have their number from how many there are.
func (s callStore) Append(ctx context.Context, session, stream string, data []byte) error {
	if s.calls.unwanted(session, data) {
		data = nil
	}
	return s.EventStore.Append(ctx, session, stream, data)
}

// SessionClosed forgets all about a session.
func (s callStore) SessionClosed(ctx context.Context, session string) error {
	s.calls.end(session)
	return s.EventStore.SessionClosed(ctx, session)
}

// A callWriter writes a session's stream of events without the answers to calls
// that were cancelled. The SDK writes an event at a time.
type callWriter struct {
	http.ResponseWriter
	session string
	calls   *openCalls
}

func (w *callWriter) Write(event []byte) (int, error) {
	if _, data, ok := bytes.Cut(event, []byte("\ndata: ")); ok && w.calls.unwanted(w.session, data) {
		return len(event), nil
	}
	return w.ResponseWriter.Write(event)
}

// Unwrap lets http.ResponseController find what it needs.
func (w *callWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what has been written.
func (w *callWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
