package watcher

import (
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// notifier is the part of fsnotify.Watcher that the tracker uses.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error // also closes the channels of events and errors, if there are any
}

// source is one instance of the kernel's notification service, with the queue
// that receives its events.
type source struct {
	notifier
	queue   *queue
	drained chan struct{} // closed when the draining goroutine, if there is one, returns
}

// drainSource returns a source that drains a notifier in a goroutine until Close.
func drainSource(n notifier, events <-chan fsnotify.Event, errs <-chan error) *source {
	s := &source{notifier: n, queue: newQueue(), drained: make(chan struct{})}
	go s.drain(events, errs)
	return s
}

// drain moves events to the queue. It must not block on anything else, or the kernel's
// queue may overflow.
func (s *source) drain(events <-chan fsnotify.Event, errs <-chan error) {
	defer close(s.drained)
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			s.queue.put(ev)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if loss := eventLoss(err); loss != nil {
				s.queue.fail(loss)
			}
		}
	}
}

// Close stops the source and waits for its goroutine.
func (s *source) Close() error {
	err := s.notifier.Close()
	if s.drained != nil {
		<-s.drained
	}
	return err
}

// maxPaths bounds the size of the queue and of a batch. Beyond it, a full scan is no
// more expensive than a stat of each path.
const maxPaths = 10_000

var errTooMany = fmt.Errorf("more than %d paths changed at once", maxPaths)

// queue holds the events that the tracker has not processed: a set of paths, each with
// the union of its operations, in the order of their first event. The source calls put and
// fail; the tracker calls take.
type queue struct {
	ready chan struct{} // holds a token while the queue is not empty

	mu      sync.Mutex
	pending queued
	index   map[string]int // position of each path in pending.events
}

// queued is the content of a queue.
type queued struct {
	events []fsnotify.Event
	lost   error // why events are missing, or nil
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), index: make(map[string]int)}
}

// put adds an event. It blocks only while the tracker is in take.
func (q *queue) put(ev fsnotify.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.signal()
	i, ok := q.index[ev.Name]
	switch {
	case ok:
		q.pending.events[i].Op |= ev.Op
	case len(q.pending.events) < maxPaths:
		q.index[ev.Name] = len(q.pending.events)
		q.pending.events = append(q.pending.events, ev)
	case q.pending.lost == nil:
		q.pending.lost = errTooMany
	}
}

// fail records that events were lost.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.signal()
	if q.pending.lost == nil {
		q.pending.lost = err
	}
}

// signal marks the queue as not empty. It must be called with mu held.
func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns the content of the queue and empties it.
func (q *queue) take() queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.pending
	q.pending = queued{}
	q.index = make(map[string]int)
	return taken
}
