package search

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
)

// The bounds of nearness follow the spread of the vault's unrelated passages.
func TestFloor(t *testing.T) {
	bounds := func(m semanticResult, foreign bool) []float64 {
		hit, clear := floor(m, ModeSemantic, foreign, 0)
		return []float64{hit, onSpread(clear.spread, clear.value)}
	}
	minilm := semanticResult{passages: 1 << 20, weight: fluent}
	assert.InDeltaSlice(t, []float64{.36, .54}, bounds(minilm, false), 1e-9)
	few := semanticResult{passages: 10, weight: fluent}
	assert.Less(t, bounds(few, false)[0], .25)
	foreign := semanticResult{passages: 1 << 20, weight: fluent / 2}
	assert.InDeltaSlice(t, []float64{.18, .27}, bounds(foreign, true), 1e-9)
	assert.InDeltaSlice(t, []float64{.36, .54}, bounds(foreign, false), 1e-9, "words that no language has lower nothing")

	e5 := minilm
	e5.usual = notes.Spread{Mean: -.22, Deviation: .088}
	e5.here = e5.usual
	assert.InDeltaSlice(t, []float64{-.22 + .36*.088/.095, -.22 + .54*.088/.095}, bounds(e5, false), 1e-9)
	e5.here = notes.Spread{Mean: -.3, Deviation: .05}
	assert.InDeltaSlice(t, []float64{-.3 + .36*.05/.095, -.3 + .54*.088/.095}, bounds(e5, false), 1e-9)
	hit, clear := floor(e5, ModeHybrid, false, 0)
	assert.InDelta(t, -.3+.42*.05/.095, hit, 1e-9)
	assert.InDelta(t, -.3+.61*.088/.095, onSpread(clear.spread, clear.value), 1e-9, "it has no scatter")
	unknown, same := floor(e5, ModeHybrid, false, 1)
	assert.InDelta(t, -.3+.3*.05/.095, unknown, 1e-9, "the notes may be in another language if they have none of the words")
	assert.Equal(t, clear, same)
	e5.here = notes.Spread{Mean: -.4, Deviation: .05}
	assert.InDeltaSlice(t, []float64{-.4 + .36*.05/.095, -.4 + .36*.088/.095}, bounds(e5, false), 1e-9, "notes in another language")
	assert.InDeltaSlice(t, []float64{-.4 + .36*.05/.095, -.4 + .36*.088/.095}, bounds(e5, true), 1e-9)
	e5.here = notes.Spread{Mean: .04, Deviation: .088}
	assert.InDeltaSlice(t, []float64{-.22 + .36*.088/.095, .04 + .36*.088/.095}, bounds(e5, true), 1e-9, "notes in Chinese are nearer: more are weak, none are dropped")
}
