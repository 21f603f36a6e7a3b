package markdown

import (
	"regexp"

	"golang.org/x/text/unicode/norm"
)

// addHeading records the heading whose text is src[start:end]; the section
// before it ends. Headings in block quotes are part of what is quoted.
func (s *scanner) addHeading(level, start, end, lineStart, line int) {
	s.inline.scan(s, start, end, line)
	if s.quotes > 0 {
		return
	}
	s.endHeadingsBefore(len(s.containers), level, lineStart)
	text := PlainText(s.src[start:end])
	s.openHeadings = append(s.openHeadings, openHeading{len(s.doc.Headings), level, len(s.containers)})
	s.doc.Headings = append(s.doc.Headings, Heading{
		Level: level, Text: text, Line: line,
		Start: lineStart, ContentStart: s.next, End: len(s.src), TextStart: start, TextEnd: end, Nested: len(s.containers) > 0,
	})
	if level == 1 && s.doc.Title == "" {
		s.doc.Title = text
	}
}

// endSections ends, at this line, the sections of headings inside at least
// containers containers that have at least that level.
func (s *scanner) endSections(containers, level int) {
	s.endHeadingsBefore(containers, level, s.lineStart)
}

// endHeadingsBefore ends at offset end every section that a heading of that
// level, inside that many containers, ends.
func (s *scanner) endHeadingsBefore(containers, level, end int) {
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

// NFC returns s in Unicode normalisation form C.
func NFC(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return norm.NFC.String(s)
		}
	}
	return s
}

// headingParents returns for each heading the index of the one whose section it
// stands in, -1 for none.
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

// headingPath returns the texts of the headings from the outermost to i.
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

// PathSeparator parts the headings of a path as candidates give it.
const PathSeparator = " > "

var lineSuffix = regexp.MustCompile(`^(.*\S)\s*\(line (\d{1,9})\)$`)
