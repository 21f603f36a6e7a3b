package unigram

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// The reference implements Unicode 11.0. Runes added later are not normalised.
var assigned = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("11.0.0") })

// firstLater is below all runes added after Unicode 11.0.
const firstLater = 0x0560

// normalise returns text in the form NFKC. Package norm is used only to detect normal
// text and for single runes: in a sequence of more than 30 marks it inserts a joiner,
// and the reference does not.
func normalise(text string) string {
	if norm.NFKC.IsNormalString(text) {
		return text
	}
	n := normaliser{out: make([]byte, 0, len(text)+len(text)/8)}
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			n.add(rune(c), 0, true)
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if r >= firstLater && !unicode.Is(assigned(), r) {
			n.flush()
			n.out = utf8.AppendRune(n.out, r)
		} else {
			n.decompose(r, text[:size])
		}
		text = text[size:]
	}
	n.flush()
	return string(n.out)
}

// normaliser composes decomposed runes. run holds those since the last composition
// boundary.
type normaliser struct {
	out     []byte
	run     []decomposed
	scratch []byte
}

type decomposed struct {
	rune  rune
	class uint8 // canonical combining class
}

func (n *normaliser) decompose(r rune, encoded string) {
	if s := r - hangulFirst; s >= 0 && s < hangulCount {
		n.add(leading+s/(vowelCount*trailingCount), 0, true)
		n.add(vowel+s/trailingCount%vowelCount, 0, false)
		if t := s % trailingCount; t > 0 {
			n.add(trailing+t, 0, false)
		}
		return
	}
	p := norm.NFKD.PropertiesString(encoded)
	parts := p.Decomposition()
	if parts == nil {
		n.add(r, p.CCC(), norm.NFC.PropertiesString(encoded).BoundaryBefore())
		return
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		p := norm.NFC.Properties(parts)
		n.add(part, p.CCC(), p.BoundaryBefore())
		parts = parts[size:]
	}
}

// add appends a decomposed rune; boundary means that it does not compose with runes
// before it.
func (n *normaliser) add(r rune, class uint8, boundary bool) {
	if boundary && class == 0 {
		n.flush()
	}
	n.run = append(n.run, decomposed{r, class})
}

// flush writes the run, composed and in canonical order.
func (n *normaliser) flush() {
	if len(n.run) == 1 {
		n.out = utf8.AppendRune(n.out, n.run[0].rune)
		n.run = n.run[:0]
		return
	}
	for from := 0; from < len(n.run); from++ {
		to := from
		for to < len(n.run) && n.run[to].class > 0 {
			to++
		}
		slices.SortStableFunc(n.run[from:to], func(a, b decomposed) int { return int(a.class) - int(b.class) })
		from = to
	}
	kept, starter := n.run[:0], -1
	var last uint8 // class of the last rune after the starter; 0 if none
	for _, d := range n.run {
		if starter >= 0 && (last == 0 || last < d.class) {
			if r, ok := n.compose(kept[starter].rune, d.rune); ok {
				kept[starter].rune = r
				continue
			}
		}
		if last = d.class; last == 0 {
			starter = len(kept)
		}
		kept = append(kept, d)
	}
	for _, d := range kept {
		n.out = utf8.AppendRune(n.out, d.rune)
	}
	n.run = n.run[:0]
}

// compose returns the canonical composition of a and b, if they have one.
func (n *normaliser) compose(a, b rune) (rune, bool) {
	n.scratch = utf8.AppendRune(utf8.AppendRune(n.scratch[:0], a), b)
	both := norm.NFC.Bytes(n.scratch)
	r, size := utf8.DecodeRune(both)
	return r, size == len(both)
}

// Hangul syllables are numbered by their leading consonant, vowel and trailing
// consonant, if any (Unicode, chapter 3.12).
const (
	hangulFirst, hangulCount  = 0xAC00, 11172
	leading, vowel, trailing  = 0x1100, 0x1161, 0x11A7
	vowelCount, trailingCount = 21, 28
)
