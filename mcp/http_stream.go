package mcp

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// resumesResponse reports whether a client wants the rest of a response instead of the
// session's notifications, whose events have ids that begin with "_".
func resumesResponse(r *http.Request) bool {
	last := r.Header.Get(headerLastEvent)
	return last != "" && !strings.HasPrefix(last, "_")
}

// serveRest sends the rest of a response. If it is lost, because the daemon that was to send it
// has ended, the rest is an error: without any response, the TypeScript SDK would wait until its
// time limit. If nothing is left, it refuses the stream: a client whose call failed asks for more
// after the error (the TypeScript SDK up to 1.32 does), and after an empty stream it would open
// another of the session's notifications, for each error.
func (h *HTTP) serveRest(w http.ResponseWriter, r *http.Request, s *session) {
	call, last, found := strings.Cut(r.Header.Get(headerLastEvent), ".")
	if !found {
		call, last = "", call
	}
	lost := false
	r = r.Clone(context.WithValue(r.Context(), eventsLostKey{}, func() { lost = true }))
	r.Header.Set(headerLastEvent, last)
	rest := &responseWriter{ResponseWriter: w, call: call}
	h.stateful.ServeHTTP(rest, r)
	text, _ := hex.DecodeString(call)
	var raw any
	_ = json.Unmarshal(text, &raw)
	id, _ := jsonrpc.MakeID(raw) // invalid unless the client sent an id of responseWriter
	h.mu.Lock()
	ended := s.barred
	h.mu.Unlock()
	switch {
	case rest.begun || ended:
	case lost && id.IsValid():
		failure, _ := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errLost}})
		_, _ = fmt.Fprintf(w, "event: message\nid: lost_0\ndata: %s\n\n", failure)
	default:
		w.Header().Set("Allow", http.MethodPost) // 405 is the one refusal of a stream that the protocol has
		http.Error(w, "nothing is left of this response", http.StatusMethodNotAllowed)
	}
}

const errLost = "notesd was interrupted, and the outcome of this call is unknown: if it was to change a note, read the note before repeating it"

// A responseWriter puts the call before the id of each event of its response, so that a handler
// without the response can answer the call; the SDK sends each event with one Write. It also
// records whether anything was sent.
type responseWriter struct {
	http.ResponseWriter
	call  string // the JSON of its id, in hexadecimal; empty for a batch
	begun bool
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.begun = true
	event := p
	if w.call != "" {
		event = bytes.Replace(p, []byte("\nid: "), []byte("\nid: "+w.call+"."), 1)
	}
	n, err := w.ResponseWriter.Write(event) //nolint:gosec // the SDK's response
	return min(n, len(p)), err
}

func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// callOf returns the call of a request with the messages, as in responseWriter.
func callOf(msgs []jsonrpc.Message) string {
	if req, ok := msgs[0].(*jsonrpc.Request); ok && len(msgs) == 1 && req.IsCall() {
		id, _ := json.Marshal(req.ID.Raw()) // a string or a number
		return hex.EncodeToString(id)
	}
	return ""
}

// streaming ends the session's previous stream, if any, before the request opens another: a
// proxy, or the network of a laptop that slept, may have lost the old one silently, and the
// SDK would reject the new one. It returns the response writer and request to serve, and a
// function to call afterwards. The request is nil if the client has gone. begun is called
// when the stream begins.
//
// The newest stream wins. Each is stored in the session before it waits for its predecessor,
// so that of three streams, the second ends the first and the third the second, in whatever
// order their goroutines run. Notifications sent between two streams are lost, unless the
// SDK stores them, which it does as long as the session has not been continued and there is
// room. A stream for which some may be lost begins with notifications that everything has
// changed. The request has entered the session, and leaves it when the stream begins: close
// waits for whatever has entered, and a stream has no end.
func (h *HTTP) streaming(w http.ResponseWriter, r *http.Request, s *session, begun func()) (http.ResponseWriter, *http.Request, func()) {
	ctx, end := context.WithCancel(r.Context())
	now, answer := &stream{end, make(chan struct{})}, &streamWriter{ResponseWriter: w, begun: begun}
	h.mu.Lock()
	before := s.stream
	continued := s.resumes.id != ""
	replays := h.replays && !continued
	lose := func() { answer.events = s.subs.everythingChanged() }
	if !replays && (s.streamed || continued) {
		lose()
	}
	s.stream, s.streamed = now, true
	h.mu.Unlock()
	ctx = context.WithValue(ctx, eventsLostKey{}, lose)
	ended := func() {
		end()
		h.mu.Lock()
		if s.stream == now {
			s.stream = nil
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
// should begin with are not stored.
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
			if ok && err != nil {
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
