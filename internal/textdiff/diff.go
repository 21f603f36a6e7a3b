// Package textdiff shows what changed in a text, line by line, for people and models
// to read, within a bound. It is pure: every function may be called from any
// number of goroutines.
package textdiff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDifferences bounds the lines deleted and inserted that a minimal diff is
// sought for; a larger change is shown as one block replaced by another.
const maxDifferences = 400

// maxLine bounds, in bytes, how much of a line a diff shows.
const maxLine = 400

// Unified returns the change from old to new in unified format with context
// lines around it, empty when they are equal. It is for reading: long lines are
// shortened to where they differ, line breaks are shown as "\n" and no more than
// about maxBytes are written, with a last line that says what was left out; with
// 0 as maxBytes everything is written, long lines too.
// Shortest edit script after E. Myers, "An O(ND) Difference Algorithm and Its
// Variations" (1986).
func Unified(old, new []byte, name string, context, maxBytes int) string {
	if bytes.Equal(old, new) {
		return ""
	}
	context = max(context, 0)
	from, endOld, endNew := differing(old, new, context)
	a, b := splitLines(old[from:endOld]), splitLines(new[from:endNew])
	changes := changesBetween(a, b)
	w := &diffWriter{a: a, b: b, before: bytes.Count(old[:from], []byte{'\n'}), limit: maxBytes}
	fmt.Fprintf(&w.out, "--- a/%s\n+++ b/%s\n", name, name)
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].a-(changes[n-1].a+changes[n-1].deleted) <= 2*context {
			n++
		}
		w.hunk(changes[:n], context)
		changes = changes[n:]
	}
	if w.left > 0 {
		fmt.Fprintf(&w.out, "… %d more lines\n", w.left)
	}
	return strings.ToValidUTF8(w.out.String(), "\uFFFD")
}

// differing returns where old and new begin to differ and where each stops,
// widened to whole lines and by context lines.
func differing(old, new []byte, context int) (from, endOld, endNew int) {
	for from < len(old) && from < len(new) && old[from] == new[from] {
		from++
	}
	same := 0
	for same < len(old)-from && same < len(new)-from && old[len(old)-1-same] == new[len(new)-1-same] {
		same++
	}
	from = bytes.LastIndexByte(old[:from], '\n') + 1
	for range context {
		from = bytes.LastIndexByte(old[:max(from-1, 0)], '\n') + 1
	}
	startsLine := func(b []byte, i int) bool { return i == 0 || b[i-1] == '\n' }
	for lines := 0; same > 0; same-- {
		if startsLine(old, len(old)-same) && startsLine(new, len(new)-same) {
			if lines++; lines > context {
				break
			}
		}
	}
	return from, len(old) - same, len(new) - same
}

// splitLines returns the lines of b with their line breaks.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(b, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// change replaces deleted lines from a on with inserted lines from b on.
type change struct{ a, deleted, b, inserted int }

