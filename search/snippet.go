package search

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// excerpt is the part of a passage that is shown.
type excerpt struct {
	from, to    int // bytes of the note's text
	first, last int // what must be in it
}

// excerpt returns the part of a passage, some size bytes long, that has
// the matches that weigh most, with room before and after them.
func (s *rescorer) excerpt(start, end int, matches []match, size int) excerpt {
	if end-start <= size {
		return excerpt{start, end, start, end}
	}
	if len(matches) == 0 {
		return excerpt{start, start + size, start, start}
	}
	i, j, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= size })
	e := excerpt{first: matches[i].start, last: matches[max(i, j-1)].end}
	room := max(0, size-(e.last-e.first))
	e.from = max(start, e.first-room/3)
	e.to = max(e.last, min(end, e.from+size))
	e.from = max(start, min(e.from, e.to-size))
	return e
}

// snippet cleans an excerpt of the passage text[start:end] of markup and white
// space, and cuts it to size bytes between words. An ellipsis stands where the
// passage goes on.
func snippet(text string, start, end int, e excerpt, size int) string {
	from, to := start, end
	if e.from > start {
		from = wordStart(text, e.from, e.first)
	}
	if e.to < end {
		to = wordEnd(text, e.last, e.to)
	}
	clean, cut := plain(text[from:to]), to < end
	if len(clean) > size {
		clean, cut = clipWords(clean, size), true
	}
	if clean = strings.TrimSpace(clean); clean == "" {
		return ""
	}
	if from > start {
		clean = "…" + clean
	}
	if cut {
		clean += "…"
	}
	return clean
}

// slack is how far a cut is moved to the edge of a word.
const slack = 24

// wordStart moves a cut forward to the beginning of a word, to most at the
// farthest.
func wordStart(text string, at, most int) int {
	for i := at; i <= min(most, at+slack); i++ {
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
	s = clipTo(s, size)
	if i := strings.LastIndexByte(s, ' '); i > len(s)-slack && i > 0 {
		return s[:i]
	}
	return s
}

// markup is what a reader of a snippet can do without: the target of a link,
// images, comments, HTML tags, and marks at the beginning of a line.
var (
	linkMarkup = regexp.MustCompile(`!?\[([^\]\[]*)\]\([^)\n]*\)`)
	wikiMarkup = regexp.MustCompile(`!?\[\[(?:[^\]\[|\n]*\|)?([^\]\[|\n]*)\]\]`)
	autoLink   = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>`)
	htmlMarkup = regexp.MustCompile(`<!--.*?-->|</?[a-zA-Z][^<>\n]*>`)
	lineMarkup = regexp.MustCompile(`(?m)^[ \t]*(?:(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d+[.)][ \t]+)+|\|?[ \t]*:?-{3,}[-:| \t]*$|(?:` + "```|~~~" + `).*$)`)
	headings   = regexp.MustCompile(`^(?:\s*#{1,6}[ \t][^\n]*(?:\n|$))+\s*`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "", "==", "", "[[", "", "]]", "", "\u00AD", "", "\uFEFF", "")
)

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
