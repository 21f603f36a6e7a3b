package edit

import (
	"bytes"
	"reflect"

	"notesd/internal/markdown"
)

// maxCompared bounds the number of comparisons between old and new items.
const maxCompared = 1_000_000

// writeItems returns the lines of a key whose old and new values are lists, keeping
// the text of unchanged items. It returns "" if that is not possible.
func (e *keyEditor) writeItems(before, after any) (string, error) {
	old, ok := before.([]any)
	list, isList := after.([]any)
	if !ok || !isList || len(old) == 0 || len(old)*len(list) > maxCompared {
		return "", nil
	}
	if e.items == nil {
		return e.writeFlowItems(old, list)
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
	return w.out.String(), nil
}

// innerComments refuses a change that would lose comments or move them to other items.
const innerComments = "its list contains comments; use replace_text"

// writeFlowItems is writeItems for a list in brackets. It keeps the separators,
// which can include line breaks, and repeats the last one before further items.
func (e *keyEditor) writeFlowItems(old, list []any) (string, error) {
	entry := e.inner[e.start:e.end]
	style, ok := oldYAMLEntry(entry)
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(entry[len(style.key):], " \t\r\n"), []byte("[")) {
		return "", nil
	}
	start := len(style.key) + bytes.IndexByte(entry[len(style.key):], '[') + 1
	end := yamlFlowEnd(entry, start-1)
	text := entry[start : end-1]
	spans := flowItems(text)
	if len(spans) != len(old) {
		return "", nil
	}
	at := 0
	for _, span := range append(spans, place{start: len(text)}) {
		if bytes.IndexByte(text[at:span.start], '#') >= 0 {
			return "", e.refuse(innerComments)
		}
		at = span.end
	}
	var out bytes.Buffer
	out.Write(entry[:start+spans[0].start])
	used := make([]bool, len(old))
	for n, item := range list {
		if next := min(n, len(spans)-1); next > 0 {
			out.Write(text[spans[next-1].end:spans[next].start])
		} else if n > 0 {
			out.WriteString(", ")
		}
		if i := unusedItem(old, used, item); i >= 0 {
			out.Write(text[spans[i].start:spans[i].end])
		} else {
			out.WriteString(flowYAML(item))
		}
	}
	out.Write(entry[start+spans[len(spans)-1].end:])
	return out.String(), nil
}

// flowItems returns the spans of the items in the text between brackets, or nil if an
// item is empty. For unusual syntax, their number can differ from the parser's.
func flowItems(text []byte) (items []place) {
	depth, item := 0, place{start: -1}
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) && item.start < 0: // after a trailing comma
		case i == len(text) || text[i] == ',' && depth == 0:
			if item.start < 0 {
				return nil
			}
			items, item = append(items, item), place{start: -1}
			continue
		case bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0:
			continue
		case text[i] == '#' && (i == 0 || bytes.IndexByte([]byte(" \t\n"), text[i-1]) >= 0):
			i, _ = markdown.LineAt(text, i)
			continue
		case (text[i] == '"' || text[i] == '\'') && item.start < 0:
			item = place{start: i}
			i = yamlQuoteEnd(text, i) - 1
		case text[i] == '[' || text[i] == '{':
			depth++
		case text[i] == ']' || text[i] == '}':
			depth--
		}
		if item.start < 0 {
			item.start = i
		}
		item.end = i + 1
	}
	return items
}

// sameItem is like unusedItem, but returns -1 if the item does not have its own lines.
func (e *keyEditor) sameItem(old []any, used []bool, item any) int {
	i := unusedItem(old, used, item)
	if i >= 0 && isBlank(e.item(i)) {
		return -1
	}
	return i
}

// unusedItem returns the index of the first unused old item that equals item, and marks
// it as used. It returns -1 if there is none.
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
