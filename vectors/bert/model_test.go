package bert

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
)

// embed returns a text's vector from a fresh encoder.
func embed(t testing.TB, m *Model, text string) []float32 {
	t.Helper()
	vec := make([]float32, m.Dim())
	require.NoError(t, m.NewEncoder().Embed(context.Background(), text, vec))
	return vec
}

// cosine returns the cosine of a vector of length one and any vector.
func cosine(a []float32, b []float64) float64 {
	var dot, square float64
	for i, v := range b {
		dot += float64(a[i]) * v
		square += v * v
	}
	return dot / math.Sqrt(square)
}

// TestForward compares the engine with the same network in float64, for models of several
// shapes and texts of several lengths, at the boundaries of blocks and padding.
func TestForward(t *testing.T) {
	for name, change := range map[string]func(c *modelfile.Config){
		"mean":       func(*modelfile.Config) {},
		"one head":   func(c *modelfile.Config) { c.Heads = 1 },
		"wide heads": func(c *modelfile.Config) { c.Hidden, c.Heads, c.Layers = 128, 2, 1 },
		"one layer":  func(c *modelfile.Config) { c.Layers, c.Intermediate = 1, 32 },
	} {
		t.Run(name, func(t *testing.T) {
			c := tinyConfig()
			change(&c)
			reference := newTiny(t, c)
			for _, length := range []int{0, 1, 30, 46, 47, 500} {
				text := strings.Repeat("abcd. b ", length)[:length]
				want := reference.embed(openTiny(t).TokenIDs(text))
				var first []float32
				for _, tier := range kernel.Tiers() {
					kernels, err := kernel.Select(tier)
					require.NoError(t, err)
					m, err := open(reference.file, kernels)
					require.NoError(t, err)
					got := embed(t, m, text)
					if first == nil {
						first = got
					}
					assert.Equal(t, first, got, "%s: the same bits", tier)
					assert.Greater(t, cosine(got, want), 0.998, "%s: %d bytes", tier, length)
					assert.InDelta(t, 1, cosine(got, float64s(got)), 1e-6, "length one")
				}
			}
		})
	}
}

func float64s(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func openTiny(t testing.TB) *Model {
	m, err := Open(newTiny(t, tinyConfig()).file)
	require.NoError(t, err)
	return m
}

// A used encoder gives the same result as a new one, whatever it has processed before.
func TestEncoderReuse(t *testing.T) {
	m := openTiny(t)
	texts := []string{"a b c d", "", strings.Repeat("abcd ", 30), "d", strings.Repeat("b.", 33), strings.Repeat("d c ", 16), "a b"}
	e := m.NewEncoder()
	for round := range 2 {
		for _, text := range texts {
			vec := make([]float32, m.Dim())
			require.NoError(t, e.Embed(context.Background(), text, vec))
			assert.Equal(t, embed(t, m, text), vec, "round %d: %q", round, text)
		}
	}
}

func TestEmbedErrors(t *testing.T) {
	m := openTiny(t)
	err := m.NewEncoder().Embed(context.Background(), "a", make([]float32, 3))
	assert.ErrorContains(t, err, "64 elements does not fit in 3")

	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("stop"))
	assert.ErrorIs(t, m.NewEncoder().Embed(ctx, "a", make([]float32, m.Dim())), context.Canceled)
}

// endingContext is cancelled after a number of calls of Err.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestEmbedStopsBetweenLayers(t *testing.T) {
	m := openTiny(t)
	ctx := &endingContext{context.Background(), 2}
	vec := make([]float32, m.Dim())
	assert.ErrorIs(t, m.NewEncoder().Embed(ctx, "a b", vec), context.DeadlineExceeded)
	assert.Equal(t, make([]float32, m.Dim()), vec, "nothing is written")
}

