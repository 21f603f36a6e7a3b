package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// lineEnding returns the line break that src uses, as its first line shows.
func lineEnding(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withLineEnding returns s with eol for each of its line breaks.
func withLineEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// adopt gives content the line endings of a note and removes blank lines at its
// ends.
func adopt(content, eol string) string {
	return withLineEnding(trimLines(content), eol)
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
		lineEnd, next := lineAt(src[:end], start)
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
	end := trimLineBreak(src, at)
	return src[bytes.LastIndexByte(src[:end], '\n')+1 : end]
}

func firstLine(s string) []byte {
	line, _, _ := strings.Cut(s, "\n")
	return []byte(line)
}

func lastLine(s string) []byte {
	return []byte(s[strings.LastIndexByte(s, '\n')+1:])
}

// cutAt bounds s to n bytes, at the start of a character.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// withoutCRs returns src with "\n" for "\r\n" and the offsets of those in the
// outcome.
func withoutCRs(src []byte) ([]byte, []int) {
	text := make([]byte, 0, len(src))
	var crs []int
	for i, c := range src {
		if c == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			crs = append(crs, len(text))
			continue
		}
		text = append(text, c)
	}
	return text, crs
}

// splice returns src with src[start:end] replaced.
func splice(src []byte, start, end int, text string) []byte {
	out := make([]byte, 0, len(src)-(end-start)+len(text))
	out = append(out, src[:start]...)
	out = append(out, text...)
	return append(out, src[end:]...)
}

// lineAt returns the end of the line that starts at pos, without its line
// break, and the start of the next line. At the end of the source both are
// len(src).
func lineAt(src []byte, pos int) (end, next int) {
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

// trimLineBreak returns the end of the line before pos.
func trimLineBreak(src []byte, pos int) int {
	if pos > 0 && src[pos-1] == '\n' {
		pos--
		if pos > 0 && src[pos-1] == '\r' {
			pos--
		}
	}
	return pos
}
