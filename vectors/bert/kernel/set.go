package kernel

import (
	"fmt"
	"strings"
)

// Columns describes the output columns of a quantised matrix: everything needed to
// dequantise its integer sums. All slices have one value per column.
type Columns struct {
	Sum   []int32   // sum of the column's int8 weights
	Scale []float32 // value of one step of the column's weights
	Bias  []float32
}

// Set is one tier: the kernels for one kind of CPU. Functions on rows expect lengths
// that are equal to each other and multiples of [Lanes]; the caller is responsible
// for the sizes, which are not checked beyond what Go itself checks.
type Set struct {
	// Name is the tier's name, as [Select] accepts it.
	Name string
	// ActivationBytes is the size of one quantised activation: a byte, or two
	// where the tier multiplies 16-bit values.
	ActivationBytes int

	// Quantise writes x × smooth as activations and returns their scale and
	// zero point. Where the tier multiplies signed bytes, both are less by 128, which
	// does not affect the result of Dequantise.
	Quantise func(dst []byte, x, smooth []float32) (scale float32, zero int32)
	// Dequantise converts a row of sums to float32, where sum is cols.Sum:
	// dst = (acc − zero × sum) × (scale × cols.Scale) + cols.Bias.
	Dequantise func(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
	// DequantiseAdd adds the result of Dequantise to dst.
	DequantiseAdd func(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
	// DequantiseGELU is Dequantise followed by GELU.
	DequantiseGELU func(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
	// Normalise replaces x by its LayerNorm.
	Normalise func(x, gamma, beta []float32, epsilon float32)
	// MaxAbs returns the largest absolute value in x.
	MaxAbs func(x []float32) float32
	// Round16 writes x × inverse, rounded, as int16. The products must lie
	// within ±32767.
	Round16 func(dst []int16, x []float32, inverse float32)
	// Score replaces one query's integer scores in acc by the bits of the float32
	// acc × keyScale + mask, and returns the largest.
	Score func(acc []int32, keyScale, mask []float32) float32
	// Softmax converts the values that Score left in acc to 15-bit probabilities,
	// each multiplied by its value row's scale, and returns the value of one unit of
	// a sum over them. Differences of scores times factor are binary exponents. acc
	// is overwritten.
	Softmax func(p []int16, acc []int32, valueScale []float32, largest, factor float32) float32
	// Dot returns the inner product of a and b, which must fit an int32.
	Dot func(a []int16, b []int8) int32
	// SignSums adds to dst, for each row of signs, the sum of the numbers in planes whose
	// sign bit is set. Rows start stride words apart; words, at most [SignWords], is the
	// number of words used of each.
	SignSums func(dst []int32, signs []uint64, planes *SignPlanes, words, stride int)

	// rows8 and rows16 are the most rows that tile8 and tile16 accept.
	rows8, rows16 int
	tile8         func(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups, rows int)
	tile16        func(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs, rows int)
}

// Tiers returns the names of the tiers that this CPU can run, best first.
func Tiers() []string {
	var names []string
	for _, s := range available() {
		names = append(names, s.Name)
	}
	return names
}

// Select returns the tier with the given name, or the best one if name is empty. It
// fails if this CPU or this build does not support the tier.
func Select(name string) (*Set, error) {
	sets := available()
	if name == "" {
		return sets[0], nil
	}
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("tier %q is unknown or needs another CPU or build; this one has %s",
		name, strings.Join(Tiers(), ", "))
}

// MatMul8 multiplies rows of k activations by a packed matrix of n columns:
// dst[r][c] = Σ act[r][i] × w[i][c], dst being rows × n.
func (s *Set) MatMul8(dst []int32, act []byte, w []int8, rows, k, n int) {
	stride := k * s.ActivationBytes
	for c := 0; c < n; c += Panel {
		panel := w[c*k : (c+Panel)*k]
		forTiles(rows, s.rows8, func(r, count int) {
			out := dst[r*n+c : (r+count-1)*n+c+Panel]
			in := act[r*stride : (r+count)*stride]
			s.tile8(out, n, in, stride, panel, k/Group, count)
		})
	}
}

// MatMul16 multiplies rows of 2 × pairs int16 values by a matrix of n columns
// of pairs: dst[r][c] = Σ a[r][i] × b[i][c]. Strides are in elements.
func (s *Set) MatMul16(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, rows, pairs, n int) {
	for c := 0; c < n; c += Panel {
		panel := b[c : (pairs-1)*bStride+c+Panel]
		forTiles(rows, s.rows16, func(r, count int) {
			out := dst[r*dstStride+c : (r+count-1)*dstStride+c+Panel]
			in := a[r*aStride : (r+count-1)*aStride+2*pairs]
			s.tile16(out, dstStride, in, aStride, panel, bStride, pairs, count)
		})
	}
}

// forTiles splits rows into the fewest tiles of at most limit, as even as possible:
// 14 rows with a limit of 12 become 7 + 7, not 12 + 2, which keeps every tile dense.
func forTiles(rows, limit int, tile func(first, count int)) {
	tiles := (rows + limit - 1) / limit
	for i := range tiles {
		first := i * rows / tiles
		tile(first, (i+1)*rows/tiles-first)
	}
}
