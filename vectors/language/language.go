// Package language estimates how much of a vault's text is not English, so that the
// embedding model can be chosen by it.
//
// The language of a passage is judged by its script and by its function words, which
// are frequent in all prose, are the same in all subjects, and are no names. Code,
// mathematics and addresses are skipped. A passage with too few function words, such
// as a list of names or a listing of code, is not judged.
package language

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Share counts judged passages.
type Share struct {
	Foreign int // passages in another language than English
	Judged  int // passages whose language was recognized
}

// Of returns Foreign/Judged, or 0 if no passage was judged.
func (s Share) Of() float64 {
	if s.Judged == 0 {
		return 0
	}
	return float64(s.Foreign) / float64(s.Judged)
}

// Add judges a passage of Markdown.
func (s *Share) Add(passage string) {
	english, foreign := evidence(passage)
	if english+foreign < leastEvidence {
		return
	}
	s.Judged++
	if foreign > english {
		s.Foreign++
	}
}

// Evidence is counted in halves of a function word. Two words in five of English prose
// are on the list, and one in five to three of other languages in Latin script.
const (
	functionWord  = 2
	otherScript   = 1 // of a word in another alphabet, most of which are no function words
	leastEvidence = 3 * functionWord
)

// evidence returns what speaks for English and for other languages.
func evidence(passage string) (english, foreign int) {
	unsegmented := 0
	for word := range words(norm.NFC.String(passage)) {
		switch script := scriptOf(word); {
		case script == spaceless:
			unsegmented += len(word) / 3 // UTF-8 has three bytes for most of these letters
		case script == other && len(word) > 2: // longer than one letter, which is often a symbol
			foreign += otherScript
		case script == latin && englishWords[word]:
			english += functionWord
		case script == latin && foreignWords[word]:
			foreign += functionWord
		}
	}
	return english, foreign + otherScript*unsegmented/2 // a word has two letters
}

type script int

const (
	latin     script = iota
	spaceless        // written without spaces between words
	other
)

func scriptOf(word string) script {
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			return latin
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			return spaceless
		case unicode.IsLetter(r):
			return other
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
					continue // an address, a command of LaTeX or an identifier
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

// prose yields the lines outside fences of code and mathematics, without what is
// quoted as code or mathematics.
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

// fenceOf returns the marker of a line that opens or closes a block, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>-*+") // a block may be in a quote or in an item
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
