package watcher

import (
	"path"

	"github.com/fsnotify/fsnotify"
)

// process looks at what the source has queued. Paths come in the order of
// their first event, but each with all that happened to it: only the disk says
// what is there now.
func (t *tracker) process(q queued) {
	if q.lost != nil {
		t.suspect(q.lost.Error())
	}
	src := t.src
	for _, ev := range q.events {
		if t.ctx.Err() != nil {
			return
		}
		t.handle(ev)
		if t.src != src {
			return // started anew: the rest is of the old watches
		}
	}
}

func (t *tracker) handle(ev fsnotify.Event) {
	rel, ok := t.relative(ev.Name)
	if !ok {
		return
	}
	moved := ev.Op.Has(fsnotify.Remove) || ev.Op.Has(fsnotify.Rename)
	if rel == "" {
		t.handleRoot(moved)
		return
	}
	d := t.find(rel)
	switch {
	case d == nil && !ev.Op.Has(fsnotify.Create):
		// Neither a directory that we know nor one that is new. No stat: a
		// file that is being written has many such events.
		if !t.opt.Ignore(rel, false) {
			t.touch(rel)
		}
	case d != nil && ev.Op == fsnotify.Write:
		// Windows says so when an entry of d changed, which is reported itself.
	default:
		t.refollow(rel, d, moved)
	}
}

// handleRoot answers an event of the root itself.
func (t *tracker) handleRoot(moved bool) {
	if moved {
		t.restart("the folder was moved or removed")
		return
	}
	t.rootStands() // its permissions may have changed
}

// refollow looks at a path that is or was a directory, or may be a new one.
// moved says that the kernel's watch of it ended or is about to, even if a
// directory with the same identity is there (again).
func (t *tracker) refollow(rel string, d *dir, moved bool) {
	id, isDir, err := lookup(t.abs(rel))
	exists := err == nil
	if d != nil && d.mode != ignored && !moved && isDir && id == d.id {
		t.touch(rel)
		if t.unreadable[d] != nil {
			t.relist(d)
		}
		return
	}
	skip := t.opt.Ignore(rel, isDir)
	if skip && d == nil && moved && !t.opt.Ignore(rel, false) {
		t.touch(rel) // a file was here
	}
	if d != nil {
		// Where names are compared without regard to case, the old name of a
		// directory still leads to it.
		exists = exists && (!isDir || t.spelled(d))
		skip = skip || d.mode == ignored && !exists
		t.forget(d)
	}
	parentRel, name := splitRel(rel)
	parent := t.find(parentRel)
	known := parent != nil && parent.mode != ignored
	switch {
	case skip && isDir && exists && known:
		t.setMode(t.add(parent, name), ignored)
	case skip:
	case isDir && exists && known:
		t.touch(rel)
		t.enter(t.add(parent, name), true)
	default:
		t.touch(rel)
	}
}

// splitRel splits a relative path into that of its directory and its name.
func splitRel(rel string) (dir, name string) {
	dir, name = path.Split(rel)
	if dir != "" {
		dir = dir[:len(dir)-1]
	}
	return dir, name
}
