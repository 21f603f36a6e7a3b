package table

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"notesd/notes"
)

// copies are the searchable copies of the tables, which are created on demand, unloaded when
// idle, and bounded in their total memory.
type copies struct {
	dir string
	opt Options

	mu      sync.Mutex
	byTable map[int64]*tableCopy
	closed  bool
}

// of returns the searchable copy of a table, which may not be loaded.
func (cs *copies) of(info tableRow) (*tableCopy, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return nil, &notes.Error{Op: "search table", Path: info.Name, Err: notes.ErrUnavailable, Detail: "notesd is stopping", Hint: "Try again."}
	}
	c := cs.byTable[info.id]
	if c == nil {
		c = newTableCopy(info, cs.path(info.id))
		cs.byTable[info.id] = c
	}
	c.used = cs.opt.Now()
	return c, nil
}

// loaded returns the copy of a table only if it is in memory.
func (cs *copies) loaded(id int64) *tableCopy {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byTable[id]
}

func (cs *copies) path(id int64) string {
	return filepath.Join(cs.dir, fmt.Sprintf("table-%d.vectors", id))
}

// trim unloads the copies that were not searched for Options.idle and, while the total
// memory exceeds Options.memory, the least recently searched ones, except inUse. It leaves
// out copies that are being searched or changed: the next copy of such a table would open
// the same file before they close it.
func (cs *copies) trim(inUse *tableCopy) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	byUse := slices.SortedFunc(maps.Values(cs.byTable), func(a, b *tableCopy) int { return a.used.Compare(b.used) })
	total := int64(0)
	for _, c := range byUse {
		total += c.memory.Load()
	}
	for _, c := range byUse {
		if c == inUse || total <= cs.opt.memory && cs.opt.Now().Sub(c.used) < cs.opt.idle || !c.mu.TryLock() {
			continue
		}
		total -= c.memory.Load()
		delete(cs.byTable, c.info.id)
		if err := c.retire(); err != nil {
			cs.opt.Log.Warn("close a vector table's cache", "table", c.info.id, "err", err)
		}
		c.mu.Unlock()
	}
}

// forget unloads the copy of a table and deletes its cache file.
func (cs *copies) forget(id int64) error {
	cs.mu.Lock()
	c := cs.byTable[id]
	delete(cs.byTable, id)
	cs.mu.Unlock()
	var err error
	if c != nil {
		err = c.unload()
	}
	if e := os.Remove(cs.path(id)); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// close waits for searches and unmaps the caches. It may be called again.
func (cs *copies) close() error {
	cs.mu.Lock()
	cs.closed = true
	all := cs.byTable
	cs.byTable = nil
	cs.mu.Unlock()
	var errs []error
	for _, c := range all {
		errs = append(errs, c.unload())
	}
	return errors.Join(errs...)
}

// update applies a change to the searchable copy of a table if it has one.
func (cs *copies) update(table int64, removed []int64, added []newRow) {
	if c := cs.loaded(table); c != nil {
		if err := c.change(removed, added); err != nil {
			cs.opt.Log.Warn("a vector table's cache cannot be updated and will be rebuilt", "table", table, "err", err)
		}
	}
}
