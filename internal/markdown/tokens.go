package markdown

import (
	"unicode"
	"unicode/utf8"
)

// Tokens are estimated in tenths: 13 for a word, 4 letters of a long word more
// for one token, and one token for each character of scripts that are written
// without spaces. English prose comes out within a tenth of what WordPiece
// tokenizers count.
const (
	tenthsPerWord = 13
	longWord      = 12
	tenthsPerByte = 3
)

// estimateTokens returns roughly how many tokens an embedding model makes of b.
func estimateTokens(b []byte) int { return (estimateTenths(b) + 9) / 10 }

func estimateTenths(b []byte) int {
	tenths, word := 0, 0
	for i := 0; i < len(b); {
		c := b[i]
		if c < utf8.RuneSelf {
			i++
			if c <= ' ' {
				word = 0
				continue
			}
			tenths += wordTenths(word)
			word++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		i += size
		switch {
		case isUnspaced(r):
			tenths += 10
			word = 0
		case unicode.IsSpace(r):
			word = 0
		default:
			tenths += wordTenths(word)
			word += size
		}
	}
	return tenths
}

// wordTenths is what one more character adds to a word of that many bytes.
func wordTenths(bytes int) int {
	switch {
	case bytes == 0:
		return tenthsPerWord
	case bytes < longWord:
		return 0
	}
	return tenthsPerByte
}

// isUnspaced tells whether r belongs to a script written without spaces.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		r >= 0x1000 && r <= 0x109f,   // Myanmar
		r >= 0x1780 && r <= 0x17ff,   // Khmer
		r >= 0x2e80 && r <= 0xa4cf,   // CJK, kana, Yi
		r >= 0xac00 && r <= 0xd7af,   // Hangul
		r >= 0xf900 && r <= 0xfaff,   // CJK compatibility
		r >= 0xff00 && r <= 0xffef,   // full width
		r >= 0x1f000 && r <= 0x1faff, // emoji
		r >= 0x20000 && r <= 0x3ffff: // CJK extensions
		return true
	}
	return false
}
