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

// What a table may hold. The limits bound the memory of a search: a bit for
// each number and sixteen bytes for each row.
const (
	MaxDimension     = 4096
	MaxTableRows     = 5_000_000
	MaxTableNumbers  = 1 << 31 // rows times dimension
	MaxRowsPerCall   = 1000
	MaxMetadataBytes = 64 << 10
	MaxTableHits     = 100
)

// keptDropped is how long a dropped table can be restored.
const keptDropped = 7 * 24 * time.Hour

// TableOptions say how tables are kept. A zero field means its default.
type Options struct {
	Idle   time.Duration // what was not searched for so long leaves memory; 15 minutes
	Memory int64         // bytes of all searchable copies, of which one may always be more; 512 MiB
	Log    *slog.Logger
	Now    func() time.Time
}

// Tables are users' and agents' own vectors, with metadata, under names. They
// are kept in history.db, which backups hold and no rebuild touches. What makes
// searching fast, a copy of one byte a number in a mapped file and its signs in
// memory, is made at a table's first search and can be lost at any time.
//
// Tables is safe for concurrent use. Every error that a caller can do
// something about is a [notes.Error].
type Tables struct {
	db       *sqlite.DB
	dir      string
	embedder QueryEmbedder // nil: no search by text
	opt      Options

	write sync.Mutex // held from a transaction until the copies know of it: rows reach them in order

	mu     sync.Mutex
	copies map[int64]*tableCopy // by table id
	closed bool
}

// QueryEmbedder turns the text of a query into a vector. Dim is 0 until the
// dimension is known.
type QueryEmbedder interface {
	Dim() int
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// NewTables keeps tables in the history database, and their caches in dir. It
// starts nothing; see Run.
func New(history *sqlite.DB, dir string, embedder QueryEmbedder, opt Options) *Tables {
	if opt.Idle <= 0 {
		opt.Idle = 15 * time.Minute
	}
	if opt.Memory <= 0 {
		opt.Memory = 512 << 20
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Tables{db: history, dir: dir, embedder: embedder, opt: opt, copies: map[int64]*tableCopy{}}
}

// Run forgets dropped tables when their time is over, and takes out of memory
// what nobody searches, until ctx ends, whose error it returns.
func (t *Tables) Run(ctx context.Context) error {
	idle := time.NewTicker(max(t.opt.Idle/4, time.Second))
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

// unloadIdle frees what was not searched for a while.
func (t *Tables) unloadIdle() {
	t.mu.Lock()
	var idle []*tableCopy
	for id, c := range t.copies {
		if t.opt.Now().Sub(c.used) >= t.opt.Idle {
			idle = append(idle, c)
			delete(t.copies, id)
		}
	}
	t.mu.Unlock()
	t.unload(idle)
}

// makeRoom frees the copies that were searched longest ago while all together
// take more than they may. The one in use stays.
func (t *Tables) makeRoom(inUse *tableCopy) {
	t.mu.Lock()
	total := int64(0)
	for _, c := range t.copies {
		total += c.memory.Load()
	}
	var victims []*tableCopy
	for total > t.opt.Memory {
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

// forget unloads a table and deletes its cache.
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
