package daemon

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// link is the connection to one generation of the daemon.
type link struct {
	conn       io.ReadWriteCloser
	generation int
	lost       chan struct{} // closed once nothing more will be read
	drained    chan struct{} // closed once a closing daemon owes no more answers
	fruitful   atomic.Bool   // a request has been answered

	writing sync.Mutex

	// Guarded by relaySession.mu:
	replies  map[requestID]chan<- reply
	draining bool
	reason   string // why the daemon closes, once it said so
}

// reply is the answer to one of the relay's own requests.
type reply struct {
	line []byte
	message
}

func newLink(conn io.ReadWriteCloser, generation int) *link {
	return &link{
		conn:       conn,
		generation: generation,
		lost:       make(chan struct{}),
		drained:    make(chan struct{}),
		replies:    map[requestID]chan<- reply{},
	}
}

// write sends one line, in one piece. After an error the connection is closed: a
// line may have been cut in two.
func (l *link) write(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if c, ok := l.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = c.SetWriteDeadline(time.Now().Add(daemonWriteTimeout)) // a closed connection: Write says so
	}
	_, err := l.conn.Write(line)
	if err != nil {
		_ = l.conn.Close()
	}
	return err
}
