package watcher

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
)

// kernel is a fake notifier. The test supplies its events and its limit on watches.
type kernel struct {
	t      *testing.T
	remote string // network file system of all folders, or ""
	hides  string // name of the entries that hide others
	mu     sync.Mutex
	dirs   map[string]bool
	limit  int   // limit on watches
	broken error // error of opening a source
	events chan fsnotify.Event
	errs   chan error
	opened int
}

func newKernel(t *testing.T) *kernel { return &kernel{t: t, limit: 1 << 20} }

// install makes a watcher use the kernel.
func (k *kernel) install(w *Watcher) {
	w.env.open = k.open
	w.env.remote = func(string) string { return k.remote }
	w.env.hides = func(abs string) bool { return k.hides != "" && filepath.Base(abs) == k.hides }
	w.env.budget = func() int { return 0 }
}

func (k *kernel) open(string) (*source, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken != nil {
		return nil, k.broken
	}
	k.opened++
	k.dirs = make(map[string]bool)
	k.events, k.errs = make(chan fsnotify.Event), make(chan error)
	return drainSource(k, k.events, k.errs), nil
}

func (k *kernel) Add(dir string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.dirs) >= k.limit {
		return fmt.Errorf("%w of %d", errBudget, k.limit)
	}
	k.dirs[dir] = true
	return nil
}

func (k *kernel) Remove(dir string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dirs[dir] {
		return fsnotify.ErrNonExistentWatch
	}
	delete(k.dirs, dir)
	return nil
}

func (k *kernel) Close() error {
	close(k.events)
	close(k.errs)
	return nil
}

// set changes fields of the kernel with mu held.
func (k *kernel) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// event reports an operation on each path once the watcher is idle.
func (k *kernel) event(op fsnotify.Op, root string, rels ...string) {
	synctest.Wait()
	k.mu.Lock()
	events := k.events
	k.mu.Unlock()
	for _, rel := range rels {
		events <- fsnotify.Event{Name: filepath.Join(root, rel), Op: op}
	}
}

// overflow reports a queue overflow once the watcher is idle.
func (k *kernel) overflow() {
	synctest.Wait()
	k.mu.Lock()
	errs := k.errs
	k.mu.Unlock()
	errs <- fsnotify.ErrEventOverflow
}

// sources returns the number of sources opened so far.
func (k *kernel) sources() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.opened
}

func TestQueue_MergeAndBound(t *testing.T) {
	q := newQueue()
	q.put(fsnotify.Event{Name: "b", Op: fsnotify.Create})
	q.put(fsnotify.Event{Name: "a", Op: fsnotify.Write})
	q.put(fsnotify.Event{Name: "b", Op: fsnotify.Remove})
	require.Len(t, q.ready, 1, "one token however many events")
	require.Equal(t, queued{events: []fsnotify.Event{
		{Name: "b", Op: fsnotify.Create | fsnotify.Remove},
		{Name: "a", Op: fsnotify.Write},
	}}, q.take())
	require.Equal(t, queued{}, q.take())

	for i := range 3 * maxPaths {
		q.put(fsnotify.Event{Name: string(rune(i)) + "x", Op: fsnotify.Write})
	}
	got := q.take()
	require.Len(t, got.events, maxPaths)
	require.ErrorContains(t, got.lost, "more than 10000 paths")
}
