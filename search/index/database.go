package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	index "github.com/blevesearch/bleve_index_api"

	"notesd/notes"
)

// formatVersion is stored in every index. It must change with the terms or fields that are
// indexed; an index of another version is rebuilt.
const formatVersion = "9"

// Keys of the values stored in an index, which are written in the same batch as the notes.
var (
	keyFormat   = []byte("format")
	keyPosition = []byte("position")
)

// errNoIndex is returned after a reset that could not create a new index. Another reset may
// succeed.
var errNoIndex = errors.New("search index could not be made")

// database is an open Bleve index. A reset replaces it by an empty one.
type database struct {
	dir string
	log *slog.Logger

	queue   *index.AnalysisQueue // required by Bleve for every document, although it analyses none
	closing chan struct{}

	mu       sync.RWMutex // guards the next four fields
	bleve    *scorch.Scorch
	segments *segmentCache // of bleve
	closed   bool
	warnings []string

	applied  atomic.Uint64          // flushes since openDatabase
	saved    atomic.Uint64          // the last of them that is on disk
	damaged  atomic.Bool            // a search found unreadable data
	notify   func()                 // see [Index.OnDamage]; may be nil
	asyncErr atomic.Pointer[string] // why Bleve cannot save
}

func openDatabase(dir string, log *slog.Logger) (*database, error) {
	d := &database{dir: dir, log: log, queue: index.NewAnalysisQueue(1), closing: make(chan struct{}), segments: &segmentCache{}}
	if err := d.openOrReplace(); err != nil {
		d.queue.Close()
		return nil, err
	}
	opened.Store(dir, d)
	return d, nil
}

func (d *database) openOrReplace() error {
	if err := canOpenAll(d.dir); err != nil {
		return err
	}
	s, err := openBleve(d.dir, d.queue)
	if err == nil {
		d.bleve = s
		return nil
	}
	if errors.Is(err, ErrLocked) || errors.Is(err, os.ErrPermission) {
		return err
	}
	if removeErr := os.RemoveAll(d.dir); removeErr != nil {
		return fmt.Errorf("search index cannot be read (%w) nor removed: %w", err, removeErr)
	}
	if errors.Is(err, errFormat) { // an upgrade
		d.log.Info("the search index is of another version and is rebuilt")
	} else {
		d.log.Warn("search index could not be read and is rebuilt", "err", err)
		d.warnings = append(d.warnings, fmt.Sprintf("the search index could not be read and is rebuilt: %s",
			strings.ReplaceAll(firstLine(err), d.dir, filepath.Base(d.dir))))
	}
	d.bleve, err = openBleve(d.dir, d.queue)
	return err
}

// canOpenAll returns an error if the process may not open as many more files as the index
// has. Bleve would take those that it cannot open for damaged.
func canOpenAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for range entries {
		var f *os.File
		if f, err = os.Open(dir); err != nil {
			break
		}
		defer f.Close()
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return err
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// usable returns an error if no index is open.
func (d *database) usable() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.usableLocked()
}

func (d *database) usableLocked() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.bleve == nil:
		return errNoIndex
	}
	return nil
}

// write applies a batch.
func (d *database) write(b *index.Batch) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if err := d.usableLocked(); err != nil {
		return err
	}
	return d.bleve.Batch(b)
}

// snapshot returns a snapshot of the flushed changes. The caller must close it.
func (d *database) snapshot() (*snapshot, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if err := d.usableLocked(); err != nil {
		return nil, err
	}
	r, err := d.bleve.Reader()
	if err != nil {
		return nil, err
	}
	s, ok := r.(*scorch.IndexSnapshot)
	if !ok || s == nil {
		return nil, ErrClosed
	}
	return &snapshot{IndexSnapshot: s, db: d, segments: d.segments}, nil
}

// errDamaged is returned by a search that finds the index damaged.
var errDamaged = &notes.Error{Op: "search", Err: notes.ErrUnavailable, Detail: "the search index is damaged and is being rebuilt",
	Hint: "Repeat the search in some seconds."}

// guard runs a search. An error or panic in Bleve, or a fault on a truncated mapped file, means
// that the index is damaged and must be rebuilt.
func (d *database) guard(search func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errDamaged) {
			return
		}
		if !d.damaged.Swap(true) {
			d.log.Error("search index is damaged", "err", err)
			if d.notify != nil {
				d.notify()
			}
		}
		err = errDamaged
	}()
	return search()
}

// problems returns the warnings for the user.
func (d *database) problems() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	all := append([]string(nil), d.warnings...)
	if e := d.asyncErr.Load(); e != nil {
		all = append(all, "the search index cannot be saved: "+*e)
	}
	if d.damaged.Load() {
		all = append(all, "the search index is damaged and is being rebuilt")
	}
	return all
}

// reset replaces the index by an empty one.
func (d *database) reset() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	if d.bleve != nil {
		if err := d.bleve.Close(); err != nil {
			d.log.Warn("search index: closing before a reset", "err", err)
		}
		d.bleve = nil
	}
	d.segments = &segmentCache{} // a search in progress has the old one
	err := os.RemoveAll(d.dir)
	if err == nil {
		d.bleve, err = openBleve(d.dir, d.queue)
	}
	if err != nil {
		return fmt.Errorf("reset search index: %w", err)
	}
	d.damaged.Store(false)
	return nil
}

func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.bleve != nil && d.applied.Load() > d.saved.Load() {
		d.save()
	}
	close(d.closing)
	opened.Delete(d.dir)
	defer endBuilds()
	var err error
	if d.bleve != nil {
		err = d.bleve.Close()
	}
	d.queue.Close()
	if err == nil {
		_ = os.Remove(filepath.Join(d.dir, openMark)) // if it stays, the next start takes longer
	}
	return err
}

// saveTimeout bounds the time that save waits for the disk, and saveWake is the interval at
// which it wakes Bleve's persister.
const (
	saveTimeout = 5 * time.Second
	saveWake    = 5 * time.Millisecond
)

// save waits until all flushed changes are on disk, or cannot be saved. It must be called with
// mu held.
func (d *database) save() {
	saved := make(chan struct{})
	b := index.NewBatch()
	b.SetPersistedCallback(func(error) { close(saved) })
	if d.bleve.Batch(b) != nil {
		return
	}
	timeout := time.NewTimer(saveTimeout)
	defer timeout.Stop()
	again := time.NewTicker(saveWake)
	defer again.Stop()
	for d.asyncErr.Load() == nil {
		wakePersister(d.bleve)
		select {
		case <-saved:
			return
		case <-timeout.C:
			return
		case <-again.C:
		}
	}
}

// nothing is a merge plan for which no segment is small enough.
var nothing = mergeplan.MergePlanOptions{MaxSegmentSize: 1, MaxSegmentsPerTier: 1, SegmentsPerMergeTask: 2, TierGrowth: 1}

// wakePersister ends the persister's nap before it saves, see [PersistNap]. Bleve has no call
// for this, but the merger ends the nap after each merge, including an empty one. A persister
// that is about to begin its nap misses the signal, so save repeats it.
func wakePersister(s *scorch.Scorch) {
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	_ = s.ForceMerge(ctx, &nothing) // a merge in progress has the same effect
}
