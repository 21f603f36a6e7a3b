package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// errBudget is the limit on watches that we set ourselves; see entryBudget and
// isLimit.
var errBudget = errors.New("too many entries for the limit")

// enter follows a new directory of the tree and everything below it. Each
// directory is watched before it is listed, so that what is created meanwhile
// is either listed or reported by the kernel. With report, what is found is
// touched.
func (t *tracker) enter(d *dir, report bool) {
	for todo := []*dir{d}; len(todo) > 0 && t.ctx.Err() == nil; {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if t.follow(d) {
			todo = append(todo, t.list(d, nil, report)...)
		}
	}
}

// follow decides how a directory is followed and starts that. It is false when
// there is nothing to list; a directory that is not there any more is then out
// of the tree.
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
	t.crossDevice(d)
	twin := t.twin(d)
	if twin == nil {
		t.ids[id] = d
	}
	t.setMode(d, watched)
	if twin != nil || !t.watch(d) || d.remote {
		t.setMode(d, polled)
	}
	return true
}

// lookup identifies d on disk. The root may be a symbolic link, and was probed
// before.
func (t *tracker) lookup(d *dir) (id fileID, isDir bool, err error) {
	if d.parent == nil {
		return t.rootID.fileID, true, nil
	}
	return lookup(t.abs(d.rel()))
}

// crossDevice asks for the kind of file system where another one begins.
func (t *tracker) crossDevice(d *dir) {
	if t.opt.Backend == BackendAuto && d.parent != nil && d.id.dev != d.parent.id.dev {
		d.remote = t.top.remote || t.env.remote(t.abs(d.rel())) != ""
	}
}

// twin returns another directory of the tree with the identity of d that is
// still on disk (bind mounts do this): the kernel has one watch for both. One
// that is not there any more was moved here before we heard of it; its watch
// would go on reporting the old name, so it is ended.
func (t *tracker) twin(d *dir) *dir {
	other := t.ids[d.id]
	if other == nil || other == d {
		return nil
	}
	if id, isDir, err := lookup(t.abs(other.rel())); err == nil && isDir && id == d.id && t.spelled(other) {
		return other
	}
	t.touch(other.rel())
	t.forget(other)
	return nil
}

// spelled reports whether the disk lists d by exactly its name: where names
// are compared without regard to case or normalization, a stat under an old
// name succeeds.
func (t *tracker) spelled(d *dir) bool {
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

// watch asks the source for events of d and reports whether they can be relied
// upon. On a remote file system those of local changes are welcome, but not
// missed.
func (t *tracker) watch(d *dir) bool {
	if t.src == nil || t.limit != nil {
		return false
	}
	abs := t.abs(d.rel())
	cost, err := t.afford(abs)
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
	// Between the look and the watch another directory, or a symbolic link to
	// one, may have taken the name.
	if id, isDir, err := t.lookup(d); err != nil || !isDir || id != d.id {
		_ = t.src.Remove(abs)
		return false
	}
	t.setEvents(d, true, cost)
	return true
}

// unwatch ends the events of d.
func (t *tracker) unwatch(d *dir) {
	// The kernel may have ended the watch by itself: no error matters.
	_ = t.src.Remove(t.abs(d.rel()))
	t.setEvents(d, false, 0)
}

// afford says what a watch of the directory costs, where every entry costs.
func (t *tracker) afford(abs string) (cost int, err error) {
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

// forget takes a directory out of the tree and ends its watches.
func (t *tracker) forget(d *dir) { t.tree.remove(d, t.unwatch) }
