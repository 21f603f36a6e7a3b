package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
	"notesd/search"
)

// A result that was not found in one of the ways has no values for it, and explain says why
// it may not have been.
func TestSearchExplains(t *testing.T) {
	hit := func(w search.Why) SearchHit {
		return resultOf(search.Hit{Path: "A.md", Title: "A", Score: 0.9, Why: w}, true)
	}
	out := SearchResult{Total: 2, Semantic: Semantic{State: search.StateBuilding, Coverage: 0.999}, Results: []SearchHit{
		hit(search.Why{TextRank: 1, TextScore: 4.7, VectorRank: 3, VectorScore: 0.5}),
		hit(search.Why{TextRank: 2, TextScore: 4.2}),
		hit(search.Why{VectorRank: 1, VectorScore: 0.6}),
	}}
	text := searchText(searchArgs{Query: "q", Explain: true}, out)
	assert.Contains(t, text, "(score 0.9, text #1 4.7, meaning #3 0.5)")
	assert.Contains(t, text, "(score 0.9, text #2 4.2)")
	assert.Contains(t, text, "(score 0.9, meaning #1 0.6)")
	assert.NotContains(t, text, "#0")
	assert.NotContains(t, text, "read as")
	out.Read = search.Reading{Words: []string{"a", "b"}, Without: []string{"-c"}}
	assert.Contains(t, searchText(searchArgs{Query: "q", Explain: true}, out), "(read as words: a, b; without: -c)")
	assert.Contains(t, text, "(99% of the passages are embedded so far; semantic search cannot find the others yet)")

	assert.NotContains(t, searchText(searchArgs{Query: "q"}, out), "embedded")
	weak := out
	weak.Weak = true
	assert.Contains(t, searchText(searchArgs{Query: "q"}, weak), "99% of the passages are embedded so far")
	assert.Contains(t, searchText(searchArgs{Query: "q"}, SearchResult{Semantic: out.Semantic}), "99% of the passages are embedded so far")
	out.Semantic.State = search.StateReady
	assert.NotContains(t, searchText(searchArgs{Query: "q", Explain: true}, out), "embedded")
	out.Semantic = Semantic{State: search.StateBuilding, Coverage: 1}
	assert.NotContains(t, searchText(searchArgs{Query: "q", Explain: true}, out), "embedded")
}

// Notes that are only remotely similar and share no word are not related.
func TestRemoteNotesAreNotRelated(t *testing.T) {
	near := neighbours{}
	near.addHits([]search.Hit{
		{Path: "Close.md", Score: 0.5, Why: search.Why{VectorRank: 2}},
		{Path: "Words.md", Score: 0.04, Why: search.Why{VectorRank: 3, Terms: []string{"rye"}}},
		{Path: "Remote.md", Score: 0.04, Why: search.Why{VectorRank: 4}},
	})
	var paths []string
	for _, n := range near.best("Self.md", 10) {
		paths = append(paths, n.Path)
	}
	assert.Equal(t, []string{"Close.md", "Words.md"}, paths)

	near = neighbours{}
	near.addHits([]search.Hit{{Path: "Opposite.md", Score: -0.1, Why: search.Why{VectorRank: 1, Terms: []string{"rye"}}}})
	assert.Empty(t, near, "no score to divide by")
}

// The title stands beside a path that does not say it, under a heading too.
func TestSearchText_Title(t *testing.T) {
	out := SearchResult{Total: 2, Results: []SearchHit{
		{Path: "202601051230.md", Title: "Sourdough Starter", Heading: "Feeding"},
		{Path: "Rye Bread.md", Title: "Rye Bread", Heading: "Oven"},
	}}
	text := searchText(searchArgs{Query: "q"}, out)
	assert.Contains(t, text, "1. 202601051230.md:0-0 Sourdough Starter › Feeding\n")
	assert.Contains(t, text, "2. Rye Bread.md:0-0 › Oven\n")
}

// A weak result is marked, unless all are weak, which the first line says.
func TestSearchText_Weak(t *testing.T) {
	out := SearchResult{Total: 2, Results: []SearchHit{{Path: "A.md", Title: "A"}, {Path: "B.md", Title: "B", Weak: true}}}
	text := searchText(searchArgs{Query: "q"}, out)
	assert.Contains(t, text, "1. A.md:0-0\n")
	assert.Contains(t, text, "2. B.md:0-0 (weak)\n")
	out.Results[0].Weak, out.Weak = true, true
	text = searchText(searchArgs{Query: "q"}, out)
	assert.Contains(t, text, "2 of 2 notes, none of which matches well\n")
	assert.NotContains(t, text, "(weak)")
}

// A long query, such as a pasted note, does not take the room of the hits.
func TestSearchText_LongQuery(t *testing.T) {
	out := SearchResult{Total: 1, Results: []SearchHit{{Path: "A.md", Title: "A"}}}
	assert.Less(t, len(searchText(searchArgs{Query: strings.Repeat("long ", 3000)}, out)), 500)
}

// Emoji, numbers and single letters are no reasons, unless there is no other.
func TestHitReason(t *testing.T) {
	assert.Equal(t, "close in meaning, shares the words rye, 黑麦", hitReason(search.Why{VectorRank: 1, Terms: []string{"📅", "rye", "2026", "g", "黑麦"}}))
	assert.Equal(t, "close in meaning", hitReason(search.Why{VectorRank: 1, Terms: []string{"2026"}}))
	assert.Equal(t, "shares the word 2026", hitReason(search.Why{Terms: []string{"2026"}}))
}

// What a change could not update is in its text.
func TestChangedText_Left(t *testing.T) {
	w := notes.Written{Path: "A.md", Hash: "1", Was: "0", Left: []string{"Board.canvas"}, Conflicts: []string{"B.md"}}
	assert.Contains(t, changedText("Edited", w, WriteResult{}), "\nunreadable, broken or not writable, not updated (1):\n- Board.canvas\nchanged or in use by another program, not updated (1):\n- B.md")
	assert.Contains(t, changedText("Restored", w, WriteResult{}), "changed since, not restored; undo their later changes first (1):\n- B.md")
}
