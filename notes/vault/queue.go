package vault

import (
	"maps"
	"slices"
	"sync"
)

// Queue is a set of paths that wait to be compared, or all of them. It is safe for
// concurrent use.
type Queue struct {
	signal chan struct{} // one slot: any number of calls wake the reader once
	most   int

	mu    sync.Mutex
	paths map[string]bool
	all   bool
}

// NewQueue returns a queue that keeps so many paths apart: of more than that, comparing
// everything is cheaper.
func NewQueue(most int) *Queue {
	return &Queue{signal: make(chan struct{}, 1), most: most, paths: map[string]bool{}}
}

// Add adds paths and wakes the reader.
func (q *Queue) Add(paths ...string) { q.Put(paths, false); q.Wake() }

// AddAll makes the next [Queue.Take] one of everything, and wakes the reader.
func (q *Queue) AddAll() { q.Put(nil, true); q.Wake() }

// Put adds without waking the reader: what failed waits for its time.
func (q *Queue) Put(paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range paths {
		q.paths[p] = true
	}
	q.all = q.all || all || len(q.paths) > q.most
}

// Wake wakes the reader, and never blocks.
func (q *Queue) Wake() {
	select {
	case q.signal <- struct{}{}:
	default: // it is awake
	}
}

// Signal receives after the queue was added to.
func (q *Queue) Signal() <-chan struct{} { return q.signal }

// Take empties the queue. The paths are sorted.
func (q *Queue) Take() (paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	paths, all = slices.Sorted(maps.Keys(q.paths)), q.all
	q.paths, q.all = map[string]bool{}, false
	return paths, all
}

// maxQueued is how many paths a vault keeps apart.
const maxQueued = 10_000
