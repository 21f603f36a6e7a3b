package watcher

import (
	"strings"
	"time"
)

// mode is how a directory is followed.
type mode uint8

const (
	removed mode = iota // not in the tree
	ignored             // kept in the tree so that its removal is not reported either
	watched             // followed by events alone
	polled              // followed by listings, and by events too if dir.events
)

// dir is a directory of the tree. Its files are recorded only while it is polled.
type dir struct {
	name     string // last element; "" for the root
	parent   *dir
	children map[string]*dir
	mode     mode
	events   bool // the source watches it
	id       fileID
	entries  map[string]stamp     // polled: files of the last listing
	seen     stamp                // polled: stamp of the directory at the last listing
	absent   map[string]time.Time // polled: entries recently removed, and when
	remote   bool                 // always polled, by choice or because of its file system
	cost     int                  // entries charged to the budget while watched
}

// fileID identifies a file on this machine as long as it exists: the system
// reuses the numbers of deleted files.
type fileID struct{ dev, ino uint64 }

// stamp holds the attributes that a poll compares. Every change of a file changes
// its stamp, except a second write of the same size within one tick of the file
// system's clock.
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

// join appends a name to a relative path. Unlike path.Join, it keeps names as
// the disk has them.
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
	polled     map[*dir]struct{} // directories in mode polled
	unreadable map[*dir]error    // polled directories that could not be listed, and why
	count      int               // number of directories with events
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

// add creates a child of parent. The caller sets its mode.
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
	case removed, ignored:
		if t.ids[d.id] == d {
			delete(t.ids, d.id)
		}
	}
}

// setEvents records whether the source watches d, and at what cost.
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

// remove removes d and everything below it from the tree. It calls unwatch for
// each directory with events while its path can still be determined.
func (t *tree) remove(d *dir, unwatch func(*dir)) {
	for _, child := range d.children {
		t.remove(child, unwatch)
	}
	if d.events {
		unwatch(d)
	}
	t.setMode(d, removed)
	if d.parent != nil {
		delete(d.parent.children, d.name)
	}
}
