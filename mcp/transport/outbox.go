package transport

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrSlowClient ends a session whose client does not read its messages.
var ErrSlowClient = errors.New("the client does not read what it is sent")

// An outbox writes frames in order from its own goroutine, so that senders never wait for
// the client.
type outbox struct {
	w      io.WriteCloser
	limits Limits
	ended  chan struct{} // closed when the writer has returned

	mu     sync.Mutex
	work   *sync.Cond // on mu: there is a frame, or the outbox closes
	frames [][]byte
	bytes  int // in frames
	closed bool
	err    error // why writing has stopped
}

// newOutbox starts the writer; Close ends it.
func newOutbox(w io.WriteCloser, limits Limits) *outbox {
	o := &outbox{w: w, limits: limits, ended: make(chan struct{})}
	o.work = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// put queues a frame. An empty queue accepts a frame of any size.
func (o *outbox) put(frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.closed:
		return io.ErrClosedPipe
	case len(o.frames) > 0 && (len(o.frames) >= o.limits.QueueFrames || o.bytes+len(frame) > queueBytes):
		o.err = ErrSlowClient
		return o.err
	}
	o.frames = append(o.frames, frame)
	o.bytes += len(frame)
	o.work.Signal()
	return nil
}

// Close lets the writer finish, for up to Grace, and closes the stream. It returns after
// the writer has ended, with the reason if the client was disconnected.
func (o *outbox) Close() error {
	o.mu.Lock()
	o.closed = true
	failed := o.err
	o.work.Signal()
	o.mu.Unlock()
	if failed == nil {
		grace := time.NewTimer(o.limits.Grace)
		defer grace.Stop()
		select {
		case <-o.ended:
		case <-grace.C:
		}
	}
	err := ignoreClosed(o.w.Close()) // interrupts a write to a client that does not read
	select {
	case <-o.ended:
	case <-time.After(o.limits.Grace): // Close does not interrupt Write on this stream
	}
	if errors.Is(failed, ErrSlowClient) {
		return failed
	}
	return err
}

func (o *outbox) run() {
	defer close(o.ended)
	for frame := o.next(); frame != nil; frame = o.next() {
		if _, err := o.w.Write(frame); err != nil {
			o.fail(err)
			return
		}
	}
}

// fail drops the queue because of a write error.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frames, o.bytes, o.err = nil, 0, cmp.Or(o.err, err)
}

// next waits for the next frame. It returns nil when none will come.
func (o *outbox) next() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 {
		if o.closed {
			return nil
		}
		o.work.Wait()
	}
	frame := o.frames[0]
	o.frames[0] = nil // the array behind it may live as long as the session
	o.frames = o.frames[1:]
	o.bytes -= len(frame)
	return frame
}
