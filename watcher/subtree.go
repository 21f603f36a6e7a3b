package watcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/text/unicode/norm"
)

// subtree is a notifier with a single handle on the root, through which the system
// reports changes in the whole tree. It queues the events of directories that were added
// and of their entries.
type subtree struct {
	queue *queue
	stop  func() error

	mu     sync.Mutex
	dirs   map[string]struct{} // added directories, in the tracker's spelling
	folded map[string]string   // the same directories by pathKey
}

// openSubtree opens a source. start starts reporting changes below root to the subtree;
// after stop returns, it must not report.
func openSubtree(root string, start func(root string, to *subtree) (stop func() error, err error)) (*source, error) {
	s := &subtree{queue: newQueue(), dirs: make(map[string]struct{}), folded: make(map[string]string)}
	var err error
	if s.stop, err = start(root, s); err != nil {
		return nil, err
	}
	return &source{notifier: s, queue: s.queue}, nil
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

// Close implements notifier.
func (s *subtree) Close() error { return s.stop() }

// send queues an event, unless it is outside the added directories.
func (s *subtree) send(ev fsnotify.Event) {
	if name, ok := s.spelled(ev.Name); ok {
		ev.Name = name
		s.queue.put(ev)
	}
}

// fail reports that events were lost.
func (s *subtree) fail(err error) { s.queue.fail(eventLoss(err)) }

// spelled converts a reported path to the tracker's spelling of its directory. It
// reports false unless the path is an added directory or an entry of one. Windows and
// macOS ignore case, and macOS also Unicode normalization, so that a report can differ
// in spelling from a listing.
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
	// A different spelling of an added directory is a new name only if its parent lists
	// it.
	if known, ok := s.folded[pathKey(name)]; ok && !lists(parent, base) {
		return known, true
	}
	return name, true
}

// pathKey returns a key that is equal for all spellings that a file system may treat as
// the same path.
func pathKey(path string) string { return strings.ToLower(norm.NFC.String(path)) }

// lists reports whether a directory contains an entry with exactly this name.
func lists(dir, name string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err == nil && slices.Contains(names, name)
}
