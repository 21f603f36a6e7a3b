package notes

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGlobAlternatives compares the expanded globs with the library's own matching of
// braces.
func TestGlobAlternatives(t *testing.T) {
	assert.Equal(t, []string{"ac", "ae", "adc", "ade", "b"}, Alternatives("{a{,d}{c,e},b}"))
	assert.Equal(t, []string{`\{a,b\}`}, Alternatives(`\{a,b\}`))
	assert.Equal(t, []string{""}, Alternatives(""))
	assert.Nil(t, Alternatives(strings.Repeat("{a,b}", 7)))
	assert.Nil(t, Alternatives(strings.Repeat("{?,?}", 34)))
	assert.Nil(t, Alternatives("{{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b},c}"))

	pieces := []string{"a", "b", "/", "*", "**", "?", "[ab]", "[^a]", "{", "}", ",", `\{`, "{a,b}", "{,a/}", "**/"}
	names := []string{"a", "b", "ab", "a/b", "b/a", "a/b/a", "ba/ab", "{a", "a,b", ""}
	rng := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 50_000 {
		glob := ""
		for range 1 + rng.IntN(7) {
			glob += pieces[rng.IntN(len(pieces))]
		}
		if !doublestar.ValidatePattern(glob) {
			continue
		}
		globs := Alternatives(glob)
		require.NotNil(t, globs, glob)
		for _, name := range names {
			want := doublestar.MatchUnvalidated(glob, name)
			if want {
				matched++
			}
			got := slices.ContainsFunc(globs, func(g string) bool { return doublestar.MatchUnvalidated(g, name) })
			// After a '*' has matched the end of the name, the library does not try
			// empty alternatives that follow.
			if want || !strings.Contains(glob, "*") {
				require.Equal(t, want, got, "%q as %q on %q", glob, globs, name)
			}
		}
	}
	assert.Greater(t, matched, 1000)
}
