package edit

import (
	"bytes"
	"strings"

	"golang.org/x/text/unicode/norm"

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
// line endings, and characters regardless of their Unicode form (NFC or NFD); replacement
// gets the line endings of the lines that it replaces. The error is a [*MatchError], or wraps
// [ErrInvalid].
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
	var out bytes.Buffer
	at, text, lineEnd := 0, "", -1
	for _, m := range matches {
		if m.end > lineEnd { // the text is the same for all matches within a line
			_, lineEnd = markdown.LineAt(src, m.start)
			text = withEndingsOf(src, m, replacement)
		}
		out.Write(src[at:m.start])
		out.WriteString(text)
		at = m.end
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

// withEndingsOf returns text with the line endings of the lines of src at m, one by one; the
// last of these is also that of further lines.
func withEndingsOf(src []byte, m place, text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	lines, at := strings.SplitAfter(text, "\n"), m.start
	for i, line := range lines {
		if _, next := markdown.LineAt(src, at); i == 0 || next <= m.end {
			at = next
		}
		lines[i] = withLineEnding(line, lineEnding(src, at))
	}
	return strings.Join(lines, "")
}

// place is a run of bytes.
type place struct{ start, end int }

// findAll returns the non-overlapping occurrences of old in src, at most want or
// maxMatchLines of them, whichever is larger, and their total number. Texts are compared
// in NFC. Line breaks in old must be "\n", which also matches "\r\n".
func findAll(src []byte, old string, want int) ([]place, int) {
	text, offsets := src, []int(nil)
	if bytes.Contains(src, []byte("\r\n")) && strings.Contains(old, "\n") || !norm.NFC.IsNormal(src) {
		text, offsets = normalized(src)
	}
	wanted := []byte(markdown.NFC(old))
	var places []place
	found := 0
	for at := 0; ; {
		i := bytes.Index(text[at:], wanted)
		if i < 0 {
			return places, found
		}
		m := place{at + i, at + i + len(wanted)}
		at = m.end
		if offsets != nil {
			if isWithin(offsets, m.start) || isWithin(offsets, m.end) {
				at = m.start + 1
				continue
			}
			m = place{offsets[m.start], offsets[m.end]}
		}
		if found++; len(places) < max(want, maxMatchLines) {
			places = append(places, m)
		}
	}
}

// normalized returns src in NFC with "\n" in place of "\r\n", and the offset in src of each
// byte and of the end. All bytes of a character that NFC changes have its offset.
func normalized(src []byte) (text []byte, offsets []int) {
	var characters norm.Iter
	for characters.Init(norm.NFC, src); !characters.Done(); {
		at := characters.Pos()
		character := characters.Next()
		same := bytes.Equal(character, src[at:characters.Pos()])
		if bytes.HasPrefix(src[at:], []byte("\r\n")) {
			continue
		}
		for i := range character {
			if offsets = append(offsets, at); same {
				offsets[len(offsets)-1] += i
			}
		}
		if character[0] == '\n' && bytes.HasSuffix(src[:at], []byte("\r")) {
			offsets[len(text)]--
		}
		text = append(text, character...)
	}
	return text, append(offsets, len(src))
}

// isWithin reports whether i is within a character that NFC changes.
func isWithin(offsets []int, i int) bool { return i > 0 && offsets[i] == offsets[i-1] }
