package search

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"notesd/search/terms"
)

// excerpt is the part of a passage that is shown.
type excerpt struct {
	from, to    int // bytes of the note's text
	first, last int // what must be in it
}

// excerpt returns the part of a passage, some size bytes long, that has
// the matches that weigh most, with room before and after them.
func (s *rescorer) excerpt(text string, start, end int, matches []match, size int) excerpt {
	if end-start <= size {
		e := excerpt{start, end, start, end}
		if len(matches) > 0 {
			i, _, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= windowSize })
			e.first = matches[i].start
		}
		return e
	}
	if len(matches) == 0 {
		return excerpt{start, start + size, start, start}
	}
	i, j, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= size })
	e := excerpt{first: matches[i].start, last: matches[max(i, j-1)].end}
	e.from, e.to = around(text, start, end, e, size)
	return e
}

// around returns the size bytes of text[start:end] that have what must be in an
// excerpt, from the beginning of a sentence where one is near.
func around(text string, start, end int, e excerpt, size int) (from, to int) {
	room := max(0, size-(e.last-e.first))
	from = max(start, e.first-room/3)
	if at := sentenceStart(text, max(start, e.first-room), e.first); at >= 0 {
		from = at
	}
	to = max(e.last, min(end, from+size))
	return max(start, min(from, to-size)), to
}

// Around returns the part of a text, at most size bytes long, of which there are 60 or
// more, that has the place at, as a Hit's Focus: it begins with a sentence or a word,
// and ends with a word.
func Around(text string, at, size int) (from, to int) {
	from, to = around(text, 0, len(text), excerpt{first: at, last: at}, size)
	if from > 0 {
		from = wordStart(text, from, at)
	}
	if to = min(to, from+size); to < len(text) {
		to = wordEnd(text, at, to)
	}
	return from, to
}

// snippet cleans an excerpt of the passage text[start:end] of markup and white
// space, and cuts it to size bytes between words. An ellipsis stands where the
// passage goes on.
func snippet(text string, start, end int, e excerpt, size int) string {
	from, to := start, end
	if e.from > start {
		from = wordStart(text, e.from, e.first)
		if l, r := markupAt(text, from); l < r && l >= start {
			if from = l; r <= e.first {
				from = r
			}
		}
	}
	if e.to < end {
		to = wordEnd(text, e.last, e.to)
		if l, r := markupAt(text, to); l < r && r <= end {
			if to = l; l < e.last {
				to = r
			}
		}
	}
	clean, cut := plain(text[from:max(from, to)]), to < end
	if len(clean) > size {
		clean, cut = clipWords(clean, size), true
	}
	if clean = strings.TrimSpace(clean); clean == "" {
		return ""
	}
	if cut {
		clean = strings.TrimRight(clean, " #>*_=~-[(!|`")
	}
	if from > start {
		clean = "…" + clean
	}
	if cut {
		clean += "…"
	}
	return clean
}

// sentenceStart returns where the last sentence or line begins that begins
// between two places, -1 when none does.
func sentenceStart(text string, from, to int) int {
	for at := to; at > from; at-- {
		switch before := text[at-1]; {
		case before == '\n':
			return at
		case before == ' ' && at-2 >= from && strings.IndexByte(".!?", text[at-2]) >= 0:
			return at
		case strings.HasSuffix(text[from:at], "。"):
			return at
		}
	}
	return -1
}

// markupAt returns the link, image, comment or HTML tag that a place lies in,
// an empty range when it lies in none.
func markupAt(text string, at int) (from, to int) {
	const longest = 500 // bytes
	from = strings.LastIndexByte(text[max(0, at-longest):at], '\n') + 1 + max(0, at-longest)
	to = min(len(text), at+longest)
	if i := strings.IndexByte(text[at:to], '\n'); i >= 0 {
		to = at + i
	}
	line := text[from:to]
	if !strings.ContainsAny(line, "[<") { // as most
		return at, at
	}
	for _, markup := range []*regexp.Regexp{wikiMarkup, linkMarkup, autoLink, htmlMarkup} {
		for _, m := range markup.FindAllStringIndex(line, -1) {
			if from+m[0] < at && at < from+m[1] {
				return from + m[0], from + m[1]
			}
		}
	}
	return at, at
}

