package wordpiece

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is the effect of a rune on the word being read.
type class uint8

const (
	drop      class = iota // no effect
	space                  // ends the word
	letter                 // is appended, possibly as another rune
	mark                   // ends the word, and is itself a word: punctuation
	ideograph              // ends the word, and is itself a word: a CJK ideograph
	several                // decomposes into several runes
)

// mapped is a rune's class and, for classes that have output, the rune to output.
type mapped struct {
	class class
	rune  rune
}

// pageSize is the number of runes that are classified together.
const pageSize = 256

// runes classifies runes. Looking one up in Unicode's tables takes several binary
// searches, so results are cached in pages, each filled when one of its runes first
// occurs; a text uses few pages.
type runes struct {
	fold  bool // lower-case and strip accents
	pages [(unicode.MaxRune + 1) / pageSize]atomic.Pointer[[pageSize]mapped]
}

// lookup classifies a valid rune.
func (t *runes) lookup(r rune) mapped {
	at := &t.pages[uint32(r)/pageSize]
	p := at.Load()
	if p == nil {
		p = new([pageSize]mapped)
		for i := range p {
			p[i] = t.classify(r&^(pageSize-1) + rune(i))
		}
		at.Store(p)
	}
	return p[r%pageSize]
}

// classify does for one rune what the reference does in four passes over the text:
// clean, isolate ideographs, decompose and strip, lower-case.
func (t *runes) classify(r rune) mapped {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return mapped{space, 0}
	case r == utf8.RuneError || isOther(r):
		return mapped{drop, 0}
	case !t.fold:
		return final(r, isIdeograph(r))
	}
	switch parts := decompose(r); len(parts) {
	case 0:
		return mapped{drop, 0}
	case 1:
		return final(parts[0], isIdeograph(r))
	}
	return mapped{several, r}
}

// final classifies a rune that needs no further mapping.
func final(r rune, isolated bool) mapped {
	switch {
	case isolated:
		return mapped{ideograph, r}
	case unicode.IsSpace(r):
		return mapped{space, 0}
	case isPunctuation(r):
		return mapped{mark, r}
	}
	return mapped{letter, r}
}

// decompose returns the normalised form of r: its canonical decomposition without
// nonspacing marks, in lower case. Several marks in a row are not put into canonical
// order: that would matter only for marks that are kept, which no vocabulary
// contains, so their word is unknown either way.
func decompose(r rune) (parts []rune) {
	decomposed := string(r)
	if isAssigned(r) {
		decomposed = norm.NFD.String(decomposed)
	}
	for _, part := range decomposed {
		if !isNonspacing(part) {
			parts = append(parts, unicode.ToLower(part))
		}
	}
	return parts
}
