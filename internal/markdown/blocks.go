package markdown

import (
	"bytes"
	"regexp"
)

var (
	mathMark    = []byte("$$")
	commentMark = []byte("%%")
)

// fence is the opening line of a fenced code block.
type fence struct {
	mark   byte
	length int
}

// admonition matches the first line of a box or tab of MkDocs, whose text is indented by
// four columns.
var admonition = regexp.MustCompile(`^(?:(?:!!!|\?\?\?\+?)[ \t]*[\w-]+(?:[ \t]+[\w-]+)*(?:[ \t]+".*")?|===[+!]{0,2}[ \t]+".*")[ \t]*$`)

// openContainer opens the block quote, list item or box of MkDocs that starts at next, and
// reports whether there is one.
func (s *scanner) openContainer(matched, columns, next int, lazy bool) bool {
	if len(s.containers) >= maxContainers && matched == len(s.containers) {
		return false
	}
	if s.src[next] == '>' {
		s.closeContainers(matched)
		s.closeLeaf()
		s.skip(columns)
		s.advance(1)
		s.skip(1)
		s.push(container{whole: span{start: s.pos}})
		s.quotes++
		return true
	}
	if bytes.IndexByte([]byte("!?="), s.src[next]) >= 0 && admonition.Match(s.src[next:s.lineEnd]) {
		s.closeContainers(matched)
		s.closeLeaf()
		s.skip(columns)
		s.advance(s.lineEnd - next - len(bytes.TrimLeft(s.src[next:s.lineEnd], "!?=+")))
		s.push(container{item: true, indent: columns + 4, block: len(s.doc.Blocks), whole: span{start: next}})
		return true
	}
	interrupts := s.kind == leafParagraph && !lazy
	width := ListMarker(s.src[next:s.lineEnd], interrupts)
	if width == 0 || IsThematicBreak(s.src[next:s.lineEnd]) {
		return false
	}
	s.closeContainers(matched)
	s.closeLeaf()
	s.skip(columns)
	s.advance(width)
	padding, rest := s.indent()
	blank := rest >= s.lineEnd
	if padding > 4 || blank {
		padding = 1
	}
	s.skip(padding)
	s.push(container{item: true, indent: columns + width + padding, outline: columns >= 4, empty: blank, block: len(s.doc.Blocks), whole: span{start: next, list: s.src[next+width-1]}})
	s.itemOpened = true
	return true
}

func (s *scanner) push(c container) {
	s.fillItem()
	c.whole.lineStart, c.whole.line, c.whole.containers = s.lineStart, s.line, len(s.containers)+1
	if c.whole.list != 0 && s.previous.list == c.whole.list && s.previous.containers == c.whole.containers { // another item of that list
		c.whole = s.previous
	}
	s.containers = append(s.containers, c)
}

// fillItem records that the innermost list item has content.
func (s *scanner) fillItem() {
	if n := len(s.containers); n > 0 {
		s.containers[n-1].empty = false
	}
}

// ListMarker returns the width of the bullet or number at the start of line, or 0 if
// there is none. A marker that interrupts a paragraph must be followed by text, and
// its number must be 1.
func ListMarker(line []byte, interrupts bool) int {
	width := 0
	switch c := line[0]; {
	case c == '-' || c == '+' || c == '*':
		width = 1
	case c >= '0' && c <= '9':
		for width < len(line) && width < 10 && line[width] >= '0' && line[width] <= '9' {
			width++
		}
		if width > 9 || width == len(line) || line[width] != '.' && line[width] != ')' {
			return 0
		}
		if interrupts && (width != 1 || c != '1') {
			return 0
		}
		width++
	default:
		return 0
	}
	if width < len(line) && line[width] != ' ' && line[width] != '\t' {
		return 0
	}
	if interrupts && len(bytes.TrimLeft(line[width:], " \t")) == 0 {
		return 0
	}
	return width
}

