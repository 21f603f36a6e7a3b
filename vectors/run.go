package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"

	"notesd/notes"
)

// A batch is embedded and committed together: what a kill costs at most.
const (
	batchTexts = 32
	batchNotes = 16
)

// retryAfter is how soon embedding is tried again after an error, such as an
// endpoint that is not there.
const retryAfter = 10 * time.Second

// Run loads the vectors that there are, and then embeds what is missing, and
// what changes, until ctx ends.
func (x *Index) Run(ctx context.Context) error {
	if err := x.loadAll(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("load the vectors: %w", err)
	}
	if x.opt.Wait != nil {
		if err := x.opt.Wait(ctx); err != nil {
			return nil // it has ended
		}
	}
	for {
		more, err := x.embedBatch(ctx)
		var retry <-chan time.Time
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			x.opt.Log.Error("embedding failed; it will be tried again", "err", err)
			retry = time.After(retryAfter)
		case more:
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-x.signal:
		case <-retry:
		}
	}
}

// loadAll opens the wanted model's space, and the one that answers until it
// is complete.
func (x *Index) loadAll(ctx context.Context) error {
	models, err := x.models(ctx)
	if err != nil {
		return err
	}
	chunks, modified, err := x.chunks(ctx)
	if err != nil {
		return err
	}
	wanted, err := x.loadSpace(ctx, models, x.opt.Embedder, x.opt.Source, chunks, modified)
	if err != nil {
		return err
	}
	serving, building := wanted, (*space)(nil)
	if !wanted.complete() {
		switch old := x.openPrevious(ctx, models, chunks, modified); {
		case old == nil:
		case old.pending() < wanted.pending():
			serving, building = old, wanted
		default:
			if err := old.slots.Close(); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	x.serving, x.building, x.loaded = serving, building, true
	for id, note := range x.early {
		x.apply(id, note)
	}
	x.early = nil
	x.mu.Unlock()
	close(x.there)
	return x.takeOver(ctx)
}

// openPrevious opens the latest other model of which there are vectors, if it
// can still embed queries.
func (x *Index) openPrevious(ctx context.Context, models []modelRow, chunks []loadedChunk, modified map[int64]int64) *space {
	for _, m := range models {
		if m.name == x.opt.Embedder.ID() || x.opt.Previous == nil {
			continue
		}
		embedder, err := x.opt.Previous(m.source)
		if err == nil && embedder.ID() == m.name {
			var s *space
			if s, err = x.loadSpace(ctx, models, embedder, m.source, chunks, modified); err == nil {
				return s
			}
		}
		x.opt.Log.Warn("an earlier model cannot be used any more; its vectors will be replaced", "model", m.name, "err", err)
	}
	return nil
}

func (x *Index) loadSpace(ctx context.Context, models []modelRow, embedder Embedder, source string, chunks []loadedChunk, modified map[int64]int64) (*space, error) {
	model, err := x.modelID(ctx, models, embedder, source)
	if err != nil {
		return nil, err
	}
	s, err := newSpace(x.dir, model, embedder)
	if err != nil {
		return nil, err
	}
	if s.slots.wasteful(len(chunks)) {
		if err := s.remove(x.dir); err != nil {
			return nil, err
		}
		if s, err = newSpace(x.dir, model, embedder); err != nil {
			return nil, err
		}
	}
	missing := s.load(chunks)
	if err := x.fromStore(ctx, s, missing); err != nil {
		return nil, errors.Join(err, s.slots.Close())
	}
	s.byNewest(modified)
	return s, nil
}

// fromStore adds the vectors that SQLite has and the cache file does not, and
// puts the notes for which neither has one on the backlog.
func (x *Index) fromStore(ctx context.Context, s *space, missing []loadedChunk) error {
	return x.store.Notes().Read(ctx, func(tx *sql.Tx) error {
		query, err := tx.PrepareContext(ctx, `SELECT vector FROM embeddings WHERE model = ? AND hash = ?`)
		if err != nil {
			return err
		}
		defer func() { _ = query.Close() }() // the transaction's end closes it as well
		for _, c := range missing {
			var half []byte
			err := query.QueryRowContext(ctx, s.model, c.hash).Scan(&half)
			if errors.Is(err, sql.ErrNoRows) {
				s.wait(c.note)
				continue
			}
			if err != nil {
				return err
			}
			slot, err := s.slots.add(slotKey(c.hash[:len(slotKey{})]), unpackHalf(half))
			if err != nil {
				return err
			}
			s.entries.add(c.note, c.ordinal, slot, s.slots.vector(slot))
		}
		return nil
	})
}

// embedBatch embeds the next few notes of the backlog and reports whether
// there are more.
func (x *Index) embedBatch(ctx context.Context) (more bool, err error) {
	x.mu.Lock()
	s := x.serving
	if x.building != nil {
		s = x.building
	}
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
			s.wait(id)
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

// embedNotes embeds the chunks of these notes that have no vector, and makes
// each note findable when its own are done.
func (x *Index) embedNotes(ctx context.Context, s *space, batch []*notes.Note) error {
	var todo []text
	var ready []*notes.Note
	queued := map[string]bool{}
	flush := func() error {
		if err := x.embedTexts(ctx, s, todo); err != nil {
			return err
		}
		x.mu.Lock()
		for _, n := range ready {
			if _, exists := s.chunks[n.ID]; exists { // else it was deleted meanwhile
				s.set(n)
			}
		}
		x.mu.Unlock()
		todo, ready = todo[:0], ready[:0]
		return nil
	}
	for _, n := range batch {
		for _, c := range n.Chunks {
			if _, ok := s.slots.find(keyOf(c.Hash)); ok || queued[c.Hash] {
				continue
			}
			queued[c.Hash] = true
			todo = append(todo, text{c.Hash, n.EmbedText(c)})
			if len(todo) == batchTexts {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		ready = append(ready, n)
	}
	return flush()
}

// embedTexts embeds, commits, and only then adds to the cache file.
func (x *Index) embedTexts(ctx context.Context, s *space, todo []text) error {
	if len(todo) == 0 {
		return nil
	}
	began := x.opt.Now()
	texts := make([]string, len(todo))
	for i, t := range todo {
		texts[i] = t.text
	}
	vectors := make([][]float32, len(todo))
	err := s.embedder.EmbedPassages(ctx, texts, x.threads(), func(i int, v []float32) {
		vectors[i] = append([]float32(nil), v...)
	})
	if err != nil {
		return err
	}
	if err := x.saveEmbeddings(ctx, s.model, todo, vectors); err != nil {
		return err
	}
	for i, t := range todo {
		if _, err := s.slots.add(keyOf(t.hash), vectors[i]); err != nil {
			return err
		}
	}
	x.measure(len(todo), x.opt.Now().Sub(began))
	return nil
}

// measure keeps a moving average of the speed, for the estimate.
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
	x.rate += 0.1 * (rate - x.rate)
}

func (x *Index) threads() int {
	if x.opt.Threads > 0 {
		return x.opt.Threads
	}
	return (runtime.NumCPU() + 1) / 2
}

// takeOver lets the wanted model answer once it is complete, and removes what
// the other one has left.
func (x *Index) takeOver(ctx context.Context) error {
	x.mu.Lock()
	if x.building != nil && !x.building.complete() || x.building == nil && !x.serving.complete() {
		x.mu.Unlock()
		return nil
	}
	old := x.serving
	if x.building != nil {
		x.serving, x.building = x.building, nil
	} else {
		old = nil
	}
	ready := x.serving.model
	x.mu.Unlock()
	if err := x.markReady(ctx, ready); err != nil {
		return err
	}
	if old == nil {
		return nil
	}
	x.mu.Lock() // readers of the old space hold the lock while they read it
	defer x.mu.Unlock()
	return old.remove(x.dir)
}
