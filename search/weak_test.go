package search

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The bounds of nearness follow the model's unrelated passages; what is clearly
// near does not depend on the vault.
func TestFloor(t *testing.T) {
	bounds := func(m meaning) []float64 {
		hit, clear := floor(m, ModeSemantic, m.weight < fluent)
		return []float64{hit, clear.usual.of(clear.value)}
	}
	minilm := meaning{passages: 1 << 20, weight: fluent}
	assert.InDeltaSlice(t, []float64{.36, .44}, bounds(minilm), 1e-9)
	few := meaning{passages: 10, weight: fluent}
	assert.Less(t, bounds(few)[0], .25)
	foreign := meaning{passages: 1 << 20, weight: fluent / 2}
	assert.InDeltaSlice(t, []float64{.18, .26}, bounds(foreign), 1e-9)

	nonsense, _ := floor(foreign, ModeSemantic, false)
	assert.InDelta(t, .36, nonsense, 1e-9, "words that no language has lower nothing")

	e5 := minilm
	e5.usual = Spread{-.22, .088}
	e5.here = e5.usual
	assert.InDeltaSlice(t, []float64{-.22 + .36*.088/.095, -.22 + .44*.088/.095}, bounds(e5), 1e-9)
	e5.here = Spread{-.4, .05}
	assert.InDeltaSlice(t, []float64{-.4 + .36*.05/.095, -.22 + .44*.088/.095}, bounds(e5), 1e-9)
}
