package markdown

import (
	"fmt"
	"strings"
)

// maxReference bounds, in bytes, a reference that clients choose from a list.
const maxReference = 500

// References returns for each heading of doc, in order, what [FindSection] finds
// it by: the path to it, with its line where the path can mean something else.
// It is "" for a heading without text and for a path of more than maxReference
// bytes.
func References(doc *Document) []string {
	parents := headingParents(doc.Headings)
	refs := make([]string, len(doc.Headings))
	endings := make(map[string]int) // how many paths end so
	for i, h := range doc.Headings {
		path, whole := pathText(doc, parents, i)
		if whole && h.Text != "" {
			refs[i] = strings.TrimSpace(path)
		}
		for rest, more := path, true; more; _, rest, more = strings.Cut(rest, PathSeparator) {
			endings[rest]++
		}
	}
	for i, ref := range refs {
		if ref != "" && (endings[ref] > 1 || meansMore(ref)) {
			refs[i] = fmt.Sprintf("%s (line %d)", ref, doc.Headings[i].Line)
		}
	}
	return refs
}

// pathText returns the path to a heading as one text, or its last maxReference
// bytes and false.
func pathText(doc *Document, parents []int, i int) (path string, whole bool) {
	path = doc.Headings[i].Text
	for p := parents[i]; p >= 0 && len(path) <= maxReference; p = parents[p] {
		path = doc.Headings[p].Text + PathSeparator + path
	}
	if len(path) > maxReference {
		return path[len(path)-maxReference:], false
	}
	return path, true
}

// meansMore reports whether FindSection takes something of the path for more than
// words: a level, a block's id, a heading without text, a line.
func meansMore(path string) bool {
	return strings.IndexByte("#^>", path[0]) >= 0 || lineSuffix.MatchString(path)
}
