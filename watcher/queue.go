package watcher

import (
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// maxPaths bounds both the queue and a batch. Beyond it, scanning everything
// is no dearer than looking at each path, and memory stays bounded whatever
// the disk does.
const maxPaths = 10_000

var errTooMany = fmt.Errorf("more than %d paths changed at once", maxPaths)

// queue is what has happened and was not looked at yet: a set of paths, each
// with the union of its operations, in the order of their first appearance.
// The goroutine that drains the source puts, the tracker takes.
type queue struct {
	ready chan struct{} // holds one token while there is something to take

	mu      sync.Mutex
	pending queued
	index   map[string]int // position of each path in pending.events
}

// queued is what take returns.
type queued struct {
	events []fsnotify.Event
	lost   error // set when events are missing, and why
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), index: make(map[string]int)}
}

// put adds one event; it never blocks for long.
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

// signal says that there is something to take; the caller holds mu.
func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (q *queue) take() queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.pending
	q.pending = queued{}
	q.index = make(map[string]int)
	return taken
}
