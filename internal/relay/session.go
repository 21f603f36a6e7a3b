package relay

import (
	"crypto/rand"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// session is the state of one Relay.Run.
//
// Three goroutines share it: readClient handles the client's lines, run serves one
// daemon after another, and readDaemon handles the lines of the current daemon. None of
// them writes to a stream while it holds mu.
type session struct {
	client *clientWriter
	logger *slog.Logger
	finish func(error)
	asked  chan struct{} // buffered, size 1: the client sent a request while no daemon was live

	name string // random; the prefix of the relay's own ids and of the request keys

	mu        sync.Mutex
	handshake handshake
	requests  inflight
	questions map[string]string // daemon's ids of its unanswered requests, by the client's
	asking    int               // the client's id of the last of them
	names     uint64            // last suffix of name
	current   *link             // the generation in use, live or not
	live      *link             // current, while the client's requests are sent to it directly
	ended     bool              // the client has closed its input
}

func newSession(out io.Writer, logger *slog.Logger, finish func(error)) *session {
	return &session{
		client:    newClientWriter(out, finish),
		logger:    logger,
		finish:    finish,
		asked:     make(chan struct{}, 1),
		name:      rand.Text() + "-",
		questions: map[string]string{},
	}
}

// ownName returns a new id or request key. It must be called with mu held.
func (s *session) ownName() string {
	s.names++
	return s.name + strconv.FormatUint(s.names, 36)
}

// wake reports to run that the client sent a request while no daemon was live.
func (s *session) wake() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// waiting returns the number of requests that the client is waiting for.
func (s *session) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.awaited()
}

// answered completes what waits for the last answer, if none is outstanding: the
// session of a client that has closed its input, and the drain of a closing daemon. The latter
// does not wait for requests of which each may wait for an answer of the client, such as its user's:
// the next daemon asks again.
func (s *session) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && s.requests.awaited() == 0 {
		s.finish(errClientDone)
	}
	if l := s.current; l != nil && l.draining && s.requests.awaited(l.generation) <= len(s.questions) {
		l.draining = false
		close(l.drained)
	}
}

// clientWriter writes to the client, and gives up if the client stops reading.
type clientWriter struct {
	mu    sync.Mutex
	out   io.Writer
	stall *time.Timer
	gone  func(error)
}

// newClientWriter returns a writer that calls gone when writing becomes useless: with
// errClientDone if the client closed the stream, or ErrStalled if it left a message
// unread for stallTimeout.
func newClientWriter(out io.Writer, gone func(error)) *clientWriter {
	w := &clientWriter{out: out, gone: gone}
	w.stall = time.AfterFunc(stallTimeout, func() { gone(ErrStalled) })
	w.stall.Stop()
	return w
}

// write sends one line. It blocks until the client's stream has accepted the line.
func (w *clientWriter) write(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stall.Reset(stallTimeout)
	_, err := w.out.Write(line)
	w.stall.Stop()
	if err != nil {
		w.gone(errClientDone)
	}
}
