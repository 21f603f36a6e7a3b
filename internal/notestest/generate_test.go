package notestest

import (
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGenerateDependsOnTheSpecAlone(t *testing.T) {
	spec := Spec{Notes: 60, Words: 5000, Folders: 4, Seed: 7}
	make := func(spec Spec) map[string]string {
		dir := t.TempDir()
		require.NoError(t, Generate(dir, spec))
		return Read(t, dir)
	}
	first := make(spec)
	assert.Len(t, first, 60)
	assert.Equal(t, first, make(spec))
	spec.Seed++
	assert.NotEqual(t, first, make(spec))
	queries := Queries(spec, 20)
	assert.Equal(t, queries, Queries(spec, 20))
}

func TestGeneratedWordsFollowZipf(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Generate(dir, Spec{Notes: 100, Seed: 1}))
	counts := map[string]int{}
	bytes := 0
	for _, text := range Read(t, dir) {
		bytes += len(text)
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			counts[w]++
		}
	}
	assert.InEpsilon(t, 700_000, bytes, 0.3, "the size that was asked for")
	var ranked []int
	once := 0
	for _, n := range counts {
		ranked = append(ranked, n)
		if n == 1 {
			once++
		}
	}
	sort.Sort(sort.Reverse(sort.IntSlice(ranked)))
	assert.Greater(t, ranked[0], 20*ranked[100], "a few words are everywhere")
	assert.Greater(t, once, len(counts)/4, "many are in one place only")
}
