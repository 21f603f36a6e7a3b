package index

import (
	"cmp"
	"math"
	"slices"
)

// top keeps the best notes that were offered to it, and up to three times as many of
// the others: so it is sorted seldom.
type top struct {
	limit int
	found []Ranked
	least float64 // score from which on a note may be among the best
}

func newTop(limit int) *top { return &top{limit: limit, least: math.Inf(-1)} }

func (t *top) offer(r Ranked) {
	if r.Score < t.least {
		return
	}
	if t.found = append(t.found, r); len(t.found) > 4*t.limit {
		t.least = t.best()[t.limit-1].Score
	}
}

// best returns the best notes, the very best first.
func (t *top) best() []Ranked {
	slices.SortFunc(t.found, better)
	t.found = t.found[:min(len(t.found), t.limit)]
	return t.found
}

// better orders by falling score; of equals the newer note, which has the
// greater id, comes first.
func better(a, b Ranked) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(b.Note, a.Note)
}
