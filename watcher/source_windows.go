package watcher

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// subtree is a notifier with a single handle on the root, through which Windows
// reports the changes of the whole tree. fsnotify opens every directory, and
// Windows refuses to rename or move a directory that contains an open one, so
// users would find their folders locked.
//
// A subtree passes on the events in directories that were added.
type subtree struct {
	events chan fsnotify.Event
	errs   chan error
	done   chan struct{} // closed by Close
	ended  chan struct{} // closed when the reader has ended

	mu   sync.Mutex
	root *changeReader // nil until the first Add
	dirs map[string]struct{}
}

// openSource opens a source and drains it until Close. The first directory that
// is added must be the root.
func openSource() (*source, error) {
	s := &subtree{
		events: make(chan fsnotify.Event),
		errs:   make(chan error),
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
		dirs:   make(map[string]struct{}),
	}
	return drainSource(s, s.events, s.errs), nil
}

// Add implements notifier.
func (s *subtree) Add(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		r, err := openChangeReader(dir)
		if err != nil {
			return err
		}
		s.root = r
		go s.run(r)
	}
	s.dirs[dir] = struct{}{}
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
	return nil
}

// WatchList implements notifier. It is empty after the reader of the root ended.
func (s *subtree) WatchList() []string {
	select {
	case <-s.ended:
		return nil
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.dirs))
}

// Close implements notifier and waits for the reader.
func (s *subtree) Close() error {
	s.mu.Lock()
	root := s.root
	s.mu.Unlock()
	close(s.done)
	var err error
	if root != nil {
		err = windows.SetEvent(root.stop)
		<-s.ended
	}
	close(s.events)
	close(s.errs)
	return err
}

// run passes on the changes until Close, or until the root is deleted.
func (s *subtree) run(r *changeReader) {
	defer close(s.ended)
	defer r.close()
	for {
		changes, err := r.read()
		switch {
		case errors.Is(err, errStopped):
			return
		case errors.Is(err, fsnotify.ErrEventOverflow):
			s.fail(err)
		case err != nil: // the root was deleted, for example
			s.send(fsnotify.Event{Name: r.dir, Op: fsnotify.Remove})
			return
		}
		for _, ev := range changes {
			if ev.Name = longName(ev.Name); s.added(filepath.Dir(ev.Name)) {
				s.send(ev)
			}
		}
	}
}

func (s *subtree) added(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.dirs[dir]
	return ok
}

func (s *subtree) send(ev fsnotify.Event) {
	select {
	case s.events <- ev:
	case <-s.done:
	}
}

func (s *subtree) fail(err error) {
	select {
	case s.errs <- err:
	case <-s.done:
	}
}

// longName expands short names (NOTES~1.MD). Windows reports a change under the
// name that the program used. If the file no longer exists, longName expands its
// directory only.
func longName(name string) string {
	if !strings.Contains(name, "~") {
		return name
	}
	if long, err := expandName(name); err == nil {
		return long
	}
	if dir, err := expandName(filepath.Dir(name)); err == nil {
		return filepath.Join(dir, filepath.Base(name))
	}
	return name
}

func expandName(name string) (string, error) {
	short, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return "", err
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(short, &buf[0], uint32(len(buf)))
	if err != nil || int(n) > len(buf) {
		return "", fmt.Errorf("long name of %s: %w", name, err)
	}
	return windows.UTF16ToString(buf[:n]), nil
}
