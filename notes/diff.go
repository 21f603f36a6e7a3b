package notes

import (
	"strings"

	"notesd/internal/markdown"
)

// Diffs shown to callers are cut to what a reader takes in; the whole change
// is in history.
const (
	diffContext  = 2
	diffMaxBytes = 4000
)

func shortDiff(old, new []byte, name string) string {
	return markdown.UnifiedDiff(old, new, name, diffContext, diffMaxBytes)
}

// lineChanges counts the lines that a change adds and removes.
func lineChanges(old, new []byte) (added, removed int) {
	diff := markdown.UnifiedDiff(old, new, "n", 0, len(old)+len(new)+1<<16)
	body := diff
	if _, after, ok := strings.Cut(diff, "\n@@"); ok {
		body = "@@" + after // past the two header lines
	}
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}
