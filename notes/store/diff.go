package store

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
)

// Diffs shown to callers are cut to what a reader takes in; the whole change
// is in history.
const (
	diffContext  = 2
	diffMaxBytes = 4000
)

// ShortDiff returns a unified diff of two texts, cut to a bound.
func ShortDiff(old, new []byte, name string) string {
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

// What losesText takes for the trace of typing: so many bytes of text, and no
// more than a part of it, are gone.
const (
	typedOver     = 64
	typedOverPart = 4
	window        = 8 // text is compared in pieces of so many bytes
)

// losesText reports whether old has more text that new lacks than somebody
// changes between two saves of an editor.
func losesText(old, new []byte) bool {
	gone, fresh := linesOnlyIn(old, new), linesOnlyIn(new, old)
	most := min(typedOver, len(old)/typedOverPart)
	if len(gone) > 1<<18 || len(fresh) > 1<<18 { // bounds the memory
		return true
	}
	has := make(map[[window]byte]bool, len(fresh))
	for i := range fresh {
		has[windowAt(fresh, i)] = true
	}
	lost := 0
	for i := range gone {
		if !has[windowAt(gone, i)] {
			lost++
		}
	}
	return lost > most
}

func windowAt(text []byte, i int) (w [window]byte) {
	copy(w[:], text[i:])
	return w
}

// linesOnlyIn returns the lines of a that b does not have.
func linesOnlyIn(a, b []byte) []byte {
	has := map[string]bool{}
	for line := range bytes.Lines(b) {
		has[string(line)] = true
	}
	var only []byte
	for line := range bytes.Lines(a) {
		if !has[string(line)] {
			only = append(only, line...)
		}
	}
	return only
}
