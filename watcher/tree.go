package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"notesd/internal/fsid"
)

// mode is how a directory is followed.
type mode uint8

const (
	removed mode = iota // not in the tree
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
	id       fsid.Identity
	entries  map[string]stamp     // polled: files of the last listing
	seen     stamp                // polled: stamp of the directory at the last listing
	absent   map[string]time.Time // polled: entries recently removed, and when
	remote   bool                 // always polled, because of its file system
	cost     int                  // entries charged to the budget while watched
}

// stamp holds the attributes that a poll compares. Every change of a file changes
// its stamp, except a second write of the same size within one tick of the file
// system's clock.
type stamp struct {
	fsid.Stat
	mode fs.FileMode
}

func stampOf(info fs.FileInfo) stamp { return stamp{fsid.StatOf(info), info.Mode()} }

// lookup identifies the directory entry at abs, without following a symbolic
// link. On Windows only directories have an identity.
func lookup(abs string) (id fsid.Identity, isDir bool, err error) {
	info, err := os.Lstat(abs)
	if err != nil {
		return fsid.Identity{}, false, err
	}
	if !info.IsDir() {
		return fsid.IdentityOf(info), false, nil
	}
	id, err = fsid.PathIdentity(abs, info)
	return id, true, err
}

// rel returns the path of d relative to the root, "" for the root itself.
func (d *dir) rel() string {
	if d.parent == nil {
		return ""
	}
	return join(d.parent.rel(), d.name)
}

// join appends a name to a relative path. Unlike path.Join, it does not clean the
// result.
func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// tree is the set of known directories, with the state needed to follow them and to
// collect the paths that changed.
type tree struct {
	ctx  context.Context
	opt  Options
	env  environment
	root string // absolute
	log  *slog.Logger

	rootID rootID
	src    *source // nil if no directory is watched by events
	srcErr error   // why no source could be opened
	limit  error   // error of the watch that reached the limit
	warned string  // the last problem logged by warn
	batch  batch

	top        *dir
	ids        map[fsid.Identity]*dir // watched or polled directories by identity
	polled     map[*dir]struct{}      // directories in mode polled
	unreadable map[*dir]error         // polled directories that could not be listed, and why
	count      int                    // number of directories with events
	cost       int                    // sum of their costs
}

// clear closes the source and discards every directory and the batch.
func (t *tree) clear() {
	t.closeSource()
	t.srcErr, t.limit, t.batch = nil, nil, newBatch()
	t.top = &dir{}
	t.ids = make(map[fsid.Identity]*dir)
	t.polled = make(map[*dir]struct{})
	t.unreadable = make(map[*dir]error)
	t.count, t.cost = 0, 0
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
	switch {
	case m == polled:
		t.polled[d] = struct{}{}
	case m == removed && t.ids[d.id] == d:
		delete(t.ids, d.id)
	}
}

// setEvents records whether the source watches d, and the cost.
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

// forget removes d and everything below it from the tree. It ends the watch of
// each directory while its path can still be determined.
func (t *tree) forget(d *dir) {
	for _, child := range d.children {
		t.forget(child)
	}
	if d.events {
		t.unwatch(d)
	}
	t.setMode(d, removed)
	if d.parent != nil {
		delete(d.parent.children, d.name)
	}
}

// errBudget is the limit on watches that entryBudget sets; isLimit recognizes
// those of the kernel.
var errBudget = errors.New("too many entries for the limit")

// enter follows a new directory of the tree and everything below it. It watches
// each directory before it lists it, so that an entry created at that moment is
// either listed or reported by the kernel. With report, every entry found is
// added to the batch.
func (t *tree) enter(d *dir, report bool) {
	for todo := []*dir{d}; len(todo) > 0 && t.ctx.Err() == nil; {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if t.follow(d) {
			todo = append(todo, t.list(d, nil, report)...)
		}
	}
}

// follow chooses whether a directory is watched or polled, sets the watch, and
// reports whether the directory should be listed. A directory that no longer
// exists is removed from the tree.
func (t *tree) follow(d *dir) bool {
	id, isDir, err := t.lookup(d)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !isDir:
		t.forget(d)
		return false
	case err != nil:
		t.setMode(d, polled)
		t.unreadable[d] = err
		return false
	}
	d.id = id
	if d.parent != nil && id.Device != d.parent.id.Device { // perhaps of another kind
		d.remote = t.top.remote || t.env.remote(t.abs(d.rel())) != ""
	}
	mounted := t.boundTo(d)
	if mounted == nil {
		t.ids[id] = d
	}
	t.setMode(d, watched)
	if mounted != nil || !t.watch(d) || d.remote {
		t.setMode(d, polled)
	}
	return true
}

// lookup identifies d on disk. The root may be a symbolic link, so it has the
// identity that probeRoot found.
func (t *tree) lookup(d *dir) (id fsid.Identity, isDir bool, err error) {
	if d.parent == nil {
		return t.rootID.Identity, true, nil
	}
	return lookup(t.abs(d.rel()))
}

