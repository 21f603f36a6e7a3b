package watcher

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// listing reads a directory once and compares it with its previous state.
type listing struct {
	*tree
	d      *dir
	rel    string
	report bool
	stamps bool             // whether to stat files and compare their stamps
	before map[string]stamp // files of the previous listing

	hides bool                // an entry found makes the source miss others
	seen  stamp               // stamp of the directory, taken before reading it
	files map[string]stamp    // files found
	dirs  map[string]struct{} // directories found
	added []*dir              // directories found that were not in the tree
}

// list reads a directory and returns its new subdirectories, which the caller must
// enter. With report, it touches every entry added, changed or removed since before,
// or since the last listing if the directory is polled.
func (t *tree) list(d *dir, before map[string]stamp, report bool) []*dir {
	if d.mode == polled {
		before = d.entries
	}
	l := listing{
		tree:   t,
		d:      d,
		rel:    d.rel(),
		report: report,
		stamps: d.mode == polled || before != nil,
		before: before,
		files:  make(map[string]stamp, len(before)),
		dirs:   make(map[string]struct{}, len(d.children)),
	}
	if err := l.read(t.abs(l.rel)); err != nil {
		t.listFailed(d, err)
		return nil
	}
	l.reportRemoved()
	delete(t.unreadable, d)
	switch {
	case l.hides && d.mode == watched:
		t.setMode(d, polled)
	case !l.hides && d.mode == polled && d.events && !d.remote:
		t.unwatch(d) // retryWatches watches it again, and no longer polls it
	}
	if d.mode == polled {
		l.reportRemovedAgain()
		d.entries, d.seen = l.files, l.seen
	}
	return l.added
}

// read stamps the directory before it reads it, so that a change during the read
// leaves a different stamp for the next listing.
func (l *listing) read(abs string) error {
	f, err := openDir(abs)
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
		l.hides = l.hides || l.d.events && l.env.hides(filepath.Join(abs, e.Name()))
		l.entry(e)
	}
	return nil
}

// listFailed handles a directory that could not be looked up or read. An error other
// than "does not exist" never implies that its files were deleted: the directory is
// polled until it can be read.
func (t *tree) listFailed(d *dir, err error) {
	if d.parent != nil && isGone(err) {
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
	switch rel := join(l.rel, e.Name()); {
	case l.opt.Ignore(rel):
	case e.IsDir():
		l.directory(e.Name(), rel)
	default:
		l.file(e, rel)
	}
}

func (l *listing) directory(name, rel string) {
	l.dirs[name] = struct{}{}
	if child := l.d.children[name]; child != nil {
		if id, isDir, err := lookup(l.abs(rel)); err != nil || isDir && id == child.id {
			return
		}
		l.forget(child)
	}
	l.added = append(l.added, l.add(l.d, name))
	l.found(rel)
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
		if _, ok := l.dirs[name]; !ok {
			l.removed(name)
			l.forget(child)
		}
	}
}

// removed touches an entry that is not listed and, in a polled directory,
// records it for reportRemovedAgain.
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
