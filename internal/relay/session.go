package relay

import (
	"bytes"
	"crypto/rand"
	"io"
	"log/slog"
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
	asked  chan struct{} // buffered, size 1: the client sent something while no daemon was live

	mu        sync.Mutex
	handshake handshake
	requests  inflight
	questions questions
	current   *link     // the generation in use, live or not
	live      *link     // current, while the client's lines are sent to it directly
	backlog   []posting // lines for the next live link, in order
	held      int       // bytes of the backlog that are not in requests
	ownID     uint64    // the last id of the relay's own
	keyPrefix string
	keys      uint64
	untracked int  // lines sent to the daemon that it will reject with a null id
	ended     bool // the client has closed its input
}

// posting is a line on its way to a daemon.
type posting struct {
	line        []byte
	request     *request // if the line is a request
	generation  int      // if not 0, the only generation that the line is for
	initialized bool     // the line is notifications/initialized
}

func newSession(out io.Writer, logger *slog.Logger, finish func(error)) *session {
	s := &session{
		logger:    logger,
		finish:    finish,
		asked:     make(chan struct{}, 1),
		requests:  newInflight(),
		questions: newQuestions(),
		keyPrefix: rand.Text() + "-",
	}
	s.client = newClientWriter(out, func(err error) { finish(err) })
	return s
}

// admit returns the link to send a posting to, or nil if the posting was queued or
// dropped.
func (s *session) admit(p posting) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.request != nil {
		p.request.posted = true
	}
	if p.generation != 0 {
		if s.current != nil && s.current.generation == p.generation {
			return s.current
		}
		return nil
	}
	if s.live == nil {
		s.enqueue(p)
		return nil
	}
	s.sent(p, s.live)
	return s.live
}

// post sends p to the daemon, or queues it until there is one.
func (s *session) post(p posting) {
	for {
		l := s.admit(p)
		if l == nil || l.write(p.line) == nil {
			return
		}
		l.abandon()
		if p.request != nil || p.generation != 0 {
			return // lose resends a request; the rest is of no use to the next daemon
		}
	}
}

// enqueue adds p to the backlog. The table of requests bounds the requests in it; other
// lines are dropped beyond a limit, since nothing waits for them.
func (s *session) enqueue(p posting) {
	if p.request == nil {
		if s.held+len(p.line) > maxHeldBytes {
			s.logger.Warn("a message of the client was dropped: too many wait for a daemon")
			return
		}
		p.line = bytes.Clone(p.line)
		s.held += len(p.line)
	}
	s.backlog = append(s.backlog, p)
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// sent records that p is about to be written to l.
func (s *session) sent(p posting, l *link) {
	if p.request != nil {
		p.request.generation = l.generation
		p.request.sends++
	}
}

// abandon stops sending the client's lines to l.
func (l *link) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == l {
		l.live = nil
	}
}

// waiting returns the number of requests that the client is waiting for.
func (s *session) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.awaited()
}

// answered completes what waits for the last answer, if none is outstanding: the
// session of a client that has closed its input, and the drain of a closing daemon.
func (s *session) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && s.requests.awaited() == 0 && s.untracked <= 0 {
		s.finish(errClientDone)
	}
	if l := s.current; l != nil && l.draining && s.requests.awaited(l.generation) == 0 {
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
