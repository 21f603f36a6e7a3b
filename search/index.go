package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"notesd/notes"
)

// formatVersion is part of every index. It changes with what becomes a term or
// a field, and an index of another version is built anew.
const formatVersion = "1"

// Keys of what an index remembers beside the notes, written in the same batch.
var (
	keyFormat   = []byte("format")
	keyPosition = []byte("position")
)

// ErrClosed is returned by an index after Close.
var ErrClosed = errors.New("search index is closed")

// ErrLocked is returned by Open when another process has the index open.
var ErrLocked = errors.New("search index is in use by another process")

// IndexOptions configure an Index. The zero value is ready to use.
type IndexOptions struct {
	Log   *slog.Logger     // nil: discarded
	Clock func() time.Time // nil: time.Now
}

// Index is the full-text index of a vault: a [notes.Follower] that searches
// ask. Its methods may be called from any goroutine, those of notes.Follower
// from one at a time.
type Index struct {
	dir   string
	log   *slog.Logger
	clock func() time.Time

	queue *index.AnalysisQueue // Bleve hands every document through it, analysed or not

	mu       sync.RWMutex // guards what follows
	bleve    *scorch.Scorch
	closed   bool
	closing  chan struct{}
	warnings []string

	unsettled unsettled
	segments  segmentCache
	cache     noteCache     // of the engine's
	applied   atomic.Uint64 // work since OpenIndex
	saved     atomic.Uint64 // of which is on disk
	damaged   atomic.Bool   // a search met data that cannot be read
	asyncErr  atomic.Pointer[string]
}

var _ notes.Follower = (*Index)(nil)

// OpenIndex opens the index in dir, creating it if there is none. An index
// that cannot be read is set aside beside dir and an empty one takes its
// place; Stats then has a warning, and the vault feeds it every note.
//
// The caller makes sure that one process has dir open; OpenIndex answers
// ErrLocked rather than wait for another.
func OpenIndex(ctx context.Context, dir string, o IndexOptions) (*Index, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := &Index{dir: filepath.Clean(dir), log: o.Log, clock: o.Clock, closing: make(chan struct{})}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	if x.clock == nil {
		x.clock = time.Now
	}
	x.queue = index.NewAnalysisQueue(1)
	if err := x.openOrReplace(); err != nil {
		x.queue.Close()
		return nil, err
	}
	opened.Store(x.dir, x)
	return x, nil
}

