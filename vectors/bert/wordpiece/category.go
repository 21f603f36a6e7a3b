package wordpiece

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// The reference uses the general categories of Unicode 8.0. To produce its ids with
// any version of Go, newer runes count as unassigned, and the few runes whose
// category has changed since are listed.
var assigned = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("8.0.0") })

func isAssigned(r rune) bool { return r < utf8.RuneSelf || unicode.Is(assigned(), r) }

// isOther reports whether r is a control, format or private-use character. Unassigned
// runes are kept.
func isOther(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && isAssigned(r)
}

// isNonspacing reports whether r is a mark such as an accent.
func isNonspacing(r rune) bool {
	switch r {
	case 0x1734: // a spacing mark since 14.0
		return true
	case 0x1885, 0x1886, 0xA9BD, // letters, and a spacing mark, until 9.0 and 11.0
		0x111C9: // punctuation until 11.0
		return false
	}
	return unicode.Is(unicode.Mn, r) && isAssigned(r)
}

// isPunctuation reports whether r is always a word by itself. This includes all ASCII
// symbols, whatever their category.
func isPunctuation(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7F && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	case r == 0x166D, // a symbol since 12.0
		r == 0x111C9: // a mark since 11.0
		return true
	}
	return unicode.Is(unicode.P, r) && isAssigned(r)
}

// isIdeograph reports whether r is in a block that the reference surrounds with
// spaces: Chinese characters, but not kana or Hangul. The reference starts one block
// at 0x2B920 instead of 0x2B820; so does this.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}
