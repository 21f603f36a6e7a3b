package vault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"notesd/notes"
	"notesd/notes/store"
)

// progress is how far the work on a plan has come, for status.
type progress struct {
	ready    atomic.Bool
	first    chan struct{} // see FirstScan
	endFirst func()        // closes it, once
	toScan   atomic.Int64
	done     atomic.Int64
	active   atomic.Int64

	differing atomic.Int64 // files that a scan has found to differ from the store and that are not yet read
}

func (p *progress) begin(n int) {
	if p.active.Add(1) == 1 {
		p.toScan.Store(0)
		p.done.Store(0)
	}
	p.toScan.Add(int64(n))
}

func (p *progress) end() { p.active.Add(-1) }

// incident is why the vault cannot be used at the moment.
type incident struct {
	mu  sync.Mutex
	err error

	trouble string // why what is on disk cannot be recorded, though the vault can be used
}

// took records how reconciling has ended: of the whole vault, or of some paths.
func (i *incident) took(err error, all bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case err == nil && all, errors.Is(err, notes.ErrUnavailable):
		i.trouble = ""
	case isFull(err):
		i.trouble = stateIsFull
	case err != nil:
		i.trouble = err.Error()
	}
}

// set records the incident if err is one, and reports whether it begins.
func (i *incident) set(err error) (begins bool) {
	if !errors.Is(err, notes.ErrUnavailable) {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	begins = i.err == nil
	i.err = err
	return begins
}

// clear ends the incident, and reports whether there was one.
func (i *incident) clear() (ends bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	ends = i.err != nil
	i.err = nil
	return ends
}

func (i *incident) get() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

func (i *incident) getTrouble() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.trouble
}

// unread are the files whose last read failed: path → how the disk spells it.
// What is known of such a note is kept.
type unread struct {
	mu    sync.Mutex
	files map[string]string
}

func (u *unread) add(f store.File) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil {
		u.files = map[string]string{}
	}
	u.files[f.Path] = f.DiskPath
}

func (u *unread) remove(p string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.files, p)
}

func (u *unread) has(p string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.files[p] != ""
}

// take empties the set: a file that fails again comes back.
func (u *unread) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	files := slices.Collect(maps.Values(u.files))
	u.files = nil
	return files
}

func (u *unread) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.files) > 0
}

// unreadRetry is how soon files whose read failed are read again.
const unreadRetry = 10 * time.Second

// leftFiles are temp files with a text that could not be kept in history, and
// the notes that they were.
type leftFiles struct {
	mu    sync.Mutex
	notes map[string]string
}

func (l *leftFiles) add(temp, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil {
		l.notes = map[string]string{}
	}
	l.notes[temp] = note
}

func (l *leftFiles) remove(temp string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.notes, temp)
}

func (l *leftFiles) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, temp := range slices.Sorted(maps.Keys(l.notes)) {
		out = append(out, fmt.Sprintf("the text that another program saved to %s could not be kept in its history; it is in the file %s until it can. Free some space where notesd keeps its state.", notes.Quote(l.notes[temp]), notes.Quote(temp)))
	}
	return out
}

// symlinks are the notes, and what could be notes, that lead to other files of
// the vault. What happens to such a file is reported under its own name only,
// so they are scanned with every other path.
type symlinks struct {
	mu    sync.Mutex
	paths map[string]bool // as the file system spells them
}

// found records the symlinks that a scan found; after a scan of the whole vault there
// are no others.
func (s *symlinks) found(paths []string, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole || s.paths == nil {
		s.paths = map[string]bool{}
	}
	for _, p := range paths {
		s.paths[p] = true
	}
}

// with returns places and the symlinks that are not among them.
func (s *symlinks) with(places []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.paths) == 0 || len(s.paths) > maxSymlinksLooked {
		return places
	}
	out := slices.Clone(places)
	given := map[string]bool{}
	for _, p := range places {
		given[p] = true
	}
	for p := range s.paths {
		if !given[p] {
			out = append(out, p)
		}
	}
	return out
}

// maxSymlinksLooked bounds what they may cost each time; in a vault with more
// of them they wait for a scan of everything.
const maxSymlinksLooked = 1000
