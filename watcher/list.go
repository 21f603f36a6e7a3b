package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// listing reads a directory once and compares it with its previous state.
type listing struct {
	*tracker
	d      *dir
	rel    string
	report bool
	stamps bool             // whether to stat files and compare their stamps
	before map[string]stamp // files of the previous listing

	seen  stamp               // stamp of the directory, taken before reading it
	files map[string]stamp    // files found
	dirs  map[string]struct{} // directories found
	added []*dir              // directories found that were not in the tree
}

// list reads a directory and returns its new sub-directories, which the caller
// must enter. With report, it touches every entry that was added, changed or
// removed since before, or since the last listing if the directory is polled.
func (t *tracker) list(d *dir, before map[string]stamp, report bool) []*dir {
	if d.mode == polled {
		before = d.entries
	}
	l := listing{
		tracker: t,
		d:       d,
		rel:     d.rel(),
		report:  report,
		stamps:  d.mode == polled || before != nil,
		before:  before,
		files:   make(map[string]stamp, len(before)),
		dirs:    make(map[string]struct{}, len(d.children)),
	}
	if err := l.read(t.abs(l.rel)); err != nil {
		t.listFailed(d, err)
		return nil
	}
	l.reportRemoved()
	delete(t.unreadable, d)
	if d.mode == polled {
		l.reportRemovedAgain()
		d.entries, d.seen = l.files, l.seen
	}
	return l.added
}

// read stamps the directory before it reads it, so that a change during the read
// leaves a different stamp for the next listing.
func (l *listing) read(abs string) error {
	f, err := os.Open(abs)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	l.seen = stampOf(fi)
	entries, err := f.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		l.entry(e)
	}
	return nil
}

// listFailed handles a directory that could not be read. An error other than
// "does not exist" never implies that its files were deleted: the directory is
// polled until it can be read.
func (t *tracker) listFailed(d *dir, err error) {
	if d.parent != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		t.touch(d.rel())
		t.forget(d)
		return
	}
	if d.events {
		t.unwatch(d)
	}
	t.setMode(d, polled)
	t.unreadable[d] = err
}

func (l *listing) entry(e fs.DirEntry) {
	rel := join(l.rel, e.Name())
	skip := l.opt.Ignore(rel, e.IsDir())
	switch {
	case e.IsDir():
		l.dirs[e.Name()] = struct{}{}
		l.directory(e.Name(), rel, skip)
	case !skip:
		l.file(e, rel)
	}
}

func (l *listing) directory(name, rel string, skip bool) {
	child := l.d.children[name]
	if child != nil && !skip {
		if id, isDir, err := lookup(l.abs(rel)); err != nil || isDir && id == child.id {
			return
		}
		l.forget(child)
		child = nil
	}
	switch {
	case child != nil:
	case skip:
		l.setMode(l.add(l.d, name), ignored)
	default:
		l.added = append(l.added, l.add(l.d, name))
		l.found(rel)
	}
}

func (l *listing) file(e fs.DirEntry, rel string) {
	if !l.stamps {
		l.found(rel)
		return
	}
	old, known := l.before[e.Name()]
	fi, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil: // unknown: keep the previous stamp and report no change
		if known {
			l.files[e.Name()] = old
		}
		return
	}
	now := stampOf(fi)
	l.files[e.Name()] = now
	if !known || now != old {
		l.found(rel)
	}
}

// reportRemoved touches the entries of the previous state that are not listed.
func (l *listing) reportRemoved() {
	for name := range l.before {
		if _, ok := l.files[name]; !ok {
			l.removed(name)
		}
	}
	for name, child := range l.d.children {
		if _, ok := l.dirs[name]; ok {
			continue
		}
		if child.mode != ignored {
			l.removed(name)
		}
		l.forget(child)
	}
}

// removed touches an entry that is not listed and, in a polled directory,
// remembers it for reportRemovedAgain.
func (l *listing) removed(name string) {
	l.found(join(l.rel, name))
	if l.d.mode != polled {
		return
	}
	if l.d.absent == nil {
		l.d.absent = make(map[string]time.Time)
	}
	l.d.absent[name] = time.Now()
}

// absentFor is how long reportRemovedAgain remembers a name. It exceeds the time
// that an owner needs to handle a batch.
const absentFor = 10 * time.Second

// reportRemovedAgain touches an entry again that neither an earlier listing nor
// this one contains, if the directory changed in between. The entry may have
// existed between the two listings: the owner then found it when it handled the
// batch of the first, and no listing would show its second removal.
func (l *listing) reportRemovedAgain() {
	for name, when := range l.d.absent {
		_, isFile := l.files[name]
		_, isDir := l.dirs[name]
		switch {
		case isFile, isDir, time.Since(when) > absentFor:
			delete(l.d.absent, name)
		case l.seen != l.d.seen:
			l.found(join(l.rel, name))
		}
	}
}

func (l *listing) found(rel string) {
	if l.report {
		l.touch(rel)
	}
}
