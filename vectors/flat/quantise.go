package flat

import (
	"math"
	"sync"

	"notesd/vectors/bert/kernel"
)

// Vector is a quantised vector: one byte per dimension and a scale. For embeddings its
// cosine with the float32 vector exceeds .9999; the loss is smaller than that of the
// model's own quantisation.
type Vector struct {
	Scale  float32
	Values []int8
}

// Quantise writes v to values, which must have the same length, and returns the
// scale: v[i] is approximately scale*values[i].
func Quantise(v []float32, values []int8) (scale float32) {
	largest := float32(0)
	for _, x := range v {
		largest = max(largest, float32(math.Abs(float64(x))))
	}
	if largest == 0 {
		clear(values)
		return 0
	}
	inverse := 127 / largest
	for i, x := range v {
		values[i] = int8(math.RoundToEven(float64(x * inverse)))
	}
	return largest / 127
}

// Query is a query vector with 16 bits per dimension, a hundred times finer than the
// precision of the rows. Integer sums can use the widest instructions of the CPU and give
// the same result on every machine.
type Query struct {
	scale  float32
	values []int16 // padded with zeros to a multiple of kernel.Lanes
	dim    int
}

var kernels = sync.OnceValue(func() *kernel.Set {
	set, err := kernel.Select("")
	if err != nil {
		panic(err) // the portable kernels are always available
	}
	return set
})

// NewQuery prepares a query. It scales the values so that no sum of [Query.Dot]
// overflows an int32.
func NewQuery(v []float32) Query {
	padded := make([]float32, (len(v)+kernel.Lanes-1)/kernel.Lanes*kernel.Lanes)
	copy(padded, v)
	q := Query{values: make([]int16, len(padded)), dim: len(v)}
	largest := kernels().MaxAbs(padded)
	if largest == 0 {
		return q
	}
	limit := float32(min(math.MaxInt16, math.MaxInt32/(127*len(padded))))
	q.scale = largest / limit
	kernels().Round16(q.values, padded, limit/largest)
	return q
}

// Dot returns the inner product with a vector of the same dimension.
func (q Query) Dot(v Vector) float32 {
	whole := q.dim / kernel.Lanes * kernel.Lanes
	var sum int32
	if whole > 0 {
		sum = kernels().Dot(q.values[:whole], v.Values)
	}
	for i, x := range v.Values[whole:q.dim] {
		sum += int32(q.values[whole+i]) * int32(x)
	}
	return float32(sum) * q.scale * v.Scale
}

// SignWords returns the number of words for the signs of dim dimensions.
func SignWords(dim int) int { return (dim + 63) / 64 }

// Normalised scales v to length one in place and returns it. It leaves a zero
// vector unchanged.
func Normalised(v []float32) []float32 {
	squares := Squares(v)
	if squares == 0 {
		return v
	}
	inverse := 1 / math.Sqrt(squares) // a float32 cannot hold that of a tiny vector
	for i, x := range v {
		v[i] = float32(float64(x) * inverse)
	}
	return v
}
