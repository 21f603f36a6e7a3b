package vectors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"notesd/notes"
	"notesd/vectors/flat"
)

// Run loads the stored vectors. It then embeds missing and changed passages until ctx ends.
func (x *Index) Run(ctx context.Context) error { return (&worker{Index: x}).run(ctx) }

// worker embeds in the background. Only the goroutine of [Index.Run] uses it.
type worker struct {
	*Index
	samples samples
	resting bool // only edited notes are embedded
	offer   struct {
		after []byte    // the last hash offered to other nodes
		next  time.Time // the start of the next round of offers
	}
}

const (
	offerEvery = 24 * time.Hour // less than the retention of unused vectors
	offerAgain = 10 * time.Minute
	offerSize  = 500
)

// run loads the vectors, waits for the first scan if there is one, and then embeds the backlog
// step by step. Between steps it pauses as the load of the machine requires; after an error, it
// tries again with increasing delays.
func (x *worker) run(ctx context.Context) error {
	err := x.loadAll(ctx)
	if err == nil && x.serving != nil && alignable(x.serving.embedder) { // queries need not wait for the scan
		_, judged := x.judge(ctx)
		if judged == nil {
			judged = x.align()
		}
		if judged != nil && ctx.Err() == nil {
			x.opt.Log.Warn("queries are not aligned until the notes have been scanned", "err", judged)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		x.stale.Store(true)
	}
	x.report(err)
	close(x.loaded)
	if x.opt.Wait != nil {
		if err := x.opt.Wait(ctx); err != nil {
			return nil // ctx has ended
		}
		if err := x.sortBacklog(ctx); err != nil && ctx.Err() == nil {
			x.opt.Log.Warn("the notes are embedded in the order in which they were found", "err", err)
		}
	}
	x.mu.Lock()
	x.scanned = true
	x.mu.Unlock()
	var pause backOff
	_, x.resting = x.pace.adapt(x.opt.Now(), 0)
	for {
		began := x.opt.Now()
		more, err := x.step(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, flat.ErrUnreadable) {
			x.stale.Store(true)
		}
		x.report(err)
		if !more || err != nil {
			x.mu.Lock()
			x.rate.interrupt()
			x.mu.Unlock()
		}
		wake := (<-chan struct{})(x.signal)
		var retry <-chan time.Time
		switch {
		case err != nil:
			wake, retry = nil, time.After(pause.after(err)) // changes go to the backlog and need no wake-up
		case more:
			pause = backOff{}
			var stop time.Duration
			now := x.opt.Now()
			if stop, x.resting = x.pace.adapt(now, now.Sub(began)); stop <= 0 {
				continue
			}
			retry = time.After(stop)
		default:
			pause = backOff{}
			if x.opt.Shared != nil {
				retry = time.After(x.offer.next.Sub(x.opt.Now()))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-retry:
		}
	}
}

// sortBacklog orders the notes of the first scan by importance; until then they are in scan
// order.
func (x *worker) sortBacklog(ctx context.Context) error {
	all, err := x.store.importance(ctx)
	if err != nil {
		return fmt.Errorf("order the notes: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.wanted(); s != nil {
		s.backlog.sort(all)
	}
	return nil
}

// step embeds or offers one batch and reports whether there is more to do.
func (x *worker) step(ctx context.Context) (more bool, err error) {
	if x.stale.Load() {
		if err := x.reload(ctx); err != nil {
			return false, fmt.Errorf("load the vectors: %w", err)
		}
	}
	if err := x.choose(ctx); err != nil {
		return false, err
	}
	x.mu.RLock()
	s := x.wanted()
	x.mu.RUnlock()
	if s == nil {
		return true, x.learn(ctx)
	}
	more, err = x.embedBatch(ctx, s)
	if err = errors.Join(err, x.align()); more || err != nil || x.opt.Shared == nil || x.opt.Now().Before(x.offer.next) {
		return more, err
	}
	return x.offerVectors(ctx, s)
}

// offerVectors gives other nodes the next vectors that they lack: those of a folder that was
// embedded before it was shared.
func (x *worker) offerVectors(ctx context.Context, s *space) (more bool, err error) {
	vectors, last, err := x.store.embeddingsAfter(ctx, s.model, x.offer.after, offerSize)
	if err != nil {
		return false, err
	}
	missing, err := x.opt.Shared.Missing(ctx, s.embedder.ID(), slices.Sorted(maps.Keys(vectors)))
	if err == nil && len(missing) > 0 {
		maps.DeleteFunc(vectors, func(hash string, _ []byte) bool { return !slices.Contains(missing, hash) })
		err = x.opt.Shared.KeepVectors(ctx, s.embedder.ID(), vectors)
	}
	switch x.offer.after = last; {
	case err != nil:
		x.opt.Log.Debug("other nodes cannot have the vectors", "err", err)
		x.offer.after, x.offer.next = nil, x.opt.Now().Add(offerAgain)
	case last == nil:
		x.offer.next = x.opt.Now().Add(offerEvery)
	}
	return last != nil && err == nil, nil
}

// embedBatch embeds the next passages of the backlog and reports whether there are
// more.
func (x *worker) embedBatch(ctx context.Context, s *space) (more bool, err error) {
	size := s.embedder.Batch(x.pace.current())
	x.mu.Lock()
	last := tails
	if x.resting {
		last = edited
	}
	ids, from := s.backlog.next(size, last, s.missing)
	more = s.backlog.len() > 0
	x.mu.Unlock()
	if len(ids) > 0 {
		if more, err = x.embedIDs(ctx, s, ids, from, size); err != nil {
			return false, err
		}
	}
	gone := x.isServingGone(ctx)
	x.writing.Lock()
	defer x.writing.Unlock()
	return more, x.takeOver(ctx, gone)
}

// align prepares the serving space for queries in the languages of the passages sampled last.
func (x *worker) align() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.serving == nil {
		return nil
	}
	return x.mapped(func() { x.serving.align(x.samples) })
}

// embedIDs embeds passages of notes taken from the backlog, to which they return after an error,
// and reports whether it has more.
func (x *worker) embedIDs(ctx context.Context, s *space, ids []int64, from lane, size int) (more bool, err error) {
	batch, err := x.store.ByID(ctx, ids)
	if err == nil {
		err = x.embedNotes(ctx, s, batch, from, size)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		for _, id := range slices.Backward(ids) {
			s.backlog.add(id, from)
		}
	}
	return s.backlog.len() > 0, err
}

// tryTimeout is how long a model that has failed may take to embed a text.
const tryTimeout = 5 * time.Second

// isServingGone reports whether no query has succeeded with the earlier model that serves for
// longPause, and fails again: it may have failed for a moment, or for one text.
func (x *Index) isServingGone(ctx context.Context) bool {
	x.mu.RLock()
	s := x.serving
	failing := x.building != nil && x.failing == s && x.opt.Now().Sub(x.failed) >= longPause
	x.mu.RUnlock()
	if !failing {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	_, err := s.embedder.EmbedQuery(limited, "notes")
	x.reportQuery(s, err)
	return err != nil && ctx.Err() == nil
}

// text is a chunk to embed.
type text struct {
	note int64
	hash string
	text string
	half []byte // its vector
}

// embedNotes embeds up to size chunks of these notes without a vector, from the lane heads only
// the first of each note, and makes them searchable. It returns notes with further such chunks
// to the backlog.
func (x *worker) embedNotes(ctx context.Context, s *space, batch []*notes.Note, from lane, size int) error {
	todo := make([]text, 0, size)
	queued := map[string]bool{}
	for _, n := range batch {
		n.Content = n.SearchText()
		add := func(hash string, of func() string) {
			if _, ok := s.slots.find(keyOf(hash)); !ok && !queued[hash] && len(todo) < size {
				queued[hash] = true
				todo = append(todo, text{note: n.ID, hash: hash, text: of()})
			}
		}
		for _, c := range n.Chunks {
			add(c.Hash, func() string { return n.EmbedText(c) })
			if from == heads {
				break
			}
		}
		if hash := leadOf(n); hash != "" && from != heads {
			add(hash, func() string { lead, _ := n.Lead(); return lead })
		}
	}
	if err := x.embedTexts(ctx, s, todo); err != nil {
		return err
	}
	if from == heads {
		from = tails
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mapped(func() {
		for _, n := range slices.Backward(batch) {
			if _, exists := s.chunks[n.ID]; exists { // otherwise it was deleted in the meantime
				s.set(n, from)
			}
		}
	})
}

// embedTexts embeds texts, commits the vectors, and then adds them to the cache
// file, so that a text is embedded a second time only if the program is killed in
// between. It adds the vectors as they were rounded for the store, so that a rebuilt
// file has the same content.
func (x *worker) embedTexts(ctx context.Context, s *space, todo []text) error {
	if len(todo) == 0 {
		return nil
	}
	began := x.opt.Now()
	todo, err := x.embedOrFetch(ctx, s.embedder, todo)
	if err != nil || len(todo) == 0 {
		return err
	}
	if err := x.keep(ctx, s, todo); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rate.add(len(todo), began, x.opt.Now())
	return nil
}

// keep commits vectors and then adds them to the cache file. It omits those of notes that were
// deleted since they were read, which may have been forgotten.
func (x *worker) keep(ctx context.Context, s *space, done []text) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	done, err := x.store.saveEmbeddings(ctx, s.model, done)
	if err != nil {
		return err
	}
	for _, t := range done {
		if _, err := s.slots.add(keyOf(t.hash), unpackHalf(t.half)); err != nil {
			return err
		}
	}
	return nil
}

// embedOrFetch embeds texts, or gets their vectors from other nodes, packed in half precision.
// It omits texts that another node is embedding.
func (x *worker) embedOrFetch(ctx context.Context, e Embedder, todo []text) (done []text, err error) {
	known, embed := map[string][]byte{}, todo
	if x.opt.Shared != nil {
		hashes := make([]string, len(todo))
		for i, t := range todo {
			hashes[i] = t.hash
		}
		found, claimed, err := x.opt.Shared.Vectors(ctx, e.ID(), hashes)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			x.opt.Log.Debug("other nodes' vectors cannot be used", "err", err)
		} else {
			known = found
			embed = slices.DeleteFunc(slices.Clone(todo), func(t text) bool {
				half := known[t.hash]
				return !slices.Contains(claimed, t.hash) && (half == nil || len(half) == 2*e.Dim())
			})
		}
	}
	texts := make([]string, len(embed))
	for i, t := range embed {
		texts[i] = t.text
	}
	made := map[string][]byte{}
	if len(embed) > 0 {
		err := e.EmbedPassages(ctx, texts, x.pace.current(), func(i int, v []float32) { made[embed[i].hash] = packHalf(v) })
		if err != nil {
			return nil, err
		}
	}
	if x.opt.Shared != nil && len(made) > 0 {
		if err := x.opt.Shared.KeepVectors(ctx, e.ID(), made); err != nil {
			x.opt.Log.Debug("other nodes cannot have the vectors", "err", err)
		}
	}
	for _, t := range todo {
		if t.half = made[t.hash]; t.half == nil {
			t.half = known[t.hash]
		}
		if len(t.half) > 0 {
			done = append(done, t)
		}
	}
	return done, nil
}

// takeOver makes the space of the model serve when it is complete, and removes the
// space that it replaces and the files of all other models. It does so earlier if that
// space has fewer vectors, because the model was changed before it was complete, or if its
// model is gone. The caller must hold writing.
func (x *Index) takeOver(ctx context.Context, gone bool) error {
	x.mu.Lock()
	wanted := x.wanted()
	if wanted == nil {
		x.mu.Unlock()
		return nil
	}
	complete := wanted.complete()
	var old *space
	if x.building != nil && (complete || wanted.pending() < x.serving.pending() || gone && wanted.entries.len() > 0) {
		old, x.serving, x.building, x.failing = x.serving, x.building, nil, nil
	}
	x.mu.Unlock()
	var errs []error
	if complete {
		errs = append(errs, x.store.deleteOtherModels(ctx, wanted.model))
	}
	if old != nil {
		x.mu.Lock() // readers of the old space hold the lock while they read it
		errs = append(errs, old.remove(x.dir))
		x.mu.Unlock()
	}
	if complete {
		if err := deleteOthers(x.dir, []*space{wanted}); err != nil {
			x.opt.Log.Warn("the vector files of other models cannot be deleted", "err", err) // the next call tries again
		}
	}
	return errors.Join(errs...)
}
