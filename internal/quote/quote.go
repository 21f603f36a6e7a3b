// Package quote finds quotations in texts, ignoring differences in white space, line
// ends, Unicode form, invisible characters and Markdown markup.
package quote

import (
	"cmp"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/markdown"
)

// A Text is a text in which quotations can be found.
type Text struct {
	source   string
	lines    []int // the offset of each line
	front    func() markdown.FrontMatter
	asIs     folded
	unmarked [2]func() folded // without markup; the second with a colon after headings
	loose    func() folded    // see loosely
}

// folded is a text in NFC, or loosely in NFKD, without invisible characters such as soft
// hyphens, and with runs of white space as single spaces.
type folded struct {
	text string
	at   []int32 // offset in the source of each byte of text
}

// Lines are the first and last line of a passage, starting at 1.
type Lines struct{ First, Last int }

// NewText returns the Text of a source.
func NewText(source string) *Text {
	t := &Text{source: source, lines: []int{0}}
	for i := range len(source) {
		if source[i] == '\n' && i+1 < len(source) {
			t.lines = append(t.lines, i+1)
		}
	}
	t.front = sync.OnceValue(func() markdown.FrontMatter { return markdown.ReadFrontMatter([]byte(source)) })
	t.asIs = fold(source, false)
	for i, colons := range []bool{false, true} {
		t.unmarked[i] = sync.OnceValue(func() folded { return t.withoutMarks(colons) })
	}
	t.loose = sync.OnceValue(func() folded { return fold(source, true) })
	return t
}

// visible returns r, or -1 for an invisible character: a soft hyphen, a joiner, a mark of
// the direction or of the style of an emoji. Of the format characters, signs before Arabic
// numbers and the tags of which flags are composed are visible.
func visible(r rune) rune {
	isTag := r >= 0xe0020 && r <= 0xe007f
	if r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Variation_Selector) && !isTag && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return -1
	}
	return r
}

// loosely returns the character as which r is compared in the search for similar passages, or -1
// for an accent or a vowel mark, which writers of Russian, Hebrew and Arabic omit.
func loosely(r rune) rune {
	switch r {
	case '“', '”', '„', '«', '»':
		return '"'
	case '‘', '’', '‚':
		return '\''
	case '‐', '‑', '–', '—':
		return '-'
	}
	if unicode.Is(unicode.Mn, r) {
		return -1
	}
	return unicode.ToLower(r)
}

