package vault

import (
	"maps"
	"slices"
	"sync"
)

// Queue is a set of paths to be reconciled, or a request to reconcile everything. It is
// safe for concurrent use.
type Queue struct {
	signal chan struct{} // capacity 1, so that any number of calls wake the reader once
	most   int

	mu    sync.Mutex
	paths map[string]bool
	all   bool
}

// NewQueue returns a queue that holds up to most paths. Beyond that, it requests
// reconciling everything, which is then cheaper.
func NewQueue(most int) *Queue {
	return &Queue{signal: make(chan struct{}, 1), most: most, paths: map[string]bool{}}
}

// Add adds paths and wakes the reader.
func (q *Queue) Add(paths ...string) { q.Put(paths, false); q.Wake() }

// AddAll makes the next [Queue.Take] report everything, and wakes the reader.
func (q *Queue) AddAll() { q.Put(nil, true); q.Wake() }

// Put adds paths, or everything, without waking the reader, for work to be retried later.
func (q *Queue) Put(paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range paths {
		q.paths[p] = true
	}
	q.all = q.all || all || len(q.paths) > q.most
}

// Wake wakes the reader. It never blocks.
func (q *Queue) Wake() {
	select {
	case q.signal <- struct{}{}:
	default: // already signaled
	}
}

// Signal returns a channel that receives after Wake, Add or AddAll.
func (q *Queue) Signal() <-chan struct{} { return q.signal }

// Take empties the queue and returns its paths, sorted.
func (q *Queue) Take() (paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	paths, all = slices.Sorted(maps.Keys(q.paths)), q.all
	q.paths, q.all = map[string]bool{}, false
	return paths, all
}

// maxQueued is how many paths a vault queues before it requests a full scan.
const maxQueued = 10_000
