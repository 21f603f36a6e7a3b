package flat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// datasets are used to measure recall: vectors distributed like embeddings, and the
// hardest case, in which no vector is near another.
var datasets = map[string]func(rng *rand.Rand, n, dim int) [][]float32{
	"clustered": func(rng *rand.Rand, n, dim int) [][]float32 {
		var out [][]float32
		for len(out) < n {
			out = append(out, notestest.Clustered(rng, min(10_000, n-len(out)), dim, 500)...)
		}
		return out
	},
	"topics": func(rng *rand.Rand, n, dim int) [][]float32 { return notestest.Clustered(rng, n, dim, 500) },
	"normal": func(rng *rand.Rand, n, dim int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, dim)
			for j := range out[i] {
				out[i][j] = float32(rng.NormFloat64())
			}
		}
		return out
	},
	// the vectors of some models have a mean of length .9
	"narrow": func(rng *rand.Rand, n, dim int) [][]float32 {
		out := notestest.Clustered(rng, n, dim, 500)
		for _, v := range out {
			Normalised(v)
			for j := range v {
				v[j] += 2 * float32(j%3-1) / float32(math.Sqrt(float64(dim)*2/3))
			}
		}
		return out
	},
	"positive": func(rng *rand.Rand, n, dim int) [][]float32 {
		out := notestest.Clustered(rng, n, dim, 500)
		for _, v := range out {
			for j := range v {
				v[j] = max(0, v[j])
			}
		}
		return out
	},
}

// sample is a ranker of n vectors, with queries: half of them near a row, half from the
// same distribution. For cosines the vectors have unit length; factor 2 with an offset
// gives the order of L2 distances.
type sample struct {
	Ranker
	vectors []Vector
	offsets []float32
	queries [][]float32
}

func newSample(kind, metric string, n, dim int) *sample {
	rng := rand.New(rand.NewPCG(7, 8))
	all := datasets[kind](rng, n+20, dim)
	s := &sample{queries: all[n:], offsets: make([]float32, n)}
	for i := range s.queries {
		if i%2 == 0 {
			near := slices.Clone(all[i*n/20])
			for j := range near {
				near[j] += s.queries[i][j] * 0.3
			}
			s.queries[i] = near
		}
	}
	s.Dim, s.Factor = dim, 1
	s.Row = func(row int) (Vector, float32) { return s.vectors[row], s.offsets[row] }
	for i, v := range all {
		switch metric {
		case "cosine":
			Normalised(v)
		case "l2":
			s.Factor = 2
			if i < n {
				s.offsets[i] = float32(-Squares(v))
			}
		}
		if i < n {
			values := make([]int8, dim)
			s.vectors = append(s.vectors, Vector{Quantise(v, values), values})
		}
	}
	s.Grow(n)
	return s
}

// recall returns the share of the k highest scores found by Candidates.
func (s *sample) recall(k int, keep func(row int) bool) float64 {
	found, wanted := 0, 0
	for _, q := range s.queries {
		p := s.Prepare(q)
		got := s.Candidates(p, keep, k, 0)
		for _, e := range s.All(p, keep, k) {
			wanted++
			if slices.Contains(got[:min(k, len(got))], e) {
				found++
			}
		}
	}
	return float64(found) / float64(wanted)
}

// Changes of the ranker must pass this test.
func TestRanker_Recall(t *testing.T) {
	for kind := range datasets {
		for metric, dim := range map[string]int{"cosine": 384, "dot": 96, "l2": 200} {
			t.Run(fmt.Sprint(kind, metric), func(t *testing.T) {
				if testing.Short() && metric != "dot" {
					t.Skip("minutes with the race detector, of one goroutine")
				}
				s := newSample(kind, metric, estimateFrom/dim+5000, dim)
				require.True(t, s.Estimates())
				require.GreaterOrEqual(t, s.recall(10, nil), 0.98)
				require.GreaterOrEqual(t, s.recall(400, nil), 0.98)
				require.GreaterOrEqual(t, s.recall(10, func(row int) bool { return row%7 == 3 }), 0.98)
				sampled := func(row int) bool { return row%max(1, s.n/sampleRows) == 0 } // all rows in the sample, so that it is misleading
				require.GreaterOrEqual(t, s.recall(400, sampled), 0.98)
				require.GreaterOrEqual(t, len(s.Candidates(s.Prepare(s.queries[0]), sampled, 10, 2000)), 2000)
			})
		}
	}
}

