package markdown

import (
	"unicode"
	"unicode/utf8"
)

// Tokens are estimated in tenths, fitted to the WordPiece vocabulary of uncased BERT
// on notes in English. A word is one token, plus three tenths for each letter beyond
// the seventh; a number is one token, plus three tenths for each digit beyond the
// third. A punctuation mark is one token, as is a letter of a script for which the
// vocabulary contains single characters only.
const (
	tenthsPerToken = 10
	tenthsPerMore  = 3
	wordLetters    = 7
	numberDigits   = 3
)

// tokenCounter estimates tokens character by character.
type tokenCounter struct {
	run   int // characters of the current word or number
	limit int // number of them that make one token
}

// next returns the tenths of a token that one more character adds.
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

// estimateTenths estimates the number of tokens in b, in tenths.
func estimateTenths(b []byte) int {
	var t tokenCounter
	tenths := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		tenths += t.next(r)
		i += size
	}
	return tenths
}

// otherTenths returns the tenths of a token that a non-Latin character adds. A Hangul
// syllable is decomposed into two or three letters. Scripts of South East Asia, which
// are written without spaces, use several letters for a syllable.
func otherTenths(r rune) int {
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.Mn, r), joins(r):
		return 0
	case r >= 0xac00 && r <= 0xd7af:
		return 2 * tenthsPerToken
	case r >= 0x0e00 && r <= 0x0eff, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff:
		return tenthsPerToken / 2
	}
	return tenthsPerToken
}
