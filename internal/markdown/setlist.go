package markdown

import (
	"reflect"
	"strings"
)

// maxCompared bounds the pairs of items that are compared to keep their lines.
const maxCompared = 1_000_000

// writeItems returns the lines of a key whose value is a list and stays one,
// with the lines of the items that stay. It returns "" when the list is not
// written as one line or more for each item.
func (e *keyEditor) writeItems(before, after any) string {
	old, ok := before.([]any)
	list, isList := after.([]any)
	if !ok || !isList || len(list) == 0 || len(e.items) != len(old) || len(old) == 0 || len(old)*len(list) > maxCompared {
		return ""
	}
	used := make([]bool, len(old))
	w := &yamlWriter{eol: e.eol, listIndent: e.listIndent}
	w.out.Write(e.inner[e.start:e.items[0]])
	for _, item := range list {
		if i := e.sameItem(old, used, item); i >= 0 {
			used[i] = true
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

// sameItem returns the first old item not used yet that equals item, else -1.
func (e *keyEditor) sameItem(old []any, used []bool, item any) int {
	for i := range old {
		if !used[i] && reflect.DeepEqual(old[i], item) && strings.TrimSpace(string(e.item(i))) != "" {
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
