// Package quote finds quotations in texts, ignoring differences in white space, line
// ends, Unicode form and Markdown markup.
package quote

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Text is a text in which quotations can be found.
type Text struct {
	source   string
	lines    []int // the offset of each line
	asIs     folded
	unmarked map[string]*folded // by the suffix of headings; filled on first use
}

// folded is a text in NFC with runs of white space as single spaces.
type folded struct {
	text string
	at   []int // offset in the source of each byte of text
}

// Lines are the first and last line of a passage, starting at 1.
type Lines struct{ First, Last int }

// NewText returns the Text of a source.
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
	space := true // drop leading space
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

// Markup that is invisible to a reader. The number of a list item is removed only from
// the text: in a quotation, a different number means different text.
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

// withoutMarks returns the text without markup, with colon, which may be "", after its
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

// clean folds a quotation and trims the ellipses where it was cut.
func clean(quotation string) string { return strings.Trim(fold(quotation).text, " …") }

// Find returns the lines of all occurrences of the quotation. If there are none, it
// ignores markup, and then also expects a colon after headings, as in search snippets.
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

// Passage returns the given lines without the final line end. Lines outside the text are
// omitted.
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

// Likeness is the share of the quotation's words, in order, that a similar passage must
// contain.
const Likeness = 0.7

// Nearest returns the lines of the passage most similar to the quotation, and reports
// whether it is similar enough. In a long text only the neighborhood of near is compared.
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

// words splits a folded text at spaces, and scripts written without spaces into
// characters.
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

// An alignment is a range of words of a text, from start up to but not including end, and
// the number of them that matched.
type alignment struct{ start, end, matches, score int }

// align returns the best local alignment of two lists of words (Smith and Waterman): a
// match scores 2, a mismatch or gap -1.
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
