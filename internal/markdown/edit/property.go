package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"notesd/internal/markdown"
)

// setField sets a property of a note where the note has it: in page properties, in the lines in
// which Notion exports the properties of a page, if notion is set, in a line of the text, or else
// in front matter. A new one is added to page properties if there is no front matter.
func setField(src []byte, key string, value any, notion bool) ([]byte, error) {
	fm := markdown.ReadFrontMatter(src)
	if _, found := markdown.KeyOf(fm.Values, key); found || fm.Err != nil || key == "" { // most notes need not be parsed
		return SetFrontMatter(src, key, likeOld(fm.Values[key], value))
	}
	doc := markdown.Parse(src)
	text, ok := propertyText(key, value)
	start, end, mark := propertyLines(doc, src, notion)
	if first, last := fieldLine(doc, src, key); ok && first < last {
		start, end, mark = first, last, "::"
	}
	at, next, found := end, end, false
	for pos := start; pos < end && !found; {
		lineEnd, after := markdown.LineAt(src[:end], pos)
		name, _, _ := bytes.Cut(src[pos:lineEnd], []byte(mark))
		if found = strings.EqualFold(string(name), key); found {
			at, next, key = pos, after, string(name)
		}
		pos = after
	}
	if !found && (start >= end || value == nil || mark == ":" || strings.ContainsAny(key, " \t") || fm.Format != "") {
		return SetFrontMatter(src, key, value)
	}
	line := key + mark + " " + text + lineEnding(src, at)
	switch {
	case value == nil:
		line, ok = "", true
	case at == len(src) && src[at-1] != '\n':
		line = lineEnding(src, at) + strings.TrimRight(line, "\r\n")
	case next == len(src) && src[next-1] != '\n':
		line = strings.TrimRight(line, "\r\n")
	}
	out := splice(src, at, next, line)
	if value != nil {
		ok = ok && slices.Contains(properties(out, mark == ":"), markdown.Field{Key: key, Value: text})
	}
	switch {
	case ok:
		return out, nil
	case found:
		return nil, &FrontMatterError{Key: key, Line: 1 + bytes.Count(src[:at], []byte{'\n'}), Reason: fmt.Sprintf("it is on a line %q, which cannot have this value", key+mark)}
	}
	return SetFrontMatter(src, key, value)
}

// propertyLines returns the span of the lines with properties, which is empty if there are none,
// and what separates a key from its value there.
func propertyLines(doc *markdown.Document, src []byte, notion bool) (start, end int, mark string) {
	switch {
	case doc.PropertiesEnd > 0:
		_, end = markdown.LineAt(src, doc.PropertiesEnd-1)
		return doc.FrontMatter.End, end, "::"
	case notion:
		start, end = doc.NotionProperties(src)
		return start, end, ":"
	}
	return 0, 0, "::"
}

// fieldLine returns the span of the line "key:: value" in which Dataview reads the key. It is empty
// if the text has no such line or another field with this key, if the line has a block id or a
// comment, which have to stay, and for keys that are read in front matter only.
func fieldLine(doc *markdown.Document, src []byte, key string) (start, end int) {
	of := func(f markdown.Field) bool { return strings.EqualFold(f.Key, key) }
	fields := doc.Fields(src)
	first := slices.IndexFunc(fields, of)
	if first < 0 || slices.ContainsFunc(fields[first+1:], of) || strings.ContainsAny(fields[first].Value, `^%<\`) ||
		slices.Contains([]string{"tags", "tag", "aliases", "alias", "title", "cssclasses", "cssclass"}, strings.ToLower(key)) {
		return 0, 0
	}
	line := fields[first].Key + ":: " + fields[first].Value
	for pos, last := range doc.Paragraphs(src) {
		for row := range bytes.Lines(src[pos:last]) {
			if string(bytes.TrimRight(row, "\r\n")) == line {
				_, end = markdown.LineAt(src, pos)
				return pos, end
			}
			pos += len(row)
		}
	}
	return 0, 0
}

// properties returns the fields in a note's text.
func properties(src []byte, notion bool) []markdown.Field {
	doc := markdown.Parse(src)
	if doc.PropertiesEnd == 0 && notion {
		return doc.Properties(src)
	}
	return doc.Fields(src)
}

// propertyText returns a value as the text of a property. It must be read back as the same value:
// ok is false for several lines, a mapping, or a list unless its items are links, tags or aliases.
func propertyText(key string, value any) (text string, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		return "", false
	case []any:
		items := make([]string, len(v))
		names := slices.Contains([]string{"tags", "alias", "aliases"}, strings.ToLower(key))
		for i, item := range v {
			name, isText := item.(string)
			link := strings.HasPrefix(name, "[[") && strings.Index(name, "]]") == len(name)-len("]]")
			if items[i] = name; !isText || !link && (!names || strings.ContainsAny(name, `,"`)) {
				return "", false
			}
		}
		text = strings.Join(items, ", ")
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		text = strings.TrimSpace(fmt.Sprint(v))
	}
	return text, !strings.ContainsAny(text, "\r\n")
}
