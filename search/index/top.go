package index

import (
	"cmp"
	"math"
	"slices"
)

// top keeps the best of the notes offered to it.
type top struct {
	limit int
	found []Ranked // up to twice the limit
	least float64  // score of the worst of the best at the last reduction
}

func newTop(limit int) *top { return &top{limit: limit, least: math.Inf(-1)} }

// admits reports whether a note with this score may be among the best.
func (t *top) admits(score float64) bool { return score >= t.least }

func (t *top) offer(r Ranked) {
	if t.found = append(t.found, r); len(t.found) == 2*t.limit {
		t.least = t.best()[t.limit-1].Score
	}
}

// best returns the best notes, best first.
func (t *top) best() []Ranked {
	slices.SortFunc(t.found, better)
	t.found = t.found[:min(len(t.found), t.limit)]
	return t.found
}

// better orders by descending score; among equals the note that was modified last comes first.
// Ids change when the notes are indexed again, so they decide only between equal times.
func better(a, b Ranked) int {
	switch { // cmp.Compare takes several times as long, because it handles NaN
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Or(cmp.Compare(b.Modified, a.Modified), cmp.Compare(b.Note, a.Note))
}
