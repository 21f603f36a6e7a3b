package vectors

import (
	"cmp"
	"slices"

	"notesd/notes"
	"notesd/vectors/flat"
)

// entries holds the searchable chunks, each with its note and the slot of its vector. Rows are
// unordered; when one is removed, the last row takes its place. It is not safe for concurrent
// use.
type entries struct {
	ranker  flat.Ranker
	vector  func(slot uint32) flat.Vector
	note    []int64
	ordinal []int32
	slot    []uint32
	rowsOf  map[int64][]int32 // by note
	leads   map[int64]uint32  // slot of a note's lead, which is not scanned
	sure    int               // number of nearest chunks that a search does not miss
}

func newEntries(dim int, vector func(slot uint32) flat.Vector) *entries {
	e := &entries{vector: vector, rowsOf: map[int64][]int32{}, leads: map[int64]uint32{}, sure: sureRows}
	e.ranker = flat.Ranker{Dim: dim, Factor: 1, Row: func(row int) (flat.Vector, float32) { return e.vector(e.slot[row]), 0 }}
	return e
}

func (e *entries) len() int { return len(e.note) }

// add adds a row, which is searchable after grow.
func (e *entries) add(note int64, ordinal int, slot uint32) {
	e.rowsOf[note] = append(e.rowsOf[note], int32(len(e.note)))
	e.note = append(e.note, note)
	e.ordinal = append(e.ordinal, int32(ordinal))
	e.slot = append(e.slot, slot)
}

func (e *entries) grow() { e.ranker.Grow(e.len()) }

// remove removes all rows of a note, and its lead.
func (e *entries) remove(note int64) {
	rows := e.rowsOf[note]
	delete(e.rowsOf, note)
	delete(e.leads, note)
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(b, a) }) // in descending order, so that no row to remove is moved
	for _, row := range rows {
		e.removeRow(row)
	}
}

func (e *entries) removeRow(row int32) {
	last := int32(len(e.note) - 1)
	if row != last {
		e.note[row], e.ordinal[row], e.slot[row] = e.note[last], e.ordinal[last], e.slot[last]
		moved := e.rowsOf[e.note[row]]
		moved[slices.Index(moved, last)] = row
	}
	e.ranker.Replace(int(row))
	e.note, e.ordinal, e.slot = e.note[:last], e.ordinal[:last], e.slot[:last]
}

// chunkHit is a chunk with its cosine.
type chunkHit struct {
	note    int64
	ordinal int
	cosine  float64
	first   float64 // cosine of the note's lead, or else of its first chunk
}

// sureRows is the default of entries.sure. Models whose cosines are close together use
// sureClose, because estimates distinguish their chunks less well.
const (
	sureRows  = 3
	sureClose = 10
)

// scoredFor returns the number of chunks that are scored to find the k nearest notes.
// It is a multiple of k because a note may have many near chunks.
func scoredFor(k int) int { return max(1000, 8*k) }

// nearest returns the k notes whose best chunk is nearest to the query, the
// nearest first.
func (e *entries) nearest(query []float32, allowed *notes.IDSet, k int) []chunkHit {
	if k <= 0 || e.len() == 0 {
		return nil
	}
	var keep func(row int) bool
	if allowed != nil {
		keep = func(row int) bool { return allowed.Has(e.note[row]) }
	}
	best := make(map[int64]chunkHit, k)
	last := float32(0)
	for _, c := range e.ranker.Candidates(e.ranker.Prepare(query), keep, e.sure, scoredFor(k)) {
		if len(best) >= k && c.Score < last {
			break // the others are no nearer
		}
		last = c.Score
		e.offer(best, c.Row, float64(c.Score))
	}
	return e.firsts(ranked(best, k), flat.NewQuery(query))
}

// firsts sets the cosine of the lead or the first chunk of each hit's note.
func (e *entries) firsts(hits []chunkHit, q flat.Query) []chunkHit {
	for i := range hits {
		hits[i].first = hits[i].cosine
		if slot, ok := e.leads[hits[i].note]; ok {
			hits[i].first = float64(q.Dot(e.vector(slot)))
			continue
		}
		for _, row := range e.rowsOf[hits[i].note] {
			if e.ordinal[row] == 0 {
				hits[i].first = float64(q.Dot(e.vector(e.slot[row])))
			}
		}
	}
	return hits
}

// alike returns the mean cosine between these chunks; ok is false for fewer than two.
func (e *entries) alike(hits []notes.SemanticHit) (cosine float64, ok bool) {
	sum := make([]float32, e.ranker.Dim)
	n := 0.0
	for _, h := range hits {
		for _, row := range e.rowsOf[h.NoteID] {
			if int(e.ordinal[row]) != h.Ordinal {
				continue
			}
			v := e.vector(e.slot[row])
			for j, x := range v.Values {
				sum[j] += float32(v.Scale * float32(x))
			}
			n++
		}
	}
	square := 0.0
	for _, x := range sum {
		square += float64(float64(x) * float64(x))
	}
	return (square - n) / (n * (n - 1)), n > 1 // without the cosine of each chunk with itself
}

// offer adds a row to best if it is the nearest chunk of its note so far.
func (e *entries) offer(best map[int64]chunkHit, row int32, cosine float64) {
	hit := chunkHit{note: e.note[row], ordinal: int(e.ordinal[row]), cosine: cosine}
	if b, ok := best[hit.note]; !ok || hit.cosine > b.cosine || hit.cosine == b.cosine && hit.ordinal < b.ordinal {
		best[hit.note] = hit
	}
}

func ranked(best map[int64]chunkHit, k int) []chunkHit {
	hits := make([]chunkHit, 0, len(best))
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b chunkHit) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.note, b.note))
	})
	return hits[:min(k, len(hits))]
}

// cosines scores the best chunk of each of these notes.
func (e *entries) cosines(query []float32, ids []int64) []chunkHit {
	n := 0
	for _, id := range ids {
		n += len(e.rowsOf[id])
	}
	rows := make([]flat.Scored, 0, n)
	for _, id := range ids {
		for _, row := range e.rowsOf[id] {
			rows = append(rows, flat.Scored{Row: row})
		}
	}
	best := make(map[int64]chunkHit, len(ids))
	q := flat.NewQuery(query)
	e.ranker.Scores(q, rows)
	for _, c := range rows {
		e.offer(best, c.Row, float64(c.Score))
	}
	return e.firsts(ranked(best, len(best)), q)
}
