package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode"

	"notesd/notes"
	"notesd/search/index"
)

// asking is a semantic search in progress.
type asking struct {
	*search
	ctx    context.Context // ends with the time limit
	stop   context.CancelFunc
	weight float64
	hits   chan nearest // nil: not started
	state  notes.Coverage
}

// byDigits reports whether a hybrid search is by words only because the query is a day, or has
// digits and no letters, as a telephone number or an amount: to a model, numbers are close to each
// other.
func (s *search) byDigits() bool {
	return s.q.Mode == ModeHybrid && (s.r.onlyDays || strings.ContainsFunc(s.r.meaning, unicode.IsDigit) && !strings.ContainsFunc(s.r.meaning, unicode.IsLetter))
}

type nearest struct {
	hits []notes.SemanticHit
	err  error
}

// askMeaning starts the semantic search if the query requests it and the model knows its
// script. The goroutine ends with stop or the time limit; its result is dropped if no search
// waits for it.
func (s *search) askMeaning(ctx context.Context) *asking {
	a := &asking{search: s, stop: func() {}, state: notes.Coverage{State: StateOff}}
	if s.semantic == nil || s.q.Mode == ModeText || s.r.meaning == "" {
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
	if a.weight = s.semantic.Weight(s.r.meaning); a.weight <= 0 {
		a.state.State = StateUnsupported
		return a
	}
	a.ctx, a.stop = context.WithTimeout(ctx, wait)
	a.hits = make(chan nearest, 1)
	index.Beside.Add(1)
	go func() {
		var got nearest
		defer func() {
			index.Beside.Add(-1)
			if p := recover(); p != nil {
				got.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			a.hits <- got
		}()
		got.hits, got.err = s.semantic.Nearest(a.ctx, s.r.meaning, s.admitted, pool)
	}()
	go func() {}() // becomes the last one started, so that the one above runs at once: see [index.InParallel]
	return a
}

// answer waits for the semantic search and for the scores of the notes found by words. It
// returns an error only if the caller's context ends.
func (a *asking) answer(ctx context.Context, list *rankedList, text []candidate) (meaning, error) {
	list.semantic = a.state
	if a.hits == nil {
		a.explain(list)
		return meaning{}, nil
	}
	var also nearest // computed while Nearest runs
	if len(text) > 0 {
		ids := make([]int64, len(text))
		for i, c := range text {
			ids[i] = c.note
		}
		also.hits, also.err = a.semantic.Cosines(a.ctx, a.r.meaning, ids)
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
			return meaning{}, ctx.Err()
		}
		list.semantic = a.state
	}
	near, err := a.verifiedNear(ctx, got.hits)
	if err != nil {
		return meaning{}, err
	}
	m := meaning{near: near, weight: a.weight, also: also.hits, passages: a.state.Passages, building: a.state.State != StateReady}
	if got.err = cmp.Or(got.err, also.err); got.err == nil {
		m.usual, m.here, got.err = a.semantic.Unrelated(a.ctx, a.r.meaning)
		if a.r.filter.IsZero() && a.admitted == a.allowed && len(m.near) >= alikeAmong { // any note but a template may be a hit
			if alike, ok := a.semantic.Alike(m.near[:alikeAmong]); ok {
				m.scatter = usualAlike - alike
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return meaning{}, err
	}
	if got.err != nil {
		a.failed(list, got.err)
		return meaning{}, nil
	}
	return m, nil
}

func (a *asking) failed(list *rankedList, err error) {
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
func (a *asking) explain(list *rankedList) {
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
