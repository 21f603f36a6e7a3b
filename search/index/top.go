package index

import (
	"cmp"
	"slices"
)

// top keeps the best of the notes offered to it.
type top struct {
	limit int
	found []Ranked // a heap with the worst first, once it has limit notes
}

func newTop(limit int) *top { return &top{limit: limit} }

// admits reports whether a note with this score may be among the best.
func (t *top) admits(score float64) bool {
	return len(t.found) < t.limit || score >= t.found[0].Score
}

func (t *top) offer(r Ranked) {
	switch {
	case len(t.found) < t.limit:
		if t.found = append(t.found, r); len(t.found) == t.limit {
			slices.SortFunc(t.found, func(a, b Ranked) int { return better(b, a) })
		}
	case better(r, t.found[0]) < 0:
		t.replaceWorst(r)
	}
}

// replaceWorst replaces the root of the heap by r and restores the heap.
func (t *top) replaceWorst(r Ranked) {
	at := 0
	for {
		worse := 2*at + 1
		if worse >= len(t.found) {
			break
		}
		if worse+1 < len(t.found) && better(t.found[worse], t.found[worse+1]) < 0 {
			worse++
		}
		if better(r, t.found[worse]) > 0 {
			break
		}
		t.found[at] = t.found[worse]
		at = worse
	}
	t.found[at] = r
}

// best returns the best notes, best first.
func (t *top) best() []Ranked {
	slices.SortFunc(t.found, better)
	t.found = t.found[:min(len(t.found), t.limit)]
	return t.found
}

// better orders by descending score; among equals the newer note, which has the greater id,
// comes first.
func better(a, b Ranked) int {
	switch { // cmp.Compare takes several times as long, because it handles NaN
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Compare(b.Note, a.Note)
}