// After random additions and removals, the estimates equal those of a new ranker.
func TestRanker_GrowAndReplace(t *testing.T) {
	const dim = 1024 // estimates from 4096 rows on
	rng := rand.New(rand.NewPCG(3, 4))
	pool := newSample("topics", "l2", 64, dim)
	var rows []int
	r := Ranker{Dim: dim, Factor: 2, Row: func(row int) (Vector, float32) { return pool.Row(rows[row]) }}
	stride := 1
	if testing.Short() {
		stride = 10 // deriving every row takes minutes with the race detector
	}
	for round := range 40 {
		if round < 20 || rng.IntN(2) == 0 {
			for range rng.IntN(1000) {
				rows = append(rows, rng.IntN(64))
			}
			r.Grow(len(rows))
		} else {
			for range min(len(rows), rng.IntN(1500)) {
				row, last := rng.IntN(len(rows)), len(rows)-1
				rows[row] = rows[last]
				r.Replace(row)
				rows = rows[:last]
			}
		}
		require.Equal(t, len(rows), r.n)
		for i := round % stride; i < len(r.lines); i += stride {
			signs, line := slices.Clone(r.signs[i*r.words:(i+1)*r.words]), r.lines[i]
			r.derive(i)
			require.Equal(t, signs, r.signs[i*r.words:(i+1)*r.words], "row %d", i)
			require.Equal(t, line, r.lines[i])
		}
		if r.Estimates() {
			require.Len(t, r.lines, r.n)
		}
		if len(rows) > 0 {
			p := r.Prepare(pool.queries[round%20])
			assert.InDelta(t, r.All(p, nil, 1)[0].Score, r.Candidates(p, nil, 1, 0)[0].Score, 1e-4)
		}
	}
}

func TestRanker_NoRows(t *testing.T) {
	r := Ranker{Dim: 3, Factor: 1}
	r.Grow(0)
	assert.Empty(t, r.Candidates(r.Prepare([]float32{1, 2, 3}), nil, 5, 0))
	assert.Zero(t, r.Memory())
}

// BenchmarkRanker finds the ten nearest of a million rows of 384 numbers, for queries
// near some row and for queries near none.
func BenchmarkRanker(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	for _, kind := range []string{"clustered", "normal"} {
		for _, metric := range []string{"cosine", "l2"} {
			b.Run(fmt.Sprint(kind, "-", metric), func(b *testing.B) {
				s := newSample(kind, metric, n, 384)
				var sets [2][][]float32
				for i, q := range s.queries {
					sets[i%2] = append(sets[i%2], q)
				}
				b.Run("near", func(b *testing.B) { s.benchmark(b, sets[0]) })
				b.Run("far", func(b *testing.B) { s.benchmark(b, sets[1]) })
			})
		}
	}
}

func (s *sample) benchmark(b *testing.B, queries [][]float32) {
	i, scores := 0, 0
	for b.Loop() {
		scores += len(s.Candidates(s.Prepare(queries[i%len(queries)]), nil, 10, 0))
		i++
	}
	b.ReportMetric(float64(scores)/float64(i), "scored/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i)/float64(s.n), "ns/row")
	b.ReportMetric(s.recall(10, nil), "recall@10")
}

func TestAll_AgainstSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, k := range []int{1, 2, 7, 64} {
		for _, n := range []int{0, 1, k, 4*k - 1, 4 * k, 1000} {
			scores := make([]float32, n)
			for i := range scores {
				scores[i] = float32(rng.IntN(50)) // with many ties
			}
			r := Ranker{Dim: 1, Factor: 1, Row: func(row int) (Vector, float32) { return Vector{Values: []int8{0}}, scores[row] }}
			r.Grow(n)
			got := r.All(r.Prepare([]float32{0}), nil, k)
			require.Len(t, got, min(k, n))
			want := slices.Sorted(slices.Values(scores))
			for i, s := range got {
				require.Equal(t, want[n-1-i], s.Score, "k %d, n %d, place %d", k, n, i)
				require.Equal(t, scores[s.Row], s.Score)
			}
		}
	}
}
