package vectors

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/model"
)

func newTransformer(t *testing.T) *Transformer {
	t.Helper()
	m, err := model.English()
	require.NoError(t, err)
	return NewTransformer(m)
}

func TestTransformer_PassagesAndQueries(t *testing.T) {
	e := newTransformer(t)
	texts := []string{"How to bake rye bread", "The keel of a wooden boat", "Tides follow the moon", "", "☃"}
	for _, threads := range []int{1, 3} {
		got := make([][]float32, len(texts))
		require.NoError(t, e.EmbedPassages(t.Context(), texts, threads, func(i int, v []float32) { got[i] = append([]float32(nil), v...) }))
		for i, text := range texts {
			want, err := e.EmbedQuery(t.Context(), text)
			require.NoError(t, err)
			assert.Equal(t, want, got[i], "the same bits, on however many threads")
		}
	}
	var order []int
	require.NoError(t, e.EmbedPassages(t.Context(), texts, 1, func(i int, _ []float32) { order = append(order, i) }))
	assert.Equal(t, []int{1, 0, 2, 4, 3}, order, "the longest first")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, e.EmbedPassages(ctx, texts, 2, func(int, []float32) {}), context.Canceled)
	_, err := e.EmbedQuery(ctx, "x")
	assert.ErrorIs(t, err, context.Canceled)
}

// Embedding pauses while a search runs, including one of another vault, and continues as soon
// as it ends.
func TestTransformer_PausesForSearches(t *testing.T) {
	e := newTransformer(t)
	synctest.Test(t, func(t *testing.T) {
		first, second := NewIndex(nil, "", Options{Embedder: e}).Yield(), NewIndex(nil, "", Options{}).Yield()
		began := time.Now()
		var done atomic.Int32
		finished := make(chan error, 1)
		go func() {
			finished <- e.EmbedPassages(t.Context(), []string{"tides", "moon", "keel"}, 2, func(int, []float32) { done.Add(1) })
		}()
		synctest.Wait()
		first()
		synctest.Wait()
		assert.Zero(t, done.Load(), "one search still runs")
		second()
		require.NoError(t, <-finished)
		assert.EqualValues(t, 3, done.Load())
		assert.Zero(t, time.Since(began))
	})
}

// Continuous searches slow embedding down but do not stop it.
func TestTransformer_PausesAreBounded(t *testing.T) {
	e := newTransformer(t)
	synctest.Test(t, func(t *testing.T) {
		over := NewIndex(nil, "", Options{Embedder: e}).Yield()
		defer over()
		began := time.Now()
		require.NoError(t, e.EmbedPassages(t.Context(), []string{"tides", "moon", "keel"}, 1, func(int, []float32) {}))
		assert.Equal(t, 3*longestPause, time.Since(began))
	})
}

// The vaults of a process embed in turn, one batch at a time.
func TestTransformer_VaultsTakeTurns(t *testing.T) {
	one, other := newTransformer(t), newTransformer(t)
	synctest.Test(t, func(t *testing.T) {
		texts := []string{"tides", "moon"}
		var order []string
		finished := make(chan error)
		for batch := range 2 {
			require.NoError(t, one.EmbedPassages(t.Context(), texts, 1, func(i int, _ []float32) {
				order = append(order, "one")
				if batch+i > 0 {
					return
				}
				go func() {
					finished <- other.EmbedPassages(t.Context(), texts, 2, func(int, []float32) { order = append(order, "other") })
				}()
				synctest.Wait()
			}))
			if batch == 0 {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				assert.ErrorIs(t, one.EmbedPassages(ctx, texts, 1, nil), context.Canceled, "the turn is not waited for")
			}
		}
		require.NoError(t, <-finished)
		assert.Equal(t, []string{"one", "one", "other", "other", "one", "one"}, order)
	})
}

// The scheduler has one more processor for each thread that embeds.
func TestTransformer_Processors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	err := newTransformer(t).EmbedPassages(t.Context(), []string{"a", "b", "c"}, 2, func(int, []float32) {
		assert.Equal(t, before+2, runtime.GOMAXPROCS(0))
		assert.Equal(t, before, processors.allowed())
	})
	require.NoError(t, err)
	assert.Equal(t, before, runtime.GOMAXPROCS(0))
}

func TestTransformer_Weight(t *testing.T) {
	e := newTransformer(t)
	assert.InDelta(t, fluentWeight, e.Weight("how to bake bread"), 0)
	assert.InDelta(t, fluentWeight, e.Weight("2026 → 42"), 0, "no letters")
	assert.Zero(t, e.Weight("วิธีอบขนมปัง"))
	for _, text := range []string{"¿cómo se hornea el pan de centeno?", "wie backt man ein Roggenbrot mit Sauerteig", "jak upiec chleb żytni na zakwasie"} {
		assert.Less(t, e.Weight(text), 0.9*fluentWeight, text)
		assert.GreaterOrEqual(t, e.Weight(text), foreignWeight, text)
	}
}
