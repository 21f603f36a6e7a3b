package markdown

import "bytes"

// cursor is a reading position in the lines of a note.
type cursor struct {
	src []byte

	// The current line, from lineStart to lineEnd, without its line break, and
	// the start of the next.
	lineStart, lineEnd, next, line int

	// The reading position in the line. Columns count from 0 with tab stops of
	// 4; spare is what is left of a tab that was consumed in part.
	pos, column, spare int
}

// peek returns the byte at the reading position, or '\n' at the line's end.
func (c *cursor) peek() byte {
	if c.pos < c.lineEnd {
		return c.src[c.pos]
	}
	return '\n'
}

// indent returns the columns of white space ahead and the offset of what
// follows it.
func (c *cursor) indent() (columns, next int) {
	columns, next = c.spare, c.pos
	column := c.column
	for next < c.lineEnd {
		switch c.src[next] {
		case ' ':
			columns++
			column++
		case '\t':
			step := 4 - column%4
			columns += step
			column += step
		default:
			return columns, next
		}
		next++
	}
	return columns, next
}

// skip consumes columns of white space.
func (c *cursor) skip(columns int) {
	used := min(c.spare, columns)
	c.spare -= used
	columns -= used
	for columns > 0 && c.pos < c.lineEnd {
		step := 1
		if c.src[c.pos] == '\t' {
			step = 4 - c.column%4
		} else if c.src[c.pos] != ' ' {
			return
		}
		c.pos++
		c.column += step
		if step > columns {
			c.spare = step - columns
			return
		}
		columns -= step
	}
}

// advance consumes n bytes that are not tabs.
func (c *cursor) advance(n int) {
	c.pos += n
	c.column += n
}

// closes reports whether the line ends a fenced code block.
func (c *cursor) closes(f fence) bool {
	columns, next := c.indent()
	if columns >= 4 {
		return false
	}
	n := next
	for n < c.lineEnd && c.src[n] == f.mark {
		n++
	}
	return n-next >= f.length && len(bytes.TrimRight(c.src[n:c.lineEnd], " \t")) == 0
}
