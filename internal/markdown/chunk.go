package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/phrase"
)

// Sizes in estimated tokens. A chunk exceeds targetTokens by at most a quarter, to include
// a heading above it or a small remainder. A section smaller than minTokens is joined with
// the next one of the same parent.
const (
	targetTokens = 220
	minTokens    = targetTokens / 3
)

// Chunks divides the body of a note into passages, which cover src from
// doc.BodyStart to its end without gap or overlap. A passage consists of whole
// blocks of one section as far as they fit. Sections too small to stand alone are
// joined with the next one of the same parent, and a block that is too large is cut
// between lines, else between sentences, else between words. A blank body has no
// passages. doc must be the result of [Parse] for src.
func Chunks(src []byte, doc *Document) []Chunk { return chunksOf(src, doc, targetTokens, minTokens) }

func chunksOf(src []byte, doc *Document, target, minimum int) []Chunk {
	if len(bytes.TrimSpace(src[doc.BodyStart:])) == 0 {
		return nil
	}
	c := &chunker{src: src, doc: doc, target: 10 * target, minimum: 10 * minimum}
	c.cutSections()
	return c.finish()
}

// piece is a passage under construction. Sizes are in tenths of tokens.
type piece struct {
	start, end, size int
	section          int  // index of its heading, -1 before the first
	bare             bool // only a heading line, without text
}

// A chunker packs the blocks of each section into pieces of up to the target size, and
// cuts blocks that are larger. When a piece is added, it is joined with the one before
// it if one of them is too small to stand alone or only a heading, and if they are in
// the same section, in sibling sections, or the second is in a subsection of the first.
// A passage therefore never joins the end of one chapter with the start of the next.
type chunker struct {
	src             []byte
	doc             *Document
	target, minimum int
	pieces          []piece
}

// cutSections divides the text before the first heading, and each section without
// its subsections, into pieces.
func (c *chunker) cutSections() {
	headings := c.doc.Headings
	next := 0 // the next leaf
	for section, start := -1, c.doc.BodyStart; section < len(headings); section++ {
		end := len(c.src)
		if section+1 < len(headings) {
			end = headings[section+1].Start
		}
		first := next
		for next < len(c.doc.leaves) && c.doc.leaves[next].start < end {
			next++
		}
		if end > start {
			c.cutSection(section, start, end, c.doc.leaves[first:next])
		}
		start = end
	}
}

// cutSection packs the leaves of one section into pieces.
func (c *chunker) cutSection(section, start, end int, leaves []leaf) {
	current := piece{start: start, end: start, section: section, bare: true}
	for i := range leaves {
		leafEnd := end
		if i+1 < len(leaves) {
			leafEnd = leaves[i+1].start
		}
		size := estimateTenths(c.src[current.end:leafEnd])
		text := leaves[i].kind != leafHeading
		if current.size+size > c.target && !current.bare {
			c.add(current)
			current = piece{start: current.end, end: current.end, section: section, bare: true}
		}
		if current.size+size > c.target {
			current = c.cutLeaf(current, leafEnd)
			continue
		}
		current.end, current.size = leafEnd, current.size+size
		current.bare = current.bare && !text
	}
	current.size += estimateTenths(c.src[current.end:end])
	current.end = end
	if current.end > current.start {
		c.add(current)
	}
}

// cutLeaf divides a leaf that is too large for one piece among pieces, starting
// with p, and returns the last one, which is not added yet.
func (c *chunker) cutLeaf(p piece, end int) piece {
	for {
		limit := c.sizeLimit(p.end, end, c.target-p.size)
		if limit < end && c.sizeLimit(limit, end, c.target/10) >= end {
			limit = end // do not leave a tiny remainder
		}
		if limit >= end {
			p.size += estimateTenths(c.src[p.end:end])
			p.end, p.bare = end, false
			return p
		}
		p.end = c.bestCut(p.end, limit)
		p.size, p.bare = c.target, false
		c.add(p)
		p = piece{start: p.end, end: p.end, section: p.section}
	}
}

// sizeLimit returns the largest offset up to end such that src from start to it is
// at most of the given size, but at least one character.
func (c *chunker) sizeLimit(start, end, size int) int {
	var t tokenCounter
	for i := start; i < end; {
		r, n := utf8.DecodeRune(c.src[i:min(end, i+utf8.UTFMax)])
		if size -= t.next(r); size < 0 && i > start {
			return i
		}
		i += n
	}
	return end
}

