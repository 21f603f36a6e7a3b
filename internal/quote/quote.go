// Package quote finds quotations in texts, however their white space, line ends
// and accents are written, and without regard to Markdown's marks.
package quote

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Text is a text that quotations are looked up in.
type Text struct {
	source   string
	lines    []int // the offset of each line
	asIs     folded
	unmarked map[string]*folded // by what stands after a heading; made when first used
}

// folded is a text in NFC, with white space as single spaces.
type folded struct {
	text string
	at   []int // of each byte of text: its offset in the source
}

// Lines are the first and the last line of a passage, from 1.
type Lines struct{ First, Last int }

// NewText folds a text.
func NewText(source string) *Text {
	t := &Text{source: source, lines: []int{0}, unmarked: make(map[string]*folded)}
	for i := range len(source) {
		if source[i] == '\n' && i+1 < len(source) {
			t.lines = append(t.lines, i+1)
		}
	}
	t.asIs = fold(source)
	return t
}

func fold(s string) folded {
	var b strings.Builder
	var at []int
	var it norm.Iter
	it.InitString(norm.NFC, s)
	space := true // none at the beginning
	for !it.Done() {
		from := it.Pos()
		for _, r := range string(it.Next()) {
			if unicode.IsSpace(r) || r == '\ufeff' {
				if !space {
					b.WriteByte(' ')
					at = append(at, from)
				}
				space = true
				continue
			}
			space = false
			n, _ := b.WriteRune(r)
			for range n {
				at = append(at, from)
			}
		}
	}
	return folded{b.String(), at}
}

// What a reader of Markdown does not see. The number of a list item is left out of
// a text alone: in a quotation another number is another text.
var (
	lineMarks = regexp.MustCompile(`^[ \t]*(?:(?:#{1,6}[ \t]+|>[ \t]?|(?:[-*+]|\d+[.)])[ \t]+(?:\[.\][ \t]+)?)+)`)
	wikiLink  = regexp.MustCompile(`!?\[\[(?:[^\]\[|\n]*\|)?([^\]\[|\n]*)\]\]`)
	link      = regexp.MustCompile(`!?\[([^\]\[]*)\]\([^)\n]*\)`)
	htmlTag   = regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`)
	spanMarks = strings.NewReplacer("**", "", "__", "", "*", "", "`", "", "~~", "", "==", "", "|", "")
)

func withoutMarks(line string) string {
	if strings.ContainsAny(line, "[<") {
		line = wikiLink.ReplaceAllString(line, "$1")
		line = link.ReplaceAllString(line, "$1")
		line = htmlTag.ReplaceAllString(line, "")
	}
	return spanMarks.Replace(line)
}

