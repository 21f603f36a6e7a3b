package index

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"notesd/notes"
)

// ErrClosed is returned by an index after Close.
var ErrClosed = errors.New("search index is closed")

// ErrLocked is returned by Open when another process has the index open.
var ErrLocked = errors.New("search index is in use by another process")

// Index is the full-text index of a vault: a [notes.Follower] that the engine
// searches. The methods of notes.Follower may be called from one goroutine at a
// time, the others from any.
type Index struct {
	db      *database
	pending pending
	Cache   noteCache // used by the engine
}

var _ notes.Follower = (*Index)(nil)

// Open opens the index in dir, creating it if necessary. An unreadable index is replaced by an
// empty one; Stats then has a warning, and the vault feeds every note again. An index of another
// version of notesd is replaced without a warning.
//
// If another process has dir open, Open returns ErrLocked.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Index, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db, err := openDatabase(filepath.Clean(dir), log)
	if err != nil {
		return nil, err
	}
	return &Index{db: db, pending: pending{db: db}}, nil
}

// OnDamage sets a function that is called when a search finds the index damaged, for the vault
// to rebuild it at once. The function must not block. OnDamage must be called before any search.
func (x *Index) OnDamage(do func()) { x.db.notify = do }

// Name implements [notes.Follower].
func (*Index) Name() string { return "the text index" }

// unusable is the position of an index that is damaged or could not be created. It is of no
// store, so that the vault calls Reset and feeds every note.
var unusable = notes.Position{Store: "none"}

// Position returns how far the index has followed the feed.
func (x *Index) Position() (notes.Position, error) {
	if x.db.damaged.Load() {
		return unusable, nil
	}
	if to := x.pending.to.Load(); to != nil {
		return *to, nil
	}
	s, err := x.db.snapshot()
	if errors.Is(err, errNoIndex) {
		return unusable, nil
	}
	if err != nil {
		return notes.Position{}, err
	}
	defer s.close()
	return readPosition(s.IndexSnapshot)
}

// Apply adds the changes to the index and advances its position to `to`.
func (x *Index) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	changes = latest(changes)
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.NoteID
	}
	defer x.Cache.drop(ids)
	return x.pending.apply(ctx, to, changes)
}

// latest returns the last change of every note, in order, because a segment may contain a note
// only once.
func latest(changes []notes.Change) []notes.Change {
	last := make(map[int64]int, len(changes))
	for i, c := range changes {
		last[c.NoteID] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	kept := make([]notes.Change, 0, len(last))
	for i, c := range changes {
		if last[c.NoteID] == i {
			kept = append(kept, c)
		}
	}
	return kept
}

// Reset discards everything.
func (x *Index) Reset(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.pending.mu.Lock()
	defer x.pending.mu.Unlock()
	x.pending.discard()
	x.Cache.drop(nil)
	return x.db.reset()
}

// Close closes the index. It waits for Bleve's goroutines and until all changes are saved, or cannot
// be saved and have to be fed again. Searches in progress complete.
func (x *Index) Close() error {
	x.pending.mu.Lock()
	defer x.pending.mu.Unlock()
	x.pending.flushLocked()
	x.pending.discard()
	return x.db.close()
}

// search calls do with a snapshot of all applied changes to the readable notes (nil: all).
func (x *Index) search(readable *notes.IDSet, do func(*snapshot) error) error {
	x.pending.flush()
	s, err := x.db.snapshot()
	if err != nil {
		return err
	}
	defer s.close()
	return x.db.guard(func() error {
		if s.data, err = s.segments.of(s.IndexSnapshot); err != nil {
			return err
		}
		s.hide(readable)
		return do(s)
	})
}

// Rank scores the notes of admitted (nil: all) and returns the limit best, by descending score.
// No score depends on notes outside readable (nil: all), a superset of admitted. The plan's
// clauses are not considered; see [Index.Matching]. Rank sets the Others of the plan's prefixes
// and families. The caller must release the ranking, which holds the scores of all notes.
func (x *Index) Rank(ctx context.Context, p *Plan, readable, admitted *notes.IDSet, limit int) (r Ranking, err error) {
	err = x.search(readable, func(s *snapshot) error {
		r, err = s.rank(ctx, p, admitted, limit)
		return err
	})
	if err != nil {
		r.Release()
	}
	return r, err
}

// Matching returns the notes of allowed (nil: all) that a plan's clauses admit.
func (x *Index) Matching(ctx context.Context, p Plan, allowed *notes.IDSet) (set *notes.IDSet, err error) {
	err = x.search(nil, func(s *snapshot) error {
		set, err = s.matching(ctx, p, allowed)
		return err
	})
	return set, err
}

// Stats describe an index.
type Stats struct {
	Notes    int // notes in the index
	Position notes.Position
	Bytes    int64 // on disk
	Segments int
	Warnings []string // for the user, a sentence each
}

// Stats reports the state of the index. During a build it does not flush pending changes; Notes
// includes them.
func (x *Index) Stats() (Stats, error) {
	if x.pending.small.Load() {
		x.pending.flush()
	}
	waiting := x.pending.waiting.Load()
	s, err := x.db.snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer s.close()
	n, err := s.DocCount()
	if err != nil {
		return Stats{}, err
	}
	stats := Stats{Notes: int(n) + int(waiting), Segments: len(s.Segments()), Bytes: diskSize(x.db.dir), Warnings: x.db.problems()}
	if to := x.pending.to.Load(); to != nil {
		stats.Position = *to
		return stats, nil
	}
	stats.Position, err = readPosition(s.IndexSnapshot)
	return stats, err
}

// diskSize returns the total size of the files in a directory.
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
