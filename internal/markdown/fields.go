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
}

// Bounds on the length of a key and of a bracketed field, in bytes, and on the number
// of fields in a note.
const (
	maxFieldKey = 100
	maxField    = 1000
	maxFields   = 1000
)

// LineMarkers matches the markers before the text of a line: quotes, a bullet, the
// checkbox of a task.
var LineMarkers = regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?`)

// Fields returns the fields in the paragraphs and list items of src in text order,
// ignoring code. d must be the result of [Parse] for src.
func (d *Document) Fields(src []byte) []Field {
	var fields []Field
	for start, end := range d.Paragraphs(src) {
		for row := range bytes.Lines(src[start:end]) {
			if len(fields) >= maxFields {
				return fields
			}
			if bytes.Contains(row, []byte("::")) {
				fields = fieldsIn(fields, bytes.TrimRight(row, "\r\n"))
			}
		}
	}
	return fields
}

// Properties returns the fields in [Document.NotionProperties].
func (d *Document) Properties(src []byte) (fields []Field) {
	start, end := d.NotionProperties(src)
	for row := range bytes.Lines(src[start:end]) {
		key, value, _ := bytes.Cut(row, []byte(": "))
		fields = append(fields, Field{fieldKey(string(key)), string(bytes.TrimSpace(value))})
	}
	return fields
}

// NotionProperties returns the span of the lines "Key: value" below the first heading of src, in
// which Notion exports the properties of a page. d must be the result of [Parse] for src.
func (d *Document) NotionProperties(src []byte) (start, end int) {
	if len(d.Headings) == 0 {
		return 0, 0
	}
	text := bytes.TrimLeft(src[d.Headings[0].ContentStart:], "\r\n")
	start = len(src) - len(text)
	end = start
	n := 0
	for row := range bytes.Lines(text) {
		key, _, found := bytes.Cut(row, []byte(": "))
		if n++; !found || fieldKey(string(key)) == "" || n > maxFields {
			break
		}
		end += len(row)
	}
	return start, end
}

// fieldsIn appends the fields of one line.
func fieldsIn(fields []Field, text []byte) []Field {
	text = text[len(LineMarkers.Find(text)):]
	bracketed := false
	add := func(key, value []byte) bool {
		name := fieldKey(string(key))
		if name != "" {
			fields = append(fields, Field{name, string(bytes.TrimSpace(value))})
		}
		return name != ""
	}
	for i := 0; i < len(text) && len(fields) < maxFields; {
		switch text[i] {
		case '`':
			_, n := codeSpan(text[i:])
			i += n
			continue
		case '[', '(':
			end := i + max(0, closingBracket(text[i:min(len(text), i+maxField)]))
			if key, value, ok := bytes.Cut(text[i+1:max(i+1, end)], []byte("::")); ok && add(key, value) {
				bracketed = true
				i = end
			}
		}
		i++
	}
	if key, value, _ := bytes.Cut(text, []byte("::")); !bracketed && (len(value) == 0 || value[0] == ' ' || value[0] == '\t') {
		add(key, value)
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
