package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Field is a key with a value in a note's text, in the notation of Dataview and
// Logseq: a line "key:: value", or [key:: value] or (key:: value) within a line.
type Field struct {
	Key, Value string
	Line       int // from 1, over the whole file
}

// Bounds on the length of a key and of a bracketed field, in bytes, and on the number
// of fields in a note.
const (
	maxFieldKey = 100
	maxField    = 1000
	maxFields   = 1000
)

// lineMarkers matches the markers before the text of a line: quotes, a bullet, the
// checkbox of a task.
var lineMarkers = regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?`)

// Fields returns the fields in the paragraphs and list items of src in text order,
// ignoring code. d must be the result of [Parse] for src.
func (d *Document) Fields(src []byte) []Field {
	var fields []Field
	for i, l := range d.leaves {
		if l.kind != leafParagraph {
			continue
		}
		end := len(src)
		if i+1 < len(d.leaves) {
			end = d.leaves[i+1].start
		}
		text := src[l.start:end]
		if !bytes.Contains(text, []byte("::")) {
			continue
		}
		line := l.line
		for row := range bytes.Lines(text) {
			if len(fields) >= maxFields {
				return fields
			}
			if bytes.Contains(row, []byte("::")) {
				fields = fieldsIn(fields, string(bytes.TrimRight(row, "\r\n")), line)
			}
			line++
		}
	}
	return fields
}

// fieldsIn appends the fields of one line.
func fieldsIn(fields []Field, text string, line int) []Field {
	text = text[len(lineMarkers.FindString(text)):]
	bracketed := false
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '`':
			i = codeEnd(text, i)
			continue
		case '[', '(':
			end := bracketEnd(text, i)
			if key, value, ok := strings.Cut(text[i+1:max(i+1, end)], "::"); ok {
				if key = fieldKey(key); key != "" {
					fields = append(fields, Field{key, strings.TrimSpace(value), line})
					bracketed = true
					i = end + 1
					continue
				}
			}
		}
		i++
	}
	if bracketed {
		return fields
	}
	key, value, _ := strings.Cut(text, "::")
	if key = fieldKey(key); key != "" && (value == "" || value[0] == ' ' || value[0] == '\t') {
		fields = append(fields, Field{key, strings.TrimSpace(value), line})
	}
	return fields
}

// fieldKey returns a key without surrounding emphasis, or "" if s cannot be a key.
func fieldKey(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "*_~")
	if len(s) > maxFieldKey || strings.ContainsAny(s, "`[](){}:|\"<>") || !utf8.ValidString(s) {
		return ""
	}
	return s
}

// codeEnd returns the end of the code span that starts at i, or the end of the
// backticks if the span is not closed.
func codeEnd(text string, i int) int {
	n := i
	for n < len(text) && text[n] == '`' {
		n++
	}
	ticks := text[i:n]
	if at := strings.Index(text[n:], ticks); at >= 0 {
		return n + at + len(ticks)
	}
	return n
}

// bracketEnd returns the offset of the bracket that closes the one at i, or 0.
func bracketEnd(text string, i int) int {
	opened, closed := text[i], text[i]+1 // ( )
	if opened == '[' {
		closed = ']'
	}
	depth := 0
	for n := i; n < min(len(text), i+maxField); n++ {
		switch text[n] {
		case opened:
			depth++
		case closed:
			if depth--; depth == 0 {
				return n
			}
		}
	}
	return 0
}
