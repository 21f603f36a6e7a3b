package vectors

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"notesd/notes"
)

// batchNotes is the number of notes read from the store at a time.
const batchNotes = 16

// Run loads the stored vectors. It then embeds missing and changed passages and
// deletes vectors that were unused for long, until ctx ends.
func (x *Index) Run(ctx context.Context) error {
	if err := x.loadAll(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("load the vectors: %w", err)
	}
	if x.opt.Wait != nil {
		if err := x.opt.Wait(ctx); err != nil {
			return nil // ctx has ended
		}
	}
	var pause backOff
	rest := func() {}
	defer func() { rest() }()
	for working := false; ; {
		more, err := x.step(ctx)
		if ctx.Err() != nil {
			return nil
		}
		x.report(err)
		if busy := more && err == nil; busy != working {
			rest()
			rest, working = x.prepare(busy), busy
		}
		wake := (<-chan struct{})(x.signal)
		var retry <-chan time.Time
		switch {
		case err != nil:
			wake, retry = nil, time.After(pause.after(err)) // changes go to the backlog and need no wake-up
		case more:
			pause = backOff{}
			continue
		default:
			pause = backOff{}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-retry:
		}
	}
}

// prepare notifies a [Preparer] of the start of a series of batches, and returns the
// function that ends it.
func (x *Index) prepare(busy bool) (over func()) {
	if p, ok := x.opt.Embedder.(Preparer); ok && busy {
		return p.Prepare(x.threads())
	}
	return func() {}
}

// step embeds or prunes one batch and reports whether there is more to do.
func (x *Index) step(ctx context.Context) (more bool, err error) {
	x.mu.RLock()
	s := x.wanted()
	x.mu.RUnlock()
	if s == nil {
		return true, x.learn(ctx)
	}
	if more, err = x.embedBatch(ctx, s); more || err != nil {
		return more, err
	}
	return x.prune(ctx, s)
}

// embedBatch embeds the next few notes of the backlog and reports whether
// there are more.
func (x *Index) embedBatch(ctx context.Context, s *space) (more bool, err error) {
	x.mu.Lock()
	ids := s.next(batchNotes)
	x.mu.Unlock()
	if len(ids) == 0 {
		return false, nil
	}
	batch, err := x.store.ByID(ctx, ids)
	if err == nil {
		err = x.embedNotes(ctx, s, batch)
	}
	x.mu.Lock()
	if err != nil {
		for _, id := range ids {
			s.enqueue(id)
		}
	}
	more = len(s.backlog) > 0
	x.mu.Unlock()
	if err != nil {
		return false, err
	}
	return more, x.takeOver(ctx)
}

// text is a chunk to embed.
type text struct {
	hash string
	text string
}

// embedNotes embeds the chunks of these notes that have no vector, and makes each
// note searchable when all its chunks are embedded.
func (x *Index) embedNotes(ctx context.Context, s *space, batch []*notes.Note) error {
	var todo []text
	var ready []*notes.Note
	queued := map[string]bool{}
	flush := func() error {
		slots, err := x.embedTexts(ctx, s, todo)
		if err != nil {
			return err
		}
		x.mu.Lock()
		for _, n := range ready {
			if _, exists := s.chunks[n.ID]; exists { // otherwise it was deleted in the meantime
				s.set(n)
			}
		}
		for _, slot := range slots {
			s.entries.users.offer(slot) // its note may be deleted or not ready yet
		}
		x.mu.Unlock()
		todo, ready = todo[:0], ready[:0]
		return nil
	}
	size := s.embedder.Batch(x.threads())
	for _, n := range batch {
		n.Content = n.Prose()
		for _, c := range n.Chunks {
			if _, ok := s.slots.find(keyOf(c.Hash)); ok || queued[c.Hash] {
				continue
			}
			queued[c.Hash] = true
			todo = append(todo, text{c.Hash, n.EmbedText(c)})
			if len(todo) == size {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		ready = append(ready, n)
	}
	return flush()
}

// embedTexts embeds texts, commits the vectors, and then adds them to the cache
// file, so that a text is embedded a second time only if the program is killed in
// between. It adds the vectors as they were rounded for the store, so that a rebuilt
// file has the same content.
func (x *Index) embedTexts(ctx context.Context, s *space, todo []text) ([]uint32, error) {
	if len(todo) == 0 {
		return nil, nil
	}
	began := x.opt.Now()
	texts := make([]string, len(todo))
	for i, t := range todo {
		texts[i] = t.text
	}
	halves := make([][]byte, len(todo))
	err := s.embedder.EmbedPassages(ctx, texts, x.threads(), func(i int, v []float32) { halves[i] = packHalf(v) })
	if err != nil {
		return nil, err
	}
	if err := x.saveEmbeddings(ctx, s.model, todo, halves); err != nil {
		return nil, err
	}
	slots := make([]uint32, len(todo))
	for i, t := range todo {
		if slots[i], err = s.slots.add(keyOf(t.hash), unpackHalf(halves[i])); err != nil {
			return nil, err
		}
	}
	x.measure(len(todo), x.opt.Now().Sub(began))
	return slots, nil
}

// measure updates the moving average of the rate, for Status.Remaining.
func (x *Index) measure(n int, took time.Duration) {
	if took <= 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	rate := float64(n) / took.Seconds()
	if x.rate == 0 {
		x.rate = rate
	}
	x.rate += 0.05 * (rate - x.rate)
}

func (x *Index) threads() int {
	if x.opt.Threads > 0 {
		return x.opt.Threads
	}
	return (runtime.NumCPU() + 1) / 2
}

// takeOver makes the space of the configured model serve when it is complete, and
// removes the space that it replaces.
func (x *Index) takeOver(ctx context.Context) error {
	x.mu.Lock()
	wanted := x.wanted()
	if wanted == nil || !wanted.complete() {
		x.mu.Unlock()
		return nil
	}
	var old *space
	if x.building != nil {
		old, x.serving, x.building = x.serving, x.building, nil
	}
	x.mu.Unlock()
	if err := x.markReady(ctx, wanted.model); err != nil {
		return err
	}
	if old == nil {
		return nil
	}
	x.mu.Lock() // readers of the old space hold the lock while they read it
	defer x.mu.Unlock()
	return old.remove(x.dir)
}