// bestCut returns the offset at which to cut src[start:limit]: after the last line
// break in its second half, else after the last sentence there, else after the last
// white space, else between two characters.
func (c *chunker) bestCut(start, limit int) int {
	text := c.src[start:limit]
	half := len(text) / 2
	if i := bytes.LastIndexByte(text, '\n'); i > half {
		return start + i + 1
	}
	space := 0
	for i := len(text) - 1; i > 0; i-- {
		if text[i] == ' ' || text[i] == '\t' || text[i] == '\n' {
			if space == 0 {
				space = i + 1
			}
			if i > half && endsSentence(text[:i]) {
				return start + i + 1
			}
		} else if i > half && isWideStop(text[:i]) {
			return start + i
		}
		if i <= half && space > 0 {
			break
		}
	}
	if space > 0 {
		return start + space
	}
	if n := len(Truncate(string(c.src[start:min(len(c.src), limit+utf8.UTFMax)]), limit-start)); n > 0 {
		return start + n
	}
	return limit // none of it is valid UTF-8
}

func endsSentence(text []byte) bool {
	return len(text) > 1 && bytes.IndexByte([]byte(".!?;:"), text[len(text)-1]) >= 0
}

// isWideStop reports whether text ends with sentence punctuation of a script that
// puts no space after it.
func isWideStop(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	return strings.ContainsRune("。！？；", last)
}

// Truncate shortens s to at most n bytes without separating a letter from its combining
// marks or splitting an emoji sequence, unless that would omit eight characters.
func Truncate(s string, n int) string {
	short := phrase.Cut(s, n)
	for end, steps := len(short), 0; 0 < end && end < len(s) && steps < 8; steps++ {
		next, _ := utf8.DecodeRuneInString(s[end:])
		last, size := utf8.DecodeLastRuneInString(s[:end])
		if !joins(next) && last != zeroWidthJoiner {
			return s[:end]
		}
		end -= size
	}
	return short
}

// zeroWidthJoiner joins two emoji into one.
const zeroWidthJoiner = '\u200d'

// joins reports whether r combines with the character before it.
func joins(r rune) bool {
	return r == zeroWidthJoiner || unicode.Is(unicode.M, r) || r >= 0x1f3fb && r <= 0x1f3ff
}

// add appends a finished piece, or joins it with the one before it.
func (c *chunker) add(p piece) {
	if n := len(c.pieces); n > 0 && c.joinable(c.pieces[n-1], p) {
		last := &c.pieces[n-1]
		if p.size > last.size && c.inside(p.section, last.section) {
			last.section = p.section
		}
		last.end, last.size = p.end, last.size+p.size
		last.bare = last.bare && p.bare
		return
	}
	c.pieces = append(c.pieces, p)
}

// joinable reports whether b, which follows a, belongs in the same passage: their
// total size fits, one is small or only a heading, and b's section is that of a, a
// subsection of it, or a sibling. A short heading is also joined with text below it that
// nearly fills a passage.
func (c *chunker) joinable(a, b piece) bool {
	if a.size+b.size > c.target {
		return a.bare && a.size*8 <= c.target && c.inside(b.section, a.section)
	}
	if !a.bare && a.size >= c.minimum && b.size >= c.minimum {
		return false
	}
	return c.inside(b.section, a.section) || c.siblings(a.section, b.section)
}

// inside reports whether section is parent or a descendant of it. Every section is
// inside the text before the first heading.
func (c *chunker) inside(section, parent int) bool {
	if parent < 0 {
		return true
	}
	for section > parent {
		section = c.doc.Headings[section].parent
	}
	return section == parent
}

// siblings reports whether a and b are subsections of the same section.
func (c *chunker) siblings(a, b int) bool {
	return a >= 0 && b >= 0 && c.doc.Headings[a].parent == c.doc.Headings[b].parent && c.doc.Headings[a].parent >= 0
}

// finish converts the pieces to chunks.
func (c *chunker) finish() []Chunk {
	out := make([]Chunk, 0, len(c.pieces))
	line := 1 + bytes.Count(c.src[:c.doc.BodyStart], []byte{'\n'})
	for i, p := range c.pieces {
		text := c.src[p.start:p.end]
		chunk := Chunk{Ordinal: i, Start: p.start, End: p.end, LineStart: line}
		breaks := bytes.Count(text, []byte{'\n'})
		chunk.LineEnd = line + breaks
		if text[len(text)-1] == '\n' {
			chunk.LineEnd--
		}
		if p.section >= 0 {
			chunk.Path = headingPath(c.doc, p.section)
		}
		out = append(out, chunk)
		line += breaks
	}
	return out
}
