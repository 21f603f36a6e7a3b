package vectors

import (
	"cmp"
	"slices"

	"notesd/notes"
	"notesd/vectors/flat"
)

// entries are the chunks that can be found: for each, whose it is, where its
// vector lies, and the signs that are scanned. Rows are unordered; removing
// one moves the last into its place. The caller locks.
type entries struct {
	words   int
	signs   []uint64 // words for each row
	note    []int64
	ordinal []int32
	slot    []uint32
	of      map[int64][]int32 // rows of a note
	users   users             // of each slot
}

func newEntries(dim int) *entries {
	return &entries{words: flat.SignWords(dim), of: map[int64][]int32{}, users: newUsers()}
}

func (e *entries) len() int { return len(e.note) }

func (e *entries) add(note int64, ordinal int, slot uint32, q flat.Vector) {
	e.of[note] = append(e.of[note], int32(len(e.note)))
	e.signs = flat.Signs(e.signs, q.Values)
	e.note = append(e.note, note)
	e.ordinal = append(e.ordinal, int32(ordinal))
	e.slot = append(e.slot, slot)
	e.users.add(slot)
}

// remove drops all rows of a note.
func (e *entries) remove(note int64) { e.removeRows(e.take(note)) }

// take gives up a note's rows, which are then to be removed. In between others
// may be added for it, so that a slot that both use is never without a user.
func (e *entries) take(note int64) []int32 {
	rows := e.of[note]
	delete(e.of, note)
	return rows
}

func (e *entries) removeRows(rows []int32) {
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(b, a) }) // from the end: a moved row is never one of them
	for _, row := range rows {
		e.removeRow(row)
	}
}

func (e *entries) removeRow(row int32) {
	last := int32(len(e.note) - 1)
	e.users.drop(e.slot[row])
	if row != last {
		copy(e.signs[int(row)*e.words:], e.signs[int(last)*e.words:])
		e.note[row], e.ordinal[row], e.slot[row] = e.note[last], e.ordinal[last], e.slot[last]
		moved := e.of[e.note[row]]
		moved[slices.Index(moved, last)] = row
	}
	e.signs = e.signs[:int(last)*e.words]
	e.note, e.ordinal, e.slot = e.note[:last], e.ordinal[:last], e.slot[:last]
}

// chunkHit is a chunk and how near it is.
type chunkHit struct {
	note    int64
	ordinal int
	cosine  float64
	first   float64 // cosine of the note's first chunk
}

// rescoredFor is how many candidates by signs are scored exactly to find the
// k nearest notes. A note may have many near chunks, so it is a multiple of k;
// the least is where recall@10 passes .98 on a million rows (see the
// benchmark).
func rescoredFor(k int) int { return max(1000, 8*k) }

// nearest returns the k notes whose best chunk is nearest to the query, the
// nearest first.
func (e *entries) nearest(query []float32, allowed *notes.IDSet, k int, vector func(slot uint32) flat.Vector) []chunkHit {
	if k <= 0 || e.len() == 0 {
		return nil
	}
	var keep func(row int32) bool
	if allowed != nil {
		keep = func(row int32) bool { return allowed.Has(e.note[row]) }
	}
	best, q := make(map[int64]chunkHit, 4*k), flat.NewQuery(query)
	for _, c := range flat.Scan(e.signs, flat.Signs(nil, query), rescoredFor(k), keep) {
		e.score(c.Row, q, vector, best)
	}
	return e.firsts(ranked(best, k), q, vector)
}

// firsts adds how near the notes' first chunks are.
func (e *entries) firsts(hits []chunkHit, q flat.Query, vector func(slot uint32) flat.Vector) []chunkHit {
	for i := range hits {
		hits[i].first = hits[i].cosine
		for _, row := range e.of[hits[i].note] {
			if e.ordinal[row] == 0 {
				hits[i].first = float64(q.Dot(vector(e.slot[row])))
			}
		}
	}
	return hits
}

// score enters a row if it is its note's best so far.
func (e *entries) score(row int32, q flat.Query, vector func(slot uint32) flat.Vector, best map[int64]chunkHit) {
	hit := chunkHit{note: e.note[row], ordinal: int(e.ordinal[row]), cosine: float64(q.Dot(vector(e.slot[row])))}
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
func (e *entries) cosines(query []float32, ids []int64, vector func(slot uint32) flat.Vector) []chunkHit {
	best, q := make(map[int64]chunkHit, len(ids)), flat.NewQuery(query)
	for _, id := range ids {
		for _, row := range e.of[id] {
			e.score(row, q, vector, best)
		}
	}
	return e.firsts(ranked(best, len(best)), q, vector)
}
