package markdown

import "bytes"

// maxContainers bounds the nesting of block quotes and list items. Deeper
// markers are text, which keeps the cost of a line independent of the note.
const maxContainers = 48

// container is an open block quote or list item.
type container struct {
	item bool
	// indent is how many columns a line must be indented, relative to the
	// parent, to continue a list item.
	indent int
	// outline reports whether it is an item of an outline; see isOutline.
	outline bool
	// empty reports whether the item has had no content yet: a blank line ends it.
	empty bool
	// block is the index in doc.Blocks from which blocks of this item follow.
	block int
}

// leafKind is the kind of the innermost open block.
type leafKind uint8

const (
	leafNone leafKind = iota
	leafParagraph
	leafHeading
	leafBreak
	leafIndented
	leafFence
	leafHTML
	leafMath
	leafComment
)

// leaf is one block of text, from the start of its first line to the start of
// the next leaf; chunks are made of them.
type leaf struct {
	start, line int
	kind        leafKind
}

// scanner finds the blocks of a note line by line, by the rules of CommonMark
// 0.31 (https://spec.commonmark.org/0.31.2/#appendix-a-parsing-strategy).
//
// Between two lines it keeps the open containers, from the outermost, and the one open
// leaf inside them. A line is read in three steps. First it continues containers, for
// as long as it has the marker or the indentation of each. If it continues all of them
// and the leaf is verbatim (code, HTML, math, a comment), the line is the leaf's or ends
// it. Otherwise the rest of the line opens new containers, as many as it has markers
// for, and then a leaf; text that opens nothing goes on with an open paragraph, even
// where containers were not continued (a lazy continuation), and begins one otherwise.
// Containers that were not continued are closed as soon as the line turns out not to be
// lazy, and a closed leaf is read for its links, tags, task and block id.
//
// The cost of a line is bounded: containers are at most maxContainers, a leaf is read
// once when it closes, and a mark whose closing counterpart was sought in vain is not
// sought again.
type scanner struct {
	cursor
	doc *Document

	containers []container
	quotes     int // block quotes among containers

	// The open leaf.
	kind      leafKind
	fence     fence
	htmlEnd   htmlEnd
	paragraph paragraph

	// Offsets from which on the closing marker is known to be absent, so that
	// an opening marker there is text.
	noMath, noComment int

	openHeadings []openHeading
	itemOpened   bool // the line has opened a list item
	current      span // the open leaf
	previous     span // the leaf before it, which a lone block id names
	properties   bool // the leaf to come is the first of the note
	inline       inlineScanner
}

// span is a run of bytes that starts on a line.
type span struct {
	start, end, lineStart, line int
	containers                  int // how many it is inside of
}

// paragraph is the paragraph being read.
type paragraph struct {
	span           // its text, without the markers before it
	lastStart int  // where the text of its last line starts
	opensItem bool // it is the first text of a list item
}

// openHeading is a heading whose section has not ended yet.
type openHeading struct {
	index, level, containers int
}

func (s *scanner) run(from, line int) {
	s.line = line
	s.noMath, s.noComment = len(s.src), len(s.src)
	s.properties = true
	for pos := from; pos < len(s.src); {
		end, next := LineAt(s.src, pos)
		s.lineStart, s.lineEnd, s.next = pos, end, next
		s.scanLine()
		pos = next
		s.line++
	}
	s.lineStart, s.lineEnd = len(s.src), len(s.src)
	s.closeLeaf()
	s.closeContainers(0)
	s.endSections(0, 0, s.lineStart)
}

func (s *scanner) scanLine() {
	s.pos, s.column, s.spare, s.itemOpened = s.lineStart, 0, 0, false
	if s.kind == leafParagraph && len(s.containers) == 0 && plainStart[s.peek()] {
		s.extendParagraph()
		return
	}
	matched := s.matchContainers()
	all := matched == len(s.containers)
	if s.kind > leafBreak && !all {
		s.closeLeaf()
	}
	if all && s.continueVerbatim() {
		return
	}
	s.openBlocks(matched)
}

// plainStart marks bytes that can start no block, so that a line that starts
// with one of them continues the paragraph before it.
var plainStart = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	return t
}()

// matchContainers consumes the markers of the open containers that the line
// continues and returns how many those are.
func (s *scanner) matchContainers() int {
	for i := range s.containers {
		c := &s.containers[i]
		columns, next := s.indent()
		blank := next >= s.lineEnd
		switch {
		case !c.item && !blank && columns < 4 && s.src[next] == '>':
			s.skip(columns)
			s.advance(1)
			s.skip(1)
		case c.item && blank && (!c.empty || i < len(s.containers)-1):
			s.skip(c.indent)
		case c.item && !blank && columns >= c.indent:
			s.skip(c.indent)
		default:
			return i
		}
	}
	return len(s.containers)
}

// continueVerbatim handles a line inside a fence, HTML block, math block,
// comment or indented code, and reports whether it was one.
func (s *scanner) continueVerbatim() bool {
	switch s.kind {
	case leafFence:
		if s.closes(s.fence) {
			s.endLeaf()
		}
	case leafHTML:
		return s.continueHTML()
	case leafMath:
		if bytes.Contains(s.src[s.pos:s.lineEnd], mathMark) {
			s.endLeaf()
		}
	case leafComment:
		if bytes.Contains(s.src[s.pos:s.lineEnd], commentMark) {
			s.endLeaf()
		}
	case leafIndented:
		columns, next := s.indent()
		if columns < 4 && next < s.lineEnd {
			s.endLeaf()
			return false
		}
	default:
		return false
	}
	return true
}

// openBlocks opens the blocks that start on the line, after the matched
// containers, and adds what is left to a leaf.
func (s *scanner) openBlocks(matched int) {
	lazy := s.kind == leafParagraph && matched < len(s.containers)
	for {
		columns, next := s.indent()
		if next >= s.lineEnd {
			s.closeLeaf()
			s.closeContainers(matched)
			return
		}
		if columns >= 4 && !s.isOutline(matched, next) {
			if s.kind == leafParagraph {
				s.extendParagraph()
				return
			}
			s.closeContainers(matched)
			s.startLeaf(leafIndented)
			return
		}
		opened := s.openContainer(matched, columns, next, lazy)
		if opened {
			matched, lazy = len(s.containers), false
			continue
		}
		if s.openLeaf(matched, next, lazy) {
			return
		}
		break
	}
	if s.kind == leafParagraph {
		s.extendParagraph()
		return
	}
	s.closeContainers(matched)
	s.startParagraph()
}

// closeContainers leaves the first n containers open.
func (s *scanner) closeContainers(n int) {
	if n >= len(s.containers) {
		return
	}
	s.closeLeaf()
	for _, c := range s.containers[n:] {
		if c.item {
			s.endItem(c)
		} else {
			s.quotes--
		}
	}
	s.containers = s.containers[:n]
	s.endSections(n+1, 0, s.lineStart)
}

// endItem records where the list item of blocks found in it ends.
func (s *scanner) endItem(c container) {
	for i := c.block; i < len(s.doc.Blocks); i++ {
		if b := &s.doc.Blocks[i]; b.itemEnd == 0 {
			b.itemEnd = s.lineStart
		}
	}
}
