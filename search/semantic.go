package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"notesd/notes"
	"notesd/search/index"
)

// semanticQuery is a semantic search in progress.
type semanticQuery struct {
	*search
	ctx    context.Context // ends with the time limit
	stop   context.CancelFunc
	weight float64
	hits   chan nearest // nil: not started
	state  notes.Coverage
}

// byDigits reports whether a hybrid search is by words only because the query is a day that
// notes have, or has digits and no letters, as a telephone number or an amount: to a model, numbers
// are close to each other.
func (s *search) byDigits() bool {
	return s.q.Mode == ModeHybrid && (s.r.hasOnlyDays() || strings.ContainsFunc(s.r.semanticText, unicode.IsDigit) && !strings.ContainsFunc(s.r.semanticText, unicode.IsLetter))
}

type nearest struct {
	hits []notes.SemanticHit
	err  error
}

// askSemantic starts the semantic search if the query requests it and the model knows its
// script. The goroutine ends with stop or the time limit; its result is dropped if no search
// waits for it.
func (s *search) askSemantic(ctx context.Context) *semanticQuery {
	a := &semanticQuery{search: s, stop: func() {}, state: notes.Coverage{State: StateOff}}
	if s.semantic == nil || s.q.Mode == ModeText || s.r.semanticText == "" {
		return a
	}
	a.state = s.semantic.Coverage()
	if s.byDigits() || a.state.State == StateOff || a.state.Coverage == 0 && a.state.State != StateLoading {
		return a
	}
	wait := s.o.SemanticTimeout
	if a.state.State == StateLoading {
		wait = max(wait, loadingTimeout)
	}
	if a.weight = s.semantic.Weight(s.r.semanticText); a.weight <= 0 {
		a.state.State = StateUnsupported
		return a
	}
	a.ctx, a.stop = context.WithTimeout(ctx, wait)
	hits := make(chan nearest, 1)
	a.hits = hits
	index.ExtraGoroutines.Add(1)
	go func() {
		var got nearest
		defer func() {
			index.ExtraGoroutines.Add(-1)
			if p := recover(); p != nil {
				got.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			hits <- got
		}()
		got.hits, got.err = s.semantic.Nearest(a.ctx, s.r.semanticText, s.admitted, poolSize)
	}()
	go func() {}() // becomes the last one started, so that the one above runs at once: see [index.InParallel]
	return a
}

// drop ends a search whose answer is not needed.
func (a *semanticQuery) drop() {
	a.stop()
	a.hits = nil
}

// answer waits for the semantic search and for the scores of the notes found by words. It
// returns an error only if the caller's context ends.
func (a *semanticQuery) answer(ctx context.Context, list *rankedList, text []candidate) (semanticResult, error) {
	list.semantic = a.state
	if a.hits == nil {
		a.explain(list)
		return semanticResult{}, nil
	}
	var also nearest // computed while Nearest runs
	if len(text) > 0 {
		ids := make([]int64, len(text))
		for i, c := range text {
			ids[i] = c.note
		}
		also.hits, also.err = a.semantic.Cosines(a.ctx, a.r.semanticText, ids)
	}
	var got nearest
	select {
	case got = <-a.hits:
	case <-a.ctx.Done():
		got.err = a.ctx.Err()
	}
	if a.state.State == StateLoading {
		if a.state = a.semantic.Coverage(); a.state.Coverage == 0 { // no vectors yet, or loading takes longer
			list.semantic = a.state
			a.explain(list)
			return semanticResult{}, ctx.Err()
		}
		list.semantic = a.state
	}
	near, err := a.verifiedNear(ctx, got.hits)
	if err != nil {
		return semanticResult{}, err
	}
	m := semanticResult{near: near, weight: a.weight, also: also.hits, passages: a.state.Passages, building: a.state.State != StateReady}
	if got.err = cmp.Or(got.err, also.err); got.err == nil {
		m.usual, m.here, got.err = a.semantic.Unrelated(a.ctx, a.r.semanticText)
		if a.r.filter.IsZero() && a.admitted == a.allowed && len(m.near) >= alikeAmong { // any note but a template may be a hit
			if alike, ok := a.semantic.Alike(m.near[:alikeAmong]); ok {
				m.scatter = usualAlike - alike
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return semanticResult{}, err
	}
	if got.err != nil {
		a.failed(list, got.err)
		return semanticResult{}, nil
	}
	return m, nil
}

func (a *semanticQuery) failed(list *rankedList, err error) {
	list.semantic.State = StateFailed
	var external unavailable
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		list.semantic.State = StateLate
	case errors.As(err, &external):
		list.semantic.Why = external.Error()
	default:
		a.o.Log.Error("semantic search", "err", err)
	}
	a.explain(list)
}

// explain adds a remark on why only words were searched, if the reader may expect more.
func (a *semanticQuery) explain(list *rankedList) {
	why := map[string]string{
		StateLoading:     "the vectors are still being loaded; only words were searched",
		StateLate:        "semantic search did not answer in time; only words were searched",
		StateFailed:      "semantic search failed; only words were searched",
		StateUnsupported: "the model knows neither these words nor their script; only words were searched",
	}[list.semantic.State]
	if list.semantic.State == StateUnsupported && list.semantic.Former {
		why += " until the vectors of another model are ready"
	}
	if s := list.semantic; why == "" && s.Coverage == 0 && s.State == StateBuilding {
		why = "no passage can be found semantically yet; only words were searched"
	}
	if why == "" && a.q.Mode == ModeSemantic {
		why = "semantic search is not available; only words were searched"
	}
	if because := list.semantic.Why; because != "" {
		why = "semantic search: " + because + "; only words were searched"
	}
	if why != "" {
		list.remarks = append(list.remarks, why)
	}
}

// Semantic finds notes with passages semantically similar to a text. The vault's vectors
// implement it.
type Semantic interface {
	// Nearest returns the k notes of allowed (nil: all) whose best chunk is
	// nearest to text, the nearest first.
	Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]notes.SemanticHit, error)
	// Coverage reports how much of the vault can be searched; its State is one of "ready",
	// "building", "loading" and "off". While it is loading, Nearest waits.
	Coverage() notes.Coverage
	// Weight returns the share, from 0 to 1, of semantic similarity in the scores of this
	// query's hits; 0 means that the model does not know the query's script.
	Weight(text string) float64
	// Cosines scores the given notes, omitting those without vectors. It is called while
	// Nearest runs, with the same text.
	Cosines(ctx context.Context, text string, ids []int64) ([]notes.SemanticHit, error)
	// Unrelated returns the similarity of text and unrelated passages: the spread for the model
	// in general and the spread in this vault, which is lower for a text in another language
	// than the notes. It is called right after Nearest, with the same text.
	Unrelated(ctx context.Context, text string) (usual, here notes.Spread, err error)
	// Alike returns the mean cosine of pairs of the hits' passages. ok reports whether
	// that distinguishes passages about one subject from others: with some models, and
	// in small vaults, it does not.
	Alike(hits []notes.SemanticHit) (cosine float64, ok bool)
	// Yield pauses background work during a search of any mode, until over is called.
	Yield() (over func())
}

