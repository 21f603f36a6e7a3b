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

// Merge makes two changes of base, one to a and one to b, in one text. part returns the number of
// the part of base that contains an offset; ok is false if both change the same part. Blank lines
// that surround a change, and what it inserts, belong to the part of the line above.
func Merge(base, a, b []byte, part func(offset int) int) (merged []byte, ok bool) {
	type change struct {
		lcs.Diff
		added []string
	}
	lines := splitLines(base)
	offsets := make([]int, len(lines)+1)
	for i, line := range lines {
		offsets[i+1] = offsets[i] + len(line)
	}
	var changes []change
	var parts [2]map[int]bool
	for side, text := range [][]byte{a, b} {
		with := splitLines(text)
		parts[side] = map[int]bool{}
		for _, d := range lcs.DiffLines(lines, with) {
			changes = append(changes, change{d, with[d.ReplStart:d.ReplEnd]})
			first, last := d.Start, d.End
			for first < last && strings.TrimSpace(lines[first]) == "" {
				first++
			}
			for first < last && strings.TrimSpace(lines[last-1]) == "" {
				last--
			}
			if first == last {
				first, last = max(0, d.Start-1), d.Start
			}
			for p, end := part(offsets[first]), part(offsets[max(first, last-1)]); p <= end; p++ {
				parts[side][p] = true
			}
		}
	}
	for p := range parts[0] {
		if parts[1][p] {
			return nil, false
		}
	}
	slices.SortStableFunc(changes, func(x, y change) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End)) })
	next := 0
	for _, c := range append(changes, change{Diff: lcs.Diff{Start: len(lines), End: len(lines)}}) {
		if c.Start < next {
			return nil, false
		}
		for _, line := range slices.Concat(lines[next:c.Start], c.added) {
			if len(merged) > 0 && merged[len(merged)-1] != '\n' {
				return nil, false // the last line of one text is no longer the last
			}
			merged = append(merged, line...)
		}
		next = c.End
	}
	return merged, true
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