func TestEncoder_Concurrent(t *testing.T) {
	m := openTiny(t)
	want := embed(t, m, "a bc a bc")
	var embedding sync.WaitGroup
	for range 4 {
		embedding.Go(func() { assert.Equal(t, want, embed(t, m, "a bc a bc")) })
	}
	embedding.Wait()
}

func TestModelFacts(t *testing.T) {
	c := tinyConfig()
	c.QueryPrefix, c.PassagePrefix = "query: ", "passage: "
	m, err := Open(newTiny(t, c).file)
	require.NoError(t, err)
	assert.Equal(t, "tiny", m.Name())
	assert.Regexp(t, `^tiny-[0-9a-f]{12}$`, m.ID())
	assert.Equal(t, 64, m.Dim())
	query, passage := m.Prefixes()
	assert.Equal(t, "query: ", query)
	assert.Equal(t, "passage: ", passage)
	assert.Equal(t, []int32{1, 3, 8, 5, 11, 2}, m.TokenIDs("ab c."))
	assert.Len(t, m.TokenIDs(strings.Repeat("a ", 100)), 70)
	known, whole := m.Knows("a e ab")
	assert.InDelta(t, 0.25, known, 1e-9, "b is a piece of one letter")
	assert.InDelta(t, 0.25, whole, 1e-9)
	assert.NoError(t, m.Verify())
	assert.NotEqual(t, openTiny(t).ID(), m.ID(), "prefixes change what vectors are of")
}

func TestOpenForcedTier(t *testing.T) {
	file := newTiny(t, tinyConfig()).file
	for _, tier := range kernel.Tiers() {
		t.Setenv(TierVariable, tier)
		m, err := Open(file)
		require.NoError(t, err)
		assert.Equal(t, tier, m.Tier())
	}
	t.Setenv(TierVariable, "abacus")
	_, err := Open(file)
	assert.ErrorContains(t, err, "NOTESD_BERT_TIER")
	assert.ErrorContains(t, err, "abacus")
}

func TestOpenFile(t *testing.T) {
	file := newTiny(t, tinyConfig()).file
	path := filepath.Join(t.TempDir(), "tiny.ndmodel")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	m, err := OpenFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path), "the file may go while it is in use")
	assert.Equal(t, embed(t, openTiny(t), "a b"), embed(t, m, "a b"))
	assert.NoError(t, m.Verify())
	assert.NoError(t, m.Close())
	assert.NoError(t, m.Close(), "again")
	assert.NoError(t, openTiny(t).Close(), "one that was not mapped")
}

func TestOpenFileRefuses(t *testing.T) {
	dir := t.TempDir()
	file := newTiny(t, tinyConfig()).file
	_, err := OpenFile(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = OpenFile(dir)
	assert.ErrorContains(t, err, "is not a file")
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("# My notes\n"), "cut": file[:len(file)/2],
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err = OpenFile(path)
		assert.ErrorIs(t, err, modelfile.ErrFormat, name)
		assert.ErrorContains(t, err, path)
	}
}

// FuzzOpen damages a model anywhere. A model that opens must run.
func FuzzOpen(f *testing.F) {
	file := newTiny(f, tinyConfig()).file
	f.Add(uint32(0), []byte("x"))
	f.Add(uint32(100), []byte("999"))
	f.Add(uint32(len(file)/2), bytes.Repeat([]byte{0xFF}, 100))
	f.Add(uint32(len(file)-1), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		damaged := bytes.Clone(file)
		copy(damaged[int(at)%len(damaged):], patch)
		m, err := Open(damaged)
		if err != nil {
			require.ErrorIs(t, err, modelfile.ErrFormat)
			return
		}
		vec := make([]float32, m.Dim())
		if err := m.NewEncoder().Embed(context.Background(), "abcd . e", vec); err != nil {
			require.ErrorIs(t, err, modelfile.ErrFormat)
			return
		}
		for _, v := range vec {
			require.False(t, math.IsNaN(float64(v)) || math.IsInf(float64(v), 0))
		}
	})
}
