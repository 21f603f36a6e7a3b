package watcher

import (
	"strings"
	"time"
)

// mode is how a directory is followed.
type mode uint8

const (
	gone    mode = iota // no longer in the tree (or not in it yet)
	ignored             // remembered only so that its end is not reported either
	watched             // by events alone
	polled              // by comparing listings, with events besides where dir.events
)

// dir is a directory that the tracker knows. Files are not remembered, but in
// polled directories.
type dir struct {
	name     string // last element; "" for the root
	parent   *dir
	children map[string]*dir
	mode     mode
	events   bool // the source reports its changes
	id       fileID
	entries  map[string]stamp     // polled: the files of the last listing
	seen     stamp                // polled: of the directory itself then
	absent   map[string]time.Time // polled: what a recent listing missed, and when
	remote   bool                 // polled by choice or because of its file system, for good
	cost     int                  // entries charged to the budget while watched
}

// fileID tells one file from another on this machine, at one time: numbers are
// used again after a deletion.
type fileID struct{ dev, ino uint64 }

// stamp is what a poll compares; any change of a file changes its stamp, but
// for writes within one tick of the file system's clock.
type stamp struct {
	size, mtime, ctime int64
	ino                uint64
	mode               uint32
}

// rel returns the path of d relative to the root, "" for the root itself.
func (d *dir) rel() string {
	if d.parent == nil {
		return ""
	}
	return join(d.parent.rel(), d.name)
}

// join appends a name to a relative path. path.Join would clean what the disk
// calls a name.
func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// tree is the set of known directories.
type tree struct {
	top        *dir
	ids        map[fileID]*dir   // watched or polled directories by identity
	polled     map[*dir]struct{} // those whose mode is polled
	unreadable map[*dir]error    // those of the polled that could not be listed, and why
	count      int               // those with events
	cost       int               // sum of their costs
}

func newTree() tree {
	return tree{
		top:        &dir{},
		ids:        make(map[fileID]*dir),
		polled:     make(map[*dir]struct{}),
		unreadable: make(map[*dir]error),
	}
}

// find returns the directory at rel, or nil.
func (t *tree) find(rel string) *dir {
	d := t.top
	for rel != "" && d != nil {
		var name string
		name, rel, _ = strings.Cut(rel, "/")
		d = d.children[name]
	}
	return d
}

// add makes a child of parent, to be followed.
func (t *tree) add(parent *dir, name string) *dir {
	d := &dir{name: name, parent: parent, remote: parent.remote}
	if parent.children == nil {
		parent.children = make(map[string]*dir)
	}
	parent.children[name] = d
	return d
}

// setMode changes how d is followed.
func (t *tree) setMode(d *dir, m mode) {
	if d.mode == polled && m != polled {
		delete(t.polled, d)
		delete(t.unreadable, d)
		d.entries, d.absent = nil, nil
	}
	d.mode = m
	switch m {
	case polled:
		t.polled[d] = struct{}{}
	case gone, ignored:
		if t.ids[d.id] == d {
			delete(t.ids, d.id)
		}
	}
}

// setEvents notes that the source reports what happens in d, at a cost, or
// that it does no more.
func (t *tree) setEvents(d *dir, on bool, cost int) {
	if d.events {
		t.count--
		t.cost -= d.cost
	}
	d.events, d.cost = on, cost
	if on {
		t.count++
		t.cost += cost
	}
}

// remove takes d and everything below it out of the tree; unwatch is called
// for each directory with events, before its links to the tree are cut.
func (t *tree) remove(d *dir, unwatch func(*dir)) {
	for _, child := range d.children {
		t.remove(child, unwatch)
	}
	if d.events {
		unwatch(d)
	}
	t.setMode(d, gone)
	if d.parent != nil {
		delete(d.parent.children, d.name)
	}
}
