package vectors

import (
	"context"
	"database/sql"
	"errors"

	"notesd/notes"
)

// loadAll loads the space of the configured model and, if that is incomplete, the
// space of the previous model, which answers until it is complete. If the dimension
// of the configured model is unknown, learn loads its space later.
func (x *Index) loadAll(ctx context.Context) error {
	models, chunks, modified, err := x.stored(ctx)
	if err != nil {
		return err
	}
	var wanted *space
	if x.opt.Embedder.Dim() > 0 {
		if wanted, err = x.loadSpace(ctx, models, x.opt.Embedder, x.opt.Source, chunks, modified); err != nil {
			return err
		}
	}
	serving, building := wanted, (*space)(nil)
	if wanted == nil || !wanted.complete() {
		switch old := x.openPrevious(ctx, models, chunks, modified); {
		case old == nil:
		case wanted == nil || old.pending() < wanted.pending():
			serving, building = old, wanted
		default:
			if err := old.slots.Close(); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	x.serving, x.building, x.chunksSeen = serving, building, len(chunks)
	x.catchUp(x.spaces()...)
	x.mu.Unlock()
	close(x.loaded)
	return x.takeOver(ctx)
}

// learn lets the configured model embed a text to find out its dimension, and loads
// its space.
func (x *Index) learn(ctx context.Context) error {
	seen, err := x.countChunks(ctx)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.chunksSeen = seen
	x.mu.Unlock()
	err = x.opt.Embedder.EmbedPassages(ctx, []string{"notes"}, x.threads(), func(int, []float32) {})
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.early = map[int64]*notes.Note{}
	x.mu.Unlock()
	models, chunks, modified, err := x.stored(ctx)
	if err != nil {
		return err
	}
	wanted, err := x.loadSpace(ctx, models, x.opt.Embedder, x.opt.Source, chunks, modified)
	if err != nil {
		return err
	}
	x.mu.Lock()
	if x.serving == nil {
		x.serving = wanted
	} else {
		x.building = wanted
	}
	x.catchUp(wanted)
	x.mu.Unlock()
	return x.takeOver(ctx)
}

// stored reads the models, the chunks and the modification times of the notes from
// the store, and passes the stored dimension to the configured embedder.
func (x *Index) stored(ctx context.Context) ([]modelRow, []loadedChunk, map[int64]int64, error) {
	models, err := x.models(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, m := range models {
		expect(x.opt.Embedder, m)
	}
	chunks, modified, err := x.chunks(ctx)
	return models, chunks, modified, err
}

// expect passes the dimension of its stored vectors to an embedder.
func expect(e Embedder, m modelRow) {
	if learner, ok := e.(Learner); ok && m.name == e.ID() {
		learner.Expect(m.dimension)
	}
}

// catchUp applies the changes since the chunks were read to new spaces.
func (x *Index) catchUp(spaces ...*space) {
	for id, note := range x.early {
		for _, s := range spaces {
			s.apply(id, note)
		}
	}
	x.early = nil
}

// openPrevious loads the space of the latest other model with vectors whose
// embedder can still be opened, or returns nil.
func (x *Index) openPrevious(ctx context.Context, models []modelRow, chunks []loadedChunk, modified map[int64]int64) *space {
	for _, m := range models {
		if m.name == x.opt.Embedder.ID() || x.opt.Previous == nil {
			continue
		}
		embedder, err := x.opt.Previous(m.source)
		if err == nil && embedder.ID() == m.name {
			expect(embedder, m)
			var s *space
			if s, err = x.loadSpace(ctx, models, embedder, m.source, chunks, modified); err == nil {
				return s
			}
		}
		x.opt.Log.Warn("an earlier model can no longer be used; its vectors will be replaced", "model", m.name, "err", err)
	}
	return nil
}

func (x *Index) loadSpace(ctx context.Context, models []modelRow, embedder Embedder, source string, chunks []loadedChunk, modified map[int64]int64) (*space, error) {
	model, isNew, err := x.modelID(ctx, models, embedder, source)
	if err != nil {
		return nil, err
	}
	s, err := newSpace(x.dir, model, embedder)
	if err != nil {
		return nil, err
	}
	// The file of a model that is new to the store belongs to a deleted store.
	if s.slots.records.N > 0 && isNew || s.slots.wasteful(len(chunks)) {
		if err := s.remove(x.dir); err != nil {
			return nil, err
		}
		if s, err = newSpace(x.dir, model, embedder); err != nil {
			return nil, err
		}
	}
	if err := x.fill(ctx, s, isNew, chunks); err != nil {
		return nil, errors.Join(err, s.slots.Close())
	}
	s.byNewest(modified)
	return s, nil
}

// fill loads the chunks into a new space. Deleted texts are found by their slots, so
// if the cache file is empty, fill deletes their embeddings.
func (x *Index) fill(ctx context.Context, s *space, isNew bool, chunks []loadedChunk) error {
	if s.slots.records.N == 0 && !isNew {
		if err := x.deleteUnused(ctx, s.model); err != nil {
			return err
		}
	}
	return x.fromStore(ctx, s, s.load(chunks))
}

// fromStore adds the vectors that are in SQLite and not in the cache file. Notes
// with chunks that have no vector in either go to the backlog.
func (x *Index) fromStore(ctx context.Context, s *space, missing []loadedChunk) error {
	return x.store.Notes().Read(ctx, func(tx *sql.Tx) error {
		query, err := tx.PrepareContext(ctx, `SELECT vector FROM embeddings WHERE model = ? AND hash = ?`)
		if err != nil {
			return err
		}
		defer func() { _ = query.Close() }() // the end of the transaction closes it as well
		for _, c := range missing {
			var half []byte
			err := query.QueryRowContext(ctx, s.model, c.hash).Scan(&half)
			if errors.Is(err, sql.ErrNoRows) {
				s.enqueue(c.note)
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
