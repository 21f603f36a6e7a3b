package notes

import (
	"maps"
	"slices"
	"sync"
)

// maxQueued is how many paths are kept apart; beyond it comparing everything
// is cheaper.
const maxQueued = 10_000

// pathQueue is a set of paths that wait for a reconcile, with a one-slot
// signal: adding never blocks, and any number of adds wakes the reader once.
type pathQueue struct {
	mu     *sync.Mutex
	paths  map[string]bool
	all    bool
	signal chan struct{}
}

func newPathQueue() pathQueue {
	return pathQueue{mu: new(sync.Mutex), paths: map[string]bool{}, signal: make(chan struct{}, 1)}
}

func (q *pathQueue) add(paths []string) {
	q.mu.Lock()
	for _, p := range paths {
		q.paths[p] = true
	}
	if len(q.paths) > maxQueued {
		q.all = true
	}
	q.mu.Unlock()
	q.wake()
}

func (q *pathQueue) addAll() {
	q.mu.Lock()
	q.all = true
	q.mu.Unlock()
	q.wake()
}

func (q *pathQueue) wake() {
	select {
	case q.signal <- struct{}{}:
	default: // it will look anyway
	}
}

// take empties the queue.
func (q *pathQueue) take() (paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	paths, all = slices.Sorted(maps.Keys(q.paths)), q.all
	q.paths, q.all = map[string]bool{}, false
	return paths, all
}
