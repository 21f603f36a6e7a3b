package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/vectors/flat"
)

// Store provides the texts to embed. *store.Store of notes/store implements it.
type Store interface {
	ByID(ctx context.Context, ids []int64) ([]*notes.Note, error)
	Notes() *sqlite.DB
	// Setting reads a stored value into v, which it leaves unchanged if there is none.
	Setting(ctx context.Context, name string, v any) error
	SaveSetting(ctx context.Context, name string, v any) error
}

// Options configure an Index.
type Options struct {
	Embedder Embedder // nil with Auto
	Source   string   // source of Embedder's model, for Open; "": the built-in model
	Auto     *Auto    // chooses the model by the language of the notes
	// Open opens the embedder of a source. If it is not nil, the vectors of an earlier
	// model answer queries until those of the configured or chosen one are complete.
	Open    func(source string) (Embedder, error)
	Threads int // for background embedding; 0: as many as the machine has idle
	// Load returns the load of the machine since its last call; nil: as the system
	// reports it.
	Load func() Load
	// Wait, if not nil, blocks until embedding may begin, so that the text index of
	// a new vault can use the processors first.
	Wait   func(ctx context.Context) error
	Shared SharedVectors // vectors of other nodes; nil: there are no other nodes
	Log    *slog.Logger
	Now    func() time.Time
}

// Index answers semantic searches. It follows the vault and is safe for concurrent
// use.
type Index struct {
	store rows
	dir   string
	opt   Options

	// writing is held while vectors are written to SQLite and the cache files, and while these
	// are opened or replaced, so that Reset erases them or they are written after it. It is
	// locked before mu.
	writing sync.Mutex

	mu       sync.RWMutex
	early    map[int64]*notes.Note // changes while a space is being loaded; a nil note was deleted
	embedder Embedder              // of the configured or chosen model; nil until one is chosen
	source   string                // of embedder
	choice   choice                // of Options.Auto
	serving  *space                // answers queries; nil until one is loaded
	building *space                // replaces serving when complete; nil if serving is of embedder's model, or the model or its dimension is unknown
	failing  *space                // whose model could not embed the last query; nil if it could
	failed   time.Time             // when the first of these queries failed
	reported bool                  // an error of one of these queries was reported
	closed   bool
	scanned  bool // Options.Wait has returned
	rate     rate
	trouble  error // why the embedder fails
	// chunksSeen is the number of chunks at their last count, for the status of a
	// model without a space.
	chunksSeen int

	loaded  chan struct{} // closed when Run has tried to load the stored vectors
	stale   atomic.Bool   // the stored vectors must be loaded again
	signal  chan struct{} // wakes Run
	queries queryCache
	asking  singleflight.Group // for the vectors of queries
	pace    *pace

	// tests set these
	keepUnused int
	silence    time.Duration
}

// NewIndex returns an index with cache files in dir. It is empty until Run has
// loaded it.
func NewIndex(store Store, dir string, opt Options) *Index {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Load == nil {
		opt.Load = newSystemLoad()
	}
	return &Index{store: rows{store}, dir: dir, opt: opt, embedder: opt.Embedder, source: opt.Source, early: map[int64]*notes.Note{}, loaded: make(chan struct{}), signal: make(chan struct{}, 1), pace: newPace(opt.Threads, opt.Load), keepUnused: keepUnused, silence: silence}
}

// Position returns the head of the feed: the index loads earlier changes from the
// chunks and embeddings in the store.
func (x *Index) Position() (notes.Position, error) { return notes.Position{Seq: notes.FromHead}, nil }

// Name implements [notes.Follower].
func (*Index) Name() string { return "semantic search" }

// Reset erases the vectors of texts that no note contains from the cache files, and deletes the
// files of models that are not loaded. The other vectors stay, because they are determined by
// the store.
func (x *Index) Reset(context.Context) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	unreadable := x.mapped(func() {
		for _, s := range x.spaces() {
			errs = append(errs, s.slots.erase(s.unused()))
		}
	})
	return errors.Join(append(errs, unreadable, deleteOthers(x.dir, x.spaces()))...)
}

// mapped calls do, which reads the mapped files. If that is not possible, it returns an error,
// and Run loads the vectors again.
func (x *Index) mapped(do func()) error {
	err := flat.Guard(do)
	if err != nil {
		x.stale.Store(true)
		x.wake()
	}
	return err
}

