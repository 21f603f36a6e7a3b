package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/transport"
)

// serveMCP dispatches a request to the handler of its era. caller is the profile of the
// request's subject, or the one common to all clients with the token.
func (h *HTTP) serveMCP(w http.ResponseWriter, r *http.Request, caller Profile) {
	sessionID, posts := r.Header.Get(headerSession), r.Method == http.MethodPost
	var msgs []jsonrpc.Message
	if posts {
		var ok bool
		if msgs, ok = h.readMessages(w, r); !ok {
			return
		}
	}
	switch {
	case sessionID != "":
		h.serveSession(w, r, caller, sessionID)
	case r.Header.Get(headerVersion) >= transport.ModernVersion || anyModern(msgs):
		h.serveSingle(w, h.withServer(r, caller, true, msgs))
	case posts && !begins(msgs):
		http.Error(w, "the request has no session: send initialize first, and then the header "+headerSession+" of its answer", http.StatusBadRequest)
	case posts && h.refuseFull(w, caller.Subject):
	default:
		h.stateful.ServeHTTP(w, h.withServer(r, caller, false, msgs))
	}
}

// serveSession serves a request within the session whose client sent the id.
func (h *HTTP) serveSession(w http.ResponseWriter, r *http.Request, caller Profile, sent string) {
	id, begun, leave := h.enterFor(r, caller, sent)
	switch {
	case id == "" && h.isClosed():
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is stopping; the session continues when it runs again", http.StatusServiceUnavailable)
		return
	case id == "":
		http.Error(w, "session not found", http.StatusNotFound) // on which the client begins another
		return
	}
	defer leave()
	as := resumedAs{caller.Subject, sent}
	if id != sent {
		r = r.Clone(r.Context())
		r.Header.Set(headerSession, id)
	}
	if r.Method == http.MethodGet {
		if err := h.restore(r, as, id); err != nil {
			h.log.Warn("a client's subscriptions cannot be read", "err", err)
			w.Header().Set("Retry-After", "5")
			http.Error(w, "the subscriptions cannot be read; try again later", http.StatusServiceUnavailable)
			return
		}
		if !h.replays || !resumesResponse(r) {
			var ended func()
			if w, r, ended = h.streaming(w, r, id, begun); r == nil {
				return
			}
			defer ended()
		}
	}
	if s := h.find(id); s != nil && r.Method == http.MethodDelete {
		h.forget(as)
		s.stop() // cancels all requests, in both directions; the SDK would wait for them
		s.stopWork()
	}
	h.stateful.ServeHTTP(w, r)
}

// serveSingle serves a request without a session. Close waits for it.
func (h *HTTP) serveSingle(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is stopping; try again", http.StatusServiceUnavailable)
		return
	}
	h.single.Add(1)
	h.mu.Unlock()
	defer h.single.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.streamed, cancel)()
	h.stateless.ServeHTTP(w, r.WithContext(ctx))
}

// serveLegacy serves the transport of 2024-11-05: a client opens a stream, whose first
// event names the URL to post to, and which carries all responses.
func (h *HTTP) serveLegacy(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		if _, ok := h.readMessages(w, r); !ok {
			return
		}
	case http.MethodGet:
		if h.refuseFull(w, "") {
			return
		}
		ctx, end := context.WithCancel(r.Context())
		defer end()
		defer context.AfterFunc(h.streamed, end)()
		r = h.withServer(r.WithContext(ctx), h.o.Profile, false, nil)
	}
	h.legacy.ServeHTTP(w, r)
}

// refuseFull responds with an error and returns true if there is no room for another
// session of the subject.
func (h *HTTP) refuseFull(w http.ResponseWriter, subject string) bool {
	if h.hasRoom(subject) {
		return false
	}
	w.Header().Set("Retry-After", "60")
	http.Error(w, fmt.Sprintf("there are %d sessions already, which is the limit: close one, or try again later", h.o.sessions), http.StatusServiceUnavailable)
	return true
}

// resumesResponse reports whether a client wants the rest of a response instead of the
// session's notifications, whose events have ids that begin with "_".
func resumesResponse(r *http.Request) bool {
	last := r.Header.Get(headerLastEvent)
	return last != "" && !strings.HasPrefix(last, "_")
}

