package markdown

import "bytes"

// cursor is a reading position in the lines of a note.
type cursor struct {
	src []byte

	// The current line, from lineStart to lineEnd without its line break, the start
	// of the next line, and the line number.
	lineStart, lineEnd, next, line int

	// The reading position in the line. Columns count from 0 with tab stops of 4;
	// spare is the number of columns left of a partly consumed tab.
	pos, column, spare int
}

// indent returns the width of the white space ahead in columns, and the offset after
// it.
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

// skip consumes at most the given number of columns of white space.
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
	return columns < 4 && f.endsWith(bytes.TrimRight(c.src[next:c.lineEnd], " \t"))
}
