// Package textdiff describes the changes to a text, line by line and within a size limit,
// for people and models to read. Its functions are pure and safe for concurrent use.
package textdiff

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"notesd/internal/phrase"
)

// maxLine is the maximum number of bytes shown of a line.
const maxLine = 400

// Unified returns the change from old to new in unified format with context lines around
// it, or "" if they are equal. It is meant for reading: long lines are shortened to the
// part that differs, line breaks within them are shown as "\n", and output stops after
// about maxBytes with a line that says how much was omitted. If maxBytes is 0, nothing is
// shortened.
func Unified(old, new []byte, name string, context, maxBytes int) string {
	if bytes.Equal(old, new) {
		return ""
	}
	w := &diffWriter{a: splitLines(old), b: splitLines(new), context: max(context, 0), limit: maxBytes}
	fmt.Fprintf(&w.out, "--- a/%s\n+++ b/%s\n", name, name)
	for changes := lcs.DiffLines(w.a, w.b); len(changes) > 0; {
		n := 1
		for n < len(changes) && changes[n].Start-changes[n-1].End <= 2*w.context {
			n++
		}
		w.hunk(changes[:n])
		changes = changes[n:]
	}
	if w.left > 0 {
		fmt.Fprintf(&w.out, "… %d more lines\n", w.left)
	}
	return strings.ToValidUTF8(w.out.String(), "\uFFFD")
}

// Count returns the number of lines added and removed between old and new.
func Count(old, new []byte) (added, removed int) {
	for _, c := range lcs.DiffLines(splitLines(old), splitLines(new)) {
		added, removed = added+c.ReplEnd-c.ReplStart, removed+c.End-c.Start
	}
	return added, removed
}

// Merge makes two changes of base, one to a and one to b, in one text. ok is false if both
// change the same line or insert text at the same place, or if one removes the heading or list
// item below which the other inserts.
func Merge(base, a, b []byte) (merged []byte, ok bool) {
	lines, texts := splitLines(base), [2][]string{splitLines(a), splitLines(b)}
	changes := [2][]lcs.Diff{lcs.DiffLines(lines, texts[0]), lcs.DiffLines(lines, texts[1])}
	next, last, removed := 0, lcs.Diff{Start: -1}, []string(nil)
	ok = true
	add := func(lines []string) {
		for _, line := range lines {
			ok = ok && (len(merged) == 0 || merged[len(merged)-1] == '\n')
			merged = append(merged, line...)
		}
	}
	for len(changes[0])+len(changes[1]) > 0 {
		side := 0
		if x, y := changes[0], changes[1]; len(x) == 0 || len(y) > 0 && cmp.Or(cmp.Compare(y[0].Start, x[0].Start), cmp.Compare(y[0].End, x[0].End)) < 0 {
			side = 1
		}
		c := changes[side][0]
		changes[side] = changes[side][1:]
		added := texts[side][c.ReplStart:c.ReplEnd]
		samePlace := c.Start == last.Start && c.End == last.End
		orphans := c.End == next && c.Start == next && depth(removed) > 0 && depth(removed) < depth(added)
		if c.Start < next || samePlace || orphans {
			return nil, false
		}
		add(lines[next:c.Start])
		add(added)
		next, last, removed = c.End, c, nil
		if len(added) == 0 {
			removed = lines[c.Start:c.End]
		}
	}
	add(lines[next:])
	return merged, ok
}

// depth returns the level of the heading with which the text of these lines begins or, if it
// begins with none, more than any level, by its indentation. It is 0 without text.
func depth(lines []string) int {
	for _, line := range lines {
		text := strings.TrimLeft(line, " \t")
		if hashes := len(text) - len(strings.TrimLeft(text, "#")); hashes > 0 && strings.HasPrefix(text[hashes:], " ") {
			return hashes
		}
		if strings.TrimSpace(text) != "" {
			return 7 + len(line) - len(text)
		}
	}
	return 0
}

// splitLines returns the lines of a text including their line breaks.
func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// diffWriter writes hunks up to the limit.
type diffWriter struct {
	a, b    []string // the lines of both texts
	context int
	out     strings.Builder
	limit   int
	left    int // lines not written
}

func (w *diffWriter) hunk(changes []lcs.Diff) {
	first, last := changes[0], changes[len(changes)-1]
	startA, startB := max(0, first.Start-w.context), max(0, first.ReplStart-w.context)
	endA, endB := min(len(w.a), last.End+w.context), min(len(w.b), last.ReplEnd+w.context)
	if !w.full() {
		fmt.Fprintf(&w.out, "@@ -%s +%s @@\n", lineRange(startA, endA), lineRange(startB, endB))
	}
	at := startA
	for _, c := range append(slices.Clip(changes), lcs.Diff{Start: endA, End: endA}) {
		for ; at < c.Start; at++ {
			w.line(' ', w.a[at], 0)
		}
		old, new := w.a[c.Start:c.End], w.b[c.ReplStart:c.ReplEnd]
		for i, line := range old {
			w.line('-', line, differsAt(old, new, i))
		}
		for i, line := range new {
			w.line('+', line, differsAt(old, new, i))
		}
		at = c.End
	}
}

func lineRange(start, end int) string {
	switch end - start {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

// differsAt returns the offset of the first difference between the i-th deleted and the
// i-th inserted line.
func differsAt(old, new []string, i int) int {
	n := 0
	if i < len(old) && i < len(new) {
		for n < len(old[i]) && n < len(new[i]) && old[i][n] == new[i][n] {
			n++
		}
	}
	return n
}

func (w *diffWriter) full() bool { return w.limit > 0 && w.out.Len() >= w.limit }

// line writes one line. A long line is shortened to the part around offset at.
func (w *diffWriter) line(mark byte, line string, at int) {
	if w.full() {
		w.left++
		return
	}
	text, complete := strings.CutSuffix(line, "\n")
	text = strings.TrimSuffix(text, "\r")
	from, most := 0, maxLine
	if w.limit == 0 {
		most = len(text)
	}
	w.out.WriteByte(mark)
	if len(text) > most {
		if from = len(phrase.Cut(text, max(0, at-maxLine/4))); from > 0 {
			w.out.WriteString("…")
		}
	}
	shown := phrase.Cut(text[from:], most)
	w.out.WriteString(shown)
	if rest := len(text) - from - len(shown); rest > 0 {
		fmt.Fprintf(&w.out, "… (%d more bytes)", rest)
	}
	w.out.WriteByte('\n')
	if !complete {
		w.out.WriteString("\\ No newline at end of file\n")
	}
}