// withoutMarks returns the text without marks, with colon, which may be "", after its
// headings; offsets are those of lines.
func (t *Text) withoutMarks(colon string) *folded {
	if known := t.unmarked[colon]; known != nil {
		return known
	}
	unmarked := &folded{}
	var b strings.Builder
	for i, start := range t.lines {
		line := t.Passage(Lines{i + 1, i + 1})
		marks := lineMarks.FindString(line)
		text := fold(withoutMarks(line[len(marks):])).text
		if text = strings.TrimSuffix(text, " "); text == "" {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(text); strings.Contains(marks, "#") && !strings.ContainsRune(".:?!;,", last) {
			text += colon
		}
		if b.Len() > 0 {
			text = " " + text
		}
		b.WriteString(text)
		for range len(text) {
			unmarked.at = append(unmarked.at, start)
		}
	}
	unmarked.text = b.String()
	t.unmarked[colon] = unmarked
	return unmarked
}

// clean folds a quotation and drops the marks of where it was cut.
func clean(quotation string) string { return strings.Trim(fold(quotation).text, " …") }

// Find returns the lines of each place that has the quotation, as it is or, if
// there is none, without marks, with a colon after headings as in a search's snippets.
func (t *Text) Find(quotation string) []Lines {
	found := t.find(&t.asIs, clean(quotation))
	for _, colon := range []string{"", ":"} {
		if found == nil {
			found = t.find(t.withoutMarks(colon), clean(withoutMarks(quotation)))
		}
	}
	return found
}

func (t *Text) find(in *folded, wanted string) (found []Lines) {
	const most = 1000
	if wanted == "" {
		return nil
	}
	for from := 0; len(found) < most; {
		i := strings.Index(in.text[from:], wanted)
		if i < 0 {
			break
		}
		i += from
		found = append(found, Lines{t.lineOf(in.at[i]), t.lineOf(in.at[i+len(wanted)-1])})
		from = i + 1
	}
	return found
}

func (t *Text) lineOf(offset int) int {
	return sort.SearchInts(t.lines, offset+1)
}

// Passage returns some lines, without its last line end. Lines beyond the text are
// left out.
func (t *Text) Passage(l Lines) string {
	first, last := max(1, l.First), min(l.Last, len(t.lines))
	if first > last {
		return ""
	}
	end := len(t.source)
	if last < len(t.lines) {
		end = t.lines[last]
	}
	return strings.TrimRight(t.source[t.lines[first-1]:end], "\r\n")
}

// Likeness is how much of a quotation a passage must have to be called like it:
// seven words of ten, in their order.
const Likeness = 0.7

// Nearest returns the lines of the passage that is most like the quotation, and
// reports whether one is like it. In a long text only the neighborhood of near is
// compared.
func (t *Text) Nearest(quotation string, near Lines) (Lines, bool) {
	const mostWanted, mostWords = 400, 20_000
	wanted := words(clean(quotation), mostWanted)
	text := words(t.asIs.text, len(t.asIs.text))
	if len(text) > mostWords {
		middle := sort.Search(len(text), func(i int) bool { return t.lineOf(t.asIs.at[text[i].start]) >= near.First })
		from := max(0, min(middle-mostWords/2, len(text)-mostWords))
		text = text[from : from+mostWords]
	}
	best := align(wanted, text)
	if best.matches == 0 || float64(best.matches) < Likeness*float64(max(len(wanted), best.end-best.start)) {
		return Lines{}, false
	}
	last := text[best.end-1]
	return Lines{t.lineOf(t.asIs.at[text[best.start].start]), t.lineOf(t.asIs.at[last.start+len(last.text)-1])}, true
}

type word struct {
	text  string
	start int
}

// words splits a folded text at spaces, and scripts that are written without
// them into characters.
func words(folded string, most int) []word {
	var list []word
	start := -1
	end := func(i int) {
		if start >= 0 {
			list = append(list, word{folded[start:i], start})
		}
		start = -1
	}
	for i, r := range folded {
		switch {
		case len(list) >= most:
			return list
		case r == ' ':
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			list = append(list, word{folded[i : i+len(string(r))], i})
		case start < 0:
			start = i
		}
	}
	end(len(folded))
	return list
}

// An alignment is words of a text, from start to before end, and how many of
// them are those that were wanted.
type alignment struct{ start, end, matches, score int }

// align returns the best local alignment of two lists of words (Smith and
// Waterman): a word in common counts two, one that differs or is missing minus
// one.
func align(wanted, text []word) alignment {
	var best alignment
	above := make([]alignment, len(text)+1)
	row := make([]alignment, len(text)+1)
	for _, w := range wanted {
		row[0] = alignment{}
		for j, word := range text {
			cell := above[j]
			if cell.score == 0 {
				cell = alignment{start: j}
			}
			if w.text == word.text {
				cell.matches++
				cell.score += 2
			} else {
				cell.score--
			}
			if up := above[j+1]; up.score-1 > cell.score {
				cell = up
				cell.score--
			}
			if left := row[j]; left.score-1 > cell.score {
				cell = left
				cell.score--
			}
			if cell.end = j + 1; cell.score <= 0 {
				cell = alignment{}
			}
			row[j+1] = cell
			if cell.score > best.score {
				best = cell
			}
		}
		above, row = row, above
	}
	return best
}
