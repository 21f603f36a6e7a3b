package edit

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxCompared bounds the number of comparisons between old and new items.
const maxCompared = 1_000_000

// A mapItem is one key of a map with its value.
type mapItem struct {
	key   string
	value any
}

// itemsOf returns the items of a list or map, or nil. A map has those in the order of the
// existing entry, followed by the others by name.
func (e *keyEditor) itemsOf(value any) (items []any) {
	switch v := value.(type) {
	case []any:
		return v
	case map[string]any:
		for _, key := range e.keys {
			if item, ok := v[key]; ok {
				items = append(items, mapItem{key, item})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(e.keys, key) {
				items = append(items, mapItem{key, v[key]})
			}
		}
	}
	return items
}

// writeItems returns the lines of a key whose old and new values have items, keeping the
// text of unchanged items and the text between items, which can include line breaks. It
// returns "" if that is not possible.
func (e *keyEditor) writeItems(old, list []any) string {
	if len(old) == 0 || len(list) == 0 || len(e.items) != len(old) || len(old)*len(list) > maxCompared {
		return ""
	}
	var out strings.Builder
	out.Write(e.inner[e.start:e.items[0].start])
	used := make([]bool, len(old))
	for n, item := range list {
		if next := min(n, len(old)-1); next > 0 {
			out.Write(e.inner[e.items[next-1].end:e.items[next].start])
		} else if n > 0 {
			out.WriteString(e.separator)
		}
		if i := unusedItem(old, used, item); i >= 0 {
			out.Write(e.inner[e.items[i].start:e.items[i].end])
		} else {
			text := e.itemText(item)
			if i := replacedItem(old, list, n); i >= 0 && e.leads != nil {
				out.Write(e.inner[e.items[i].start:][:e.leads[i]])
				if strings.Count(text, "\n") == 1 {
					text = strings.TrimSuffix(text, e.eol) + e.tails[i] + e.eol
				}
			}
			out.WriteString(text)
		}
	}
	out.Write(e.inner[e.items[len(old)-1].end:e.end])
	return out.String()
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

// replacedItem returns the index of the old item that the n-th item of list replaces: the one
// with its key, or in a list, the one in its place if list no longer contains that. It
// returns -1 if there is none.
func replacedItem(old, list []any, n int) int {
	if pair, ok := list[n].(mapItem); ok {
		return slices.IndexFunc(old, func(item any) bool { return item.(mapItem).key == pair.key })
	}
	if n < len(old) && !slices.ContainsFunc(list, func(item any) bool { return reflect.DeepEqual(item, old[n]) }) {
		return n
	}
	return -1
}
