package flat

import (
	"math"
	"sync"

	"notesd/vectors/bert/kernel"
)

// quantised is a vector as it is scored: one byte a dimension and a scale.
// Against the float32 vector the cosine is above .9999 for embeddings, less
// than the model's own quantisation costs.
type Vector struct {
	Scale  float32
	Values []int8
}

// quantise writes v into values, which has v's length, and returns the scale
// by which they are to be multiplied.
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

// sharp is a query as rows of embeddings are scored with it: 16 bits a
// dimension, a hundred times finer than what they have. Sums of whole numbers
// can be left to the processor's widest instructions, and are the same on all.
type Query struct {
	scale  float32
	values []int16 // padded with zeros to a multiple of kernel.Lanes
	dim    int
}

var kernels = sync.OnceValue(func() *kernel.Set {
	set, err := kernel.Select("")
	if err != nil {
		panic(err) // there is always a tier
	}
	return set
})

// sharpen prepares a query. The largest value is such that no sum overflows.
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

// dot returns the inner product with a quantised vector of the same dimension.
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

// dot returns the inner product of a query and a quantised vector. Four sums
// keep the processor's adders busy.
func Dot(query []float32, q Vector) float32 {
	var a, b, c, d float32
	values := q.Values[:len(query)]
	i := 0
	for ; i+4 <= len(query); i += 4 {
		a += query[i] * float32(values[i])
		b += query[i+1] * float32(values[i+1])
		c += query[i+2] * float32(values[i+2])
		d += query[i+3] * float32(values[i+3])
	}
	for ; i < len(query); i++ {
		a += query[i] * float32(values[i])
	}
	return (a + b + c + d) * q.Scale
}

// signWords returns how many words hold the signs of dim dimensions.
func SignWords(dim int) int { return (dim + 63) / 64 }

// signs appends one bit a dimension, set where the value is positive. The
// Hamming distance of two such rows, over dim, estimates the angle between
// the vectors (Charikar, "Similarity Estimation Techniques from Rounding
// Algorithms", 2002).
func Signs[T int8 | float32](dst []uint64, v []T) []uint64 {
	for start := 0; start < len(v); start += 64 {
		var word uint64
		for i, x := range v[start:min(start+64, len(v))] {
			if x > 0 {
				word |= 1 << i
			}
		}
		dst = append(dst, word)
	}
	return dst
}

// normalised scales v to length one, in place. A zero vector stays zero.
func Normalised(v []float32) []float32 {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return v
	}
	inverse := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= inverse
	}
	return v
}
