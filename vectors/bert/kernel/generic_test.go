package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests compare the reference implementation with float64; tiers_test.go compares
// the other tiers with it.

func TestRound(t *testing.T) {
	for x, want := range map[float32]int32{
		0: 0, 0.5: 0, 1.5: 2, 2.5: 2, -0.5: 0, -1.5: -2, 0.49999997: 0, 254.5: 254, -254.5: -254, 32767: 32767, -32767.4: -32767, 4e6: 4e6,
	} {
		assert.Equal(t, want, round(x), "%v", x)
	}
}

func TestGELU(t *testing.T) {
	for x := -20.0; x <= 20; x += 0.001 {
		want := x / 2 * math.Erfc(-x/math.Sqrt2)
		require.InDelta(t, want, gelu(float32(x)), 3.6e-5, "%v", x)
	}
	assert.Zero(t, gelu(0))
}

func TestExp2(t *testing.T) {
	for x := 0.0; x > expFloor; x -= 0.001 {
		want := math.Exp2(float64(float32(x)))
		require.InEpsilon(t, want, exp2(float32(x)), 3.1e-6, "%v", x)
	}
	assert.Equal(t, float32(1), exp2(0))
	assert.Equal(t, exp2(expFloor), exp2(-1e30))
}

func TestQuantise(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		x, smooth := normalRow(rng, 96, 3), normalRow(rng, 96, 1)
		q := make([]byte, len(x))
		scale, zero := quantiseGeneric(q, x, smooth)
		for i := range x {
			require.InDelta(t, x[i]*smooth[i], scale*float32(int32(q[i])-zero), float64(scale)*1.001, "half a step, and half of the zero point's")
		}
	}
	q := []byte{1, 2, 3}
	scale, zero := quantiseGeneric(q, make([]float32, 3), []float32{1, 1, 1})
	assert.Zero(t, scale)
	assert.Zero(t, zero)
	assert.Equal(t, []byte{0, 0, 0}, q, "zeros are zeros")
}

func TestDequantise(t *testing.T) {
	cols := &Columns{Sum: []int32{10, -3}, Scale: []float32{0.5, 2}, Bias: []float32{1, -1}}
	dst := []float32{100, 200}
	dequantiseGeneric(dst, []int32{70, 5}, cols, 0.25, 3)
	assert.Equal(t, []float32{(70-30)*0.25*0.5 + 1, (5+9)*0.25*2 - 1}, dst)
	dequantiseAddGeneric(dst, []int32{70, 5}, cols, 0.25, 3)
	assert.Equal(t, []float32{12, 12}, dst)
	dequantiseGELUGeneric(dst, []int32{70, 5}, cols, 0.25, 3)
	assert.Equal(t, []float32{gelu(6), gelu(6)}, dst)
}

func TestNormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	x, gamma, beta := normalRow(rng, 384, 5), normalRow(rng, 384, 1), normalRow(rng, 384, 1)
	var mean, variance float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	got := append([]float32(nil), x...)
	normaliseGeneric(got, gamma, beta, 1e-12)
	for i := range x {
		want := (float64(x[i])-mean)/math.Sqrt(variance)*float64(gamma[i]) + float64(beta[i])
		require.InDelta(t, want, got[i], 1e-4)
	}
	flat := make([]float32, 32)
	normaliseGeneric(flat, gamma[:32], beta[:32], 1e-12)
	assert.Equal(t, beta[:32], flat, "a row without variance is the offset")
}

// TestSoftmax checks the last steps of attention as a whole: probabilities times
// quantised values, in the unit that Softmax returns.
func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n, length, factor = 64, 50, 0.002
	acc := integers(rng, n, 2000)
	keys, values, mask, quantised := make([]float32, n), make([]float32, n), make([]float32, n), make([]float64, n)
	for i := range n {
		if i >= length {
			mask[i] = -1e30
			continue
		}
		keys[i], values[i] = 0.5+rng.Float32(), (0.1+rng.Float32())/32767
		quantised[i] = math.Round(rng.NormFloat64() * 10000)
	}
	var total, want float64
	for i := range length {
		e := math.Exp2(float64(acc[i]) * float64(keys[i]) * factor)
		total += e
		want += e * float64(values[i]) * quantised[i]
	}
	p := make([]int16, n)
	unit := softmaxGeneric(p, acc, values, scoreGeneric(acc, keys, mask), factor)
	var got float64
	for i, v := range p {
		require.GreaterOrEqual(t, v, int16(0))
		got += float64(v) * quantised[i]
	}
	assert.InDelta(t, want/total, got*float64(unit), 1e-4)
	assert.Equal(t, make([]int16, n-length), p[length:], "padding has no weight")
}

func TestPackRefuses(t *testing.T) {
	for _, shape := range [][2]int{{31, 32}, {32, 31}, {32, MaxK + 32}, {64, 64}} {
		_, err := Pack(make([]int8, 32*32), shape[0], shape[1])
		assert.Error(t, err, shape)
	}
	w := make([]int8, 32*32)
	w[77] = -128
	_, err := Pack(w, 32, 32)
	assert.ErrorContains(t, err, "-128")
}

// There are as few tiles as possible, in order, without gaps, and of even size.
func TestForTiles(t *testing.T) {
	for rows := 1; rows < 60; rows++ {
		next, least, most := 0, rows, 0
		forTiles(rows, 12, func(first, count int) {
			assert.Equal(t, next, first)
			next += count
			least, most = min(least, count), max(most, count)
		})
		assert.Equal(t, rows, next)
		assert.LessOrEqual(t, most, 12)
		assert.LessOrEqual(t, most-least, 1)
	}
}
