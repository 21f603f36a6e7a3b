package watcher

import (
	"path"

	"github.com/fsnotify/fsnotify"
)

// process handles the queued events. Paths come in the order of their first
// event, each with the union of its operations, so the operations do not give
// the current state of a path: only a stat does.
func (t *tracker) process(q queued) {
	if q.lost != nil {
		t.requestRestart(q.lost.Error())
	}
	src := t.src
	for _, ev := range q.events {
		if t.ctx.Err() != nil {
			return
		}
		t.handle(ev)
		if t.src != src {
			return // restarted: the other events come from the closed source
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
		// A file, or a directory outside the tree. It is not statted here,
		// because a file that is being written has many such events.
		if !t.opt.Ignore(rel, false) {
			t.touch(rel)
		}
	case d != nil && ev.Op == fsnotify.Write:
		// Windows reports this when an entry of d changed, and reports the
		// entry as well.
	default:
		t.recheck(rel, d, moved)
	}
}

// handleRoot handles an event of the root itself.
func (t *tracker) handleRoot(moved bool) {
	if moved {
		t.restart("the folder was moved or removed")
		return
	}
	t.checkRoot() // its permissions may have changed
}

// recheck compares a path that is, was or may have become a directory with the
// tree, and updates the tree. moved reports that the kernel has ended its watch
// of the path, or will, even if a directory with the same identity is there.
func (t *tracker) recheck(rel string, d *dir, moved bool) {
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
		t.touch(rel) // the removed entry may have been a file, which is not ignored
	}
	if d != nil {
		// On a case-insensitive file system the old name of a renamed directory
		// still resolves to it.
		exists = exists && (!isDir || t.listedAs(d))
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
