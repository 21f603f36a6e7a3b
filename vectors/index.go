package vectors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Store gives the texts that are to be embedded. [notes.Store] is one.
type Store interface {
	ByID(ctx context.Context, ids []int64) ([]*notes.Note, error)
	Notes() *sqlite.DB
}

// Options say how an index works.
type Options struct {
	Embedder Embedder
	Source   string // where Embedder's model is to be found again; "" for the one in the program
	// Previous opens the embedder of another source, so that its vectors can go
	// on answering while Embedder's are made. Nil, or an error: they cannot.
	Previous func(source string) (Embedder, error)
	Threads  int // for background embedding; 0: half of the processors
	KeepIdle int // how many vectors to keep in any case of texts that are gone; 0: 4096
	// Wait, when not nil, returns when embedding may begin: the text index of a
	// new vault wants the processors first.
	Wait func(ctx context.Context) error
	Log  *slog.Logger
	Now  func() time.Time
}

// Index finds notes by meaning. It follows the vault and is safe for
// concurrent use.
type Index struct {
	store Store
	dir   string
	opt   Options

	mu       sync.RWMutex
	early    map[int64]*notes.Note // while a space is being loaded, what has changed meanwhile; a nil note: deleted
	serving  *space                // answers; nil: nothing does yet
	building *space                // takes its place when complete; nil when serving is of the model wanted, or that is still unknown
	closed   bool
	rate     float64 // chunks embedded per second, lately
	trouble  error   // what keeps the embedder from working
	// chunksSeen is how many chunks there were when they were last counted: what is
	// known of a model without a space.
	chunksSeen int

	there   chan struct{} // closed when the vectors that there are have been loaded
	signal  chan struct{} // wakes Run
	queries queryCache
}

// NewIndex prepares an index whose cache files lie in dir. It has nothing
// until Run has loaded it.
func NewIndex(store Store, dir string, opt Options) *Index {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.KeepIdle <= 0 {
		opt.KeepIdle = keepIdle
	}
	return &Index{store: store, dir: dir, opt: opt, early: map[int64]*notes.Note{}, there: make(chan struct{}), signal: make(chan struct{}, 1)}
}

// Position says that the index follows from the head: what came before is
// loaded from the store's chunks and embeddings.
func (x *Index) Position() (notes.Position, error) { return notes.Position{Seq: notes.FromHead}, nil }

// Reset erases from the cache files the vectors of texts that no note has any
// more. All else comes from the store, and stays.
func (x *Index) Reset(ctx context.Context) error {
	chunks, _, err := x.chunks(ctx)
	if err != nil {
		return err
	}
	used := make(map[slotKey]bool, len(chunks))
	for _, c := range chunks {
		used[slotKey(c.hash[:len(slotKey{})])] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, s := range x.spaces() {
		for _, slot := range s.slots.all() {
			if key := s.slots.key(slot); !used[key] {
				errs = append(errs, s.slots.remove(key))
			}
		}
	}
	return errors.Join(errs...)
}

// Apply makes changed notes findable as far as their texts have vectors, and
// leaves the rest to Run.
func (x *Index) Apply(ctx context.Context, _ notes.Position, changes []notes.Change) error {
	changed := make(map[int64]*notes.Note, len(changes))
	for _, c := range changes {
		note, err := c.Note(ctx)
		if err != nil {
			return err
		}
		changed[c.NoteID] = note
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, note := range changed {
		if x.early != nil {
			x.early[id] = note
		}
		for _, s := range x.spaces() {
			s.apply(id, note)
		}
	}
	x.wake()
	return nil
}

// wanted is the space of the model that is wanted, or nil as long as there is
// none.
func (x *Index) wanted() *space {
	switch {
	case x.building != nil:
		return x.building
	case x.serving != nil && x.serving.embedder == x.opt.Embedder:
		return x.serving
	}
	return nil
}

func (x *Index) spaces() []*space {
	switch {
	case x.serving == nil:
		return nil
	case x.building == nil:
		return []*space{x.serving}
	}
	return []*space{x.serving, x.building}
}

func (x *Index) wake() {
	select {
	case x.signal <- struct{}{}:
	default: // it will look anyway
	}
}

// Hit is a note found by meaning.
type Hit struct {
	NoteID  int64
	Ordinal int // of the chunk that is nearest
	Cosine  float64
	// Near is the cosine on one scale for all models, that of the model in the
	// program: what is about the text has more than .3, what has nothing to do
	// with it about 0.
	Near float64
	// First is Near of the note's first chunk.
	First float64
}

// Nearest returns the k notes of allowed (nil: all) whose best chunk is
// nearest to the text, the nearest first.
func (x *Index) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]Hit, error) {
	query, space, err := x.embedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed || x.serving != space {
		return nil, nil // another model has just taken over; the next query asks it
	}
	file := space.slots.view()
	return hits(space.entries.nearest(query, allowed, k, file.vector), space.scale(query, file.vector)), nil
}

