package edit

import (
	"bytes"
	"slices"
	"strings"

	"notesd/internal/markdown"
)

// adopt returns content without blank lines at its ends, with eol as its line ending.
func adopt(content, eol string) string {
	return withLineEnding(trimLines(content), eol)
}

// withLineEnding returns s with eol as its line ending.
func withLineEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// trimLines removes blank lines at the ends of s and the final line break, but keeps
// the indentation of the first line.
func trimLines(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// trimBlankLines returns the span of the text in src[start:end] without the blank lines
// around it and its final line break. start must be the start of a line.
func trimBlankLines(src []byte, start, end int) (int, int) {
	for start < end {
		lineEnd, next := markdown.LineAt(src[:end], start)
		if !isBlank(src[start:lineEnd]) {
			break
		}
		start = next
	}
	return start, start + len(bytes.TrimRight(src[start:end], " \t\r\n"))
}

// isBlank reports whether a line ends a paragraph: one with other white space, such as the
// no-break space of web pages, is text.
func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }

// previousLine returns the line before the offset at, without its line break.
func previousLine(src []byte, at int) []byte {
	end := markdown.TrimLineBreak(src, at)
	return src[bytes.LastIndexByte(src[:end], '\n')+1 : end]
}

func firstLine(s string) []byte {
	line, _, _ := strings.Cut(s, "\n")
	return []byte(line)
}

// splice returns a copy of src with src[start:end] replaced by text.
func splice(src []byte, start, end int, text string) []byte {
	return slices.Concat(src[:start], []byte(text), src[end:])
}

// lineEnding returns the line ending of src before the offset at or, if there is none, that of
// the first line.
func lineEnding(src []byte, at int) string {
	i := bytes.LastIndexByte(src[:at], '\n')
	if i < 0 {
		i = bytes.IndexByte(src, '\n')
	}
	if i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