// streaming ends the session's previous stream, if any, before the request opens another: a
// proxy, or the network of a laptop that slept, may have lost the old one silently, and the
// SDK would reject the new one. It returns the response writer and request to serve, and a
// function to call afterwards. The request is nil if the client has gone. begun is called
// when the stream begins.
//
// The newest stream wins. Each is stored in h.streams before it waits for its predecessor,
// so that of three streams, the second ends the first and the third the second, in whatever
// order their goroutines run. Notifications sent between two streams are lost, unless the
// SDK stores them, which it does as long as the session has not been continued and there is
// room. A stream for which some may be lost begins with notifications that everything has
// changed. The request has entered the session, and leaves it when the stream begins: close
// waits for whatever has entered, and a stream has no end.
func (h *HTTP) streaming(w http.ResponseWriter, r *http.Request, id string, begun func()) (http.ResponseWriter, *http.Request, func()) {
	ctx, end := context.WithCancel(r.Context())
	now, answer := &stream{end, make(chan struct{})}, &streamWriter{ResponseWriter: w, begun: begun}
	h.mu.Lock()
	before := h.streams[id]
	h.streams[id] = now
	replays := h.replays
	if s := h.findLocked(id); s != nil {
		continued := s.resumes.id != ""
		replays = replays && !continued
		lose := func() { answer.events = s.subs.everythingChanged() }
		if !replays && (s.streamed || continued) {
			lose()
		}
		s.streamed = true
		ctx = context.WithValue(ctx, eventsLostKey{}, lose)
	}
	h.mu.Unlock()
	ended := func() {
		end()
		h.mu.Lock()
		if h.streams[id] == now {
			delete(h.streams, id)
		}
		h.mu.Unlock()
		close(now.ended)
	}
	if before != nil {
		before.end()
		select {
		case <-before.ended:
		case <-ctx.Done():
			ended()
			return nil, nil, nil
		}
	}
	r = r.WithContext(ctx)
	if _, err := strconv.Atoi(strings.TrimPrefix(r.Header.Get(headerLastEvent), "_")); !replays || err != nil {
		r.Header.Del(headerLastEvent) // of another session, or set by everythingChanged
	}
	return answer, r, ended
}

// eventsLostKey is the context key of the function that is called if events that a stream
// should begin with are no longer stored.
type eventsLostKey struct{}

// streamEvents is the SDK's store of what it sent on streams. All sessions share its room.
// For lack of it, a session's notifications may be lost; the SDK would then refuse to open
// the session's stream again.
type streamEvents struct{ sdk.EventStore }

// After implements [sdk.EventStore].
func (e streamEvents) After(ctx context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for data, err := range e.EventStore.After(ctx, session, stream, index) {
			lose, ok := ctx.Value(eventsLostKey{}).(func())
			if ok && errors.Is(err, sdk.ErrEventsPurged) {
				lose()
				return
			}
			if !yield(data, err) {
				return
			}
		}
	}
}

// A streamWriter calls begun and then sends events when the stream begins, which the SDK
// marks with a flush.
type streamWriter struct {
	http.ResponseWriter
	events []byte
	begun  func()
}

// Flush implements http.Flusher.
func (w *streamWriter) Flush() {
	w.begun()
	_, _ = w.ResponseWriter.Write(w.events) // if the client has gone, the request ends
	w.events = nil
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// readMessages reads and decodes a request's body, within the size limit and the deadline
// set by ServeHTTP, and restores r.Body. If it returns false, it has responded with an
// error.
func (h *HTTP) readMessages(w http.ResponseWriter, r *http.Request) ([]jsonrpc.Message, bool) {
	limit := h.core.limits.Line.MessageBytes
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		h.guard.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may have %d bytes", limit))
		return nil, false
	case err != nil:
		h.guard.refuse(w, r, http.StatusRequestTimeout, "the request did not come whole")
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // set by ServeHTTP; the response may be a stream
	r.Body = io.NopCloser(bytes.NewReader(body))
	msgs, bad := transport.Decode(body, r.Header.Get(headerVersion))
	if bad != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(bad.Encode()) //nolint:gosec // it is JSON, and ServeHTTP sets nosniff
	}
	return msgs, bad == nil
}

// anyModern reports whether any request declares version 2026-07-28 in its _meta.
func anyModern(msgs []jsonrpc.Message) bool {
	for _, msg := range msgs {
		req, ok := msg.(*jsonrpc.Request)
		if !ok {
			continue
		}
		var params struct {
			Meta map[string]any `json:"_meta"`
		}
		if json.Unmarshal(req.Params, &params) == nil {
			if version, _ := params.Meta[sdk.MetaKeyProtocolVersion].(string); version >= transport.ModernVersion {
				return true
			}
		}
	}
	return false
}

// begins reports whether the messages include initialize.
func begins(msgs []jsonrpc.Message) bool {
	for _, msg := range msgs {
		if req, ok := msg.(*jsonrpc.Request); ok && req.Method == transport.MethodInitialize {
			return true
		}
	}
	return false
}
