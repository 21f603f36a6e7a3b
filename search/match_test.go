package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
	"notesd/search/terms"
)

func matcherOf(query string) *matcher {
	return newMatcher(newRequest(parseQuery(query, parseTime), notes.Filter{}))
}

// slowly finds the same as a matcher, by computing the terms of every word.
func slowly(m *matcher, text string) (found []match) {
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range terms.Expand(nil, text, s) {
			if i, ok := m.lookUp(t.Text); ok {
				found = append(found, match{term: i, start: t.Start, end: t.End, exact: m.exact[i] != "" && string(terms.Fold(nil, text[t.Start:t.End])) == m.exact[i]})
			}
		}
	}
	return found
}

var matchTexts = []string{
	"Hoping that the x-ray of the e-mail shows dying skies, HAPPIER and happily so.",
	"parseHTTPRequest of node.js in snake_case; U.S.A. and O'Brien's C++ and v1.2.3",
	"“Télégraphe” — naïve Straße, l’été: ÉTÉ; İstanbul",
	"我们用机器学习 happy 来 happy 翻译。 ไทยแลนด์ happy",
	"Organization organizing organs relational sensibility conflated ties tied tying lies lying",
	"aHappy xhappy unhappy happy9 9happy _happy_ happy-happy happy.happy @happy",
	strings.Repeat("filler ", 200) + "happy",
}

func TestMatcher_AgreesWithIndex(t *testing.T) {
	for _, query := range []string{"happy", "hope die sky", "xray email", "http request nodejs usa brien c++", "telegraph naive strasse ete istanbul",
		"学习 ไทย happy", "v1.2.3 snakecase", "organize organ relate sensible conflate tie lie", "a", "ox x", numbered(40) + "happy"} {
		m := matcherOf(query)
		for _, text := range matchTexts {
			assert.Equal(t, slowly(m, text), m.find(nil, text), "%s in %s", query, text)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, text := range matchTexts {
		f.Add("hope happily x-ray http été c++", text)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		m := matcherOf(query)
		want, got := slowly(m, text), m.find(nil, text)
		if !assert.ObjectsAreEqual(want, got) {
			t.Fatalf("%q in %q: want %v, got %v", query, text, want, got)
		}
	})
}
