package table

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"notesd/internal/sqlite"
)

// Limits of a table and of requests. MaxTableRows and MaxTableNumbers bound the
// memory of a searchable copy: one bit per number and 20 bytes per row, the rows of its last
// filters, and on Windows, where the file is not mapped, its size.
const (
	MaxDimension     = 4096
	MaxTableRows     = 5_000_000
	MaxTableNumbers  = 1 << 31 // rows times dimension
	MaxRowsPerCall   = 1000
	MaxMetadataBytes = 64 << 10
	MaxTableHits     = 100
)

// keptDropped is the time for which a dropped table can be restored.
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
	rows   rowReader
	models Models // nil: no search by text
	opt    Options
	copies copies

	deletion sync.Mutex // held while rows are deleted, so that a repeated request finds the answer; locked before write
	write    sync.Mutex // held from a transaction until the copy is updated, so that changes reach it in order
	// replacements has a counter (*atomic.Int64) for each table, by its number. It is odd from
	// before a transaction that replaces rows is committed until the copy is updated, and then has
	// another even value. It is changed with write held.
	replacements sync.Map
}

// replaced returns a table's counter of replacements.
func (t *Tables) replaced(table int64) *atomic.Int64 {
	n, _ := t.replacements.LoadOrStore(table, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// New returns the tables in the history database. Their caches are in dir. Without models,
// texts are rejected. New starts no goroutine; see [Tables.Run].
func New(history *sqlite.DB, dir string, models Models, opt Options) *Tables {
	opt.idle = cmp.Or(opt.idle, 15*time.Minute)
	opt.memory = cmp.Or(opt.memory, 512<<20)
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Tables{db: history, rows: rowReader{history}, models: models, opt: opt, copies: copies{dir: dir, opt: opt, byTable: map[int64]*tableCopy{}}}
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
				t.copies.trim(nil)
			case <-purge.C:
				waiting = false
			}
		}
	}
}

// Close waits for searches and unmaps the caches. It may be called again.
func (t *Tables) Close() error { return t.copies.close() }
