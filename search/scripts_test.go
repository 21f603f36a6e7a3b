package search_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"
)

// lettersOf returns letters of the script with this Unicode table.
func lettersOf(table *unicode.RangeTable) (letters []rune) {
	add := func(lo, hi, stride rune) {
		for r := lo; r <= hi && len(letters) < 4000; r += stride {
			if unicode.In(r, unicode.Lo, unicode.Ll, unicode.Lu) {
				letters = append(letters, r)
			}
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return letters
}

// A word of any script finds the note that has it: as written there, in another Unicode
// composition, in capitals and as a phrase, alone and among other words.
func TestSearch_EveryScript(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	files, words := map[string]string{}, map[string][]string{}
	for _, script := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		letters := lettersOf(unicode.Scripts[script])
		if len(letters) == 0 {
			continue // a script of marks or signs
		}
		path := script
		for range 2 {
			word := make([]rune, 3+r.IntN(6))
			for i := range word {
				word[i] = letters[r.IntN(len(letters))]
			}
			words[path] = append(words[path], string(word))
		}
		files[path+".md"] = strings.Join(words[path], " ") + "\n\n(" + strings.Join(words[path], "), «") + "»\n"
	}
	assert.Greater(t, len(files), 140)
	f := newFixture(t, files)
	for _, path := range slices.Sorted(maps.Keys(words)) {
		for i, word := range words[path] {
			next := words[path][(i+1)%len(words[path])]
			for form, query := range map[string]string{
				"as it is": word, "decomposed": norm.NFD.String(word), "composed": norm.NFC.String(word), "a phrase": `"` + word + `"`,
				"with another": next + " " + word, "a phrase of two": `"` + strings.Join(words[path], " ") + `"`,
			} {
				assert.Contains(t, f.paths(query), path, "%s: %q (%U)", form, query, []rune(query))
			}
			if upper := strings.ToUpper(word); strings.EqualFold(upper, word) {
				assert.Contains(t, f.paths(upper), path, "in capitals: %q (%U)", upper, []rune(upper))
			}
		}
	}
}
