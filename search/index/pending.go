package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"notesd/notes"
)

// A segment of a few notes costs Bleve nearly as much as one of thousands, and must be merged
// later. Therefore several Applies share the builders. A flush turns these into segments:
// before a search, when there is much text, or shortly after the last Apply.
const (
	flushAfter = 250 * time.Millisecond
	maxPending = 32 << 20 // bytes of text
)

// manyChanges is the least number of changes in an Apply that is a build, which uses two
// builders and trades time for memory in garbage collection.
const manyChanges = 64

// pending holds the notes that have been applied but not flushed.
type pending struct {
	db *database

	mu       sync.Mutex // held during an Apply or a flush
	builders []*builder
	notes    map[int64]bool // in the builders
	lost     error          // error of a flush, returned by the next Apply
	timer    *time.Timer

	// to is the position of the last Apply, or nil if nothing is pending.
	to atomic.Pointer[notes.Position]
	// small is set if some of the notes were not applied by a build.
	small atomic.Bool
	// waiting is the number of notes in the builders after the last Apply.
	waiting atomic.Int64
	// building is set during an Apply that is a build. Searches do not wait for a build.
	building atomic.Bool
}

// apply counts the terms of the changed notes and records the position. It flushes first if one
// of the notes is already pending, because the builders may contain a note only once, and
// before a build, during which searches would not see pending changes.
func (p *pending) apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	if p.db.damaged.Load() {
		return errors.New("search index is damaged and waits to be rebuilt")
	}
	build := len(changes) >= manyChanges
	if build {
		defer beginBuild()()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.db.usable(); err != nil {
		return err
	}
	again := build && p.small.Load()
	for i := 0; i < len(changes) && !again; i++ {
		again = p.notes[changes[i].NoteID]
	}
	if again {
		p.flushLocked()
	}
	if err := p.takeLost(); err != nil {
		return err // the vault then reads the position again
	}
	if p.notes == nil {
		p.notes = map[int64]bool{}
	}
	for _, c := range changes {
		p.notes[c.NoteID] = true
	}
	if !build {
		p.small.Store(true)
	}
	p.building.Store(build)
	defer p.building.Store(false)
	if err := p.count(ctx, changes, build); err != nil {
		return fmt.Errorf("apply to search index: %w", err)
	}
	p.to.Store(&to)
	text, waiting := 0, 0
	for _, b := range p.builders {
		text += b.text
		waiting += len(b.ids)
	}
	p.waiting.Store(int64(waiting))
	if text >= maxPending {
		p.flushLocked()
		return p.takeLost()
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(flushAfter, p.flush)
	} else {
		p.timer.Reset(flushAfter)
	}
	return nil
}

func (p *pending) takeLost() error {
	err := p.lost
	p.lost = nil
	return err
}

// job is a change to add to a builder.
type job struct {
	id   int64
	note *notes.Note // nil: deleted
}

// count loads the notes one by one and counts their terms, with two builders in a build and
// otherwise with one.
func (p *pending) count(ctx context.Context, changes []notes.Change, build bool) error {
	workers := 1
	if build {
		workers = 2
	}
	for len(p.builders) < workers {
		p.builders = append(p.builders, newBuilder())
	}
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan job, 16)
	g.Go(func() error {
		defer close(jobs)
		for _, c := range changes {
			n, err := c.Note(ctx)
			if err != nil {
				return fmt.Errorf("note %d: %w", c.NoteID, err)
			}
			select {
			case jobs <- job{c.NoteID, n}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, b := range p.builders[:workers] {
		g.Go(func() error { return p.fill(ctx, b, jobs) })
	}
	return g.Wait()
}

// fill adds notes to a builder and writes it to the index when it is full. It leaves the
// index's position unchanged, because that covers all notes.
func (p *pending) fill(ctx context.Context, b *builder, jobs <-chan job) error {
	for j := range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if j.note == nil {
			b.delete(j.id)
		} else {
			b.add(j.note)
		}
		if b.full() {
			if err := p.db.write(b.batch()); err != nil {
				return err
			}
			*b = *newBuilder()
		}
	}
	return nil
}

// flush adds all pending changes to the index. It does not wait for a build in progress.
func (p *pending) flush() {
	if p.to.Load() == nil {
		return
	}
	if !p.building.Load() {
		p.mu.Lock()
	} else if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	p.flushLocked()
}

// flushLocked flushes all pending changes. It must be called with mu held. The next Apply
// returns its error, and the vault then feeds the notes again.
func (p *pending) flushLocked() {
	err := p.introduce()
	p.clear()
	if err != nil && !errors.Is(err, ErrClosed) {
		p.lost = err
		p.db.log.Error("search index", "err", err)
	}
}

// introduce writes the builders to the index, and the position with the last one, so that it
// never precedes its notes.
func (p *pending) introduce() error {
	var full []*builder
	for _, b := range p.builders {
		if !b.empty() {
			full = append(full, b)
		}
	}
	last := index.NewBatch()
	if len(full) == 1 {
		last = full[0].batch()
	} else {
		var g errgroup.Group
		for _, b := range full {
			g.Go(func() error { return p.db.write(b.batch()) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	to := p.to.Load()
	if to == nil && len(full) != 1 {
		return nil // an Apply has failed
	}
	if to != nil {
		p.position(last, *to)
	}
	return p.db.write(last)
}

// position adds a position to a batch, and a callback that records when it is saved.
func (p *pending) position(b *index.Batch, to notes.Position) {
	b.SetInternal(keyPosition, encodePosition(to))
	applied := p.db.applied.Add(1)
	b.SetPersistedCallback(func(err error) {
		if err == nil {
			p.db.saved.Store(applied)
			p.db.asyncErr.Store(nil)
			p.db.markSaved()
		}
	})
}

// clear drops the builders.
func (p *pending) clear() {
	p.builders, p.notes = nil, nil
	p.small.Store(false)
	p.waiting.Store(0)
	p.to.Store(nil)
}

// discard drops all pending changes.
func (p *pending) discard() {
	p.clear()
	p.lost = nil
	if p.timer != nil {
		p.timer.Stop()
	}
}
