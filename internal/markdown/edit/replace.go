package edit

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/quote"
)

const (
	maxMatchLines = 50
	// maxSearched bounds the notes that are searched for a passage like a text that they do
	// not contain, in bytes, and maxNearest the lines of the passage that are reported whole.
	maxSearched = 1 << 20
	maxNearest  = 800
)

// ReplaceText replaces old, which must occur exactly count times, with replacement.
// A count of zero means 1. Line breaks in old match those of the note regardless of
// line endings, and replacement is converted to the note's line ending. The error is a
// [*MatchError], or wraps [ErrInvalid].
func ReplaceText(src []byte, old, replacement string, count int) ([]byte, error) {
	if count == 0 {
		count = 1
	}
	if old == "" || count < 0 {
		return nil, invalid("replace_text needs the text to replace and a count of 1 or more")
	}
	old = strings.ReplaceAll(old, "\r\n", "\n")
	matches, found := findAll(src, old, count)
	if found != count {
		err := &MatchError{Want: count, Found: found}
		if found == 0 {
			if len(src) <= maxSearched {
				err.Nearest, err.NearestLine = quote.NewText(strings.ToValidUTF8(string(src), "\uFFFD")).NearestPassage(old, maxNearest)
			}
			return nil, err
		}
		line, at := 1, 0
		for _, m := range matches[:min(found, maxMatchLines)] {
			line += bytes.Count(src[at:m.start], []byte{'\n'})
			at = m.start
			err.Lines = append(err.Lines, line)
		}
		return nil, err
	}
	replacement = withLineEnding(replacement, lineEnding(src))
	var out bytes.Buffer
	at := 0
	for _, m := range matches {
		out.Write(src[at:m.start])
		out.WriteString(replacement)
		at = m.end
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

// place is a run of bytes.
type place struct{ start, end int }

// findAll returns the non-overlapping occurrences of old in src, at most want or
// maxMatchLines of them, whichever is larger, and their total number. Line breaks in
// old must be "\n", which also matches "\r\n".
func findAll(src []byte, old string, want int) ([]place, int) {
	text := src
	var crs []int // offsets in text at which "\r" was removed
	if bytes.Contains(src, []byte("\r\n")) && strings.Contains(old, "\n") {
		text, crs = markdown.WithoutCRs(src)
	}
	var spans []place
	found, removed := 0, 0
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(old))
		if i < 0 {
			return spans, found
		}
		start, end := at+i, at+i+len(old)
		at = end
		found++
		if len(spans) >= max(want, maxMatchLines) {
			continue
		}
		for removed < len(crs) && crs[removed] < start {
			removed++
		}
		inside := removed
		for inside < len(crs) && crs[inside] < end {
			inside++
		}
		m := place{start: start + removed, end: end + inside}
		spans = append(spans, m)
	}
}
