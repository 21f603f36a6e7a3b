package index

import (
	"cmp"
	"container/heap"
	"slices"
)

// top keeps the best notes that were offered to it.
type top struct {
	limit int
	heap  worstFirst
}

func newTop(limit int) *top { return &top{limit: limit} }

func (t *top) offer(r Ranked) {
	switch {
	case len(t.heap) < t.limit:
		heap.Push(&t.heap, r)
	case t.limit > 0 && better(r, t.heap[0]) < 0:
		t.heap[0] = r
		heap.Fix(&t.heap, 0)
	}
}

// merge offers what another has kept.
func (t *top) merge(other *top) {
	for _, r := range other.heap {
		t.offer(r)
	}
}

// sorted returns what was kept, the best first.
func (t *top) sorted() []Ranked {
	slices.SortFunc(t.heap, better)
	return t.heap
}

// better orders by falling score; of equals the newer note, which has the
// greater id, comes first.
func better(a, b Ranked) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(b.Note, a.Note)
}

type worstFirst []Ranked

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return better(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(v any)        { *h = append(*h, v.(Ranked)) }
func (h *worstFirst) Pop() any {
	old := *h
	v := old[len(old)-1]
	*h = old[:len(old)-1]
	return v
}
