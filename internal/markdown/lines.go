package markdown

import "bytes"

// LineStarts returns the offset of each line, including the empty one after a final
// line break.
func LineStarts(src []byte) []int {
	starts := []int{0}
	for i, c := range src {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// LineAt returns the end of the line at pos, without its line break, and the start of
// the next line. On the last line, both are len(src) unless it ends with a line break.
func LineAt(src []byte, pos int) (end, next int) {
	i := bytes.IndexByte(src[pos:], '\n')
	if i < 0 {
		return len(src), len(src)
	}
	end, next = pos+i, pos+i+1
	if end > pos && src[end-1] == '\r' {
		end--
	}
	return end, next
}

// TrimLineBreak returns pos without the line break before it, if any.
func TrimLineBreak(src []byte, pos int) int {
	if pos > 0 && src[pos-1] == '\n' {
		pos--
		if pos > 0 && src[pos-1] == '\r' {
			pos--
		}
	}
	return pos
}
