package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// others returns the tiers of this CPU other than the one that defines the results.
func others(t *testing.T) []*Set {
	var sets []*Set
	for _, s := range available() {
		if s != generic {
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		t.Skip("this build or CPU has one tier only")
	}
	return sets
}

// eachTier runs a subtest for every tier of others, with a fixed random seed.
func eachTier(t *testing.T, check func(t *testing.T, s *Set, rng *rand.Rand)) {
	for _, s := range others(t) {
		t.Run(s.Name, func(t *testing.T) { check(t, s, rand.New(rand.NewPCG(1, 2))) })
	}
}

func TestSelect(t *testing.T) {
	best, err := Select("")
	require.NoError(t, err)
	assert.Equal(t, Tiers()[0], best.Name)
	assert.Equal(t, "purego", Tiers()[len(Tiers())-1], "the last resort is always there")
	for _, name := range Tiers() {
		s, err := Select(name)
		require.NoError(t, err)
		assert.Equal(t, name, s.Name)
	}
	_, err = Select("mmx")
	assert.ErrorContains(t, err, `"mmx"`)
	assert.ErrorContains(t, err, "purego")
}

func TestMatMul8(t *testing.T) {
	for _, s := range available() {
		t.Run(s.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 25, 48, 49} {
				k := Lanes * (1 + rng.IntN(20))
				n := Panel * (1 + rng.IntN(4))
				checkMatMul8(t, s, rng, rows, k, n)
			}
			checkMatMul8(t, s, rng, 13, 1536, 64)
			checkMatMul8(t, s, rng, 3, Lanes, Panel)
		})
	}
}

// activationOffset is subtracted from activations and their zero point by tiers that multiply
// signed bytes.
func activationOffset(s *Set) int32 {
	if strings.HasPrefix(s.Name, "neon") {
		return 128
	}
	return 0
}

// checkMatMul8 compares a product with one computed from the unpacked matrix. Extreme
// values are frequent, to detect saturation.
func checkMatMul8(t *testing.T, s *Set, rng *rand.Rand, rows, k, n int) {
	t.Helper()
	w := make([]int8, n*k)
	for i := range w {
		w[i] = int8(pick(rng, -127, 127))
	}
	a := make([]byte, rows*k)
	for i := range a {
		a[i] = byte(pick(rng, 0, 255))
	}
	packed, err := Pack(w, n, k)
	require.NoError(t, err)
	act := make([]byte, rows*k*s.ActivationBytes)
	for i, v := range a {
		act[i*s.ActivationBytes] = v - byte(activationOffset(s))
	}
	got := make([]int32, rows*n)
	for i := range got {
		got[i] = -12345 // must be overwritten
	}
	s.MatMul8(got, act, packed, rows, k, n)
	for r := range rows {
		for c := range n {
			var want int32
			for i := range k {
				want += (int32(a[r*k+i]) - activationOffset(s)) * int32(w[c*k+i])
			}
			require.Equal(t, want, got[r*n+c], "rows %d, k %d, n %d: row %d, column %d", rows, k, n, r, c)
		}
	}
}

// pick returns one of the ends a third of the time, otherwise a value in between.
func pick(rng *rand.Rand, lo, hi int) int {
	switch rng.IntN(6) {
	case 0:
		return lo
	case 1:
		return hi
	}
	return lo + rng.IntN(hi-lo+1)
}

func TestMatMul16(t *testing.T) {
	for _, s := range available() {
		t.Run(s.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for rows := 1; rows <= 26; rows++ {
				checkMatMul16(t, s, rng, rows, 16, Panel*(1+rng.IntN(8)), 8191)
				checkMatMul16(t, s, rng, rows, 16*(1+rng.IntN(8)), Panel, 2000)
			}
		})
	}
}