// slack is how far a cut is moved to the edge of a word.
const slack = 24

// wordStart moves a cut forward to the beginning of a word, to most at the
// farthest, or back to that of a long word.
func wordStart(text string, at, most int) int {
	for i := at; i <= min(most, at+slack); i++ {
		if isSpace(text[i-1]) {
			return i
		}
	}
	for i := at; i > max(0, at-slack); i-- {
		if isSpace(text[i-1]) {
			return i
		}
	}
	for at < most && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// wordEnd moves a cut back to the end of a word, to least at the farthest.
func wordEnd(text string, least, at int) int {
	for i := at; i >= max(least, at-slack); i-- {
		if isSpace(text[i]) {
			return i
		}
	}
	for at > least && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// clipWords cuts s to at most size bytes, between words where there are any.
func clipWords(s string, size int) string {
	s = terms.ClipTo(s, size)
	if i := strings.LastIndexByte(s, ' '); i > len(s)-slack && i > 0 {
		return s[:i]
	}
	return s
}

// markup is what a reader of a snippet can do without: the target of a link,
// images, comments, HTML tags, and marks at the beginning of a line.
var (
	linkMarkup = regexp.MustCompile(`!?\[([^\]\[]*)\]\([^)\n]*\)`)
	wikiMarkup = regexp.MustCompile(`!?\[\[(?:[^\]\[|\n]*\|)?([^\]\[|\n]*?)(?:#\^[^\]\[|\n]*)?\]\]`)
	headMarkup = regexp.MustCompile(`(?m)^([ \t]{0,3}#{1,6}[ \t]+[^\n]*[\pL\pN)\]*])[ \t#]*(\r?\n\s*\S)`)
	autoLink   = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>`)
	htmlMarkup = regexp.MustCompile(`<!--.*?-->|</?[a-zA-Z][^<>\n]*>`)
	lineMarkup = regexp.MustCompile(`(?m)^[ \t]*(?:(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d+[.)][ \t]+)+|\|?[ \t]*:?-{3,}[-:| \t]*$|(?:` + "```|~~~" + `).*$)`)
	headings   = regexp.MustCompile(`^(?:\s*#{1,6}[ \t][^\n]*(?:\n|$))+\s*`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "", "==", "", "[[", "", "]]", "", "\u00AD", "", "\uFEFF", "")
)

// frontMatterEnd returns the length of the front matter that text[start:end]
// begins with, 0 when it begins with something else.
func frontMatterEnd(text string, start, end int) int {
	const fence = "---"
	if start > 3 || !strings.HasPrefix(strings.TrimPrefix(text, "\uFEFF"), fence) {
		return 0
	}
	open := strings.IndexByte(text[start:end], '\n')
	if open < 0 {
		return 0
	}
	for at := start + open + 1; at < end; {
		next := end
		if i := strings.IndexByte(text[at:end], '\n'); i >= 0 {
			next = at + i + 1
		}
		if strings.TrimRight(text[at:next], " \t\r\n") == fence {
			return next - start
		}
		at = next
	}
	return 0
}

// headingEnd returns the length of the headings that a passage begins with,
// which its hit names already; 0 when there is nothing below them.
func headingEnd(passage string) int {
	at := headings.FindStringIndex(passage)
	if at == nil || at[1] == len(passage) {
		return 0
	}
	return at[1]
}

// plain returns Markdown text as one line without markup. Bytes that are not
// UTF-8 and control characters are left out.
func plain(s string) string {
	if strings.ContainsAny(s, "[<") {
		s = wikiMarkup.ReplaceAllString(s, "$1")
		s = linkMarkup.ReplaceAllString(s, "$1")
		s = autoLink.ReplaceAllString(s, "$1")
		s = htmlMarkup.ReplaceAllString(s, "")
	}
	s = headMarkup.ReplaceAllString(s, "$1:$2")
	s = emphasis.Replace(lineMarkup.ReplaceAllString(s, ""))
	var b strings.Builder
	space := false
	for i, r := range s {
		if r == utf8.RuneError && s[i] != 0xEF || r == '*' || r == '|' {
			continue
		}
		if r <= ' ' || r == 0x7f || r == 0x85 || r == 0xA0 || r == 0x2028 || r == 0x2029 {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
