package mcp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// TestRealPast: revisions, their differences, the changes of all notes, and
// reads, lists and searches as of a moment, over a real vault.
func TestRealPast(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Plan.md": "---\nstatus: open\n---\n# Plan\n\nFirst we dig.\n", "Other.md": "nothing here\n"})
	edit := func(old, text string) {
		_, _ = call[tools.WriteResult](t, w.session, "edit_note", args{"note": "Plan", "edits": []args{{"op": "replace_text", "old": old, "new": text}}})
	}
	edit("dig", "survey")
	edit("survey", "build")
	history, text := call[tools.HistoryResult](t, w.session, "note_history", args{"note": "Plan"})
	require.Len(t, history.Revisions, 3)
	assert.Contains(t, text, "Plan.md edited by ")
	assert.Contains(t, text, "Plan.md first seen, +")
	first, last := history.Revisions[2].Revision, history.Revisions[0].Revision

	read, text := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plan", "revision": first})
	assert.Contains(t, read.Content, "First we dig.")
	assert.Contains(t, text, "which may not be what the note says now")
	refused(t, w.session, "read_note", args{"note": "Plan", "revision": 999})
	text = refused(t, w.session, "edit_note", args{"note": "Plan", "edits": []args{{"op": "replace_all", "content": "x"}}, "expected_hash": read.Hash})
	assert.Contains(t, text, "expected_hash", "a version of the past is not the one to write over")

	diff, text := call[tools.HistoryResult](t, w.session, "note_history", args{"note": "Plan", "diff": []int64{last, first}})
	assert.Contains(t, diff.Diff, "-First we dig.\n+First we build.")
	assert.Contains(t, text, diff.Diff)
	refused(t, w.session, "note_history", args{"note": "Plan", "diff": []int64{first}})

	w.write(t, "New.md", "fresh\n")
	_, _ = call[tools.ReadResult](t, w.session, "read_note", args{"note": "New"})
	changes, text := call[tools.HistoryResult](t, w.session, "note_history", args{"since": "today"})
	require.NotEmpty(t, changes.Revisions)
	assert.Contains(t, text, "New.md first seen")
	assert.Contains(t, text, "Plan.md edited by ")
	one, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"limit": 1})
	next, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"limit": 200, "cursor": one.Next})
	all, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"limit": 200})
	assert.Equal(t, all.Revisions, append(one.Revisions, next.Revisions...))

	list, text := call[tools.ListResult](t, w.session, "list_notes", args{"as_of": "0s", "where": args{"status": "open"}, "fields": []string{"status"}})
	require.Equal(t, 1, list.Total)
	assert.Equal(t, "open", list.Notes[0].Fields["status"])
	assert.Contains(t, text, "as it was at ")
	found, text := call[tools.SearchResult](t, w.session, "search_notes", args{"query": `"we build" -dig`, "as_of": "0s"})
	require.Len(t, found.Results, 1)
	assert.Equal(t, "Plan.md", found.Results[0].Path)
	assert.Equal(t, "First we build.", found.Results[0].Snippet)
	assert.Contains(t, text, "without semantic search")
	for _, query := range []string{"dig", "build tag:none"} {
		found, _ = call[tools.SearchResult](t, w.session, "search_notes", args{"query": query, "as_of": "0s"})
		assert.Empty(t, found.Results, query)
	}
	for tool, asked := range map[string]args{"read_note": {"note": "Plan"}, "list_notes": {}, "search_notes": {"query": "dig"}} {
		asked["as_of"] = "2020-01-31"
		assert.Contains(t, refused(t, w.session, tool, asked), "it begins at", tool)
		asked["as_of"] = "tomorrow"
		assert.Contains(t, refused(t, w.session, tool, asked), "is in the future", tool)
		asked["as_of"] = "someday"
		assert.Contains(t, refused(t, w.session, tool, asked), "as_of must be a time like", tool)
	}
	refused(t, w.session, "search_notes", args{"query": "dig", "as_of": "0s", "mode": "semantic"})
}
