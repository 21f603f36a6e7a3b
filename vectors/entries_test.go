package vectors

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/vectors/flat"
)

// quantised returns vectors as a slot file holds them.
func quantised(vs [][]float32) []flat.Vector {
	out := make([]flat.Vector, len(vs))
	for i, v := range vs {
		values := make([]int8, len(v))
		out[i] = flat.Vector{Scale: flat.Quantise(v, values), Values: values}
	}
	return out
}

// After random additions and removals, the rows agree with a map of notes, and searches find
// the same as a full comparison.
func TestEntries_AgainstModel(t *testing.T) {
	const dim = 64
	rng := rand.New(rand.NewPCG(21, 22))
	vs := notestest.Clustered(rng, 60, dim, 6)
	slots := quantised(vs)
	vector := func(slot uint32) flat.Vector { return slots[slot] }
	e := newEntries(dim, vector)
	model := map[int64][]uint32{} // slots by note, in the order of ordinals
	for range 400 {
		note := int64(rng.IntN(30))
		e.remove(note)
		delete(model, note)
		if rng.IntN(3) == 0 {
			continue
		}
		for ordinal := range 1 + rng.IntN(4) {
			slot := uint32(rng.IntN(len(slots)))
			model[note] = append(model[note], slot)
			e.add(note, ordinal, slot)
		}
		e.grow()
	}
	total := 0
	for _, list := range model {
		total += len(list)
	}
	require.Equal(t, total, e.len())

	allowed := new(notes.IDSet)
	for _, id := range []int64{2, 3, 5, 7, 11, 13} {
		allowed.Add(id)
	}
	for _, query := range notestest.Clustered(rng, 20, dim, 6) {
		q := flat.NewQuery(query)
		for _, set := range []*notes.IDSet{nil, allowed} {
			var want []chunkHit
			for note, list := range model {
				if set != nil && !set.Has(note) {
					continue
				}
				hit := chunkHit{note: note, cosine: -2, first: float64(q.Dot(slots[list[0]]))}
				for ordinal, slot := range list {
					if c := float64(q.Dot(slots[slot])); c > hit.cosine {
						hit.cosine, hit.ordinal = c, ordinal
					}
				}
				want = append(want, hit)
			}
			slices.SortFunc(want, func(a, b chunkHit) int {
				return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.note, b.note))
			})
			want = want[:min(5, len(want))]
			assert.Equal(t, want, e.nearest(query, set, 5))
			var ids []int64
			for _, h := range want {
				ids = append(ids, h.note)
			}
			assert.Equal(t, want, e.cosines(query, append(ids, 1000)), "a note without rows is left out")
		}
	}
	assert.Empty(t, e.nearest(vs[0], nil, 0))
	assert.Empty(t, newEntries(dim, vector).nearest(vs[0], nil, 5))
}

func TestQueryCache_Eviction(t *testing.T) {
	var c queryCache
	c.put("a x", []float32{1})
	_, ok := c.get("b x")
	assert.False(t, ok, "another model has other vectors")
	v, ok := c.get("a x")
	assert.True(t, ok)
	assert.Equal(t, []float32{1}, v)
	for i := range len(c.slots) {
		c.put(fmt.Sprint(i), []float32{float32(i)})
	}
	_, ok = c.get("a x")
	assert.False(t, ok)
	v, ok = c.get("0")
	assert.True(t, ok)
	assert.Equal(t, []float32{0}, v)
}

// Of equal passages of a note, the first is found, in whatever order they were added.
func TestEntries_EqualPassages(t *testing.T) {
	vs := notestest.Clustered(rand.New(rand.NewPCG(1, 2)), 1, 64, 1)
	slots := quantised(vs)
	e := newEntries(64, func(slot uint32) flat.Vector { return slots[slot] })
	e.add(1, 1, 0)
	e.add(1, 0, 0)
	e.add(1, 2, 0)
	e.grow()
	for _, hits := range [][]chunkHit{e.nearest(vs[0], nil, 1), e.cosines(vs[0], []int64{1})} {
		require.Len(t, hits, 1)
		assert.Equal(t, 0, hits[0].ordinal)
	}
}

// While a note is being embedded it may change. The version that was embedded must then replace
// neither the passages of the newer one nor its place in the backlog.
func TestSpace_KeepsNewerVersion(t *testing.T) {
	e := newWordEmbedder("m")
	s, err := newSpace(t.TempDir(), 1, e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.slots.Close()) })
	hash := func(c string) string { return strings.Repeat(c, 64) }
	version := func(seq uint64, hashes ...string) *notes.Note {
		n := &notes.Note{ID: 1, Seq: seq}
		for i, h := range hashes {
			n.Chunks = append(n.Chunks, notes.Chunk{Ordinal: i, Hash: h})
		}
		return n
	}
	s.apply(1, version(5, hash("a")))
	s.backlog.next(1, tails, s.missing) // Run reads the version and embeds it
	s.apply(1, version(6, hash("b"), hash("c")))
	v, err := e.EmbedQuery(t.Context(), "text")
	require.NoError(t, err)
	_, err = s.slots.add(keyOf(hash("a")), v)
	require.NoError(t, err)
	s.set(version(5, hash("a")), tails)

	assert.Zero(t, s.entries.len(), "no passage of the newer version has a vector")
	assert.Equal(t, 2, s.total)
	assert.Equal(t, 1, s.backlog.len())
	ids, from := s.backlog.next(1, tails, s.missing)
	assert.Equal(t, []int64{1}, ids)
	assert.Equal(t, edited, from)
}
