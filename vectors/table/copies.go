package table

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// unloadIdle unloads the copies that were not searched for Options.idle.
func (cs *copies) unloadIdle() {
	cs.mu.Lock()
	var idle []*tableCopy
	for id, c := range cs.byTable {
		if cs.opt.Now().Sub(c.used) >= cs.opt.idle {
			idle = append(idle, c)
			delete(cs.byTable, id)
		}
	}
	cs.mu.Unlock()
	cs.unload(idle)
}

// makeRoom unloads the least recently searched copies until the total memory is
// within Options.memory. It does not unload inUse.
func (cs *copies) makeRoom(inUse *tableCopy) {
	cs.mu.Lock()
	total := int64(0)
	for _, c := range cs.byTable {
		total += c.memory.Load()
	}
	var victims []*tableCopy
	for total > cs.opt.memory {
		var oldest *tableCopy
		for _, c := range cs.byTable {
			if c != inUse && (oldest == nil || c.used.Before(oldest.used)) {
				oldest = c
			}
		}
		if oldest == nil {
			break
		}
		total -= oldest.memory.Load()
		victims = append(victims, oldest)
		delete(cs.byTable, oldest.info.id)
	}
	cs.mu.Unlock()
	cs.unload(victims)
}

func (cs *copies) unload(copies []*tableCopy) {
	for _, c := range copies {
		if err := c.unload(); err != nil {
			cs.opt.Log.Warn("close a vector table's cache", "table", c.info.id, "err", err)
		}
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