// Cosines scores the best chunk of each of these notes against the text.
// Notes without vectors are left out.
func (x *Index) Cosines(ctx context.Context, text string, ids []int64) ([]Hit, error) {
	query, space, err := x.embedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed || x.serving != space {
		return nil, nil
	}
	file := space.slots.view()
	return hits(space.entries.cosines(query, ids, file.vector), space.scale(query, file.vector)), nil
}

func hits(found []chunkHit, near scale) []Hit {
	out := make([]Hit, len(found))
	for i, h := range found {
		out[i] = Hit{NoteID: h.note, Ordinal: h.ordinal, Cosine: h.cosine, Near: near.of(h.cosine), First: near.of(h.first)}
	}
	return out
}

// Weight is the share, from 0 to 1, that meaning should have in the score of
// this query's hits; 0 when the model does not know the query's script.
func (x *Index) Weight(text string) float64 {
	x.mu.RLock()
	s := x.serving
	x.mu.RUnlock()
	if s == nil {
		return x.opt.Embedder.Weight(text)
	}
	return s.embedder.Weight(text)
}

// embedQuery returns the query's vector and the space that is serving. It
// waits for the vectors to be loaded: it is for the caller to say how long.
func (x *Index) embedQuery(ctx context.Context, text string) ([]float32, *space, error) {
	select {
	case <-x.there:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	x.mu.RLock()
	s, trouble := x.serving, x.trouble
	x.mu.RUnlock()
	if s == nil {
		return nil, nil, errors.Join(ErrNothingYet, trouble)
	}
	if v, ok := x.queries.get(s, text); ok {
		return v, s, nil
	}
	v, err := s.embedder.EmbedQuery(ctx, text)
	x.reportQuery(err)
	if err != nil {
		return nil, nil, fmt.Errorf("embed the query: %w", err)
	}
	x.queries.put(s, text, v)
	return v, s, nil
}

// ErrNothingYet is the answer to a query as long as no model can answer any.
var ErrNothingYet = errors.New("no text has a vector yet")

// Status says how far embedding has come.
type Status struct {
	Model     string
	State     string        // "ready" or "building"
	Chunks    int           // passages of the vault
	Embedded  int           // of them, by the model that is wanted
	Pending   int           // the rest
	Remaining time.Duration // an estimate; 0 when there is nothing to do or nothing to go by
	Answering string        // another model, whose vectors answer meanwhile; "" when there is none
	Trouble   string        // what keeps embedding, of notes or of queries, from going on; "" when nothing does
}

// The states of an index.
const (
	StateReady    = "ready"
	StateBuilding = "building"
	StateLoading  = "loading" // of Coverage: the vectors are being read from the disk
)

// Status reports on the index.
func (x *Index) Status() Status {
	x.mu.RLock()
	defer x.mu.RUnlock()
	st := Status{Model: x.opt.Embedder.ID(), State: StateBuilding}
	if x.trouble != nil {
		st.Trouble = x.trouble.Error()
	}
	wanted := x.wanted()
	if x.serving != nil && x.serving != wanted {
		st.Answering = x.serving.embedder.ID()
	}
	if wanted == nil {
		st.Chunks, st.Pending = x.chunksSeen, max(x.chunksSeen, 1) // nobody may take this for complete
		return st
	}
	st.Chunks, st.Embedded, st.Pending = wanted.total, wanted.entries.len(), wanted.pending()
	if st.Pending == 0 {
		st.State = StateReady
	} else if x.rate > 0 {
		st.Remaining = time.Duration(float64(st.Pending) / x.rate * float64(time.Second)).Round(time.Second)
	}
	return st
}

// Coverage returns the state of what answers queries now, the share of chunks,
// from 0 to 1, that it can find, and their number.
func (x *Index) Coverage() (state string, share float64, chunks int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.serving == nil {
		select {
		case <-x.there:
			return StateBuilding, 0, 0
		default:
			return StateLoading, 0, 0
		}
	}
	if x.serving.complete() {
		return StateReady, 1, x.serving.entries.len()
	}
	n := x.serving.entries.len()
	return StateBuilding, float64(n) / math.Max(1, float64(x.serving.total)), n
}

// Close unmaps the cache files. Run must have returned. It may be called
// again.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	var errs []error
	for _, s := range x.spaces() {
		errs = append(errs, s.slots.Close())
	}
	return errors.Join(errs...)
}
