package flat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/internal/notestest"
)

func TestQuantisedCosine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, v := range notestest.Clustered(rng, 500, 384, 9) {
		values := make([]int8, len(v))
		scale := Quantise(v, values)
		assert.InDelta(t, 1, dot(v, Vector{scale, values}), 0.003)
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
				assert.InDelta(t, dot(query, q), NewQuery(query).Dot(q), 1e-4, "dim %d", dim)
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

// maxTestDim exceeds the dimension of all known models.
const maxTestDim = 8192

// dot is the reference of [Query.Dot].
func dot(query []float32, v Vector) (sum float32) {
	for i, x := range query {
		sum += x * float32(v.Values[i])
	}
	return sum * v.Scale
}
