package vectors

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/vectors/flat"
)

// calibrated is an embedder with a calibration.
type calibrated struct{ *wordEmbedder }

func (calibrated) Calibration() (Calibration, bool) {
	return Calibration{Zero: .8, Unit: .25, Mean: .8, Deviation: .02}, true
}

// The cosines of a model without a calibration are meaningful only relative to those of other
// passages.
func TestScaleOfNearness(t *testing.T) {
	const dim = 64
	var stored []flat.Vector
	vector := func(slot uint32) flat.Vector { return stored[slot] }
	s := &space{embedder: newWordEmbedder("m"), entries: newEntries(dim, vector)}
	common := make([]float32, dim) // all passages lie in one direction
	common[0] = 2
	for i, v := range notestest.Clustered(rand.New(rand.NewPCG(1, 2)), 600, dim, 600) {
		for j := range v {
			v[j] += common[j]
		}
		values := make([]int8, dim)
		stored = append(stored, flat.Vector{Scale: flat.Quantise(flat.Normalised(v), values), Values: values})
		if i == backgroundRows-2 {
			assert.Equal(t, scale{unit: 1}, s.scale(v), "too few to compare with")
		}
		s.entries.add(int64(i), 0, uint32(i))
	}
	query := make([]float32, dim)
	for i, x := range stored[0].Values {
		query[i] = float32(x) * stored[0].Scale
	}
	near := s.scale(query)
	sum := 0.0
	for _, h := range s.entries.cosines(query, []int64{1, 2, 3, 4, 5, 6, 7, 8}) {
		assert.Greater(t, h.cosine, .5)
		sum += near.of(h.cosine)
	}
	assert.InDelta(t, 0, sum/8, .1, "unrelated, however great the cosine")
	assert.Greater(t, near.of(1), .3)

	s.embedder = calibrated{newWordEmbedder("m")}
	assert.Equal(t, scale{.8, .25}, s.scale(query))
	usual, here := s.unrelated(query)
	assert.Equal(t, notes.Spread{Deviation: .08}, usual)
	assert.Greater(t, here.Mean, .05, "the passages are nearer, as those in Chinese")
	assert.Equal(t, .08, here.Deviation)
	for i := range query {
		query[i] = -query[i]
	}
	usual, here = s.unrelated(query)
	assert.Equal(t, notes.Spread{Deviation: .08}, usual)
	assert.Less(t, here.Mean, -1.0, "these are far from all passages")
}

// apart is an embedder whose unrelated passages have a cosine of 0, as with MiniLM.
type apart struct{ *wordEmbedder }

func (apart) Calibration() (Calibration, bool) { return minilm, true }

func TestIndex_Alike(t *testing.T) {
	const dim = 64
	var stored []flat.Vector
	s := &space{embedder: apart{newWordEmbedder("m")}, entries: newEntries(dim, func(slot uint32) flat.Vector { return stored[slot] })}
	x := &Index{serving: s}
	raw := notestest.Clustered(rand.New(rand.NewPCG(1, 2)), backgroundRows, dim, 20)
	hits := []notes.SemanticHit{{NoteID: 3, Ordinal: 1}, {NoteID: 8}, {NoteID: 9, Ordinal: 1}, {NoteID: 1000}}
	for i, v := range raw {
		_, ok := x.Alike(hits)
		assert.False(t, ok, "too few to compare with")
		values := make([]int8, dim)
		stored = append(stored, flat.Vector{Scale: flat.Quantise(v, values), Values: values})
		s.entries.add(int64(i/2), i%2, uint32(i))
	}
	cosine := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i] * b[i])
		}
		return sum
	}
	got, ok := x.Alike(hits)
	assert.True(t, ok)
	assert.InDelta(t, (cosine(raw[7], raw[16])+cosine(raw[7], raw[19])+cosine(raw[16], raw[19]))/3, got, .01)
	_, ok = x.Alike(hits[2:])
	assert.False(t, ok, "there is no pair")
	for _, e := range []Embedder{calibrated{newWordEmbedder("m")}, newWordEmbedder("m")} {
		s.embedder = e
		_, ok = x.Alike(hits)
		assert.False(t, ok, "all passages of such a model are alike, or may be")
	}
}

// A model whose cosines are close together has more sure chunks.
func TestNewSpace_SureRows(t *testing.T) {
	for embedder, want := range map[Embedder]int{newWordEmbedder("m"): sureRows, calibrated{newWordEmbedder("c")}: sureClose} {
		s, err := newSpace(t.TempDir(), 1, embedder)
		require.NoError(t, err)
		assert.Equal(t, want, s.entries.sure)
		require.NoError(t, s.slots.Close())
	}
}
