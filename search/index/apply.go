package index

import (
	"context"
	"errors"
	"fmt"

	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"notesd/notes"
)

// manyUpdates is the number from which an Apply is a build: two builders, and
// a collector that trades time for memory.
const manyUpdates = 64

// Apply makes the changes part of the index, with the position `to`.
func (x *Index) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	updates := make([]Update, len(changes))
	for i, c := range changes {
		updates[i] = Update{Id: c.NoteID, Load: c.Note}
	}
	return x.ApplyUpdates(ctx, to, updates)
}

// Put indexes notes that come from no feed, and leaves the position as it is.
func (x *Index) Put(ctx context.Context, all ...*notes.Note) error {
	to, err := x.Position()
	if err != nil {
		return err
	}
	updates := make([]Update, len(all))
	for i, n := range all {
		updates[i] = Update{Id: n.ID, Load: func(context.Context) (*notes.Note, error) { return n, nil }}
	}
	return x.ApplyUpdates(ctx, to, updates)
}

// Update is a note whose entry in the index is to be renewed.
type Update struct {
	Id   int64
	Load func(context.Context) (*notes.Note, error) // nil, nil: it no longer exists
}

// ApplyUpdates counts the terms of the notes and remembers the position with them.
func (x *Index) ApplyUpdates(ctx context.Context, to notes.Position, updates []Update) error {
	if x.damaged.Load() {
		return errors.New("search index is damaged and waits to be rebuilt")
	}
	updates = latest(updates)
	defer x.Cache.drop(ids(updates))
	build := len(updates) >= manyUpdates
	if build {
		defer beginBuild()()
	}
	if err := x.prepare(updates, build); err != nil {
		return err
	}
	defer x.Unsettled.done()
	if err := x.count(ctx, updates, build); err != nil {
		return fmt.Errorf("apply to search index: %w", err)
	}
	return x.counted(to, len(updates))
}

func ids(updates []Update) []int64 {
	out := make([]int64, len(updates))
	for i, u := range updates {
		out[i] = u.Id
	}
	return out
}

// latest returns the last update of every note, in order: a segment has a note
// once.
func latest(updates []Update) []Update {
	last := make(map[int64]int, len(updates))
	for i, u := range updates {
		last[u.Id] = i
	}
	if len(last) == len(updates) {
		return updates
	}
	kept := make([]Update, 0, len(last))
	for i, u := range updates {
		if last[u.Id] == i {
			kept = append(kept, u)
		}
	}
	return kept
}

// job is an update on its way into a builder.
type job struct {
	id   int64
	note *notes.Note // nil: it no longer exists
}

// count loads the notes one by one and counts their terms: with two builders
// in a build, else with one.
func (x *Index) count(ctx context.Context, updates []Update, build bool) error {
	workers := 1
	if build {
		workers = 2
	}
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan job, 16)
	g.Go(func() error {
		defer close(jobs)
		for _, u := range updates {
			n, err := u.Load(ctx)
			if err != nil {
				return fmt.Errorf("note %d: %w", u.Id, err)
			}
			select {
			case jobs <- job{u.Id, n}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, b := range x.Unsettled.take(workers) {
		g.Go(func() error { return x.fill(ctx, b, jobs) })
	}
	return g.Wait()
}

// fill puts notes into a builder, and the builder into the index when it is
// full. The index's position is left as it is: it holds when all are there.
func (x *Index) fill(ctx context.Context, b *builder, jobs <-chan job) error {
	for j := range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if j.note == nil {
			b.delete(j.id)
		} else {
			b.Add(j.note)
		}
		if b.full() {
			if err := x.write(b.batch()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

// write gives a batch to Bleve.
func (x *Index) write(b *index.Batch) error {
	x.Mu.RLock()
	defer x.Mu.RUnlock()
	if err := x.usableLocked(); err != nil {
		return err
	}
	return x.Bleve.Batch(b)
}
