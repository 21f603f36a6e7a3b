package markdown

import (
	"bytes"
	"unicode"
)

const zeroWidthJoiner = '\u200d'

// joins reports whether r belongs to the character before it.
func joins(r rune) bool {
	return r == zeroWidthJoiner || unicode.Is(unicode.M, r) || r >= 0x1f3fb && r <= 0x1f3ff
}

// add takes a finished piece, joined with the one before it when either is too
// small to stand alone.
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

// joinable reports whether b, which follows a, belongs in the same passage: they
// fit together, one is small or only a heading, and b's section is a's own, a
// part of it, or a sibling.
func (c *chunker) joinable(a, b piece) bool {
	if a.size+b.size > c.target {
		return a.bare && a.size*8 <= c.target && !b.closed && c.inside(b.section, a.section) &&
			a.size+b.size <= c.target+c.minimum
	}
	if a.section == b.section {
		return a.size < c.minimum || b.size < c.minimum
	}
	if !a.bare && a.size >= c.minimum && b.size >= c.minimum {
		return false
	}
	return c.inside(b.section, a.section) || c.siblings(a.section, b.section)
}

// inside reports whether section is a descendant of parent; everything is inside
// the text before the first heading.
func (c *chunker) inside(section, parent int) bool {
	if parent < 0 {
		return true
	}
	for section > parent {
		section = c.parents[section]
	}
	return section == parent
}

// siblings reports whether a and b are sections with the same heading above them.
func (c *chunker) siblings(a, b int) bool {
	return a >= 0 && b >= 0 && c.parents[a] == c.parents[b] && c.parents[a] >= 0
}

// finish turns pieces into chunks.
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
			chunk.Heading = c.doc.Headings[p.section].Text
			chunk.Path = headingPath(c.doc, c.parents, p.section)
		}
		out = append(out, chunk)
		line += breaks
	}
	return out
}
