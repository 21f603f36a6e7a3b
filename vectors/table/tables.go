package table

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Limits of a table and of requests. MaxTableRows and MaxTableNumbers bound the
// memory of a searchable copy: one bit per number and 20 bytes per row.
const (
	MaxDimension     = 4096
	MaxTableRows     = 5_000_000
	MaxTableNumbers  = 1 << 31 // rows times dimension
	MaxRowsPerCall   = 1000
	MaxMetadataBytes = 64 << 10
	MaxTableHits     = 100
)

// keptDropped is the time in which a dropped table can be restored.
const keptDropped = 7 * 24 * time.Hour

// Options configure Tables. A zero field has its default value.
type Options struct {
	Log *slog.Logger
	Now func() time.Time

	// Only tests set the fields below.

	idle   time.Duration // time after the last search until a copy is unloaded; default 15 minutes
	memory int64         // bytes of all copies together, which a single copy may exceed; default 512 MiB
}

// Tables stores named tables of vectors with metadata for users and agents. They
// are in history.db, which is part of backups and is not rebuilt. The first search
// of a table builds its searchable copy, which is a cache.
//
// Tables is safe for concurrent use. Errors that the caller can correct are of type
// [notes.Error].
type Tables struct {
	db     *sqlite.DB
	dir    string
	models Models // nil: no search by text
	opt    Options

	write sync.Mutex // held from a transaction until the copy is updated, so that changes reach it in order

	mu     sync.Mutex
	copies map[int64]*tableCopy // by table id
	closed bool
}

// New returns the tables in the history database. Their caches are in dir. Without
// models, texts are refused. New starts no goroutine; see [Tables.Run].
func New(history *sqlite.DB, dir string, models Models, opt Options) *Tables {
	if opt.idle <= 0 {
		opt.idle = 15 * time.Minute
	}
	if opt.memory <= 0 {
		opt.memory = 512 << 20
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Tables{db: history, dir: dir, models: models, opt: opt, copies: map[int64]*tableCopy{}}
}

// Run deletes expired tables and unloads idle copies until ctx ends, and returns the
// error of ctx.
func (t *Tables) Run(ctx context.Context) error {
	idle := time.NewTicker(max(t.opt.idle/4, time.Second))
	defer idle.Stop()
	purge := time.NewTicker(6 * time.Hour)
	defer purge.Stop()
	for {
		if err := t.Purge(ctx); err != nil && ctx.Err() == nil {
			t.opt.Log.Error("dropped vector tables could not be removed", "err", err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-idle.C:
				t.unloadIdle()
			case <-purge.C:
				waiting = false
			}
		}
	}
}

// copyOf returns the searchable copy of a table, which may not be loaded.
func (t *Tables) copyOf(info tableRow) (*tableCopy, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, &notes.Error{Op: "search table", Path: info.Name, Err: notes.ErrUnavailable, Detail: "notesd is stopping", Hint: "Try again."}
	}
	c := t.copies[info.id]
	if c == nil {
		c = newTableCopy(info, t.cachePath(info.id))
		t.copies[info.id] = c
	}
	c.used = t.opt.Now()
	return c, nil
}

// loadedCopy returns the copy of a table only if it is in memory.
func (t *Tables) loadedCopy(id int64) *tableCopy {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.copies[id]
}

func (t *Tables) cachePath(id int64) string {
	return filepath.Join(t.dir, fmt.Sprintf("table-%d.vectors", id))
}

// unloadIdle unloads the copies that were not searched for Options.idle.
func (t *Tables) unloadIdle() {
	t.mu.Lock()
	var idle []*tableCopy
	for id, c := range t.copies {
		if t.opt.Now().Sub(c.used) >= t.opt.idle {
			idle = append(idle, c)
			delete(t.copies, id)
		}
	}
	t.mu.Unlock()
	t.unload(idle)
}

// makeRoom unloads the least recently searched copies until the total memory is
// within Options.memory. It does not unload inUse.
func (t *Tables) makeRoom(inUse *tableCopy) {
	t.mu.Lock()
	total := int64(0)
	for _, c := range t.copies {
		total += c.memory.Load()
	}
	var victims []*tableCopy
	for total > t.opt.memory {
		var oldest *tableCopy
		for _, c := range t.copies {
			if c != inUse && (oldest == nil || c.used.Before(oldest.used)) {
				oldest = c
			}
		}
		if oldest == nil {
			break
		}
		total -= oldest.memory.Load()
		victims = append(victims, oldest)
		delete(t.copies, oldest.info.id)
	}
	t.mu.Unlock()
	t.unload(victims)
}

func (t *Tables) unload(copies []*tableCopy) {
	for _, c := range copies {
		if err := c.unload(); err != nil {
			t.opt.Log.Warn("close a vector table's cache", "table", c.info.id, "err", err)
		}
	}
}

// forget unloads the copy of a table and deletes its cache file.
func (t *Tables) forget(id int64) error {
	t.mu.Lock()
	c := t.copies[id]
	delete(t.copies, id)
	t.mu.Unlock()
	var err error
	if c != nil {
		err = c.unload()
	}
	if e := os.Remove(t.cachePath(id)); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// Close waits for searches and unmaps the caches. It may be called again.
func (t *Tables) Close() error {
	t.mu.Lock()
	t.closed = true
	copies := t.copies
	t.copies = nil
	t.mu.Unlock()
	var errs []error
	for _, c := range copies {
		errs = append(errs, c.unload())
	}
	return errors.Join(errs...)
}