// checkMatMul16 uses strides larger than the rows, like attention.
func checkMatMul16(t *testing.T, s *Set, rng *rand.Rand, rows, pairs, n, limit int) {
	t.Helper()
	aStride, bStride, dstStride := 2*pairs+rng.IntN(3)*32, n+rng.IntN(3)*16, n+rng.IntN(2)*8
	a := make([]int16, rows*aStride)
	for i := range a {
		a[i] = int16(pick(rng, -limit, limit))
	}
	b := make([]uint32, pairs*bStride)
	for i := range b {
		b[i] = uint32(uint16(pick(rng, -limit, limit))) | uint32(pick(rng, -limit, limit))<<16
	}
	got := make([]int32, rows*dstStride)
	s.MatMul16(got, dstStride, a, aStride, b, bStride, rows, pairs, n)
	for r := range rows {
		for c := range dstStride {
			var want int32
			for i := range pairs {
				if c < n {
					w := b[i*bStride+c]
					want += int32(a[r*aStride+2*i])*int32(int16(w)) + int32(a[r*aStride+2*i+1])*(int32(w)>>16)
				}
			}
			require.Equal(t, want, got[r*dstStride+c], "rows %d, pairs %d, n %d: row %d, column %d", rows, pairs, n, r, c)
		}
	}
}

// rowLengths are the lengths used to test the row kernels.
var rowLengths = []int{32, 64, 96, 384, 1152, 1536}

// normalRow returns n values around 0, a few of them large, as in a transformer's rows.
func normalRow(rng *rand.Rand, n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * spread)
		if rng.IntN(50) == 0 {
			x[i] *= 20
		}
	}
	return x
}

// integers returns n sums as in a matrix product.
func integers(rng *rand.Rand, n, limit int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(pick(rng, -limit, limit))
	}
	return x
}

// requireSame fails unless both rows have the same bits.
func requireSame(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			require.Failf(t, "rows differ", "%s: element %d is %v (%08x) and not %v (%08x)", fmt.Sprintf(format, args...),
				i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestQuantiseSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 400 {
			n := rowLengths[round%len(rowLengths)]
			x, smooth := normalRow(rng, n, math.Pow(10, float64(rng.IntN(9)-4))), normalRow(rng, n, 1)
			switch round % 20 {
			case 0:
				clear(x)
			case 1: // one sign only: zero is at one end of the range
				for i := range x {
					x[i] = float32(math.Abs(float64(x[i])))
					smooth[i] = 1
				}
			case 2:
				for i := range x {
					x[i] *= 1e-33
				}
			}
			want, got := make([]byte, n), make([]byte, n*s.ActivationBytes)
			scale, zero := generic.Quantise(want, x, smooth)
			otherScale, otherZero := s.Quantise(got, x, smooth)
			require.Equal(t, math.Float32bits(scale), math.Float32bits(otherScale), "scale, round %d", round)
			require.Equal(t, zero-activationOffset(s), otherZero, "zero, round %d", round)
			for i := range want {
				require.Equal(t, want[i], got[i*s.ActivationBytes]+byte(activationOffset(s)), "round %d, element %d", round, i)
			}
		}
	})
}

func TestDequantiseSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 200 {
			n := rowLengths[round%len(rowLengths)]
			cols := &Columns{integers(rng, n, 127*1536), normalRow(rng, n, 0.01), normalRow(rng, n, 1)}
			acc := integers(rng, n, 1<<(4+rng.IntN(22)))
			scale, zero := rng.Float32()/100, int32(rng.IntN(256))
			for name, f := range map[string][2]func([]float32, []int32, *Columns, float32, int32){
				"plain": {generic.Dequantise, s.Dequantise},
				"add":   {generic.DequantiseAdd, s.DequantiseAdd},
				"gelu":  {generic.DequantiseGELU, s.DequantiseGELU},
			} {
				want := normalRow(rng, n, 1)
				got := append([]float32(nil), want...)
				f[0](want, acc, cols, scale, zero)
				f[1](got, acc, cols, scale, zero)
				requireSame(t, want, got, "%s, round %d", name, round)
			}
		}
	})
}

func TestNormaliseSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 200 {
			n := rowLengths[round%len(rowLengths)]
			want, gamma, beta := normalRow(rng, n, 2), normalRow(rng, n, 1), normalRow(rng, n, 1)
			if round%20 == 0 {
				clear(want)
			}
			got := append([]float32(nil), want...)
			generic.Normalise(want, gamma, beta, 1e-12)
			s.Normalise(got, gamma, beta, 1e-12)
			requireSame(t, want, got, "round %d", round)
		}
	})
}

func TestRoundSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 200 {
			n := rowLengths[round%len(rowLengths)]
			x := normalRow(rng, n, 3)
			if round%20 == 0 {
				clear(x)
			}
			largest := generic.MaxAbs(x)
			require.Equal(t, largest, s.MaxAbs(x))
			inverse := 32767 / max(largest, 1e-6)

			want, got := make([]int16, n), make([]int16, n)
			generic.Round16(want, x, inverse)
			s.Round16(got, x, inverse)
			require.Equal(t, want, got)
		}
	})
}

func TestDotSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 200 {
			n := rowLengths[round%len(rowLengths)]
			limit := min(32767, math.MaxInt32/(128*n)) // so that the sum does not overflow
			a, b := make([]int16, n), make([]int8, n+1)
			var want int64
			for i := range a {
				a[i], b[i] = int16(pick(rng, -limit, limit)), int8(pick(rng, -128, 127))
				want += int64(a[i]) * int64(b[i])
			}
			require.EqualValues(t, want, generic.Dot(a, b))
			require.EqualValues(t, want, s.Dot(a, b[:n]))
		}
	})
}

func TestSignSumsSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 200 {
			words := 1 + round%SignWords
			stride, rows := words+rng.IntN(3), rng.IntN(5)
			signs := make([]uint64, max(0, rows-1)*stride+words)
			for i := range signs {
				signs[i] = rng.Uint64()
			}
			var planes SignPlanes
			want, got := integers(rng, rows, 1000), make([]int32, rows)
			copy(got, want)
			for i := range 64 * words {
				n := pick(rng, -16, 15)
				for b := range planes {
					planes[b][i/64] |= uint64(n>>b&1) << (i % 64)
				}
				for row := range rows {
					if signs[row*stride+i/64]>>(i%64)&1 == 1 {
						want[row] += int32(n)
					}
				}
			}
			for i := words; i < SignWords; i++ {
				planes[0][i] = ^uint64(0) // must be ignored
			}
			same := slices.Clone(got)
			s.SignSums(got, signs, &planes, words, stride)
			require.Equal(t, want, got, "%d words every %d", words, stride)
			generic.SignSums(same, signs, &planes, words, stride)
			require.Equal(t, want, same)
		}
	})
}

func TestSoftmaxSame(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for round := range 300 {
			n := 32 * (1 + rng.IntN(16))
			length := 1 + rng.IntN(n)
			acc := integers(rng, n, 1<<(10+rng.IntN(20)))
			keys, values, mask := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range n {
				keys[i], values[i] = rng.Float32()/1000, rng.Float32()/1000+1e-9
				if i >= length {
					keys[i], values[i], mask[i] = 0, 0, -1e30
				}
			}
			factor := float32(math.Pow(10, float64(rng.IntN(5)-4)))
			other := append([]int32(nil), acc...)
			want, got := make([]int16, n), make([]int16, n)
			unit := generic.Softmax(want, acc, values, generic.Score(acc, keys, mask), factor)
			otherUnit := s.Softmax(got, other, values, s.Score(other, keys, mask), factor)
			require.Equal(t, math.Float32bits(unit), math.Float32bits(otherUnit), "round %d", round)
			require.Equal(t, want, got, "round %d", round)
		}
	})
}

// BenchmarkSignSums processes a thousand rows of 384 signs.
func BenchmarkSignSums(b *testing.B) {
	const rows, words = 1000, 6
	signs, dst := make([]uint64, rows*words), make([]int32, rows)
	for _, s := range available() {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				s.SignSums(dst, signs, &SignPlanes{}, words, words)
			}
		})
	}
}
