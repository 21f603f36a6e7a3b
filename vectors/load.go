package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notesd/notes"
)

// loadAll loads the space of the configured or chosen model and, if that is
// incomplete, the space of the previous model, which answers until it is complete. If
// the model or its dimension is unknown, choose or learn loads its space later.
func (x *Index) loadAll(ctx context.Context) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	if err := x.recall(ctx); err != nil {
		return err
	}
	st, err := x.store.stored(ctx, x.embedder)
	if err != nil {
		return err
	}
	var wanted *space
	if x.embedder != nil && x.embedder.Dim() > 0 {
		if wanted, err = x.loadSpace(ctx, st, x.embedder, x.source); err != nil {
			return err
		}
	}
	serving, building := wanted, (*space)(nil)
	if wanted == nil || !wanted.complete() {
		switch old := x.openPrevious(ctx, st); {
		case old == nil:
		case wanted == nil || old.pending() < wanted.pending():
			serving, building = old, wanted
		default:
			if err := old.remove(x.dir); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	x.serving, x.building, x.chunksSeen = serving, building, len(st.chunks)
	x.catchUp(x.spaces()...)
	x.mu.Unlock()
	return x.takeOver(ctx, false)
}

// reload loads the vectors after a failed load, or after a mapped file could not be read.
func (x *Index) reload(ctx context.Context) error {
	x.mu.Lock()
	var errs []error
	for _, s := range x.spaces() {
		errs = append(errs, s.slots.Close())
	}
	x.serving, x.building, x.early = nil, nil, map[int64]*notes.Note{}
	x.mu.Unlock()
	x.stale.Store(false)
	err := errors.Join(append(errs, x.loadAll(ctx))...)
	if err != nil {
		x.stale.Store(true)
	}
	return err
}

// silence is how long a server may take to answer for the first time before status says so. It
// may be loading the model, so the request goes on.
const silence = 10 * time.Second

// learn lets the model embed a text to find out its dimension, and loads its space.
func (x *worker) learn(ctx context.Context) error {
	seen, err := x.store.countChunks(ctx)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.chunksSeen = seen
	x.mu.Unlock()
	embedder, source := x.Model()
	slow := time.AfterFunc(x.silence, func() {
		x.report(fmt.Errorf("waiting for %s: it has not answered for %v", embedder.ID(), x.silence))
	})
	defer slow.Stop()
	err = embedder.EmbedPassages(ctx, []string{"notes"}, x.pace.current(), func(int, []float32) {})
	if err != nil {
		return err
	}
	return x.adopt(ctx, embedder, source)
}

// adopt makes embedder the embedder of the index. A serving space of another model answers
// until the embedder's space is complete.
func (x *Index) adopt(ctx context.Context, embedder Embedder, source string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	x.early = map[int64]*notes.Note{}
	back := x.serving != nil && x.serving.embedder.ID() == embedder.ID()
	var old *space
	if x.building != nil {
		old, x.building = x.building, nil
	}
	x.mu.Unlock()
	if old != nil {
		if err := errors.Join(old.remove(x.dir), x.store.deleteModel(ctx, old.model)); err != nil {
			return err
		}
	}
	var wanted *space
	if !back {
		st, err := x.store.stored(ctx, x.embedder)
		if err != nil {
			return err
		}
		if wanted, err = x.loadSpace(ctx, st, embedder, source); err != nil {
			return err
		}
	}
	x.mu.Lock()
	x.embedder, x.source, x.rate = embedder, source, rate{}
	switch {
	case back:
		x.early = nil
	case x.serving == nil:
		x.serving = wanted
		x.catchUp(wanted)
	default:
		x.building = wanted
		x.catchUp(wanted)
	}
	x.mu.Unlock()
	return x.takeOver(ctx, false)
}

// stored is the data in the store that all spaces share.
type stored struct {
	models []modelRow
	chunks []loadedChunk
	notes  map[int64]importance
}

// stored reads the store, and passes the stored dimension to the embedder.
func (r rows) stored(ctx context.Context, embedder Embedder) (st stored, err error) {
	if st.models, err = r.models(ctx); err != nil {
		return st, err
	}
	for _, m := range st.models {
		if embedder != nil && m.name == embedder.ID() {
			embedder.Expect(m.dimension)
		}
	}
	if st.chunks, err = r.chunks(ctx); err != nil {
		return st, err
	}
	st.notes, err = r.importance(ctx)
	return st, err
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

// openPrevious loads the space of the latest other model with vectors whose embedder can
// still be opened, or returns nil.
func (x *Index) openPrevious(ctx context.Context, st stored) *space {
	for _, m := range st.models {
		if x.opt.Open == nil || x.embedder != nil && m.name == x.embedder.ID() {
			continue
		}
		embedder, err := x.opt.Open(m.source)
		if err == nil && embedder.ID() == m.name {
			embedder.Expect(m.dimension)
			var s *space
			if s, err = x.loadSpace(ctx, st, embedder, m.source); err == nil {
				return s
			}
		}
		x.opt.Log.Warn("an earlier model can no longer be used; its vectors will be replaced", "model", m.name, "err", err)
	}
	return nil
}

func (x *Index) loadSpace(ctx context.Context, st stored, embedder Embedder, source string) (*space, error) {
	model, isNew, err := x.store.modelID(ctx, st.models, embedder, source)
	if err != nil {
		return nil, err
	}
	s, err := newSpace(x.dir, model, embedder)
	if err != nil {
		return nil, err
	}
	chunks := withLeads(st.chunks)
	missing := s.load(chunks)
	// If the model is new to the store, its file is of a deleted store.
	if isNew && s.slots.records.N > 0 || len(s.unused()) > max(x.keepUnused, len(chunks)/5) {
		if err := s.remove(x.dir); err != nil {
			return nil, err
		}
		if s, err = newSpace(x.dir, model, embedder); err != nil {
			return nil, err
		}
		missing = s.load(chunks)
	}
	if s.slots.records.N == 0 {
		err = x.store.deleteUnused(ctx, model, chunks)
	}
	if err == nil {
		err = x.fromStore(ctx, s, missing)
	}
	if err != nil {
		return nil, errors.Join(err, s.slots.Close())
	}
	s.backlog.sort(st.notes)
	return s, nil
}

// keepUnused is the least number of vectors of deleted texts that are kept until the next
// start, because a paragraph that was cut is often pasted or restored. They take 5 MB.
const keepUnused = 4096

// fromStore adds the vectors that are in SQLite and not in the cache file. Notes
// with chunks that have no vector in either go to the backlog.
func (x *Index) fromStore(ctx context.Context, s *space, missing []loadedChunk) error {
	defer s.entries.grow()
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
				s.backlog.add(c.note, heads)
				continue
			}
			if err != nil {
				return err
			}
			slot, err := s.slots.add(slotKey(c.hash[:len(slotKey{})]), unpackHalf(half))
			if err != nil {
				return err
			}
			s.add(c, slot)
		}
		return nil
	})
}
