package markdown

import (
	"bytes"
	"regexp"
	"sort"
)

// maxTicks is the longest run of backticks that can open a code span.
const maxTicks = 80

// maxBrackets bounds the number of open '['; beyond it, the oldest are dropped.
const maxBrackets = 64

// maxText bounds the stored text of a link or heading, in bytes.
const maxText = 1000

var special = func() (t [256]bool) {
	for _, c := range []byte("\\`$<![]#{") {
		t[c] = true
	}
	return t
}()

// inlineScanner finds links and tags in the text of one block. It reads each byte a
// bounded number of times, because it remembers searches that failed.
type inlineScanner struct {
	src        []byte
	doc        *Document
	start, end int
	tags       *tagSet

	brackets  []bracket
	active    int // brackets below this index can only open images
	unordered bool

	// For counting lines: countLine is the line of countPos.
	countPos, countLine int

	wikiClose int            // the next "]]", if not before the current position
	unclosed  map[string]int // the position from which a mark of hidden text is not closed
}

// bracket is a '[' or '![' that may start a link.
type bracket struct {
	pos, text, line int
	image           bool
}

// scan reads src[start:end], which starts on the given line.
func (in *inlineScanner) scan(start, end, line int) {
	in.start, in.end = start, end
	in.brackets, in.active = in.brackets[:0], 0
	in.countPos, in.countLine = start, line
	in.wikiClose = start
	clear(in.unclosed)
	for i := start; i < end; {
		if c := in.src[i]; !special[c] {
			i++
			continue
		}
		i = in.step(i)
	}
}

// step handles the special byte at i and returns the offset at which to continue.
func (in *inlineScanner) step(i int) int {
	switch in.src[i] {
	case '\\':
		return i + 2
	case '`':
		return in.codeSpan(i)
	case '$':
		return in.math(i)
	case '<':
		return in.angle(i)
	case '#':
		return in.tag(i)
	case '{':
		return in.brace(i)
	case ']':
		return in.closeBracket(i)
	}
	image := in.src[i] == '!'
	open := i
	if image {
		open++
	}
	if in.at(open) != '[' {
		return i + 1
	}
	if in.at(open+1) == '[' {
		if next := in.wikilink(i, open, image); next > 0 {
			return next
		}
	}
	if len(in.brackets) == maxBrackets {
		in.brackets = append(in.brackets[:0], in.brackets[1:]...)
		in.active = max(in.active-1, 0)
	}
	in.brackets = append(in.brackets, bracket{i, open + 1, in.lineOf(i), image})
	return open + 1
}

// at returns the byte at i, or 0 outside the text.
func (in *inlineScanner) at(i int) byte {
	if i < in.start || i >= in.end {
		return 0
	}
	return in.src[i]
}

// lineOf returns the line of offset i. Calls must have non-decreasing offsets.
func (in *inlineScanner) lineOf(i int) int {
	if i > in.countPos {
		in.countLine += bytes.Count(in.src[in.countPos:i], []byte{'\n'})
		in.countPos = i
	}
	return in.countLine
}

// codeSpan skips the code span at i or, if the backticks there open none, the
// backticks. A failed search reads the rest of the text, but there is at most one for
// each length of run.
func (in *inlineScanner) codeSpan(i int) int {
	text := in.src[i:in.end]
	if ticks := countTicks(text); ticks > maxTicks {
		return i + ticks
	}
	_, n := codeSpan(text)
	return i + n
}

// codeSpan returns the number of backticks at the start of b, and the length of the code
// span that they open, or their number again if they open none.
func codeSpan(b []byte) (ticks, length int) {
	ticks = countTicks(b)
	for pos := ticks; ; {
		next := bytes.IndexByte(b[pos:], '`')
		if next < 0 {
			return ticks, ticks
		}
		pos += next
		run := countTicks(b[pos:])
		pos += run
		if run == ticks {
			return ticks, pos
		}
	}
}

func countTicks(b []byte) int { return len(b) - len(bytes.TrimLeft(b, "`")) }

// hidden skips the text between the mark open, which is at i, and the mark closing.
func (in *inlineScanner) hidden(i int, open, closing string) int {
	text := in.src[i:in.end]
	if !bytes.HasPrefix(text, []byte(open)) {
		return i + 1
	}
	if from, ok := in.unclosed[open]; ok && i >= from {
		return i + 1
	}
	end := bytes.Index(text[len(open):], []byte(closing))
	if end < 0 {
		in.unclosed[open] = i
		return i + len(open)
	}
	return i + len(open) + end + len(closing)
}

// templates are the marks around the tags of templates: Hugo's shortcodes, those of Liquid as
// Jekyll has it, and comments in MDX.
var templates = [][2]string{{"{{<", ">}}"}, {"{{%", "%}}"}, {"{%", "%}"}, {"{/*", "*/}"}}

// brace skips the template tag or the list of attributes at i, or the name of a component of
// Roam: {{[[TODO]]}}, {{[[embed]]: ((id))}}.
func (in *inlineScanner) brace(i int) int {
	if n := len(component.Find(in.src[i:in.end])); n > 0 {
		return i + n
	}
	for _, mark := range templates {
		if next := in.hidden(i, mark[0], mark[1]); next > i+1 {
			if in.src[i+1] == '{' {
				in.htmlLinks(i, next, in.lineOf(i))
			}
			return next
		}
	}
	return i + max(1, attributesAt(in.src[i:in.end]))
}

var component = regexp.MustCompile(`^\{\{\[\[[\w/ -]{1,50}\]\](?:\}\}|:)`)

// math skips inline math: $$…$$, or $…$ on one line with no space inside the
// marks and no digit after them (Pandoc's tex_math_dollars rule).
func (in *inlineScanner) math(i int) int {
	if in.at(i+1) == '$' {
		return in.hidden(i, "$$", "$$")
	}
	if c := in.at(i + 1); c == 0 || c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return i + 1
	}
	for pos := i + 1; pos < in.end; pos++ {
		switch in.src[pos] {
		case '\n':
			return i + 1
		case '\\':
			pos++
		case '$':
			before, after := in.src[pos-1], in.at(pos+1)
			if before == ' ' || before == '\t' || isDigit(after) {
				return i + 1
			}
			return pos + 1
		}
	}
	return i + 1
}

// angle skips an HTML comment, autolink or tag at i.
func (in *inlineScanner) angle(i int) int {
	text := in.src[i:in.end]
	if bytes.HasPrefix(text, []byte("<!--")) {
		return in.hidden(i, "<!--", "-->")
	}
	n := len(autolink.Find(text))
	if n == 0 {
		n = len(htmlTag.Find(text))
		in.htmlLinks(i, i+n, in.lineOf(i))
	}
	return i + max(n, 1)
}

// autolink matches <scheme:…>.
var autolink = regexp.MustCompile(`^<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*>`)

// add records a link. Links nested in another are added before it.
func (in *inlineScanner) add(l Link) {
	if n := len(in.doc.Links); n > 0 && in.doc.Links[n-1].Start > l.Start {
		in.unordered = true
	}
	in.doc.Links = append(in.doc.Links, l)
}

// finish sorts the links if they were not found in order.
func (in *inlineScanner) finish() {
	if in.unordered {
		links := in.doc.Links
		sort.SliceStable(links, func(i, j int) bool { return links[i].Start < links[j].Start })
	}
}
