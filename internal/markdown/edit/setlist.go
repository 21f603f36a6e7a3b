package edit

import (
	"bytes"
	"reflect"
)

// maxCompared bounds the pairs of items that are compared to keep their lines.
const maxCompared = 1_000_000

// writeItems returns the lines of a key whose value is a list and stays one,
// with the lines of the items that stay. It returns "" when the list is not
// written as one line or more for each item.
func (e *keyEditor) writeItems(before, after any) string {
	old, ok := before.([]any)
	list, isList := after.([]any)
	if !ok || !isList || len(list) == 0 || len(old) == 0 || len(old)*len(list) > maxCompared {
		return ""
	}
	if e.items == nil {
		return e.writeFlowItems(old, list)
	}
	if len(e.items) != len(old) {
		return ""
	}
	used := make([]bool, len(old))
	w := &yamlWriter{eol: e.eol, listIndent: e.listIndent}
	w.out.Write(e.inner[e.start:e.items[0]])
	for _, item := range list {
		if i := e.sameItem(old, used, item); i >= 0 {
			w.out.Write(e.item(i))
			continue
		}
		indent := e.indent + e.listIndent
		w.out.WriteString(indent + "-")
		w.value(item, indent, false)
		w.out.WriteString(e.eol)
	}
	return w.out.String()
}

// writeFlowItems is writeItems for a list in brackets on one line: the text of
// the items that stay, and what parts them, stay.
func (e *keyEditor) writeFlowItems(old, list []any) string {
	entry := e.inner[e.start:e.end]
	style, ok := oldYAMLEntry(entry)
	start := len(style.key) + bytes.IndexByte(entry[len(style.key):], '[') + 1
	if !ok || !style.brackets || start == 0 {
		return ""
	}
	end := yamlFlowEnd(entry, start-1)
	text := entry[start : end-1]
	if bytes.IndexByte(text, '\n') >= 0 {
		return ""
	}
	spans := flowItems(text)
	if len(spans) != len(old) {
		return ""
	}
	separator := []byte(", ")
	if len(spans) > 1 {
		separator = text[spans[0].end:spans[1].start]
	}
	var out bytes.Buffer
	out.Write(entry[:start+spans[0].start])
	used := make([]bool, len(old))
	for n, item := range list {
		if n > 0 {
			out.Write(separator)
		}
		if i := unusedItem(old, used, item); i >= 0 {
			out.Write(text[spans[i].start:spans[i].end])
		} else {
			out.WriteString(flowYAML(item))
		}
	}
	out.Write(entry[start+spans[len(spans)-1].end:])
	return out.String()
}

// flowItems returns where in the text between brackets the items lie. A text
// that is no list of scalars gives other ones than the parser.
func flowItems(text []byte) (items []place) {
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			item := bytes.TrimSpace(text[start:i])
			if len(item) == 0 {
				return nil
			}
			from := start + bytes.Index(text[start:i], item)
			items = append(items, place{start: from, end: from + len(item)})
			start = i + 1
		case (text[i] == '"' || text[i] == '\'') && len(bytes.TrimSpace(text[start:i])) == 0:
			i = yamlQuoteEnd(text, i) - 1
		case text[i] == '[' || text[i] == '{':
			depth++
		case text[i] == ']' || text[i] == '}':
			depth--
		}
	}
	return items
}

// sameItem is unusedItem among items that have a line of their own.
func (e *keyEditor) sameItem(old []any, used []bool, item any) int {
	i := unusedItem(old, used, item)
	if i >= 0 && isBlank(e.item(i)) {
		return -1
	}
	return i
}

// unusedItem returns the first old item that is not used yet and equals item,
// else -1, and marks it as used.
func unusedItem(old []any, used []bool, item any) int {
	for i := range old {
		if !used[i] && reflect.DeepEqual(old[i], item) {
			used[i] = true
			return i
		}
	}
	return -1
}

// item returns the lines of the i-th item.
func (e *keyEditor) item(i int) []byte {
	end := e.end
	if i+1 < len(e.items) {
		end = e.items[i+1]
	}
	return e.inner[min(e.items[i], end):end]
}
