package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/markdown"
)

// setField sets a property of a note where the note has it: in page properties, in the lines in
// which Notion exports the properties of a page, if notion is set, or else in front matter. A
// new one is added to such lines if there are some and no front matter.
func setField(src []byte, key string, value any, notion bool) ([]byte, error) {
	doc := markdown.Parse(src)
	_, inFrontMatter := markdown.KeyOf(doc.FrontMatter.Values, key)
	start, end, mark := doc.FrontMatter.End, doc.PropertiesEnd, "::"
	switch {
	case end > 0:
		_, end = markdown.LineAt(src, end-1)
	case notion:
		start, end = doc.NotionProperties(src)
		mark = ":"
	}
	if inFrontMatter || doc.FrontMatter.Err != nil || start >= end {
		return SetFrontMatter(src, key, likeOld(src, key, value))
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
	if !found && (value == nil || doc.FrontMatter.Format != "") {
		return SetFrontMatter(src, key, value)
	}
	text, ok := propertyText(value)
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
		ok = ok && slices.Contains(properties(out, notion), markdown.Field{Key: key, Value: text})
	}
	switch {
	case ok:
		return out, nil
	case found:
		return nil, &FrontMatterError{Key: key, Line: 1 + bytes.Count(src[:at], []byte{'\n'}), Reason: fmt.Sprintf("it is on a line %q, which cannot have this value", key+mark)}
	}
	return SetFrontMatter(src, key, value)
}

// properties returns the fields in a note's text.
func properties(src []byte, notion bool) []markdown.Field {
	doc := markdown.Parse(src)
	if doc.PropertiesEnd == 0 && notion {
		return doc.Properties(src)
	}
	return doc.Fields(src)
}

// propertyText returns a value as the text of a property; ok is false if it has more than one line.
func propertyText(value any) (text string, ok bool) {
	if list, isList := value.([]any); isList {
		items := make([]string, len(list))
		for i, item := range list {
			items[i] = fmt.Sprint(item)
		}
		value = strings.Join(items, ", ")
	}
	_, isMap := value.(map[string]any)
	text = strings.TrimSpace(fmt.Sprint(value))
	return text, !isMap && !strings.ContainsAny(text, "\r\n")
}