func fold(s string, loose bool) folded {
	var b strings.Builder
	b.Grow(len(s))
	at := make([]int32, 0, len(s))
	var it norm.Iter
	form := norm.NFC
	if loose {
		form = norm.NFKD // without ligatures, full width and, as loosely omits marks, accents
	}
	it.InitString(form, s)
	space := true // drop leading space
	for !it.Done() {
		from := int32(it.Pos())
		for _, r := range string(it.Next()) {
			if unicode.IsSpace(r) || r == '\ufeff' {
				if !space {
					b.WriteByte(' ')
					at = append(at, from)
				}
				space = true
				continue
			}
			if r = visible(r); loose && r >= 0 {
				r = loosely(r)
			}
			if r < 0 {
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

// spanMarks removes the markup within a line that [markdown.Shown] may leave, and what search
// snippets put between cells and items.
var spanMarks = strings.NewReplacer("__", "", "*", "", "`", "", "~~", "", "==", "", "[[", "", "]]", "", "&nbsp;", " ", "|", " ", " · ", " ")

// withoutMarks returns the text without markup, with or without colons after its headings;
// offsets are those of lines.
func (t *Text) withoutMarks(colons bool) folded {
	shown := spanMarks.Replace(markdown.ShownNote(t.source, t.front(), colons))
	f := fold(shown, false)
	line, at := 0, 0
	for i, offset := range f.at {
		line += strings.Count(shown[at:offset], "\n")
		at = int(offset)
		f.at[i] = int32(t.lines[min(line, len(t.lines)-1)])
	}
	return f
}

// ellipses matches the ends of a quotation that was cut.
var ellipses = regexp.MustCompile(`^(?:\.\.\.|[ …])+|(?:\.\.\.|[ …])+$`)

// clean folds a quotation and trims the ellipses where it was cut.
func clean(quotation string, loose bool) string {
	return ellipses.ReplaceAllString(fold(quotation, loose).text, "")
}

// omission matches what a search snippet has in place of what it omits after a field.
var omission = regexp.MustCompile(` … ?`)

const mostParts = 16 // of a quotation with omissions

// Find returns the lines of all occurrences of the quotation. If there are none, it
// ignores markup, and then also expects a colon after headings, as in search snippets.
// Behind fields of the front matter, a part of the text may be omitted where the quotation has
// " …". The numbers of list items are part of the quotation: different ones are another text.
func (t *Text) Find(quotation string) []Lines {
	found := t.find(t.asIs, clean(quotation, false))
	for _, unmarked := range t.unmarked {
		if found == nil {
			found = t.find(unmarked(), clean(spanMarks.Replace(markdown.ShownInline(quotation)), false))
		}
	}
	return found
}

func (t *Text) find(in folded, wanted string) (found []Lines) {
	for n := 1; n <= mostParts && found == nil; n++ {
		parts := omission.Split(wanted, n)
		if wanted == "" || len(parts) < n || n > 1 && t.front().End == 0 {
			break
		}
		found = t.findParts(in, parts)
	}
	return found
}

// findParts returns the lines of the occurrences of the parts one after the other, all but the
// last in the front matter.
func (t *Text) findParts(in folded, parts []string) (found []Lines) {
	const most = 1000
	at := make([]int, len(parts)) // where each part was found last
next:
	for from, tries := 0, 0; tries < most; from, tries = from+1, tries+1 {
		i := strings.Index(in.text[from:], parts[0])
		if i < 0 {
			break
		}
		from += i
		end := from + len(parts[0])
		for n, part := range parts[1:] {
			if at[n] < end {
				i = strings.Index(in.text[end:], part)
				if i < 0 {
					break next
				}
				at[n] = end + i
			}
			if int(in.at[end-1]) >= t.front().End {
				break next
			}
			end = at[n] + len(part)
		}
		found = append(found, Lines{t.lineOf(int(in.at[from])), t.lineOf(int(in.at[end-1]))})
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

// likenessWanted is the share of the quotation's words, in order, that a similar passage must
// contain.
const likenessWanted = 0.7

// Nearest returns the lines of the passage most similar to the quotation, and reports
// whether it is similar enough. In a long text only the neighborhood of near is compared.
func (t *Text) Nearest(quotation string, near Lines) (Lines, bool) {
	text, best, likeness := t.nearest(quotation, near)
	if likeness < likenessWanted {
		return Lines{}, false
	}
	from, to := t.span(text[best.start:best.end])
	return Lines{t.lineOf(from), t.lineOf(to)}, true
}

// NearestPassage returns the passage that differs from the quotation only in white space,
// case and typography, else the lines most similar to it, and the first line. If these lines
// are longer than most bytes, it returns only the similar words and as many around them as
// differ. The passage is "" if less than half of the words match.
func (t *Text) NearestPassage(quotation string, most int) (passage string, line int) {
	if wanted := clean(quotation, true); wanted != "" {
		if i := strings.Index(t.loose().text, wanted); i >= 0 {
			from, to := t.span([]word{{wanted, i}})
			return t.source[from : to+1], t.lineOf(from)
		}
	}
	text, best, likeness := t.nearest(quotation, Lines{1, 1})
	if likeness < 0.5 {
		return "", 0
	}
	from, to := t.span(text[best.start:best.end])
	lines := Lines{t.lineOf(from), t.lineOf(to)}
	if passage = t.Passage(lines); len(passage) > most {
		differing := int(float64(best.matches)*(1/likeness-1) + 0.5)
		from, to = t.span(text[max(0, best.start-differing):min(len(text), best.end+differing)])
		passage = t.source[from : to+1]
	}
	return passage, lines.First
}

// nearest returns words of the text, the best alignment of the quotation's words with
// them, and the share of words that match.
func (t *Text) nearest(quotation string, near Lines) (text []word, best alignment, likeness float64) {
	const mostWanted, mostWords, mostPairs = 400, 200_000, 8_000_000
	in := t.loose()
	wanted := words(clean(quotation, true), mostWanted)
	text = words(in.text, len(in.text))
	if most := min(mostWords, mostPairs/max(1, len(wanted))); len(text) > most {
		middle := sort.Search(len(text), func(i int) bool { return t.lineOf(int(in.at[text[i].start])) >= near.First })
		from := max(0, min(middle-most/2, len(text)-most))
		text = text[from : from+most]
	}
	best = align(wanted, text)
	return text, best, float64(best.matches) / float64(max(1, len(wanted), best.end-best.start))
}

// span returns the offsets of the first and the last byte of words in the source.
func (t *Text) span(words []word) (from, to int) {
	last, at := words[len(words)-1], t.loose().at
	next := last.start + len(last.text)
	for next < len(at) && at[next] == at[next-1] { // within a ligature
		next++
	}
	end := len(t.source)
	if next < len(at) {
		end = int(at[next])
	}
	return int(at[words[0].start]), end - 1
}

type word struct {
	text  string
	start int
}

// words splits a folded text at spaces, and scripts written without spaces into
// characters. The punctuation around a word is not part of it.
func words(folded string, most int) []word {
	var list []word
	start := -1
	end := func(i int) {
		if start >= 0 {
			w := folded[start:i]
			w = cmp.Or(strings.TrimFunc(w, unicode.IsPunct), w)
			list = append(list, word{w, start + strings.Index(folded[start:i], w)})
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
