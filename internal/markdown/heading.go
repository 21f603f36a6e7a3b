package markdown

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// addHeading records the heading whose text is src[start:end], and ends the sections
// before it. Headings in block quotes belong to the quoted text and are not recorded.
func (s *scanner) addHeading(level, start, end, lineStart, line int) {
	s.inline.scan(s, start, end, line)
	if s.quotes > 0 {
		return
	}
	s.endSections(len(s.containers), level, lineStart)
	length, id := headingAttributes(s.src[start:end])
	end = start + length
	text := PlainText(s.src[start:end])
	s.openHeadings = append(s.openHeadings, openHeading{len(s.doc.Headings), level, len(s.containers)})
	s.doc.Headings = append(s.doc.Headings, Heading{
		Level: level, Text: text, ID: id, Line: line,
		Start: lineStart, ContentStart: s.next, End: len(s.src), TextStart: start, TextEnd: end, Nested: len(s.containers) > 0,
	})
	if level == 1 && s.doc.Title == "" {
		s.doc.Title = text
	}
}

// attributes matches a list of attributes, "{#id .class key=value}", as Pandoc, Quarto,
// Hugo, Docusaurus, VitePress and kramdown read it after a heading, link or block.
var attributes = regexp.MustCompile(`^\{:?[ \t]*(?:-|` + attribute + `(?:[ \t]+` + attribute + `)*)[ \t]*\}`)

const attribute = `(?:[#.][^\s{}"#]+|[A-Za-z][\w:.-]*=(?:"[^"\n{}]*"|[^\s{}"]+))`

var attributeID = regexp.MustCompile(`[{: \t]#([^\s{}"#]+)`)

// maxAttributes bounds the length of a list of attributes in bytes.
const maxAttributes = 300

// attributesAt returns the length of the list of attributes at the start of b, or 0.
func attributesAt(b []byte) int { return len(attributes.Find(b[:min(len(b), maxAttributes)])) }

// headingAttributes returns the length of a heading's text without its attributes, and
// the ID that they set.
func headingAttributes(text []byte) (length int, id string) {
	open := bytes.LastIndexByte(text, '{')
	if open < 1 || attributesAt(text[open:]) < len(text)-open {
		return len(text), ""
	}
	if m := attributeID.FindSubmatch(text[open:]); m != nil {
		id = string(m[1])
	}
	return len(bytes.TrimRight(text[:open], " \t")), id
}

// endSections ends the open sections that a heading of the given level, nested in the
// given number of containers, ends. Their end is the offset end.
func (s *scanner) endSections(containers, level, end int) {
	n := len(s.openHeadings)
	for n > 0 {
		h := s.openHeadings[n-1]
		if h.containers < containers || h.containers == containers && h.level < level {
			break
		}
		s.doc.Headings[h.index].End = end
		n--
	}
	s.openHeadings = s.openHeadings[:n]
}

// NFC returns s in Unicode Normalization Form C.
func NFC(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return norm.NFC.String(s)
		}
	}
	return s
}

// headingParents returns, for each heading, the index of the heading whose section
// contains it, or -1.
func headingParents(headings []Heading) []int {
	parents := make([]int, len(headings))
	var open []int
	for i, h := range headings {
		for len(open) > 0 && headings[open[len(open)-1]].End <= h.Start {
			open = open[:len(open)-1]
		}
		parents[i] = -1
		if len(open) > 0 {
			parents[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return parents
}

// headingPath returns the texts of the headings from the outermost to the i-th.
func headingPath(doc *Document, parents []int, i int) []string {
	depth := 0
	for p := i; p >= 0; p = parents[p] {
		depth++
	}
	path := make([]string, depth)
	for p := i; p >= 0; p = parents[p] {
		depth--
		path[depth] = doc.Headings[p].Text
	}
	return path
}

// PathSeparator separates the headings of a path.
const PathSeparator = " > "

var lineSuffix = regexp.MustCompile(`^(.*\S)\s*\(line (\d{1,9})\)$`)

// maxReference bounds the length in bytes of a reference that References returns.
const maxReference = 500

// References returns, for each heading of doc in order, a reference by which
// [FindSection] finds it: the path to it, with its line if the path is ambiguous. It
// is "" for a heading without text and for a path longer than maxReference.
func References(doc *Document) []string {
	parents := headingParents(doc.Headings)
	refs := make([]string, len(doc.Headings))
	endings := make(map[string]int) // number of paths with this suffix
	for i, h := range doc.Headings {
		path, whole := pathText(doc, parents, i)
		if whole && h.Text != "" {
			refs[i] = strings.TrimSpace(path)
		}
		for rest, more := path, true; more; _, rest, more = strings.Cut(rest, PathSeparator) {
			endings[rest]++
		}
	}
	for i, ref := range refs {
		if ref != "" && (endings[ref] > 1 || meansMore(ref)) {
			refs[i] = fmt.Sprintf("%s (line %d)", ref, doc.Headings[i].Line)
		}
	}
	return refs
}

// pathText returns the path to a heading as one string. If it is too long, it returns
// its last maxReference bytes and false.
func pathText(doc *Document, parents []int, i int) (path string, whole bool) {
	path = doc.Headings[i].Text
	for p := parents[i]; p >= 0 && len(path) <= maxReference; p = parents[p] {
		path = doc.Headings[p].Text + PathSeparator + path
	}
	if len(path) > maxReference {
		return path[len(path)-maxReference:], false
	}
	return path, true
}

// meansMore reports whether FindSection would read part of the path as syntax: a
// level, a block id, an empty heading or a line.
func meansMore(path string) bool {
	return strings.IndexByte("#^>", path[0]) >= 0 || lineSuffix.MatchString(path)
}
