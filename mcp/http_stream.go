package mcp

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// resumesResponse reports whether a client wants the rest of a response instead of the
// session's notifications, whose events have ids that begin with "_".
func resumesResponse(r *http.Request) bool {
	last := r.Header.Get(headerLastEvent)
	return last != "" && !strings.HasPrefix(last, "_")
}

// serveRest sends the rest of a response. If there is none, it refuses the stream: a client
// whose call failed asks for more after the error (the TypeScript SDK up to 1.32 does), and
// after an empty stream it would open another of the session's notifications, for each error.
func (h *HTTP) serveRest(w http.ResponseWriter, r *http.Request, s *session) {
	rest := &restWriter{ResponseWriter: w}
	h.stateful.ServeHTTP(rest, r)
	h.mu.Lock()
	ended := s.barred
	h.mu.Unlock()
	if !rest.begun && !ended {
		w.Header().Set("Allow", http.MethodPost) // 405 is the one refusal of a stream that the protocol has
		http.Error(w, "nothing is left of this response", http.StatusMethodNotAllowed)
	}
}

// A restWriter records whether anything was sent.
type restWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *restWriter) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

func (w *restWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
