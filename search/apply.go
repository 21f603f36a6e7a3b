package search

import (
	"context"
	"errors"
	"fmt"
	"sync"

	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"notesd/notes"
)

const (
	// maxBatch is the text of one Bleve batch. Larger batches make fewer
	// segments to merge but more garbage at once.
	maxBatch = 2 << 20
	// bigNote is the size from which a note is indexed after all others of an
	// Apply, in a batch of its own.
	bigNote = 1 << 20
	// manyUpdates is the number from which an Apply is a build: two builders,
	// and a collector that trades time for memory.
	manyUpdates = 64
)

// Apply makes the changes part of the index, with the position `to`.
func (x *Index) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	updates := make([]update, len(changes))
	for i, c := range changes {
		updates[i] = update{id: c.NoteID, seq: c.Seq, load: c.Note}
	}
	return x.apply(ctx, to, updates)
}

// Put indexes notes that come from no feed, and leaves the position as it is.
func (x *Index) Put(ctx context.Context, all ...*notes.Note) error {
	to, err := x.Position()
	if err != nil {
		return err
	}
	updates := make([]update, len(all))
	for i, n := range all {
		updates[i] = update{id: n.ID, load: func(context.Context) (*notes.Note, error) { return n, nil }}
	}
	return x.apply(ctx, to, updates)
}

// update is a note whose entry in the index is to be renewed.
type update struct {
	id   int64
	seq  uint64
	load func(context.Context) (*notes.Note, error) // nil, nil: it does not exist any more
}

func (x *Index) apply(ctx context.Context, to notes.Position, updates []update) error {
	if x.damaged.Load() {
		return errors.New("search index is damaged and waits to be built anew")
	}
	updates = latest(updates)
	a := applier{x: x, to: to, ordered: ordered(updates), updates: len(updates), workers: 1}
	if len(updates) >= manyUpdates {
		a.workers = 2
		defer beginBuild()()
	}
	defer x.cache.drop(ids(updates))
	return a.run(ctx, updates)
}

func ids(updates []update) []int64 {
	out := make([]int64, len(updates))
	for i, u := range updates {
		out[i] = u.id
	}
	return out
}

// latest returns the last update of every note, in order: builders work at the
// same time, so a note may not be given to both.
func latest(updates []update) []update {
	last := make(map[int64]int, len(updates))
	for i, u := range updates {
		last[u.id] = i
	}
	if len(last) == len(updates) {
		return updates
	}
	kept := make([]update, 0, len(last))
	for i, u := range updates {
		if last[u.id] == i {
			kept = append(kept, u)
		}
	}
	return kept
}

// ordered reports whether the updates come in the feed's order, so that a
// position can be saved before all of them are applied.
func ordered(updates []update) bool {
	for i, u := range updates {
		if u.seq == 0 || i > 0 && u.seq <= updates[i-1].seq {
			return false
		}
	}
	return true
}

// applier is one Apply.
type applier struct {
	x       *Index
	to      notes.Position
	ordered bool // positions between may be saved
	updates int
	workers int

	mu      sync.Mutex
	pending []*job // in feed order, until done
}

// job is an update on its way into the index.
type job struct {
	update
	note *notes.Note // nil: it does not exist any more
	done bool
}

func (a *applier) run(ctx context.Context, updates []update) error {
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan *job, 16)
	g.Go(func() error {
		defer close(jobs)
		return a.feed(ctx, updates, jobs)
	})
	for range a.workers {
		g.Go(func() error { return a.build(ctx, jobs) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("apply to search index: %w", err)
	}
	if a.workers == 1 && a.updates > 0 {
		return nil // the last batch had the position
	}
	return a.write(a.final(index.NewBatch()))
}

// feed loads the notes one by one, the big ones last.
func (a *applier) feed(ctx context.Context, updates []update, jobs chan<- *job) error {
	var big []*job
	for _, u := range updates {
		n, err := u.load(ctx)
		if err != nil {
			return fmt.Errorf("note %d: %w", u.id, err)
		}
		j := &job{update: u, note: n}
		a.add(j)
		if n != nil && len(n.Content) >= bigNote {
			j.note = nil // loaded again when its turn comes
			big = append(big, j)
			continue
		}
		if err := send(ctx, jobs, j); err != nil {
			return err
		}
	}
	for _, j := range big {
		n, err := j.load(ctx)
		if err != nil {
			return fmt.Errorf("note %d: %w", j.id, err)
		}
		j.note = n
		if err := send(ctx, jobs, j); err != nil {
			return err
		}
	}
	return nil
}

func send(ctx context.Context, jobs chan<- *job, j *job) error {
	select {
	case jobs <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// build fills batches from jobs and applies them.
func (a *applier) build(ctx context.Context, jobs <-chan *job) error {
	b := builders.Get().(*builder)
	b.reset()
	defer builders.Put(b)
	var batch []*job
	size := 0
	for j := range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 0
		if j.note != nil {
			n = len(j.note.Content)
		}
		if size > 0 && size+n > maxBatch {
			if err := a.apply(b, batch, false); err != nil {
				return err
			}
			batch, size = batch[:0], 0
		}
		if j.note == nil {
			b.delete(j.id)
		} else {
			b.add(j.note)
			j.note = nil
		}
		batch = append(batch, j)
		size += n
	}
	return a.apply(b, batch, true)
}

// apply gives a batch to Bleve: with the final position if it is the only
// builder's last, else with the position that holds without it.
func (a *applier) apply(b *builder, jobs []*job, last bool) error {
	if len(jobs) == 0 {
		return nil
	}
	if last && a.workers == 1 {
		a.final(b.batch)
	} else if p, ok := a.reached(); ok {
		b.batch.SetInternal(keyPosition, encodePosition(p))
	}
	if err := a.write(b.batch); err != nil {
		return err
	}
	b.reset()
	a.finished(jobs)
	return nil
}

// final puts the position that was asked for into a batch.
func (a *applier) final(b *index.Batch) *index.Batch {
	b.SetInternal(keyPosition, encodePosition(a.to))
	applied := a.x.applied.Add(uint64(a.updates))
	b.SetPersistedCallback(func(err error) {
		if err == nil {
			a.x.saved.Store(applied)
			a.x.asyncErr.Store(nil)
			a.x.markSaved()
		}
	})
	return b
}

func (a *applier) write(b *index.Batch) error {
	a.x.mu.RLock()
	defer a.x.mu.RUnlock()
	if a.x.closed {
		return ErrClosed
	}
	if a.x.bleve == nil {
		return errNoIndex
	}
	return a.x.bleve.Batch(b)
}

func (a *applier) add(j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = append(a.pending, j)
}

func (a *applier) finished(jobs []*job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range jobs {
		j.done = true
	}
}

// reached returns the position before which every change is in the index.
func (a *applier) reached() (notes.Position, bool) {
	if !a.ordered {
		return notes.Position{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	seq := uint64(0)
	for len(a.pending) > 0 && a.pending[0].done {
		seq = a.pending[0].seq
		a.pending = a.pending[1:]
	}
	return notes.Position{Store: a.to.Store, Seq: seq}, seq > 0
}
