package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// listing is one reading of a directory, compared with what was known of it.
type listing struct {
	*tracker
	d      *dir
	rel    string
	report bool
	stamps bool             // whether files are to be stamped
	before map[string]stamp // the files known before

	seen  stamp               // of the directory
	files map[string]stamp    // the files found
	dirs  map[string]struct{} // the directories found
	added []*dir              // those of them that are new
}

// list reads a directory and returns the sub-directories that are new, which
// the caller must enter. With report it touches what is new, different or gone
// in comparison with before, or with the last listing of a polled directory.
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
		t.unlisted(d, err)
		return nil
	}
	l.vanished()
	delete(t.unreadable, d)
	if d.mode == polled {
		l.confirm()
		d.entries, d.seen = l.files, l.seen
	}
	return l.added
}

// read takes the stamp of the directory first: what changes while it is being
// read will have changed it by the next time.
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

// unlisted handles a directory that could not be read. That never means that
// its files are gone: it is polled until it can be read.
func (t *tracker) unlisted(d *dir, err error) {
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
	case err != nil: // nothing is known, so nothing is said
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

// vanished touches what was known before and is not listed any more.
func (l *listing) vanished() {
	for name := range l.before {
		if _, ok := l.files[name]; !ok {
			l.missed(name)
		}
	}
	for name, child := range l.d.children {
		if _, ok := l.dirs[name]; ok {
			continue
		}
		if child.mode != ignored {
			l.missed(name)
		}
		l.forget(child)
	}
}

func (l *listing) missed(name string) {
	l.found(join(l.rel, name))
	if l.d.mode != polled {
		return
	}
	if l.d.absent == nil {
		l.d.absent = make(map[string]time.Time)
	}
	l.d.absent[name] = time.Now()
}

// absentFor is how long confirm stays in doubt about a name; longer than it
// takes an owner to look at a batch.
const absentFor = 10 * time.Second

// confirm touches again what an earlier listing missed and this one does too,
// if anything happened in the directory in between: a file that was back when
// the owner looked, and was removed after that, is in neither listing.
func (l *listing) confirm() {
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
