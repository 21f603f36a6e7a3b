package markdown

import (
	"bytes"
	"regexp"
)

// maxContainers bounds the nesting of block quotes and list items; deeper markers
// are text. This bounds the cost of a line.
const maxContainers = 48

// container is an open block quote or list item.
type container struct {
	item bool
	// indent is the number of columns, relative to the parent, by which a line must
	// be indented to continue a list item.
	indent int
	// outline reports whether this is an item of an outline; see isOutline.
	outline bool
	// empty reports whether the item has no content yet, so that a blank line ends it.
	empty bool
	// block is the index in doc.Blocks of the first block in this item.
	block int
	// whole begins where the container begins or, of an item, its list.
	whole span
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
// the next leaf. Chunks consist of leaves.
type leaf struct {
	start, line int
	kind        leafKind
	nested      bool // in a container
}

// scanner finds the blocks of a note line by line, by the rules of CommonMark
// 0.31 (https://spec.commonmark.org/0.31.2/#appendix-a-parsing-strategy).
//
// Between lines it keeps the stack of open containers, outermost first, and the open
// leaf inside them. Each line is processed in three steps:
//
//  1. Match the open containers, as long as the line has the marker or indentation of
//     each.
//  2. If all of them match and the leaf is verbatim (code, HTML, math, a comment), the
//     line belongs to the leaf or ends it.
//  3. Otherwise, open a container for each marker on the rest of the line, and then a
//     leaf. Text that opens no leaf continues an open paragraph, even if containers did
//     not match (a lazy continuation), and starts a paragraph otherwise.
//
// Containers that did not match are closed unless the line is a lazy continuation. When
// a paragraph or heading closes, its links, tags, task and block id are read, and when a
// comment closes, its links and tags.
//
// The total cost is linear: there are at most maxContainers containers, each leaf is
// read once, and a search for a closing mark that failed is not repeated.
type scanner struct {
	cursor
	doc *Document

	containers []container
	quotes     int // block quotes among containers

	// The open leaf.
	kind      leafKind
	fence     fence
	htmlEnd   *regexp.Regexp // matches the last line of an HTML block; nil for a blank line
	paragraph paragraph

	// Offsets from which the closing marker is known to be absent: an opening marker
	// there is text.
	noMath, noComment int

	openHeadings []openHeading
	itemOpened   bool // the line has opened a list item
	current      span // the open leaf
	previous     span // the leaf, quote or list before it, which a block id on its own line names
	properties   bool // the next leaf is the first of the note
	inline       inlineScanner
}

// span is a run of bytes that starts on a line.
type span struct {
	start, end, lineStart, line int
	containers                  int  // number of enclosing containers
	list                        byte // the last byte of the first item's marker, which differs between lists; 0 if it is no list
}

// paragraph is the paragraph being read.
type paragraph struct {
	span           // its text, without the markers before it
	lastStart int  // start of the text on its last line
	opensItem bool // whether it is the first text of a list item
}

// openHeading is a heading whose section is still open.
type openHeading struct {
	index, level, containers int
}

func (s *scanner) run(from int) {
	s.line = 1 + bytes.Count(s.src[:from], []byte{'\n'})
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

// matchContainers consumes the markers of the open containers that the line
// continues, and returns their number.
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
// containers, and adds the rest of the line to a leaf.
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

// closeContainers closes all but the first n containers.
func (s *scanner) closeContainers(n int) {
	if n >= len(s.containers) {
		return
	}
	s.closeLeaf()
	if whole := s.containers[n].whole; s.previous.end > whole.start {
		whole.end = s.previous.end
		s.previous = whole
	}
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

// endItem records the end of a list item in the blocks found in it.
func (s *scanner) endItem(c container) {
	for i := c.block; i < len(s.doc.Blocks); i++ {
		if b := &s.doc.Blocks[i]; b.itemEnd == 0 {
			b.itemEnd = s.lineStart
		}
	}
}