// The states of the semantic side of a search.
const (
	StateReady       = "ready"              // used, for all notes
	StateBuilding    = "building"           // used, for the notes embedded so far
	StateLoading     = "loading"            // the vectors were still being loaded
	StateOff         = "off"                // no model, or not requested
	StateLate        = "late"               // did not answer in time
	StateFailed      = "failed"             // returned an error
	StateUnsupported = "unsupported-script" // the model does not know the query's script
)

// unavailable is implemented by the error of a Semantic that cannot answer for an external
// reason, such as an unreachable server. It is shown to the user and not logged.
type unavailable interface {
	error
	Wait() time.Duration // until the server wants to be asked again
}

// semanticResult is the result of the semantic search for a query.
type semanticResult struct {
	near     []notes.SemanticHit // nearest first
	also     []notes.SemanticHit // scores of the notes found by words
	building bool                // notes are being embedded
	weight   float64
	passages int // number searched for near
	// usual and here are the spreads for unrelated passages, see [Semantic].
	usual, here notes.Spread
	// scatter is how much less similar to each other the nearest passages are than usual, see
	// usualAlike; 0: not known.
	scatter float64

	known  float64 // share of the notes found by words whose nearness is known
	likely float64 // expected nearness of a note without vectors, less likelyNear times its text score
}
