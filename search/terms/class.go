package terms

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// class is the role of a character in splitting text into spans. The classes of a word's
// characters are combined by OR as the word is read, so recognizing plain lower-case ASCII,
// nearly all of most text, costs nothing.
type class uint8

// The classes of characters, which determine where terms begin and end.
const (
	classLower class = 1 << iota // a letter: lower case, or of a script without case
	ClassUpper
	classDigit
	classMark      // combines with the preceding letter or is invisible; only inside words
	ClassConnector // joins two parts of one word: e-mail, node.js, snake_case, l'été
	ClassDense     // Han, kana, Hangul: pairs of characters are terms
	ClassRunOn     // Thai, Lao, Khmer, Myanmar: no spaces between words, n-grams are terms
	ClassSymbol    // emoji and similar characters: one term each

	ClassNone class = 0
	ClassWord       = classLower | ClassUpper | classDigit | classMark
)

// HighBit is set in the classes of a word with a character outside ASCII. It shares its bit
// with a class that never occurs inside words.
const HighBit = ClassSymbol

// AsciiClass is the class of each ASCII character.
var AsciiClass = func() (t [utf8.RuneSelf]class) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = classLower, ClassUpper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = classDigit
	}
	for _, c := range "'-._@&" {
		t[c] = ClassConnector
	}
	return t
}()

// ByteClass is AsciiClass for bytes of text; bytes of multi-byte characters have no class.
var ByteClass = func() (t [256]class) {
	copy(t[:], AsciiClass[:])
	return t
}()

// A page caches a property of 256 adjacent characters. Pages are computed on first use: a vault
// uses a handful of scripts.
const pageBits = 8

type pages[T any] [(unicode.MaxRune + 1) >> pageBits]atomic.Pointer[[1 << pageBits]T]

// get returns describe(r) from its page.
func (p *pages[T]) get(r rune, describe func(rune) T) T {
	slot := &p[r>>pageBits]
	page := slot.Load()
	if page == nil {
		page = new([1 << pageBits]T)
		for i := range page {
			page[i] = describe(r&^(1<<pageBits-1) + rune(i))
		}
		slot.Store(page) // a race only computes the same page twice
	}
	return page[r&(1<<pageBits-1)]
}

var classPages pages[class]

// ClassOf returns the class of a character.
func ClassOf(r rune) class {
	if r < utf8.RuneSelf {
		return AsciiClass[r]
	}
	return classPages.get(r, describeClass)
}

// zwnj joins an ending, a prefix or another word to a word of Persian, for which some write a space
// and some nothing: سبزی‌ها, سبزی ها, سبزیها.
const zwnj = '\u200C'

// runOnScripts write sentences without spaces between words.
var runOnScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// denseScripts express about a word with every character or two.
var denseScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo}

func describeClass(r rune) class {
	switch {
	case r == '’' || r == 'ʼ' || r == '‐' || r == '‑' || r == '＠' || r == '＿' || r == '．' || r == '״' || r == '׳':
		return ClassConnector
	case r == zwnj:
		return ClassConnector
	case r == '\u00AD' || r == '\u200D' || r == '\u2060':
		return classMark // soft hyphen and joiners: invisible inside a word
	case r == 'ー' || r == 'ｰ' || r == '〆' || isKanaVoicing(r):
		return ClassDense
	case unicode.In(r, runOnScripts...):
		if unicode.IsDigit(r) {
			return classDigit
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return ClassRunOn
		}
		return ClassNone
	case unicode.In(r, denseScripts...) && unicode.IsLetter(r):
		return ClassDense
	case unicode.IsMark(r):
		if r >= 0xFE00 && r <= 0xFE0F {
			return ClassNone // variation selectors change how an emoji is drawn
		}
		return classMark
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return ClassUpper
	case unicode.IsLetter(r):
		return classLower
	case unicode.IsNumber(r):
		return classDigit
	case isEmoji(r):
		return ClassSymbol
	}
	return ClassNone
}

// isKanaVoicing reports whether r is a mark that, written separately, turns か into が.
func isKanaVoicing(r rune) bool {
	return r == 0x3099 || r == 0x309A || r == 0xFF9E || r == 0xFF9F
}

// isEmoji reports whether r is in a block of pictographs. It excludes box drawing, arrows and
// mathematics, which are frequent in code blocks.
func isEmoji(r rune) bool {
	switch {
	case r >= 0x1F1E6 && r <= 0x1FAFF && !(r >= 0x1F3FB && r <= 0x1F3FF): // except skin tones
		return true
	case r >= 0x2600 && r <= 0x27BF, r >= 0x2B50 && r <= 0x2B55, r == 0x231A, r == 0x231B, r >= 0x23E9 && r <= 0x23FA:
		return unicode.IsSymbol(r)
	}
	return false
}
