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
// Three goroutines share it: readClient takes the client's lines, the one that
// called Run goes from daemon to daemon, and readDaemon takes the lines of the
// current daemon. None of them writes to a stream while it holds mu.
type session struct {
	client *clientWriter
	logger *slog.Logger
	finish func(error)
	asked  chan struct{} // one slot: the client asked for something while no daemon was there

	mu        sync.Mutex
	handshake handshake
	requests  inflight
	questions questions
	current   *link     // the generation in use, whether or not the client's lines go to it yet
	live      *link     // current, while the client's lines go straight to it
	backlog   []posting // what waits for the next live link, in order
	held      int       // bytes of the backlog that are in no request
	ownID     uint64    // the last id of the relay's own
	keyPrefix string
	keys      uint64
	untracked int  // lines sent to the daemon that it will refuse under no id
	ended     bool // the client closed its input
}

// posting is a line on its way to a daemon.
type posting struct {
	line        []byte
	request     *request // the request that the line is, if it is one
	generation  int      // not 0: the line concerns this generation and no other
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

// admit returns the link to which a posting goes. If it is nil, the posting
// went to the backlog or was dropped.
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

// post sends p to the daemon, now or when there is one.
func (s *session) post(p posting) {
	for {
		l := s.admit(p)
		if l == nil || l.write(p.line) == nil {
			return
		}
		l.abandon()
		if p.request != nil || p.generation != 0 {
			return // in the table, to be sent to the next daemon; or of no use to that
		}
	}
}

// enqueue adds p to the backlog. Requests are bounded by the table of requests;
// other lines are dropped beyond a bound, since nothing waits for them.
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

// waiting returns how many requests the client waits for.
func (s *session) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.awaited()
}

// answered ends the session of a client that has closed its input, and the drain of a
// closing daemon, if no answer is outstanding.
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

// clientWriter writes to the client, and gives up on a client that does not
// read.
type clientWriter struct {
	mu    sync.Mutex
	out   io.Writer
	stall *time.Timer
	gone  func(error)
}

// newClientWriter calls gone once writing to the client is useless:
// with errClientDone when it closed the stream, with ErrStalled when it left a
// message unread for stallTimeout.
func newClientWriter(out io.Writer, gone func(error)) *clientWriter {
	w := &clientWriter{out: out, gone: gone}
	w.stall = time.AfterFunc(stallTimeout, func() { gone(ErrStalled) })
	w.stall.Stop()
	return w
}

// write sends one line. It returns when the client's stream has taken it.
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
