package watcher

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// subtree is the set of added directories of a notifier for which the system reports
// changes in the whole tree below the root.
type subtree struct {
	mu     sync.Mutex
	dirs   map[string]struct{} // added directories, in the tracker's spelling
	folded map[string]string   // the same directories by pathKey
}

func newSubtree() subtree {
	return subtree{dirs: make(map[string]struct{}), folded: make(map[string]string)}
}

// Add implements notifier.
func (s *subtree) Add(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[dir] = struct{}{}
	s.folded[strings.ToLower(dir)] = dir
	return nil
}

// Remove implements notifier.
func (s *subtree) Remove(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dirs, dir)
	if key := strings.ToLower(dir); s.folded[key] == dir {
		delete(s.folded, key)
	}
	return nil
}

// spelled converts a reported path to the tracker's spelling of its directory. It
// reports false unless the path is an added directory or an entry of one. Windows
// ignores case, so that a report can differ in spelling from a listing.
func (s *subtree) spelled(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.dirs[name]; ok {
		return name, true
	}
	parent, base := filepath.Split(name)
	parent = filepath.Clean(parent)
	if _, ok := s.dirs[parent]; !ok {
		if parent, ok = s.folded[strings.ToLower(parent)]; !ok {
			return "", false
		}
		name = filepath.Join(parent, base)
	}
	// A different spelling of an added directory is a new name only if its parent lists
	// it.
	if known, ok := s.folded[strings.ToLower(name)]; ok && !lists(parent, base) {
		return known, true
	}
	return name, true
}

// lists reports whether a directory contains an entry with exactly this name.
func lists(dir, name string) bool {
	f, err := openDir(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err == nil && slices.Contains(names, name)
}
