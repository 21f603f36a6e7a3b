package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// addHeading records the heading whose text is src[start:end], and ends the sections
// before it. Headings in block quotes belong to the quoted text and are not recorded.
func (s *scanner) addHeading(level, start, end, lineStart, line int) {
	s.inline.scan(start, end, line)
	if s.quotes > 0 {
		return
	}
	s.endSections(len(s.containers), level, lineStart)
	length, id := headingAttributes(s.src[start:end])
	end = start + length
	text := PlainText(s.src[start:end])
	parent := -1
	if n := len(s.openHeadings); n > 0 {
		parent = s.openHeadings[n-1].index
	}
	s.openHeadings = append(s.openHeadings, openHeading{len(s.doc.Headings), level, len(s.containers)})
	s.doc.Headings = append(s.doc.Headings, Heading{
		Level: level, Text: text, ID: id, Line: line,
		Start: lineStart, ContentStart: s.next, End: len(s.src), TextStart: start, TextEnd: end, Nested: len(s.containers) > 0, parent: parent,
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
func NFC(s string) string { return norm.NFC.String(s) }

// headingPath returns the texts of the headings from the outermost to the i-th.
func headingPath(doc *Document, i int) []string {
	path := make([]string, 0, doc.Headings[i].Level)
	for ; i >= 0; i = doc.Headings[i].parent {
		path = append(path, doc.Headings[i].Text)
	}
	slices.Reverse(path)
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
	refs := make([]string, len(doc.Headings))
	endings := make(map[string]int) // number of paths with this suffix
	for i, h := range doc.Headings {
		path, whole := pathText(doc, i)
		if whole && h.Text != "" {
			refs[i] = strings.TrimSpace(path)
		}
		for rest, more := path, true; more; _, rest, more = strings.Cut(rest, PathSeparator) {
			endings[rest]++
		}
	}
	for i, ref := range refs {
		if ref != "" && (endings[ref] > 1 || meansMore(ref)) {
			refs[i] = withLine(ref, doc.Headings[i].Line)
		}
	}
	return refs
}

// pathText returns the path to a heading as one string. If it is too long, it returns
// its last maxReference bytes and false.
func pathText(doc *Document, i int) (path string, whole bool) {
	path = doc.Headings[i].Text
	for p := doc.Headings[i].parent; p >= 0 && len(path) <= maxReference; p = doc.Headings[p].parent {
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
