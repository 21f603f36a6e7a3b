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
	wake   chan struct{} // receives a token when there is work or the outbox closes
	ended  chan struct{} // closed when the writer has returned

	mu     sync.Mutex
	frames [][]byte
	bytes  int // in frames
	closed bool
	err    error // why writing has stopped
}

// newOutbox starts the writer; Close ends it.
func newOutbox(w io.WriteCloser, limits Limits) *outbox {
	o := &outbox{w: w, limits: limits, wake: make(chan struct{}, 1), ended: make(chan struct{})}
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
	o.signal()
	return nil
}

// Close lets the writer finish, for up to Grace, and closes the stream. It returns after
// the writer has ended, with the reason if the client was disconnected.
func (o *outbox) Close() error {
	o.mu.Lock()
	o.closed = true
	failed := o.err
	o.mu.Unlock()
	o.signal()
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

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run() {
	defer close(o.ended)
	for range o.wake {
		for {
			frame, more := o.take()
			if frame == nil {
				if !more {
					return
				}
				break
			}
			if _, err := o.w.Write(frame); err != nil {
				o.fail(err)
				return
			}
		}
	}
}

// fail drops the queue because of a write error.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frames, o.bytes, o.err = nil, 0, cmp.Or(o.err, err)
}

// take returns the next frame, or nil and whether to wait for more.
func (o *outbox) take() (frame []byte, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.frames) == 0 {
		return nil, !o.closed && o.err == nil
	}
	frame = o.frames[0]
	o.frames[0] = nil // the array behind it may live as long as the session
	o.frames = o.frames[1:]
	o.bytes -= len(frame)
	return frame, true
}