func (x *Index) openOrReplace() error {
	s, err := openBleve(x.dir, x.queue)
	if err == nil {
		x.bleve = s
		return nil
	}
	if errors.Is(err, ErrLocked) || errors.Is(err, os.ErrPermission) {
		return err
	}
	aside, moveErr := setAside(x.dir, x.clock())
	if moveErr != nil {
		return fmt.Errorf("search index cannot be read (%w) nor moved away: %w", err, moveErr)
	}
	x.log.Warn("search index could not be read and is built anew", "set_aside", filepath.Base(aside), "err", err)
	x.warnings = append(x.warnings, fmt.Sprintf("the search index could not be read (%s); it was set aside as %s and is built anew",
		strings.ReplaceAll(firstLine(err), x.dir, filepath.Base(x.dir)), filepath.Base(aside)))
	x.bleve, err = openBleve(x.dir, x.queue)
	return err
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// errNoIndex: a Reset could not make a new index; the next may.
var errNoIndex = errors.New("search index could not be made")

// Position reports how far the index has followed the feed.
func (x *Index) Position() (notes.Position, error) {
	if x.damaged.Load() {
		return notes.Position{}, nil // makes the vault call Reset and feed everything
	}
	if to := x.unsettled.to.Load(); to != nil {
		return *to, nil
	}
	r, err := x.snapshot()
	if errors.Is(err, errNoIndex) {
		return notes.Position{}, nil
	}
	if err != nil {
		return notes.Position{}, err
	}
	defer closeReader(r)
	return readPosition(r)
}

// Reset discards everything.
func (x *Index) Reset(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.unsettled.mu.Lock()
	defer x.unsettled.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	x.unsettled.discard()
	if x.bleve != nil {
		if err := x.bleve.Close(); err != nil {
			x.log.Warn("search index: closing before a reset", "err", err)
		}
		x.bleve = nil
	}
	x.segments.clear()
	x.cache.drop(nil)
	if err := os.RemoveAll(x.dir); err != nil {
		return fmt.Errorf("reset search index: %w", err)
	}
	s, err := openBleve(x.dir, x.queue)
	if err != nil {
		return fmt.Errorf("reset search index: %w", err)
	}
	x.bleve = s
	x.damaged.Store(false)
	return nil
}

// What is not saved is fed again at the next start. From so much work on, in
// bytes of text and what each note takes besides, that would take longer than
// the disk does, and Close waits for the disk.
const (
	noteWork    = 4 << 10
	worthSaving = 32 * noteWork
)

// Close releases the index. It waits for Bleve's own goroutines and, if that is
// worth it, for the disk. Searches that are under way finish. What was applied in
// the last moments may have to be fed again.
func (x *Index) Close() error {
	x.unsettled.mu.Lock()
	defer x.unsettled.mu.Unlock()
	if x.unsettled.work() >= worthSaving {
		x.settleLocked()
	}
	x.unsettled.discard()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	if x.bleve != nil && x.applied.Load()-x.saved.Load() >= worthSaving {
		x.flush()
	}
	close(x.closing)
	opened.Delete(x.dir)
	defer endBuilds()
	var err error
	if x.bleve != nil {
		err = x.bleve.Close()
	}
	x.queue.Close()
	return err
}

// usable returns an error if there is no index to write to or to read.
func (x *Index) usable() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.usableLocked()
}

func (x *Index) usableLocked() error {
	switch {
	case x.closed:
		return ErrClosed
	case x.bleve == nil:
		return errNoIndex
	}
	return nil
}

// reader returns a snapshot of all that was applied; closeReader releases it.
func (x *Index) reader() (*scorch.IndexSnapshot, error) {
	x.settle()
	return x.snapshot()
}

// snapshot returns a snapshot of what is settled.
func (x *Index) snapshot() (*scorch.IndexSnapshot, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if err := x.usableLocked(); err != nil {
		return nil, err
	}
	r, err := x.bleve.Reader()
	if err != nil {
		return nil, err
	}
	s, ok := r.(*scorch.IndexSnapshot)
	if !ok || s == nil {
		return nil, ErrClosed
	}
	return s, nil
}

func closeReader(s *scorch.IndexSnapshot) { _ = s.Close() }

// IndexStats describe an index.
type IndexStats struct {
	Notes    int // notes in the index
	Position notes.Position
	Bytes    int64 // on disk
	Segments int
	Warnings []string // what the user should know, a sentence each
}

// Stats reports the state of the index. Asking again and again does not hold
// up a build: its notes are counted before they are settled.
func (x *Index) Stats() (IndexStats, error) {
	if x.unsettled.small.Load() {
		x.settle()
	}
	waiting := x.unsettled.waiting.Load()
	r, err := x.snapshot()
	if err != nil {
		return IndexStats{}, err
	}
	defer closeReader(r)
	var s IndexStats
	n, err := r.DocCount()
	if err != nil {
		return s, err
	}
	s.Notes, s.Segments = int(n)+int(waiting), len(r.Segments())
	if s.Position, err = readPosition(r); err != nil {
		return s, err
	}
	if to := x.unsettled.to.Load(); to != nil {
		s.Position = *to
	}
	s.Bytes = diskSize(x.dir)
	x.mu.RLock()
	s.Warnings = append(s.Warnings, x.warnings...)
	x.mu.RUnlock()
	if e := x.asyncErr.Load(); e != nil {
		s.Warnings = append(s.Warnings, "the search index cannot be saved: "+*e)
	}
	if x.damaged.Load() {
		s.Warnings = append(s.Warnings, "the search index is damaged and is built anew at the next start")
	}
	return s, nil
}

func diskSize(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var sum int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
