package markdown

import (
	"unicode"
	"unicode/utf8"
)

// Tokens are estimated in tenths, fitted to what the WordPiece vocabulary of
// uncased BERT makes of notes in English: a word is a token and its letters
// beyond the seventh a third of one each, so are the digits of a number beyond
// the third; a punctuation mark is a token, and so is a letter of any script
// that the vocabulary does not spell words of.
const (
	tenthsPerToken = 10
	tenthsPerMore  = 3
	wordLetters    = 7
	numberDigits   = 3
)

// tokenCounter estimates tokens character by character.
type tokenCounter struct {
	run   int // characters of the word or number so far
	limit int // how many of them are one token
}

// next returns what one more character adds, in tenths of a token.
func (t *tokenCounter) next(r rune) int {
	limit := wordLetters
	switch {
	case r <= ' ':
		t.run = 0
		return 0
	case r < utf8.RuneSelf:
		if c := byte(r); isDigit(c) {
			limit = numberDigits
		} else if !isLetter(c) {
			t.run = 0
			return tenthsPerToken
		}
	case r >= 0x250 || !unicode.IsLetter(r): // beyond Latin
		t.run = 0
		return otherTenths(r)
	}
	if t.run == 0 || limit != t.limit && t.run < t.limit {
		t.run, t.limit = 1, limit
		return tenthsPerToken
	}
	if t.run++; t.run <= t.limit {
		return 0
	}
	return tenthsPerMore
}

// word reads the letters that b starts with at once, when they are ASCII and
// begin a word: most of most notes. It returns how many those are, 0 when it
// is not so, and what they add.
func (t *tokenCounter) word(b []byte) (n, tenths int) {
	if t.run > 0 {
		return 0, 0
	}
	for n < len(b) && isLetter(b[n]) {
		n++
	}
	if n == 0 {
		return 0, 0
	}
	t.run, t.limit = n, wordLetters
	return n, tenthsPerToken + tenthsPerMore*max(0, n-wordLetters)
}

// estimateTenths returns roughly how many tenths of a token an embedding model makes
// of b.
func estimateTenths(b []byte) int {
	var t tokenCounter
	tenths := 0
	for i := 0; i < len(b); {
		if n, more := t.word(b[i:]); n > 0 {
			tenths += more
			i += n
			continue
		}
		r, size := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b[i:])
		}
		tenths += t.next(r)
		i += size
	}
	return tenths
}

// otherTenths returns what a character of another script than Latin adds. A Hangul
// syllable is spelled in its two or three letters; of the scripts written
// without spaces, those of South East Asia use several letters for a syllable.
func otherTenths(r rune) int {
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.Mn, r), Joins(r):
		return 0
	case r >= 0xac00 && r <= 0xd7af:
		return 2 * tenthsPerToken
	case r >= 0x0e00 && r <= 0x0eff, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff:
		return tenthsPerToken / 2
	}
	return tenthsPerToken
}
