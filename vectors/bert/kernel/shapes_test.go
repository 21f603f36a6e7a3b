package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// arena returns slices that end at the end of memory, or shift elements before, to detect
// kernels that read or write out of bounds. It is reused for each call.
type arena struct {
	slots [][]byte
	used  int
	shift int
}

// arenaSlot holds the largest operand: 50 rows of 1 536 values of 32 bits.
const arenaSlot = 50*1536*4 + 4096

var testArena arena

// margin is the number of bytes checked before and, as far as available, after a slice.
const margin, marginByte = 64, 0xA5

// take returns a slice of n elements, each set to a result of value.
func take[T any](t *testing.T, a *arena, n int, value func() T) []T {
	if a.used == len(a.slots) {
		a.slots = append(a.slots, guarded(t, arenaSlot))
	}
	slot := a.slots[a.used]
	a.used++
	var element T
	size := int(unsafe.Sizeof(element))
	from := len(slot) - (n+a.shift)*size
	require.GreaterOrEqual(t, from, margin)
	for i := range slot[from-margin:] {
		slot[from-margin+i] = marginByte
	}
	if n == 0 {
		return nil
	}
	s := unsafe.Slice((*T)(unsafe.Pointer(&slot[from])), n)
	for i := range s {
		s[i] = value()
	}
	return s
}

// unharmed fails if the memory around a slice of take has changed.
func unharmed[T any](t *testing.T, a *arena, s []T, what string) {
	if len(s) == 0 {
		return
	}
	size := len(s) * int(unsafe.Sizeof(s[0]))
	before := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&s[0]), -margin)), margin)
	after := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&s[0]), size)), a.shift*size/len(s))
	for _, watched := range [][]byte{before, after} {
		for i, b := range watched {
			require.EqualValues(t, marginByte, b, "%s: byte %d around it was written", what, i)
		}
	}
}

// shape is the size of a kernel's operands.
type shape struct {
	rows, k, columns int
	shift            int // elements between the end of a slice and of memory
}

// networkShapes returns the matrices of both networks, which differ only in the number of
// layers, with the rows of a short query, of a block and of sizes next to it.
func networkShapes() (all []shape) {
	for _, rows := range []int{1, 2, 12, 13, 47, 48} {
		for _, m := range [][2]int{{384, 384}, {384, 1536}, {1536, 384}} {
			all = append(all, shape{rows, m[0], m[1], 0})
		}
	}
	return all
}

func TestNetworkShapes(t *testing.T) {
	eachTier(t, func(t *testing.T, s *Set, rng *rand.Rand) {
		for _, shape := range networkShapes() {
			shape.columns = min(shape.columns, 3*Panel) // the others are similar
			checkShape(t, s, rng, shape)
		}
	})
}

// FuzzShapes compares every kernel of every tier with plain Go, with operands at the end
// of memory.
func FuzzShapes(f *testing.F) {
	for i, s := range networkShapes() {
		f.Add(uint64(i), uint8(s.rows), uint8(s.k/Lanes), uint8(i), uint8(i))
	}
	f.Add(uint64(0), uint8(0), uint8(0), uint8(0), uint8(1))
	f.Add(uint64(9), uint8(3), uint8(0), uint8(1), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, rows, blocks, panels, shift uint8) {
		for _, s := range available()[:len(available())-1] {
			checkShape(t, s, rand.New(rand.NewPCG(seed, 1)), shape{
				rows: int(rows) % 50, k: Lanes * (int(blocks) % 49), columns: Panel * (1 + int(panels)%3), shift: int(shift) % 9,
			})
		}
	})
}

func checkShape(t *testing.T, s *Set, rng *rand.Rand, shape shape) {
	t.Helper()
	what := fmt.Sprintf("%s, %+v", s.Name, shape)
	if shape.k > 0 {
		compareMatMul8(t, s, rng, shape, what)
		compareMatMul16(t, s, rng, shape, what)
	}
	compareRows(t, s, rng, shape, what)
}

func compareMatMul8(t *testing.T, s *Set, rng *rand.Rand, shape shape, what string) {
	a := &testArena
	a.used, a.shift = 0, shape.shift
	w := take(t, a, shape.columns*shape.k, func() int8 { return int8(pick(rng, -127, 127)) })
	bytes := make([]byte, shape.rows*shape.k)
	act := take(t, a, len(bytes)*s.ActivationBytes, func() byte { return 0 })
	for i := range bytes {
		bytes[i] = byte(pick(rng, 0, 255))
		act[i*s.ActivationBytes] = bytes[i] - byte(activationOffset(s))
	}
	want := make([]int32, shape.rows*shape.columns)
	generic.MatMul8(want, bytes, w, shape.rows, shape.k, shape.columns)
	got := take(t, a, len(want), func() int32 { return -12345 })
	s.MatMul8(got, act, w, shape.rows, shape.k, shape.columns)
	unharmed(t, a, got, what)
	ones := make([]byte, shape.k)
	for i := range ones {
		ones[i] = 1
	}
	sums := make([]int32, shape.columns)
	generic.MatMul8(sums, ones, w, 1, shape.k, shape.columns)
	for i := range want {
		require.Equal(t, want[i]-activationOffset(s)*sums[i%shape.columns], got[i], "%s: product of bytes, element %d", what, i)
	}
}

