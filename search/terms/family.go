package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word family consists of the terms of the vault that share all but the last letters of a
// word and have about its length: its inflected forms, found without a dictionary.
const (
	familyEnding = 2 // last letters that need not be shared, one more of a long word
	familyLong   = 9 // least number of letters of a long word
	familyLeast  = 4 // least number of shared letters
	familyReach  = 3 // greatest difference in length, in letters
)

// Stems returns the possible beginnings of the words of a word's family; none if it has no
// family.
func Stems(word string) []string {
	if a := affixesOf(word); a != nil {
		var stems []string
		for _, stem := range a.stems(word) {
			stems = append(stems, stem)
			for _, prefix := range slices.Concat(a.prefixes, a.particles) {
				stems = append(stems, prefix+stem)
			}
		}
		return stems
	}
	n := utf8.RuneCountInString(word)
	if n < familyLeast {
		return nil
	}
	keep := max(familyLeast, n-familyEnding)
	if n >= familyLong { // w Bieszczadach: Bieszczady
		keep--
	}
	for i := range word {
		if keep == 0 {
			return []string{word[:i]}
		}
		keep--
	}
	return []string{word}
}

// SameFamily reports whether a term that begins with one of the word's stems belongs to its
// family.
func SameFamily(word, term string) bool {
	if a := affixesOf(word); a != nil {
		of := a.stems(term)
		return slices.ContainsFunc(a.stems(word), func(stem string) bool { return slices.Contains(of, stem) })
	}
	d := utf8.RuneCountInString(word) - utf8.RuneCountInString(term)
	return max(d, -d) <= familyReach
}

// affixes are parts that a script writes together with a word: article, prepositions and
// conjunctions before, endings after. Words with the same remainder are a family.
type affixes struct {
	letters            *unicode.RangeTable
	prefixes, suffixes []string // folded; before the shorter ones that they contain
	least              int      // least number of letters in the remainder
	// particles are prefixes that begin many roots as well: a word has a stem with and one
	// without the particle. The first is "and", which begins few.
	particles []string
}

// affixesOf returns the affixes of a word's script, nil if it has none.
func affixesOf(word string) *affixes {
	first, _ := utf8.DecodeRuneInString(word)
	for i := range affixLists {
		if unicode.Is(affixLists[i].letters, first) {
			return &affixLists[i]
		}
	}
	return nil
}

// strip returns a word without one prefix and one suffix.
func (a *affixes) strip(word string) string {
	for _, p := range a.prefixes {
		if rest, ok := strings.CutPrefix(word, p); ok && utf8.RuneCountInString(rest) >= a.least {
			word = rest
			break
		}
	}
	return a.withoutSuffix(word)
}

func (a *affixes) withoutSuffix(word string) string {
	for _, s := range a.suffixes {
		if rest, ok := strings.CutSuffix(word, s); ok && utf8.RuneCountInString(rest) >= a.least {
			return rest
		}
	}
	return word
}

// stems returns what remains of a word without its affixes, and also without a particle. After
// one other than "and", the rest must be longer than the shortest stem, because it is otherwise
// more likely a part of a root.
func (a *affixes) stems(word string) []string {
	stems := []string{a.strip(word)}
	for i, particle := range a.particles {
		least := a.least
		if i > 0 {
			least++
		}
		if rest, ok := strings.CutPrefix(word, particle); ok && utf8.RuneCountInString(rest) >= least {
			stems = append(stems, a.withoutSuffix(rest))
		}
	}
	return stems
}

// For Arabic, those of the light10 stemmer (Larkey, Ballesteros and Connell, "Light Stemming for
// Arabic Information Retrieval", 2007), and the plural of Persian before a genitive; for Hebrew,
// those that seldom begin a root, and as particles the prepositions and conjunctions but מ, which
// begins many nouns.
var affixLists = []affixes{
	{unicode.Arabic, strings.Fields("وال بال كال فال ال ولل لل"), strings.Fields("هاي ها ان ات ون ين يه ه ي"), 3, strings.Fields("و ف ب ل ك ول وب")},
	{unicode.Hebrew, strings.Fields("וה שה מה בה לה כשה ה"), strings.Fields("ימ ות ה"), 3, strings.Fields("ו ב ל כ ש וב ול וש")},
}
