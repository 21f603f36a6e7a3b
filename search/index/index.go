package index

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
// a field, and an index of another version is rebuilt.
const formatVersion = "2"

// Keys of what an index remembers beside the notes, written in the same batch.
var (
	KeyFormat   = []byte("format")
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
	Dir   string
	log   *slog.Logger
	Clock func() time.Time

	queue *index.AnalysisQueue // Bleve hands every document through it, analysed or not

	Mu       sync.RWMutex // guards what follows
	Bleve    *scorch.Scorch
	closed   bool
	closing  chan struct{}
	warnings []string

	Unsettled unsettled
	segments  segmentCache
	Cache     noteCache     // of the engine's
	applied   atomic.Uint64 // work since OpenIndex
	saved     atomic.Uint64 // of which is on disk
	damaged   atomic.Bool   // a search met data that cannot be read
	asyncErr  atomic.Pointer[string]
}

var _ notes.Follower = (*Index)(nil)

// OpenIndex opens the index in dir, creating it if there is none. An index
// that cannot be read is set aside beside dir and an empty one takes its
// place; Stats then has a warning, and the vault feeds it every note. One that
// another version of notesd made is removed, which is no cause for a warning.
//
// The caller makes sure that one process has dir open; OpenIndex answers
// ErrLocked rather than wait for another.
func OpenIndex(ctx context.Context, dir string, o IndexOptions) (*Index, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := &Index{Dir: filepath.Clean(dir), log: o.Log, Clock: o.Clock, closing: make(chan struct{})}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	if x.Clock == nil {
		x.Clock = time.Now
	}
	x.queue = index.NewAnalysisQueue(1)
	if err := x.openOrReplace(); err != nil {
		x.queue.Close()
		return nil, err
	}
	opened.Store(x.Dir, x)
	return x, nil
}

func (x *Index) openOrReplace() error {
	s, err := openBleve(x.Dir, x.queue)
	if err == nil {
		x.Bleve = s
		return nil
	}
	if errors.Is(err, ErrLocked) || errors.Is(err, os.ErrPermission) {
		return err
	}
	aside, moveErr := setAside(x.Dir, x.Clock())
	if moveErr != nil {
		return fmt.Errorf("search index cannot be read (%w) nor moved away: %w", err, moveErr)
	}
	if errors.Is(err, errFormat) { // an upgrade; nothing is wrong, and the notes have it all
		x.log.Info("the search index is of another version and is rebuilt")
		if err := os.RemoveAll(aside); err != nil {
			x.log.Warn("the search index of another version could not be removed", "folder", aside, "err", err)
		}
		x.Bleve, err = openBleve(x.Dir, x.queue)
		return err
	}
	x.log.Warn("search index could not be read and is rebuilt", "set_aside", filepath.Base(aside), "err", err)
	x.warnings = append(x.warnings, fmt.Sprintf("the search index could not be read (%s); it was set aside as %s and is rebuilt",
		strings.ReplaceAll(firstLine(err), x.Dir, filepath.Base(x.Dir)), filepath.Base(aside)))
	x.Bleve, err = openBleve(x.Dir, x.queue)
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
	if to := x.Unsettled.To.Load(); to != nil {
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

// Name implements [notes.Follower].
func (*Index) Name() string { return "the text index" }

// Reset discards everything.
func (x *Index) Reset(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.Unsettled.mu.Lock()
	defer x.Unsettled.mu.Unlock()
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	x.Unsettled.discard()
	if x.Bleve != nil {
		if err := x.Bleve.Close(); err != nil {
			x.log.Warn("search index: closing before a reset", "err", err)
		}
		x.Bleve = nil
	}
	x.segments.clear()
	x.Cache.drop(nil)
	if err := os.RemoveAll(x.Dir); err != nil {
		return fmt.Errorf("reset search index: %w", err)
	}
	s, err := openBleve(x.Dir, x.queue)
	if err != nil {
		return fmt.Errorf("reset search index: %w", err)
	}
	x.Bleve = s
	x.damaged.Store(false)
	return nil
}

// What is not saved is fed again at the next start. From so much work on, in
// bytes of text and what each note takes besides, that would take longer than
// the disk does, and Close waits for the disk.
const (
	NoteWork    = 4 << 10
	WorthSaving = 32 * NoteWork
)

// Close releases the index. It waits for Bleve's own goroutines and, if that is
// worth it, for the disk. Searches that are under way finish. What was applied in
// the last moments may have to be fed again.
func (x *Index) Close() error {
	x.Unsettled.mu.Lock()
	defer x.Unsettled.mu.Unlock()
	if x.Unsettled.work() >= WorthSaving {
		x.settleLocked()
	}
	x.Unsettled.discard()
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	if x.Bleve != nil && x.applied.Load()-x.saved.Load() >= WorthSaving {
		x.Flush()
	}
	close(x.closing)
	opened.Delete(x.Dir)
	defer endBuilds()
	var err error
	if x.Bleve != nil {
		err = x.Bleve.Close()
	}
	x.queue.Close()
	return err
}

// usable returns an error if there is no index to write to or to read.
func (x *Index) usable() error {
	x.Mu.RLock()
	defer x.Mu.RUnlock()
	return x.usableLocked()
}

func (x *Index) usableLocked() error {
	switch {
	case x.closed:
		return ErrClosed
	case x.Bleve == nil:
		return errNoIndex
	}
	return nil
}

// reader returns a snapshot of all that was applied; closeReader releases it.
func (x *Index) reader() (*scorch.IndexSnapshot, error) {
	x.Settle()
	return x.snapshot()
}

// snapshot returns a snapshot of what is settled.
func (x *Index) snapshot() (*scorch.IndexSnapshot, error) {
	x.Mu.RLock()
	defer x.Mu.RUnlock()
	if err := x.usableLocked(); err != nil {
		return nil, err
	}
	r, err := x.Bleve.Reader()
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
	if x.Unsettled.small.Load() {
		x.Settle()
	}
	waiting := x.Unsettled.waiting.Load()
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
	if to := x.Unsettled.To.Load(); to != nil {
		s.Position = *to
	}
	s.Bytes = DiskSize(x.Dir)
	x.Mu.RLock()
	s.Warnings = append(s.Warnings, x.warnings...)
	x.Mu.RUnlock()
	if e := x.asyncErr.Load(); e != nil {
		s.Warnings = append(s.Warnings, "the search index cannot be saved: "+*e)
	}
	if x.damaged.Load() {
		s.Warnings = append(s.Warnings, "the search index is damaged and is rebuilt at the next start")
	}
	return s, nil
}

// DiskSize returns the bytes of the files in a directory.
func DiskSize(dir string) int64 {
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
