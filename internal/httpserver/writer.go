package httpserver

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// A PatientWriter limits the time that the client may take to accept each 64 KiB. It sends a
// comment on an event stream whenever nothing has been sent for a while: proxies close
// connections that are silent, many of them after a minute. The comments fall between
// events because each event is one write.
type PatientWriter struct {
	http.ResponseWriter
	stall, silence time.Duration

	mu      sync.Mutex
	ended   bool
	comment *time.Timer // nil unless this is an event stream
}

// NewPatientWriter returns a writer that fails if the client accepts nothing for the
// duration stall, and sends a comment after each silence.
func NewPatientWriter(w http.ResponseWriter, stall, silence time.Duration) *PatientWriter {
	return &PatientWriter{ResponseWriter: w, stall: stall, silence: silence}
}

// Write implements http.ResponseWriter.
func (w *PatientWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeLocked(p)
}

// writeLocked writes p in parts, so that a slow client has the time for each.
func (w *PatientWriter) writeLocked(p []byte) (int, error) {
	const most = 64 << 10
	n := 0
	for part := range slices.Chunk(p, most) {
		// Only writers in tests do not support deadlines.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.stall))
		written, err := w.ResponseWriter.Write(part)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *PatientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *PatientWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
}

func (w *PatientWriter) flushLocked() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	switch {
	case w.comment != nil:
		w.comment.Reset(w.silence)
	case w.Header().Get("Content-Type") == "text/event-stream":
		w.comment = time.AfterFunc(w.silence, w.sendComment)
	}
}

func (w *PatientWriter) sendComment() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if _, err := w.writeLocked([]byte(":\n\n")); err == nil { // otherwise the request ends
		w.flushLocked()
	}
}

// End stops the comments. It must be called before the handler returns.
func (w *PatientWriter) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.comment != nil {
		w.comment.Stop()
	}
}