// changesBetween returns the changes that turn a into b, in order.
func changesBetween(a, b [][]byte) []change {
	start := 0
	for start < len(a) && start < len(b) && bytes.Equal(a[start], b[start]) {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && bytes.Equal(a[endA-1], b[endB-1]) {
		endA--
		endB--
	}
	inner, ok := shortestScript(a[start:endA], b[start:endB])
	if !ok {
		return []change{{start, endA - start, start, endB - start}}
	}
	for i := range inner {
		inner[i].a += start
		inner[i].b += start
	}
	return inner
}

// shortestScript is Myers' greedy algorithm. It gives up, and says so, beyond
// maxDifferences.
func shortestScript(a, b [][]byte) ([]change, bool) {
	limit := min(len(a)+len(b), maxDifferences)
	furthest := make([]int, 2*limit+3)
	middle := limit + 1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), furthest[middle-d-1:middle+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := furthest[middle+k-1] + 1
			if k == -d || k != d && furthest[middle+k-1] < furthest[middle+k+1] {
				x = furthest[middle+k+1]
			}
			for x < len(a) && x-k < len(b) && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			furthest[middle+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(trace, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// backtrack follows the trace from the end and returns the changes.
func backtrack(trace [][]int, x, y int) []change {
	var reversed []change
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d] // furthest before step d, from diagonal -d-1 on
		at := func(k int) int { return v[k+d+1] }
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		previous := k - 1
		if down {
			previous = k + 1
		}
		px := at(previous)
		py := px - previous
		c := change{a: px, b: py}
		if down {
			c.inserted = 1
		} else {
			c.deleted = 1
		}
		if n := len(reversed); n > 0 && reversed[n-1].a == c.a+c.deleted && reversed[n-1].b == c.b+c.inserted {
			last := &reversed[n-1]
			*last = change{c.a, last.deleted + c.deleted, c.b, last.inserted + c.inserted}
		} else {
			reversed = append(reversed, c)
		}
		x, y = px, py
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}

// diffWriter writes hunks as far as the limit allows.
type diffWriter struct {
	a, b   [][]byte
	before int // lines before a and b
	out    strings.Builder
	limit  int
	left   int // lines not written
}

func (w *diffWriter) hunk(changes []change, context int) {
	first, last := changes[0], changes[len(changes)-1]
	startA, startB := max(0, first.a-context), max(0, first.b-context)
	endA := min(len(w.a), last.a+last.deleted+context)
	endB := min(len(w.b), last.b+last.inserted+context)
	if w.full() {
		w.left += endA - startA + last.inserted
		return
	}
	fmt.Fprintf(&w.out, "@@ -%s +%s @@\n", w.lineRange(startA, endA), w.lineRange(startB, endB))
	at := startA
	for _, c := range changes {
		for ; at < c.a; at++ {
			w.line(' ', w.a[at], 0)
		}
		for i := range c.deleted {
			w.line('-', w.a[c.a+i], w.differsAt(c, i))
		}
		for i := range c.inserted {
			w.line('+', w.b[c.b+i], w.differsAt(c, i))
		}
		at = c.a + c.deleted
	}
	for ; at < endA; at++ {
		w.line(' ', w.a[at], 0)
	}
}

func (w *diffWriter) lineRange(start, end int) string {
	start, end = start+w.before, end+w.before
	switch end - start {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

// differsAt returns where the i-th line deleted and the i-th inserted begin to
// differ.
func (w *diffWriter) differsAt(c change, i int) int {
	if i >= c.deleted || i >= c.inserted {
		return 0
	}
	old, new := w.a[c.a+i], w.b[c.b+i]
	n := 0
	for n < len(old) && n < len(new) && old[n] == new[n] {
		n++
	}
	return n
}

func (w *diffWriter) full() bool { return w.limit > 0 && w.out.Len() >= w.limit }

// line writes one line, of a long one what is around the offset at.
func (w *diffWriter) line(mark byte, line []byte, at int) {
	if w.full() {
		w.left++
		return
	}
	text, complete := bytes.CutSuffix(line, []byte{'\n'})
	text = bytes.TrimSuffix(text, []byte{'\r'})
	w.out.WriteByte(mark)
	from := 0
	most := maxLine
	if w.limit == 0 {
		most = len(text)
	}
	if len(text) > most {
		from = max(0, min(at, len(text))-maxLine/4)
		from -= from - len(cut(string(text[:from+min(1, len(text)-from)]), from))
	}
	if from > 0 {
		w.out.WriteString("…")
	}
	shown := cut(string(text[from:]), most)
	w.out.WriteString(shown)
	if rest := len(text) - from - len(shown); rest > 0 {
		fmt.Fprintf(&w.out, "… (%d more bytes)", rest)
	}
	w.out.WriteByte('\n')
	if !complete {
		w.out.WriteString("\\ No newline at end of file\n")
	}
}

// cut bounds s to n bytes, at the start of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