// isOutline reports whether the line is an item of an outline as Logseq writes it:
// "- " at next after tabs, for example below a heading that is not an item itself.
// CommonMark would read it as indented code, and its links and tags would be lost. It
// does not interrupt a paragraph, except one that is itself in an item of the outline.
func (s *scanner) isOutline(matched, next int) bool {
	line := s.src[next:s.lineEnd]
	if s.pos != s.lineStart || s.src[s.pos] != '\t' || line[0] != '-' || ListMarker(line, false) == 0 || IsThematicBreak(line) {
		return false
	}
	return s.kind != leafParagraph || matched < len(s.containers) && s.containers[matched].outline
}

// openLeaf opens the leaf that starts at next, other than a paragraph or indented
// code, and reports whether there is one.
func (s *scanner) openLeaf(matched, next int, lazy bool) bool {
	line := s.src[next:s.lineEnd]
	switch line[0] {
	case '#':
		if level, text := atxHeading(line); level > 0 {
			s.closeContainers(matched)
			s.startLeaf(leafHeading)
			s.addHeading(level, next+text.start, next+text.end, s.lineStart, s.line)
			s.endLeaf()
			return true
		}
	case '`', '~':
		if f := openingFence(line); f.length > 0 {
			s.closeContainers(matched)
			s.startLeaf(leafFence)
			s.fence = f
			return true
		}
	case '<', '{':
		return s.openHTML(matched, line)
	case '$', '%':
		return s.openHidden(matched, next)
	case '=', '-', '_', '*':
		if s.kind == leafParagraph && !lazy && s.setext(line) {
			return true
		}
		if IsThematicBreak(line) {
			s.closeContainers(matched)
			s.startLeaf(leafBreak)
			s.endLeaf()
			return true
		}
	}
	return false
}

// atxHeading returns the level of the ATX heading in line, or 0 if it is not one, and
// the span of its text.
func atxHeading(line []byte) (int, span) {
	rest := bytes.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level > 6 || len(rest) > 0 && rest[0] != ' ' && rest[0] != '\t' {
		return 0, span{}
	}
	text := bytes.Trim(rest, " \t")
	start := level + bytes.Index(rest, text)
	if open := bytes.TrimRight(text, "#"); len(open) == 0 || open[len(open)-1] == ' ' || open[len(open)-1] == '\t' {
		text = bytes.TrimRight(open, " \t")
	}
	if len(text) == 0 {
		start = level
	}
	return level, span{start: start, end: start + len(text)}
}

func openingFence(line []byte) fence {
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 3 || line[0] == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return fence{}
	}
	return fence{mark: line[0], length: n}
}

// endsWith reports whether a line, without white space around it, is the last of the code block.
func (f fence) endsWith(line []byte) bool {
	return len(line) >= f.length && len(bytes.TrimLeft(line, string(f.mark))) == 0
}

// IsThematicBreak reports whether a line that is not blank, without its
// indentation, is a thematic break: three or more "-", "_" or "*".
func IsThematicBreak(line []byte) bool {
	mark, count := line[0], 0
	if mark != '-' && mark != '_' && mark != '*' {
		return false
	}
	for _, c := range line {
		switch c {
		case mark:
			count++
		case ' ', '\t':
		default:
			return false
		}
	}
	return count >= 3
}

// setext converts the open paragraph to a heading if line underlines it.
func (s *scanner) setext(line []byte) bool {
	underline := bytes.TrimRight(line, " \t")
	for _, c := range underline {
		if c != line[0] || c != '=' && c != '-' {
			return false
		}
	}
	p := &s.paragraph
	s.readDefinitions()
	if p.start >= p.end {
		return false
	}
	level := 1
	if line[0] == '-' {
		level = 2
	}
	s.addHeading(level, p.start, p.end, p.lineStart, p.line)
	s.doc.leaves[len(s.doc.leaves)-1].kind = leafHeading
	s.endLeaf()
	return true
}