// boundTo returns another directory of the tree that has the identity of d and
// still exists, as with a bind mount, or nil. The kernel has a single watch for
// both, so d must be polled. If the other directory no longer exists, it was
// renamed to d and the event of the rename is still to come; its watch would
// report the old name, so it is removed.
func (t *tree) boundTo(d *dir) *dir {
	other := t.ids[d.id]
	if other == nil || other == d {
		return nil
	}
	if id, isDir, err := lookup(t.abs(other.rel())); err == nil && isDir && id == d.id && t.listedAs(other) {
		return other
	}
	t.touch(other.rel())
	t.forget(other)
	return nil
}

// listedAs reports whether the parent directory lists d under exactly its name.
// A stat is no proof: on a file system that ignores case or normalization it
// succeeds under the old name of a renamed directory, too.
func (t *tree) listedAs(d *dir) bool {
	if d.parent == nil {
		return true
	}
	return lists(t.abs(d.parent.rel()), d.name)
}

// watch adds d to the source and reports whether that succeeded. On a remote file
// system, a limit is not recorded, because d is polled in any case.
func (t *tree) watch(d *dir) bool {
	if t.src == nil || t.limit != nil {
		return false
	}
	abs := t.abs(d.rel())
	cost, err := t.watchCost(abs)
	if err == nil {
		err = t.src.Add(abs)
	}
	if err != nil {
		if !d.remote && (errors.Is(err, errBudget) || isLimit(err)) {
			t.limit = err
			t.warn("no more directories can be watched: the rest is polled", err)
		}
		return false
	}
	// Between the lookup and the watch, d may have been replaced by another
	// directory or by a symbolic link to one.
	if id, isDir, err := t.lookup(d); err != nil || !isDir || id != d.id {
		_ = t.src.Remove(abs)
		return false
	}
	t.setEvents(d, true, cost)
	return true
}

// warn logs a problem, unless it is the last one logged: each retry meets it again.
func (t *tree) warn(text string, err error) {
	if problem := fmt.Sprint(text, err); problem != t.warned {
		t.warned = problem
		t.log.Warn(text, "err", err)
	}
}

// unwatch ends the events of d.
func (t *tree) unwatch(d *dir) {
	// An error is expected: the kernel may have ended the watch already.
	_ = t.src.Remove(t.abs(d.rel()))
	t.setEvents(d, false, 0)
}

// watchCost returns the number of entries that a watch of the directory would charge
// to the budget, 0 without a budget, or errBudget if they exceed it.
func (t *tree) watchCost(abs string) (cost int, err error) {
	budget := t.env.budget()
	if budget == 0 {
		return 0, nil
	}
	f, err := openDir(abs)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	entries, err := f.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	cost = len(entries) + 1
	if t.cost+cost > budget {
		return 0, fmt.Errorf("%w of %d", errBudget, budget)
	}
	return cost, nil
}

// openDir opens a directory. It does not block if a named pipe has taken its place.
func openDir(abs string) (*os.File, error) {
	return os.OpenFile(abs, os.O_RDONLY|fsid.OpenNonblock, 0)
}

// isGone reports whether an error means that a directory does not exist.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// absentFor is how long reportRemovedAgain remembers a name. It must exceed the time
// that an owner takes to handle a batch.
const absentFor = 10 * time.Second

// batch collects the paths of the next Batch.
type batch struct {
	paths       map[string]struct{}
	overfull    bool      // paths exceeded maxPaths and were dropped
	first, last time.Time // times of the first and the last touch
	touched     int       // number of touches
}

func newBatch() batch { return batch{paths: make(map[string]struct{})} }

// touch adds a path to the next batch.
func (t *tree) touch(rel string) {
	b := &t.batch
	b.last = time.Now()
	if b.touched == 0 {
		b.first = b.last
	}
	b.touched++
	if len(b.paths) >= maxPaths {
		b.overfull = true
		clear(b.paths)
	}
	if !b.overfull {
		b.paths[rel] = struct{}{}
	}
}

// abs returns the absolute path of a path relative to the root.
func (t *tree) abs(rel string) string {
	if rel == "" {
		return t.root
	}
	return filepath.Join(t.root, filepath.FromSlash(rel))
}

// relative is the inverse of abs. ok is false for paths outside the root.
func (t *tree) relative(abs string) (rel string, ok bool) {
	if abs == t.root {
		return "", true
	}
	rel, ok = strings.CutPrefix(abs, t.root)
	if ok && !strings.HasSuffix(t.root, string(filepath.Separator)) {
		rel, ok = strings.CutPrefix(rel, string(filepath.Separator))
	}
	return filepath.ToSlash(rel), ok
}

func (t *tree) openSource() {
	t.src, t.srcErr = t.env.open(t.root)
	if t.srcErr != nil {
		t.src = nil
		t.warn("file system events are unavailable: polling", t.srcErr)
	}
}

func (t *tree) closeSource() {
	if t.src == nil {
		return
	}
	if err := t.src.Close(); err != nil {
		t.log.Debug("closing the event source", "err", err)
	}
	t.src = nil
}
