package flat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

func TestScan_AgainstSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 63, 64, 65, 384, 768} {
		vs := notestest.Clustered(rng, 3000, dim, 20)
		table := []uint64{}
		for _, v := range vs {
			table = Signs(table, v)
		}
		query := Signs(nil, vs[17])
		words := SignWords(dim)
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
			got := Scan(table, query, 50, keep)
			require.Len(t, got, 50)
			slices.SortFunc(got, func(a, b candidate) int { return int(a.distance - b.distance) })
			for i, c := range got {
				assert.Equal(t, want[i], int(c.distance), "dim %d, place %d", dim, i)
				assert.Equal(t, distances[c.Row], int(c.distance))
				assert.True(t, keep == nil || keep(c.Row))
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

func TestQuantisedCosine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, v := range notestest.Clustered(rng, 500, 384, 9) {
		values := make([]int8, len(v))
		scale := Quantise(v, values)
		assert.InDelta(t, 1, Dot(v, Vector{scale, values}), 0.003)
	}
}

func TestQuery_Precision(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, dim := range []int{1, 31, 32, 33, 384, 1000, maxTestDim} {
		vs := notestest.Clustered(rng, 50, dim, 3)
		vs = append(vs, make([]float32, dim)) // zeros
		for _, v := range vs {
			values := make([]int8, dim)
			q := Vector{Quantise(v, values), values}
			for _, query := range vs[:10] {
				assert.InDelta(t, Dot(query, q), NewQuery(query).Dot(q), 1e-4, "dim %d", dim)
			}
			assert.Zero(t, NewQuery(make([]float32, dim)).Dot(q))
		}
	}
	extreme := make([]float32, maxTestDim)
	values := make([]int8, maxTestDim)
	for i := range extreme {
		extreme[i] = 1
	}
	q := Vector{Quantise(extreme, values), values}
	assert.InDelta(t, maxTestDim, NewQuery(extreme).Dot(q), 1, "the largest sum fits")
}

// maxTestDim is beyond every model that is known.
const maxTestDim = 8192
