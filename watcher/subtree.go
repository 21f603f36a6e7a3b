package watcher

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/text/unicode/norm"
)

// subtree is a notifier with a single handle on the root, through which the system
// reports the changes of the whole tree. It passes on the events of the directories
// that were added and of their entries.
type subtree struct {
	events chan fsnotify.Event
	errs   chan error
	done   chan struct{} // closed by Close
	stop   func() error

	mu     sync.Mutex
	dirs   map[string]struct{} // as the tracker spells them
	folded map[string]string   // the same directories by pathKey
}

// openSubtree opens a source and drains it until Close. start begins to report the
// changes below root; no report may follow the return of stop.
func openSubtree(root string, start func(root string, to *subtree) (stop func() error, err error)) (*source, error) {
	s := &subtree{
		events: make(chan fsnotify.Event),
		errs:   make(chan error),
		done:   make(chan struct{}),
		dirs:   make(map[string]struct{}),
		folded: make(map[string]string),
	}
	var err error
	if s.stop, err = start(root, s); err != nil {
		return nil, err
	}
	return drainSource(s, s.events, s.errs), nil
}

// Add implements notifier.
func (s *subtree) Add(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[dir] = struct{}{}
	s.folded[pathKey(dir)] = dir
	return nil
}

// Remove implements notifier.
func (s *subtree) Remove(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.dirs[dir]; !ok {
		return fsnotify.ErrNonExistentWatch
	}
	delete(s.dirs, dir)
	if key := pathKey(dir); s.folded[key] == dir {
		delete(s.folded, key)
	}
	return nil
}

// WatchList implements notifier.
func (s *subtree) WatchList() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.dirs))
}

// Close implements notifier.
func (s *subtree) Close() error {
	close(s.done) // ends a send that waits
	err := s.stop()
	close(s.events)
	close(s.errs)
	return err
}

// send passes on an event, unless it is outside the directories that were added.
func (s *subtree) send(ev fsnotify.Event) {
	var ok bool
	if ev.Name, ok = s.spelled(ev.Name); !ok {
		return
	}
	select {
	case s.events <- ev:
	case <-s.done:
	}
}

// fail reports that events were lost.
func (s *subtree) fail(err error) {
	select {
	case s.errs <- err:
	case <-s.done:
	}
}

// spelled returns a path that the system reported in the tracker's spelling of its
// directory; ok is false unless the path is a directory that was added, or in one.
// The disks of Windows and macOS fold case, those of macOS Unicode forms as well,
// and their reports may have another spelling than a listing.
func (s *subtree) spelled(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.dirs[name]; ok {
		return name, true
	}
	parent, base := filepath.Split(name)
	parent = filepath.Clean(parent)
	if _, ok := s.dirs[parent]; !ok {
		if parent, ok = s.folded[pathKey(parent)]; !ok {
			return "", false
		}
		name = filepath.Join(parent, base)
	}
	// Another spelling of a directory that was added is its new name only if the
	// disk lists it.
	if known, ok := s.folded[pathKey(name)]; ok && !lists(parent, base) {
		return known, true
	}
	return name, true
}

// pathKey is equal for all spellings of a path that a disk may take for the same.
func pathKey(path string) string { return strings.ToLower(norm.NFC.String(path)) }

// lists reports whether a directory has an entry of exactly this name.
func lists(dir, name string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err == nil && slices.Contains(names, name)
}
