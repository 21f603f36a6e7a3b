package unigram

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// The reference implements Unicode 11.0. Runes added later are not normalised.
var assigned = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("11.0.0") })

// firstLater is below all runes added after Unicode 11.0.
const firstLater = 0x0560

func isLater(r rune) bool { return r >= firstLater && !unicode.Is(assigned(), r) }

// joiner is inserted by package norm into sequences of more than 30 marks, and not by the
// reference.
const joiner = "\u034F"

// normalise returns text in the form NFKC.
func normalise(text string) string {
	if norm.NFKC.IsNormalString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for text != "" {
		n := strings.IndexFunc(text, isLater)
		if n < 0 {
			n = len(text)
		}
		part := norm.NFKC.String(text[:n])
		if !strings.Contains(text[:n], joiner) {
			part = strings.ReplaceAll(part, joiner, "")
		}
		b.WriteString(part)
		text = text[n:]
		if n = strings.IndexFunc(text, func(r rune) bool { return !isLater(r) }); n < 0 {
			n = len(text)
		}
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}
