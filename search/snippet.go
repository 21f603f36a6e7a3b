package search

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// excerpt returns the stretch of text[start:end], some size bytes long, that
// has the matches that weigh most, with room before and after them.
func (s *rescorer) excerpt(text string, start, end int, matches []match, size int) (from, to int) {
	if end-start <= size {
		return start, end
	}
	if len(matches) == 0 {
		return start, start + size
	}
	first, last, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= size })
	if last == 0 { // one term longer than the snippet
		last = first + 1
	}
	lo, hi := matches[first].start, matches[last-1].end
	room := max(0, size-(hi-lo))
	from = max(start, lo-room/3)
	to = min(end, from+size)
	return max(start, to-size), to
}

// snippet cleans text[from:to] of markup and white space, within the passage
// text[start:end], and cuts it to size bytes between words. An ellipsis stands
// where the passage goes on.
func snippet(text string, start, end, from, to, size int) string {
	from, to = wordStart(text, start, from), wordEnd(text, end, to)
	clean := plain(text[from:to])
	cut := to < end
	if len(clean) > size {
		clean, cut = clipWords(clean, size), true
	}
	clean = strings.TrimSpace(clean)
	if clean == "" {
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

// wordStart moves a cut forward to the beginning of a word.
func wordStart(text string, start, at int) int {
	if at <= start {
		return start
	}
	for i := at; i < len(text) && i < at+slack; i++ {
		if isSpace(text[i-1]) {
			return i
		}
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// wordEnd moves a cut back to the end of a word.
func wordEnd(text string, end, at int) int {
	if at >= end {
		return end
	}
	for i := at; i > at-slack && i > 0; i-- {
		if isSpace(text[i]) {
			return i
		}
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
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
	htmlMarkup = regexp.MustCompile(`<!--.*?-->|</?[a-zA-Z][^<>\n]*>`)
	lineMarkup = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d+[.)][ \t]+|\|?[ \t]*:?-{3,}[-:| \t]*$|(?:` + "```|~~~" + `).*$)`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "", "==", "", "\u00AD", "", "\uFEFF", "")
)

// plain returns Markdown text as one line without markup. Bytes that are not
// UTF-8 and control characters are left out.
func plain(s string) string {
	if strings.ContainsAny(s, "[<") {
		s = wikiMarkup.ReplaceAllString(s, "$1")
		s = linkMarkup.ReplaceAllString(s, "$1")
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
