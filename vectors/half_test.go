package vectors

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
