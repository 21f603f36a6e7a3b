package vectors

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clustered makes unit vectors as embeddings lie: around topics, which share
// a common direction, unevenly spread over the dimensions.
func clustered(rng *rand.Rand, n, dim, topics int) [][]float32 {
	spread := make([]float64, dim)
	common := make([]float64, dim)
	for i := range spread {
		spread[i] = math.Exp(rng.NormFloat64() * 0.4)
		common[i] = rng.NormFloat64() * 0.3
	}
	centres := make([][]float64, topics)
	for t := range centres {
		centres[t] = make([]float64, dim)
		for i := range centres[t] {
			centres[t][i] = common[i] + rng.NormFloat64()*spread[i]
		}
	}
	out := make([][]float32, n)
	for j := range out {
		c := centres[rng.IntN(topics)]
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(c[i] + rng.NormFloat64()*spread[i]*0.9)
		}
		out[j] = normalised(v)
	}
	return out
}

func TestScanFindsTheNearestBySigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 63, 64, 65, 384, 768} {
		vs := clustered(rng, 3000, dim, 20)
		table := []uint64{}
		for _, v := range vs {
			table = signs(table, v)
		}
		query := signs(nil, vs[17])
		words := signWords(dim)
		distances := make([]int, len(vs))
		for i := range vs {
			for w := range words {
				distances[i] += popcount(table[i*words+w] ^ query[w])
			}
		}
		for _, keep := range []func(int32) bool{nil, func(r int32) bool { return r%3 == 0 }} {
			var want []int
			for i, d := range distances {
				if keep == nil || keep(int32(i)) {
					want = append(want, d)
				}
			}
			slices.Sort(want)
			got := scan(table, query, 50, keep)
			require.Len(t, got, 50)
			slices.SortFunc(got, func(a, b candidate) int { return int(a.distance - b.distance) })
			for i, c := range got {
				assert.Equal(t, want[i], int(c.distance), "dim %d, place %d", dim, i)
				assert.Equal(t, distances[c.row], int(c.distance))
				assert.True(t, keep == nil || keep(c.row))
			}
		}
	}
}

func popcount(x uint64) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}

func TestHalfPrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		x := float32(rng.NormFloat64() * math.Exp(rng.NormFloat64()*3-3))
		back := unpackHalf(packHalf([]float32{x}))[0]
		assert.InDelta(t, x, back, math.Max(math.Abs(float64(x))/2048, 1.0/(1<<25)))
	}
	for _, x := range []float32{0, 1, -1, 65504, 1e9, 1.0 / (1 << 24), 0.5} {
		back := unpackHalf(packHalf([]float32{x}))[0]
		assert.Equal(t, min(x, 65504), back)
	}
}

func TestQuantisedCosine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, v := range clustered(rng, 500, 384, 9) {
		values := make([]int8, len(v))
		scale := quantise(v, values)
		assert.InDelta(t, 1, dot(v, quantised{scale, values}), 0.003)
	}
}

func TestSharpScoresAsTheWholeVectorDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, dim := range []int{1, 31, 32, 33, 384, 1000, maxTestDim} {
		vs := clustered(rng, 50, dim, 3)
		vs = append(vs, make([]float32, dim)) // zeros
		for _, v := range vs {
			values := make([]int8, dim)
			q := quantised{quantise(v, values), values}
			for _, query := range vs[:10] {
				assert.InDelta(t, dot(query, q), sharpen(query).dot(q), 1e-4, "dim %d", dim)
			}
			assert.Zero(t, sharpen(make([]float32, dim)).dot(q))
		}
	}
	extreme := make([]float32, maxTestDim)
	values := make([]int8, maxTestDim)
	for i := range extreme {
		extreme[i] = 1
	}
	q := quantised{quantise(extreme, values), values}
	assert.InDelta(t, maxTestDim, sharpen(extreme).dot(q), 1, "the largest sum fits")
}

// maxTestDim is beyond every model that is known.
const maxTestDim = 8192

// BenchmarkNearest: a million chunks of 384 dimensions, the ten nearest, with
// the recall against exact search.
func BenchmarkNearest(b *testing.B) {
	const n, dim = 1_000_000, 384
	rng := rand.New(rand.NewPCG(7, 8))
	e := newEntries(dim)
	values := make([]int8, n*dim)
	scales := make([]float32, n)
	vector := func(i uint32) quantised { return quantised{scales[i], values[int(i)*dim : int(i+1)*dim]} }
	const batch = 10_000
	var queries [][]float32
	for start := 0; start < n; start += batch {
		for i, v := range clustered(rng, batch, dim, 500) {
			row := start + i
			scales[row] = quantise(v, values[row*dim:(row+1)*dim])
			e.add(int64(row), 0, uint32(row), vector(uint32(row)))
			if i < 1 {
				queries = append(queries, v)
			}
		}
	}
	found, wanted := 0, 0
	for _, q := range queries[:20] {
		exact := map[int64]chunkHit{}
		for row := range n {
			e.score(int32(row), sharpen(q), vector, exact)
		}
		want := ranked(exact, 10)
		got := e.nearest(q, nil, 10, vector)
		for _, w := range want {
			wanted++
			if slices.ContainsFunc(got, func(h chunkHit) bool { return h.note == w.note }) {
				found++
			}
		}
	}
	i := 0
	for b.Loop() {
		e.nearest(queries[i%len(queries)], nil, 10, vector)
		i++
	}
	b.ReportMetric(float64(found)/float64(wanted), "recall@10")
}