// Apply makes the texts of changed notes that have vectors searchable, and adds notes with
// other texts to the backlog.
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
	x.choice.changed += len(changed)
	if x.early != nil {
		maps.Copy(x.early, changed)
	}
	_ = x.mapped(func() { // after an error, Run reads the changes from the store
		for id, note := range changed {
			for _, s := range x.spaces() {
				s.apply(id, note)
			}
		}
	})
	x.wake()
	return nil
}

// wanted returns the space of the configured or chosen model, or nil if there is
// none yet.
func (x *Index) wanted() *space {
	switch {
	case x.building != nil:
		return x.building
	case x.serving != nil && x.embedder != nil && x.serving.embedder.ID() == x.embedder.ID():
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
	default: // a wake-up is already pending
	}
}

// Nearest returns the k notes of allowed (nil: all) whose best chunk is
// nearest to the text, the nearest first.
func (x *Index) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) (hits []notes.SemanticHit, err error) {
	began := x.opt.Now()
	err = x.withQuery(ctx, text, func(s *space, query, own []float32) {
		hits = s.hits(s.entries.nearest(query, allowed, k), s.scale(query), own)
	})
	if err == nil {
		now := x.opt.Now()
		x.pace.search(now.Sub(began), now)
	}
	return hits, err
}

// Cosines scores the best chunk of each of these notes against the text. It omits
// notes without vectors.
func (x *Index) Cosines(ctx context.Context, text string, ids []int64) (hits []notes.SemanticHit, err error) {
	err = x.withQuery(ctx, text, func(s *space, query, own []float32) {
		hits = s.hits(s.entries.cosines(query, ids), s.scale(query), own)
	})
	return hits, err
}

// withQuery calls do with the serving space, locked for reading, and the aligned vector of a
// query. If another model has replaced that space since the query was embedded, it does not call
// do, and the search has no semantic hits; the next query uses the other model.
func (x *Index) withQuery(ctx context.Context, text string, do func(s *space, query, own []float32)) error {
	query, s, err := x.embedQuery(ctx, text)
	if err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !x.closed && x.serving == s {
		return x.mapped(func() {
			aligned, own := s.aligned(query)
			do(s, aligned, own)
		})
	}
	return nil
}

func (s *space) hits(found []chunkHit, near scale, own []float32) []notes.SemanticHit {
	out := make([]notes.SemanticHit, len(found))
	for i, h := range found {
		out[i] = notes.SemanticHit{NoteID: h.note, Ordinal: h.ordinal, Cosine: h.cosine, Near: near.of(h.cosine), First: near.of(h.first), Missing: 1 - float64(len(s.entries.rowsOf[h.note]))/float64(s.chunks[h.note])}
	}
	if own != nil {
		s.markAcross(own, out)
	}
	return out
}

// Weight returns the weight of the serving model; see [Embedder].
func (x *Index) Weight(text string) float64 {
	x.mu.RLock()
	s, embedder := x.serving, x.embedder
	x.mu.RUnlock()
	switch {
	case s != nil:
		return s.embedder.Weight(text)
	case embedder != nil:
		return embedder.Weight(text)
	}
	return unknownWeight
}

// unknownWeight is the weight before a model is chosen. No semantic hit exists then,
// so any positive value serves.
const unknownWeight = 0.5

// Model returns the configured or chosen embedder and its source, or nil if none is
// chosen yet.
func (x *Index) Model() (e Embedder, source string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.embedder, x.source
}

// Unrelated returns the distribution of [notes.SemanticHit.Near] of passages that are unrelated
// to the text: of the model in general, and in this vault, where it is lower if
// the text is in another language than the notes.
func (x *Index) Unrelated(ctx context.Context, text string) (usual, here notes.Spread, err error) {
	err = x.withQuery(ctx, text, func(s *space, query, _ []float32) { usual, here = s.unrelated(query) })
	return usual, here, err
}

// Alike returns the mean cosine between the hits' chunks. ok reports whether that distinguishes
// chunks about one subject from others. It does not if the model's unrelated chunks are
// similar, or if there are few chunks, of which the nearest are as similar as any.
func (x *Index) Alike(hits []notes.SemanticHit) (cosine float64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed || x.serving == nil || x.serving.entries.len() < backgroundRows {
		return 0, false
	}
	if c, known := calibration(x.serving.embedder); !known || c.Mean != 0 {
		return 0, false
	}
	err := x.mapped(func() { cosine, ok = x.serving.entries.alike(hits) })
	return cosine, ok && err == nil
}

