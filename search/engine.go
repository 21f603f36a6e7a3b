package search

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"notesd/notes"
	"notesd/search/index"
)

// Store gives the notes that the index found. [notes.Store] is one.
type Store interface {
	PackedByID(ctx context.Context, ids []int64) ([]notes.Packed, error)
	ResolveSearch(ctx context.Context, f notes.Filter) (*notes.IDSet, error)
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	WhyNothing(ctx context.Context, f notes.Filter) ([]string, error)
}

const (
	defaultLimit   = 10
	maxLimit       = 50
	defaultSnippet = 160 // bytes
	minSnippet     = 32
	longSnippet    = 200 // of one of few hits

	// pool is how many notes of either side are fused, and how many are ranked
	// for the pages after the first.
	pool = 100
	// maxResults is where pages end. Who wants more wants another query.
	maxResults = 1000
	// rescored is how many of the best candidates' texts are looked at: from here
	// on more cost time and change little.
	rescored = 12
	// semanticTimeout is how long an answer waits for the semantic side.
	semanticTimeout = 250 * time.Millisecond
	// loadingTimeout is how long the first answers wait for vectors that are being
	// read from the disk. That takes 0.2 s for 90 000 passages, and longer on a busy
	// machine.
	loadingTimeout = time.Second
)

// EngineOptions configure an Engine. The zero value is ready to use.
type EngineOptions struct {
	Log   *slog.Logger
	Clock func() time.Time // for relative dates; nil: time.Now
	// SemanticTimeout is how long an answer waits for the semantic side; 0 is
	// 250 ms.
	SemanticTimeout time.Duration
	// Progress reports whether the index has all notes there are, and how many
	// those are. Nil: it has.
	Progress func(ctx context.Context) (ready bool, total int)
}

// Engine answers queries. Its methods may be called from any goroutine.
type Engine struct {
	store    Store
	index    *index.Index
	semantic Semantic // nil: off
	o        EngineOptions
	rankings rankings
}

// NewEngine returns an engine over an index and the notes that it follows.
// semantic may be nil.
func NewEngine(store Store, index *index.Index, semantic Semantic, o EngineOptions) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.SemanticTimeout == 0 {
		o.SemanticTimeout = semanticTimeout
	}
	return &Engine{store: store, index: index, semantic: semantic, o: o}
}

// Result is the answer to a query.
type Result struct {
	Hits      []Hit
	Second    *Hit   // another passage of the first hit of the first page, if the query is what it is about
	Total     int    // notes that have a word of the query, or one of the nearest passages
	Weak      bool   // there are hits, and all of them, on every page, are weak; Notes says so
	Truncated bool   // there are more than these hits
	Next      string // the cursor for them; "" at the end
	Semantic  Coverage
	Index     Progress
	Notes     []string // what the reader should know, a sentence each
	Read      Reading  // the query as it was read
}

// Progress is how much of the vault is in the index.
type Progress struct {
	Ready   bool // all of it
	Indexed int  // only while not ready
	Notes   int
}

// Search answers a query. A query that asks for nothing, or has more than 100
// conditions, an unknown mode and a bad cursor are errors with notes.ErrInvalid; a semantic side that is late or
// fails is not.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	if err := q.check(); err != nil {
		return Result{}, err
	}
	if y, ok := e.semantic.(Yielder); ok {
		defer y.Yield()()
	}
	nodes := parseQuery(q.Text, e.o.Clock())
	if n := conditionsIn(nodes); n > maxConditions {
		return Result{}, invalid(fmt.Sprintf("the query has %d filters, phrases and exclusions", n),
			fmt.Sprintf("Use %d at most, or ask in parts.", maxConditions))
	}
	r := newRequest(nodes, q.Filter)
	if len(nodes) == 0 && r.filter.IsZero() {
		if strings.TrimSpace(q.Text) == "" {
			return Result{}, invalid("the query is empty", "Pass words to look for, or a filter such as tag:x.")
		}
		return Result{Hits: []Hit{}, Semantic: Coverage{State: StateOff}, Index: Progress{Ready: true},
			Notes: []string{"the query has no letter, digit or emoji to look for"}}, nil
	}
	result, err := (&search{Engine: e, q: q, r: r}).run(ctx)
	if err != nil {
		return Result{}, err
	}
	result.Read = reading(nodes)
	e.progress(ctx, &result)
	return result, nil
}

func (e *Engine) progress(ctx context.Context, r *Result) {
	r.Index.Ready = true
	if e.o.Progress == nil {
		return
	}
	ready, total := e.o.Progress(ctx)
	if ready {
		return
	}
	stats, err := e.index.Stats()
	if err != nil {
		return
	}
	r.Index = Progress{Indexed: stats.Notes, Notes: max(total, stats.Notes)}
	r.Notes = append(r.Notes, fmt.Sprintf("the index is still being built: %d of %d notes", r.Index.Indexed, r.Index.Notes))
}

// check fills in defaults and refuses what cannot be meant.
func (q *Query) check() error {
	switch q.Mode {
	case "":
		q.Mode = ModeHybrid
	case ModeHybrid, ModeText, ModeSemantic:
	default:
		return invalid(fmt.Sprintf("mode %.40q is unknown", string(q.Mode)), "Use hybrid, text or semantic.")
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.Limit < 1 || q.Limit > maxLimit {
		return invalid(fmt.Sprintf("limit %d is out of range", q.Limit), fmt.Sprintf("Use 1 to %d.", maxLimit))
	}
	return nil
}

// snippetSize is how long the snippet of a note may be, which is the hit at rank, from 0, of
// several. Of many hits the first have half as much again, from what the others have: an
// answer is mostly among them. They also keep most of it beside a long path.
func (q *Query) snippetSize(n *notes.Note, heading string, rank, hits int) int {
	const many, first = 6, 3
	size, least := defaultSnippet, minSnippet
	if q.MaxBytes > 0 {
		size = max(q.MaxBytes/q.Limit, min(longSnippet, q.MaxBytes/hits))
		switch {
		case hits < many:
		case rank < first:
			least, size = max(least, size), size*3/2
		default:
			size -= size * first / 2 / (hits - first)
		}
	}
	if q.Beside != nil {
		size -= q.Beside(n.Path, clipName(n.Title), clipName(heading))
	}
	return max(least, size)
}

func invalid(detail, hint string) error {
	return &notes.Error{Op: "search", Err: notes.ErrInvalid, Detail: detail, Hint: hint}
}