// openHidden opens a $$math$$ or %%comment%% block. Without a closing mark, the text
// is ordinary.
func (s *scanner) openHidden(matched, next int) bool {
	kind, mark, absent := leafMath, mathMark, &s.noMath
	if s.src[next] == '%' {
		kind, mark, absent = leafComment, commentMark, &s.noComment
	}
	if !bytes.HasPrefix(s.src[next:s.lineEnd], mark) || next >= *absent {
		return false
	}
	if i := bytes.Index(s.src[next+2:s.lineEnd], mark); i >= 0 {
		if len(bytes.TrimSpace(s.src[next+2+i+2:s.lineEnd])) > 0 {
			return false // $$a$$ followed by text is inline
		}
		s.closeContainers(matched)
		s.startLeaf(kind)
		s.endLeaf()
		return true
	}
	if !bytes.Contains(s.src[s.lineEnd:], mark) {
		*absent = next
		return false
	}
	s.closeContainers(matched)
	s.startLeaf(kind)
	return true
}

// startLeaf closes the open leaf and opens one of the given kind on this line.
func (s *scanner) startLeaf(kind leafKind) {
	s.closeLeaf()
	s.fillItem()
	s.properties = s.properties && kind == leafParagraph
	s.kind = kind
	s.doc.leaves = append(s.doc.leaves, leaf{start: s.lineStart, line: s.line, kind: kind, nested: len(s.containers) > 0})
	_, next := s.indent()
	s.current = span{start: next, lineStart: s.lineStart, line: s.line, containers: len(s.containers)}
}

// endLeaf ends the open leaf at the end of this line.
func (s *scanner) endLeaf() {
	s.finishBlock(s.lineEnd)
	s.kind = leafNone
}

func (s *scanner) startParagraph() {
	s.startLeaf(leafParagraph)
	s.paragraph = paragraph{span: s.current, lastStart: s.current.start, opensItem: s.itemOpened}
	s.paragraph.end = s.lineEnd
}

func (s *scanner) extendParagraph() {
	_, next := s.indent()
	s.paragraph.lastStart = next
	s.paragraph.end = s.lineEnd
}

// closeLeaf ends the open leaf, if any, before this line.
func (s *scanner) closeLeaf() {
	switch s.kind {
	case leafNone:
		return
	case leafParagraph:
		s.closeParagraph()
	default:
		s.finishBlock(TrimLineBreak(s.src, s.lineStart))
	}
	s.kind = leafNone
}

// finishBlock records the end of the open leaf.
func (s *scanner) finishBlock(end int) {
	switch {
	case s.kind == leafHTML && s.htmlEnd == nil: // not code or a comment
		s.inline.htmlLinks(s.current.start, end, s.current.line)
	case s.kind == leafComment: // Obsidian reads its links and tags
		s.scanComment(end)
	}
	s.previous = s.current
	s.previous.end = end
}

// scanComment reads the links and tags of a comment, paragraph by paragraph and outside its fenced
// code, such as the data of a drawing.
func (s *scanner) scanComment(end int) {
	var code fence
	from, fromLine := s.current.start, s.current.line
	for pos, line := from, fromLine; pos < end; line++ {
		lineEnd, next := LineAt(s.src[:end], pos)
		text := bytes.Trim(s.src[pos:lineEnd], " \t>\r")
		var f fence
		if len(text) > 0 && (text[0] == '`' || text[0] == '~') {
			f = openingFence(text)
		}
		inCode := code.length > 0
		closes := inCode && code.endsWith(text)
		if closes || !inCode && (f.length > 0 || len(text) == 0) {
			if !inCode {
				s.inline.scan(from, pos, fromLine)
			}
			code = fence{}
			if !closes {
				code = f
			}
			from, fromLine = next, line+1
		}
		pos = next
	}
	if code.length == 0 && from < end {
		s.inline.scan(from, end, fromLine)
	}
}
