package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"notesd/mcp/transport"
)

// The transport of 2024-11-05: a client opens a stream of server-sent events,
// whose first event names the URL to post to and which carries all answers. It is
// served as a line connection whose lines arrive as posts and leave as events.

// A legacySession is one such stream.
type legacySession struct {
	in  *io.PipeWriter
	end func()
}

// serveLegacyStream opens a session and keeps the stream open until it ends.
func (h *HTTP) serveLegacyStream(w http.ResponseWriter, r *http.Request) {
	out, in := io.Pipe()
	events := &eventWriter{w: w}
	session := &legacySession{in: in, end: sync.OnceFunc(func() { _ = in.CloseWithError(io.EOF) })}
	id := rand.Text()
	if !h.open(id, session) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, fmt.Sprintf("there are %d sessions already, which is the limit", h.o.sessions), http.StatusServiceUnavailable)
		return
	}
	defer h.forget(id)
	defer session.end()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	if err := events.event("endpoint", []byte("/messages?sessionId="+id)); err != nil {
		return
	}
	err := h.core.Serve(r.Context(), &transport.Lines{In: out, Out: events, Limits: h.core.limits.Line}, h.o.Profile)
	if err != nil && r.Context().Err() == nil {
		h.log.Debug("a session over SSE ended", "error", err)
	}
}

// serveLegacyMessage passes a posted message on to its session.
func (h *HTTP) serveLegacyMessage(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	session := h.legacy[r.URL.Query().Get("sessionId")]
	h.mu.Unlock()
	if session == nil {
		http.Error(w, "there is no such session: open a stream at /sse first", http.StatusNotFound)
		return
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	var line bytes.Buffer
	if json.Compact(&line, body) != nil {
		line.Reset()
		line.Write(bytes.Join(bytes.Fields(body), []byte(" "))) // one line, which the session answers as it does garbage
	}
	line.WriteByte('\n')
	if _, err := session.in.Write(line.Bytes()); err != nil {
		http.Error(w, "the session has ended", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (h *HTTP) open(id string, session *legacySession) bool {
	if h.full("") {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.legacy[id] = session
	h.running.Add(1)
	return true
}

func (h *HTTP) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.legacy, id)
	h.running.Done()
}

// An eventWriter writes lines as server-sent events, each flushed. After Close
// it writes nothing: the request that it belongs to may be over.
type eventWriter struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	over bool
}

// Write takes whole lines.
func (e *eventWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if err := e.event("message", bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (e *eventWriter) event(name string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return io.ErrClosedPipe
	}
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// Close makes further writes fail. One that waits for its client ends with the
// client's patience, which patientWriter bounds.
func (e *eventWriter) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	return nil
}
