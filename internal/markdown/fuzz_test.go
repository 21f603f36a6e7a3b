package markdown

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"notesd/internal/markdown/mdtest"
)

func FuzzParse(f *testing.F) {
	for _, seed := range mdtest.Seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc := Parse(src)
		requireSoundDocument(t, src, doc)
		requireReferences(t, src, doc)
		for _, target := range []int{1, 20, 220} {
			requireSoundChunks(t, src, doc, chunksOf(src, doc, target, target/3))
		}
	})
}

// requireSoundDocument checks the invariants of a document.
func requireSoundDocument(t *testing.T, src []byte, doc *Document) {
	t.Helper()
	lines := 1 + bytes.Count(src, []byte{'\n'})
	fm := doc.FrontMatter
	if fm.Format != "" {
		require.True(t, fm.Start < fm.InnerStart && fm.InnerStart <= fm.InnerEnd && fm.InnerEnd < fm.End)
		require.Equal(t, fm.End, doc.BodyStart)
		require.Equal(t, fm.Err == nil, fm.Values != nil)
	}
	require.LessOrEqual(t, doc.BodyStart, len(src))
	last := doc.BodyStart
	var open []Heading
	for _, h := range doc.Headings {
		require.True(t, last <= h.Start && h.Start < h.ContentStart && h.ContentStart <= h.End && h.End <= len(src), "%+v", h)
		require.Equal(t, 1+bytes.Count(src[:h.Start], []byte{'\n'}), h.Line)
		require.True(t, utf8.ValidString(h.Text))
		for len(open) > 0 && open[len(open)-1].End <= h.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			require.LessOrEqual(t, h.End, open[len(open)-1].End, "sections nest")
		}
		open = append(open, h)
		last = h.ContentStart
	}
	last = 0
	for _, l := range doc.Links {
		require.True(t, last <= l.Start && l.Start <= l.TargetStart && l.TargetStart <= l.TargetEnd && l.TargetEnd <= l.End &&
			l.Start < l.End && l.End <= len(src), "%+v", l)
		require.Equal(t, 1+bytes.Count(src[:l.Start], []byte{'\n'}), l.Line)
		last = l.Start
	}
	for _, b := range doc.Blocks {
		require.True(t, b.lineStart <= b.Start && b.Start <= b.End && b.End <= len(src) && b.ID != "", "%+v", b)
		require.Equal(t, 1+bytes.Count(src[:b.Start], []byte{'\n'}), b.Line)
		require.True(t, b.itemEnd >= b.lineStart && b.itemEnd <= len(src), "%+v", b)
	}
	for _, task := range doc.Tasks {
		require.True(t, task.Line >= 1 && task.Line <= lines)
	}
	seen := map[string]bool{}
	for _, tag := range doc.Tags {
		require.True(t, tag != "" && utf8.ValidString(tag) && !seen[strings.ToLower(tag)], "%q", tag)
		seen[strings.ToLower(tag)] = true
	}
}

// requireSoundChunks checks that chunks cover the body exactly, split no character and
// have the right lines.
func requireSoundChunks(t *testing.T, src []byte, doc *Document, chunks []Chunk) {
	t.Helper()
	if len(bytes.TrimSpace(src[doc.BodyStart:])) == 0 {
		require.Empty(t, chunks)
		return
	}
	at := doc.BodyStart
	for i, c := range chunks {
		require.Equal(t, i, c.Ordinal)
		require.Equal(t, at, c.Start)
		require.Greater(t, c.End, c.Start)
		require.Equal(t, 1+bytes.Count(src[:c.Start], []byte{'\n'}), c.LineStart)
		require.Equal(t, 1+bytes.Count(src[:c.End-1], []byte{'\n'}), c.LineEnd)
		if c.End < len(src) && utf8.Valid(src[c.Start:min(c.End+4, len(src))]) {
			require.True(t, utf8.RuneStart(src[c.End]))
		}
		at = c.End
	}
	require.Equal(t, len(src), at)
}
