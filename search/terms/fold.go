package terms

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold appends the form of s that is used for comparison: in lower case, without accents,
// points and vowel marks that writers omit, with compatibility characters (full width,
// ligatures) replaced by plain ones, traditional Chinese characters by simplified ones, katakana
// by hiragana and Devanagari nasals by the dot above, and independent of Unicode composition.
func Fold(dst []byte, s string) []byte {
	start := len(dst)
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= utf8.RuneSelf {
			return foldUnicode(dst[:start], s)
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

func foldUnicode(dst []byte, s string) []byte {
	if !norm.NFC.IsNormalString(s) || strings.ContainsAny(s, "ﾞﾟ") {
		s = norm.NFKC.String(s) // composes sequences, including half-width kana
	}
	start, joined := len(dst), false
	for _, r := range s {
		dst = append(dst, FoldRune(r)...)
		joined = joined || r == virama
	}
	if joined {
		dst = append(dst[:start], anusvara().Replace(string(dst[start:]))...)
	}
	return dst
}

// virama joins two Devanagari consonants.
const virama = '्'

// anusvara replaces a Devanagari nasal before a stop of its own row by the dot above. Hindi and
// Marathi write both: हिन्दी, हिंदी.
var anusvara = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, row := range []string{"कखगघङ", "चछजझञ", "टठडढण", "तथदधन", "पफबभम"} {
		stops := []rune(row)
		nasal := string(stops[4]) + string(virama)
		for _, stop := range stops[:4] {
			pairs = append(pairs, nasal+string(stop), "ं"+string(stop))
		}
	}
	return strings.NewReplacer(pairs...)
})

var foldPages pages[string]

// FoldRune returns the folded form of a composed character by itself, or "" if it is dropped.
func FoldRune(r rune) string { return foldPages.get(r, describeFold) }

// foldSpecial has the foldings that neither case mapping nor decomposition yields.
var foldSpecial = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'ħ': "h", 'þ': "th", 'ı': "i", 'ŋ': "n",
	'ς': "σ",
	'ך': "כ", 'ם': "מ", 'ן': "נ", 'ף': "פ", 'ץ': "צ", // final letters: a word loses them before an ending
	// Arabic: the forms of alef, yeh and kaf, and teh marbuta, which is pronounced as heh
	'ٱ': "ا", 'ى': "ي", 'ی': "ي", 'ک': "ك", 'ة': "ه", 'ۀ': "ه", 'ـ': "",
	// Cyrillic letters that are separate letters, not accented ones
	'й': "й", 'Й': "й", 'ї': "ї", 'Ї': "ї", 'ў': "ў", 'Ў': "ў",
	'ँ': "ं", // Devanagari: मां is written for माँ
	'’': "'", 'ʼ': "'", '‐': "-",
}

//go:embed han.txt
var hanTable string

// hanFolds maps traditional Chinese and Japanese characters to the simplified ones: 會議, 会议.
var hanFolds = sync.OnceValue(func() map[rune]rune {
	folds := make(map[rune]rune, utf8.RuneCountInString(hanTable)/2)
	for group := range strings.FieldsSeq(hanTable) {
		simplified, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			folds[r] = simplified
		}
	}
	return folds
})

// plainer returns the form of a letter that folds to another letter of its script.
func plainer(r rune) rune {
	switch {
	case r >= 'ァ' && r <= 'ヶ':
		return r - 'ァ' + 'ぁ'
	case unicode.Is(unicode.Han, r):
		if simplified, ok := hanFolds()[r]; ok {
			return simplified
		}
	}
	return r
}

func describeFold(r rune) string {
	if s, ok := foldSpecial[r]; ok {
		return s
	}
	if !utf8.ValidRune(r) || unicode.Is(unicode.Cf, r) {
		return ""
	}
	if r >= utf8.RuneSelf && unicode.IsDigit(r) { // of another script, in order in groups of ten
		first := r
		for unicode.IsDigit(first - 1) {
			first--
		}
		return string('0' + (r-first)%10)
	}
	composed := strings.ToLower(norm.NFKC.String(string(r)))
	var b strings.Builder
	for _, part := range norm.NFD.String(composed) {
		if dropped(part) {
			continue
		}
		if s, ok := foldSpecial[part]; ok {
			b.WriteString(s)
			continue
		}
		b.WriteRune(plainer(part))
	}
	return norm.NFC.String(b.String()) // recomposes kana and Hangul
}

// dropped reports whether a mark is ignored in comparison: accents, tone and vowel points, but
// not the vowels of Indic scripts or the marks that form another letter in kana.
func dropped(r rune) bool {
	switch {
	case !unicode.IsMark(r):
		return false
	case r >= 0x0300 && r <= 0x036F, r >= 0x1AB0 && r <= 0x1AFF, r >= 0x1DC0 && r <= 0x1DFF,
		r >= 0x20D0 && r <= 0x20FF, r >= 0xFE20 && r <= 0xFE2F: // combining diacritics
		return true
	case r >= 0x0591 && r <= 0x05C7: // Hebrew points and cantillation
		return true
	case r >= 0x0610 && r <= 0x061A, r >= 0x064B && r <= 0x065F, r == 0x0670, r >= 0x06D6 && r <= 0x06ED: // Arabic
		return true
	}
	const nukta = 7 // the canonical combining class of Indic nuktas
	return norm.NFD.PropertiesString(string(r)).CCC() == nukta
}
