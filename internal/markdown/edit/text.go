package edit

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
)

// adopt gives content the line endings of a note and removes blank lines at its
// ends.
func adopt(content, eol string) string {
	return withLineEnding(trimLines(content), eol)
}

// withLineEnding returns s with eol for each of its line breaks.
func withLineEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// trimLines removes blank lines at the ends of s and the last line break, but
// not the indentation of its first line.
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

// trimBlankLines returns where the text of src[start:end] lies without the
// blank lines around it and without its last line break. start must be the start
// of a line.
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

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// previousLine returns the line that ends at or before the offset at.
func previousLine(src []byte, at int) []byte {
	end := markdown.TrimLineBreak(src, at)
	return src[bytes.LastIndexByte(src[:end], '\n')+1 : end]
}

func firstLine(s string) []byte {
	line, _, _ := strings.Cut(s, "\n")
	return []byte(line)
}

func lastLine(s string) []byte {
	return []byte(s[strings.LastIndexByte(s, '\n')+1:])
}

// splice returns src with src[start:end] replaced.
func splice(src []byte, start, end int, text string) []byte {
	out := make([]byte, 0, len(src)-(end-start)+len(text))
	out = append(out, src[:start]...)
	out = append(out, text...)
	return append(out, src[end:]...)
}

// lineEnding returns the line break that src uses, as its first line shows.
func lineEnding(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
