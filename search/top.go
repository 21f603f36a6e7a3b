package search

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

func (t *top) offer(r ranked) {
	switch {
	case len(t.heap) < t.limit:
		heap.Push(&t.heap, r)
	case t.limit > 0 && better(r, t.heap[0]) < 0:
		t.heap[0] = r
		heap.Fix(&t.heap, 0)
	}
}

// sorted returns what was kept, the best first.
func (t *top) sorted() []ranked {
	slices.SortFunc(t.heap, better)
	return t.heap
}

// better orders by falling score; of equals the newer note, which has the
// greater id, comes first.
func better(a, b ranked) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return cmp.Compare(b.note, a.note)
}

type worstFirst []ranked

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return better(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(v any)        { *h = append(*h, v.(ranked)) }
func (h *worstFirst) Pop() any {
	old := *h
	v := old[len(old)-1]
	*h = old[:len(old)-1]
	return v
}
