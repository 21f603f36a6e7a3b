// Package language estimates how much of a vault's text is not English, which decides the
// choice of the embedding model.
//
// The language of a passage is detected by its script and by its function words, which
// are frequent in all prose, independent of the subject, and not names. Code, mathematics
// and addresses are skipped. Passages with few function words, such as daily notes of a line,
// are counted together, as fewer; those with none, such as a list of names or a code listing,
// are not counted.
package language

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Share counts passages by language.
type Share struct {
	Foreign int // passages not in English
	Judged  int // passages whose language was detected
	// short is the evidence for English and for other languages from passages with too little of
	// it, as far as it is not counted as a passage.
	short [2]int
}

// Fraction returns Foreign/Judged, or 0 if Judged is 0.
func (s Share) Fraction() float64 {
	if s.Judged == 0 {
		return 0
	}
	return float64(s.Foreign) / float64(s.Judged)
}

// Group is a language in Latin script, by its English name, or several languages that are not
// distinguished.
type Group string

// The groups other than those of foreignLists.
const (
	Unknown   Group = ""
	English   Group = "English"
	Spaceless Group = "spaceless" // a language without spaces between words, such as Chinese
	Other     Group = "other"     // a language in another script
	latin     Group = "latin"     // any other language in Latin script
)

// Add counts a passage of Markdown and returns the group of its language.
func (s *Share) Add(passage string) (group Group) {
	found, names := evidence(passage)
	english, foreign := found[English], found[latin]+found[Spaceless]+found[Other]
	if english+foreign >= leastEvidence {
		byEvidence := func(a, b Group) int { return cmp.Compare(found[a], found[b]) }
		if group = slices.MaxFunc([]Group{English, latin, Spaceless, Other}, byEvidence); group == latin {
			group = slices.MaxFunc(latinLanguages, byEvidence)
		}
	}
	if english+foreign < leastEvidence {
		foreign -= names // such a note may be of a person
	}
	language := 0
	if foreign > english {
		language = 1
	}
	if english+foreign < leastEvidence {
		if s.short[language] += max(foreign-english, english-foreign); s.short[language] < leastEvidence {
			return group
		}
		s.short[language] -= leastEvidence
	}
	s.Judged++
	s.Foreign += language
	return group
}

// Evidence is counted in halves of a function word. Two in five words of English prose
// are on the list; for other languages in Latin script it is one to three in five.
const (
	functionWord  = 2
	otherScript   = 1 // for a word in another script, where most words are not function words
	leastEvidence = 3 * functionWord
)

// evidence returns the evidence for each group of languages; names is how much of it are words
// that also occur in names.
func evidence(passage string) (found map[Group]int, names int) {
	found = map[Group]int{}
	for word := range words(norm.NFC.String(passage)) {
		switch script := scriptOf(word); {
		case script == Spaceless:
			found[Spaceless] += len(word) / 3 // most of these letters have three bytes in UTF-8
		case script == Other && len(word) > 2: // longer than one letter, which is often a symbol
			found[Other] += otherScript
		case script == latin && englishWords[word]:
			found[English] += functionWord
		case script == latin && foreignWords[word] != nil:
			found[latin] += functionWord
			for _, l := range foreignWords[word] {
				found[l] += functionWord
			}
			if inNames[word] {
				names += functionWord
			}
		}
	}
	found[Spaceless] = otherScript * found[Spaceless] / 2 // assume two letters per word
	return found, names
}

// scriptOf returns the group of a word as far as its script shows it.
func scriptOf(word string) Group {
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			return latin
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			return Spaceless
		case unicode.IsLetter(r):
			return Other
		}
	}
	return latin
}

// words yields the lower-cased words of the prose in a passage.
func words(passage string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range prose(passage) {
			for _, part := range strings.Fields(line) {
				if strings.Contains(part, "://") || strings.ContainsAny(part, `\_=@`) {
					continue // a URL, a LaTeX command or an identifier
				}
				for _, word := range strings.FieldsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }) {
					if !yield(strings.ToLower(word)) {
						return
					}
				}
			}
		}
	}
}

// prose yields the lines outside fenced code and mathematics, without inline code and
// mathematics.
func prose(passage string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(passage) {
			if marker := fenceOf(line); marker != "" && (fence == "" || fence == marker) {
				if fence == "" {
					fence = marker
				} else {
					fence = ""
				}
				continue
			}
			if fence == "" && !yield(withoutQuoted(line, "`", "$")) {
				return
			}
		}
	}
}

// fenceOf returns the marker if a line opens or closes a block, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>-*+") // a block may be in a quote or a list item
	for _, marker := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, marker) {
			return marker
		}
	}
	if strings.HasPrefix(line, "$$") && strings.Count(line, "$$") == 1 {
		return "$$"
	}
	return ""
}

// withoutQuoted removes the parts of a line between pairs of a marker.
func withoutQuoted(line string, markers ...string) string {
	for _, marker := range markers {
		parts := strings.Split(line, marker)
		if len(parts) < 3 {
			continue
		}
		var b strings.Builder
		for i, part := range parts {
			if i%2 == 0 || i == len(parts)-1 {
				b.WriteString(part + " ")
			}
		}
		line = b.String()
	}
	return line
}
