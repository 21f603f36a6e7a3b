package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// errBudget is the limit on watches that entryBudget sets; isLimit recognizes
// those of the kernel.
var errBudget = errors.New("too many entries for the limit")

// enter follows a new directory of the tree and everything below it. It watches
// each directory before it lists it, so that an entry created at that moment is
// either listed or reported by the kernel. With report, every entry found is
// added to the batch.
func (t *tracker) enter(d *dir, report bool) {
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
func (t *tracker) follow(d *dir) bool {
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
	t.checkDevice(d)
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
func (t *tracker) lookup(d *dir) (id fileID, isDir bool, err error) {
	if d.parent == nil {
		return t.rootID.fileID, true, nil
	}
	return lookup(t.abs(d.rel()))
}

// checkDevice determines the kind of file system of a directory that is on
// another device than its parent.
func (t *tracker) checkDevice(d *dir) {
	if t.opt.backend == BackendAuto && d.parent != nil && d.id.dev != d.parent.id.dev {
		d.remote = t.top.remote || t.env.remote(t.abs(d.rel())) != ""
	}
}

// boundTo returns another directory of the tree that has the identity of d and
// still exists, as with a bind mount, or nil. The kernel has a single watch for
// both, so d must be polled. If the other directory no longer exists, it was
// renamed to d and the event of the rename is still to come; its watch would
// report the old name, so it is removed.
func (t *tracker) boundTo(d *dir) *dir {
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
func (t *tracker) listedAs(d *dir) bool {
	if d.parent == nil {
		return true
	}
	f, err := os.Open(t.abs(d.parent.rel()))
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err == nil && slices.Contains(names, d.name)
}

// watch adds d to the source and reports whether that succeeded. On a remote
// file system, events cover local changes only and d is polled as well, so
// reaching a limit there is not recorded.
func (t *tracker) watch(d *dir) bool {
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
			t.log.Warn("no more directories can be watched: the rest is polled", "err", err)
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

// unwatch ends the events of d.
func (t *tracker) unwatch(d *dir) {
	// An error is expected: the kernel may have ended the watch already.
	_ = t.src.Remove(t.abs(d.rel()))
	t.setEvents(d, false, 0)
}

// watchCost returns the number of entries that a watch of the directory costs,
// where watches cost entries, or errBudget.
func (t *tracker) watchCost(abs string) (cost int, err error) {
	budget := t.env.budget()
	if budget == 0 {
		return 0, nil
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return 0, err
	}
	cost = len(entries) + 1
	if t.cost+cost > budget {
		return 0, fmt.Errorf("%w of %d", errBudget, budget)
	}
	return cost, nil
}

// forget removes a directory from the tree and ends the watches at and below it.
func (t *tracker) forget(d *dir) { t.tree.remove(d, t.unwatch) }