// compareMatMul16 uses k as the number of pairs of a head, or of tokens.
func compareMatMul16(t *testing.T, s *Set, rng *rand.Rand, shape shape, what string) {
	a := &testArena
	a.used, a.shift = 0, shape.shift
	pairs := min(shape.k, 512) / 2
	limit := int(math.Sqrt(math.MaxInt32 / float64(2*pairs)))
	left := take(t, a, shape.rows*2*pairs, func() int16 { return int16(pick(rng, -limit, limit)) })
	right := take(t, a, pairs*shape.columns, func() uint32 {
		return uint32(uint16(pick(rng, -limit, limit))) | uint32(pick(rng, -limit, limit))<<16
	})
	want := make([]int32, shape.rows*shape.columns)
	generic.MatMul16(want, shape.columns, left, 2*pairs, right, shape.columns, shape.rows, pairs, shape.columns)
	got := take(t, a, len(want), func() int32 { return -12345 })
	s.MatMul16(got, shape.columns, left, 2*pairs, right, shape.columns, shape.rows, pairs, shape.columns)
	unharmed(t, a, got, what)
	require.Equal(t, want, append([]int32{}, got...), "%s: product of pairs", what)
}

func compareRows(t *testing.T, s *Set, rng *rand.Rand, shape shape, what string) {
	a := &testArena
	a.used, a.shift = 0, shape.shift
	n := shape.k
	small := func() float32 { return float32(rng.NormFloat64()) }
	positive := func() float32 { return rng.Float32()/1000 + 1e-9 }
	sum := func() int32 { return int32(pick(rng, -1<<20, 1<<20)) }
	x, y, z := take(t, a, n, small), take(t, a, n, small), take(t, a, n, positive)
	acc, sums := take(t, a, n, sum), take(t, a, n, sum)
	out := take(t, a, n, small)
	want := append([]float32{}, out...)

	q, wantQ := take(t, a, n*s.ActivationBytes, func() byte { return 1 }), make([]byte, n)
	scale, zero := s.Quantise(q, x, y)
	wantScale, wantZero := generic.Quantise(wantQ, x, y)
	unharmed(t, a, q, what+": activations")
	require.Equal(t, wantScale, scale, what)
	require.Equal(t, wantZero-activationOffset(s), zero, what)
	for i := range wantQ {
		require.Equal(t, wantQ[i]-byte(activationOffset(s)), q[i*s.ActivationBytes], "%s: activation %d", what, i)
	}

	cols := &Columns{sums, z, y}
	for _, f := range [][2]func([]float32, []int32, *Columns, float32, int32){
		{generic.Dequantise, s.Dequantise}, {generic.DequantiseAdd, s.DequantiseAdd}, {generic.DequantiseGELU, s.DequantiseGELU},
	} {
		f[0](want, acc, cols, 0.01, wantZero)
		f[1](out, acc, cols, 0.01, wantZero)
		requireSame(t, want, out, "%s: numbers", what)
	}
	generic.Normalise(want, y, z, 1e-12)
	s.Normalise(out, y, z, 1e-12)
	requireSame(t, want, out, "%s: normalised", what)
	unharmed(t, a, out, what+": numbers")

	require.Equal(t, generic.MaxAbs(x), s.MaxAbs(x), what)
	halves, wantHalves := take(t, a, n, func() int16 { return 1 }), make([]int16, n)
	generic.Round16(wantHalves, x, 1000)
	s.Round16(halves, x, 1000)
	require.Equal(t, wantHalves, append([]int16{}, halves...), "%s: rounded", what)
	weights := take(t, a, n, func() int8 { return int8(pick(rng, -127, 127)) })
	require.Equal(t, generic.Dot(halves, weights), s.Dot(halves, weights), what)

	scores := append([]int32{}, acc...)
	unit := generic.Softmax(wantHalves, scores, z, generic.Score(scores, z, x), 0.3)
	got := s.Softmax(halves, acc, z, s.Score(acc, z, x), 0.3)
	require.Equal(t, wantHalves, append([]int16{}, halves...), "%s: probabilities", what)
	unharmed(t, a, halves, what+": probabilities")
	unharmed(t, a, acc, what+": scores")
	if n > 0 { // without probabilities the unit is NaN
		require.Equal(t, unit, got, what)
	}
}