// Yield pauses the embedding of passages by the models in this process, for all vaults, until
// over is called, for at most some milliseconds per passage.
func (x *Index) Yield() (over func()) { return searches.enter() }

// embedQuery returns the vector of a query and the serving space. It waits until
// the vectors are loaded or ctx is done.
func (x *Index) embedQuery(ctx context.Context, text string) ([]float32, *space, error) {
	select {
	case <-x.loaded:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	x.mu.RLock()
	s, trouble := x.serving, x.trouble
	x.mu.RUnlock()
	if s == nil {
		return nil, nil, errors.Join(ErrNothingYet, trouble)
	}
	query := s.embedder.ID() + " " + text
	for {
		v, err, shared := x.asking.Do(query, func() (any, error) {
			if v, ok := x.queries.get(query); ok {
				return v, nil
			}
			v, err := s.embedder.EmbedQuery(ctx, text)
			x.reportQuery(s, err)
			if err == nil {
				x.queries.put(query, v)
			}
			return v, err
		})
		if shared && err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			continue // it was another search's context that ended
		}
		if err != nil {
			return nil, nil, fmt.Errorf("embed the query: %w", err)
		}
		vector, _ := v.([]float32)
		return vector, s, nil
	}
}

// ErrNothingYet is returned for queries until the first vectors are available.
var ErrNothingYet = errors.New("no text has a vector yet")

// Status is the progress of embedding.
type Status struct {
	Model    string `json:"model"`         // "" until one is chosen
	Why      string `json:"why,omitempty"` // why Options.Auto chose the model; "" without
	State    string `json:"state"`         // ready or building; of a vault without an index, off
	Chunks   int    `json:"chunks"`        // passages of the vault
	Embedded int    `json:"embedded"`      // passages embedded by the configured model
	Pending  int    `json:"pending"`       // passages and leads still to embed

	Answering        string `json:"answering,omitempty"`         // the model that answers until the configured one is ready; "" if none does
	RemainingSeconds int    `json:"remaining_seconds,omitempty"` // an estimate; 0 if nothing is pending or the rate is unknown
	Trouble          string `json:"waiting,omitempty"`           // why embedding of notes or queries fails, as "waiting for ollama at …"
}

// Meanwhile says how searches are answered while Trouble lasts.
func (s Status) Meanwhile() string {
	if s.Answering != "" {
		return s.Answering + " answers"
	}
	return "only words are searched"
}

// The states of an index.
const (
	StateReady    = "ready"
	StateBuilding = "building"
	StateLoading  = "loading" // Coverage only: the vectors are being loaded
)

// Status returns the progress of embedding.
func (x *Index) Status() Status {
	x.mu.RLock()
	defer x.mu.RUnlock()
	st := Status{State: StateBuilding}
	if x.opt.Auto != nil {
		st.Why = x.choice.why()
	}
	if x.embedder != nil {
		st.Model = x.embedder.ID()
	}
	if x.trouble != nil {
		st.Trouble = x.trouble.Error()
	}
	wanted := x.wanted()
	if x.serving != nil && x.serving != wanted {
		st.Answering = x.serving.embedder.ID()
	}
	if wanted == nil {
		st.Chunks, st.Pending = x.chunksSeen, max(x.chunksSeen, 1) // at least one, so that the status is not complete
		return st
	}
	st.Chunks, st.Embedded, st.Pending = wanted.total, wanted.entries.len(), wanted.pending()
	switch {
	case x.unread(wanted):
		st.Pending = 1
	case st.Pending == 0:
		st.State = StateReady
	default:
		st.RemainingSeconds = int(x.rate.timeFor(st.Pending).Seconds())
	}
	return st
}

// unread reports whether a space is empty because the first scan has not found any note yet.
func (x *Index) unread(s *space) bool { return !x.scanned && s.total == 0 }

// Coverage returns the state of the serving space and what it can find.
func (x *Index) Coverage() notes.Coverage {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c := notes.Coverage{State: StateBuilding, Former: x.serving != nil && x.serving != x.wanted()}
	switch s := x.serving; {
	case s != nil && s.complete() && !x.unread(s):
		c.State, c.Coverage, c.Passages = StateReady, 1, s.entries.len()
	case s != nil:
		c.Passages = s.entries.len()
		c.Coverage = float64(c.Passages) / float64(max(1, s.total))
	default:
		select {
		case <-x.loaded:
		default:
			c.State = StateLoading
		}
	}
	if c.Coverage == 0 && x.trouble != nil {
		c.Why = x.trouble.Error()
	}
	return c
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
