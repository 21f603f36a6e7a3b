package mcp

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// Revisions and their differences, the changes of all notes, and reads, lists and searches
// as of a time, over a real vault.
func TestRealPast(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Plan.md": "---\nstatus: open\n---\n# Plan\n\nFirst we dig.\n", "Other.md": "nothing here\n\nstate:: calm\n"})
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
	list, _ = call[tools.ListResult](t, w.session, "list_notes", args{"as_of": "0s", "sort": "path", "fields": []string{"state"}})
	assert.Equal(t, "calm", list.Notes[1].Fields["state"], "a field in the text of a note unchanged since")
	found, text := call[tools.SearchResult](t, w.session, "search_notes", args{"query": `"we build" -dig`, "as_of": "0s"})
	require.Len(t, found.Results, 1)
	assert.Equal(t, "Plan.md", found.Results[0].Path)
	assert.Equal(t, "First we build.", found.Results[0].Snippet)
	assert.Contains(t, text, "without semantic search")
	for _, query := range []string{"dig", "build tag:none"} {
		found, _ = call[tools.SearchResult](t, w.session, "search_notes", args{"query": query, "as_of": "0s"})
		assert.Empty(t, found.Results, query)
	}
	for query, want := range map[string]int{"build path:Plan": 1, "build path:Other": 0, "build -path:Plan": 0, "build -path:Other -tag:none": 1, "build -first": 0, "build ?": 1, "build before:2100-01-01": 1, "build has:todo": 0} {
		found, _ = call[tools.SearchResult](t, w.session, "search_notes", args{"query": query, "as_of": "0s"})
		assert.Len(t, found.Results, want, query)
	}
	for _, order := range []string{"size", "modified"} { // the order now is the order then
		now, _ := call[tools.ListResult](t, w.session, "list_notes", args{"sort": order})
		then, _ := call[tools.ListResult](t, w.session, "list_notes", args{"sort": order, "as_of": "0s"})
		require.Len(t, then.Notes, 3)
		assert.Equal(t, now.Notes[0].Path, then.Notes[0].Path, order)
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

// TestPastEqualsAReplay makes random changes through the tools and compares reads, lists
// and searches as of many times with a replay of the changes.
func TestPastEqualsAReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and nothing is concurrent in it that other tests do not have")
	}
	const changes, moments = 500, 20
	var mu sync.Mutex
	clock := time.Now().Add(time.Hour).Truncate(time.Second)
	now := func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	w := newRealWorldAt(t, map[string]string{"First.md": "w1 w2 w3\n"}, now, nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%d", rnd.IntN(12)) }
	text := func() string { return strings.Join([]string{word(), word(), word(), word()}, " ") + "\n" }

	type moment struct {
		at    time.Time
		notes map[string]string
	}
	present := map[string]string{"First.md": "w1 w2 w3\n"}
	var past []moment
	for i := range changes {
		mu.Lock()
		clock = clock.Add(time.Minute)
		mu.Unlock()
		paths := slices.Sorted(maps.Keys(present))
		p := fmt.Sprintf("Folder %d/Note %d.md", rnd.IntN(3), rnd.IntN(20))
		old := ""
		if len(paths) > 0 {
			old = paths[rnd.IntN(len(paths))]
		}
		switch _, taken := present[p]; {
		case !taken && (old == "" || rnd.IntN(3) == 0):
			present[p] = text()
			_, _ = call[tools.CreateResult](t, w.session, "create_note", args{"title": strings.TrimSuffix(path.Base(p), ".md"), "path": p, "content": present[p]})
		case !taken && rnd.IntN(4) == 0:
			_, _ = call[tools.MoveResult](t, w.session, "move_note", args{"note": old, "to": p})
			present[p] = present[old]
			delete(present, old)
		case rnd.IntN(8) == 0:
			_, _ = call[tools.DeleteResult](t, w.session, "delete_note", args{"note": old})
			delete(present, old)
		default:
			present[old] = text()
			_, _ = call[tools.WriteResult](t, w.session, "edit_note", args{"note": old, "edits": []args{{"op": "replace_all", "content": present[old]}}})
		}
		if i%(changes/moments) == 0 {
			past = append(past, moment{now().Add(time.Second), maps.Clone(present)})
		}
	}
	mu.Lock()
	clock = clock.Add(time.Hour)
	mu.Unlock()
	for _, m := range past {
		asOf := m.at.Format(time.RFC3339)
		list, _ := call[tools.ListResult](t, w.session, "list_notes", args{"as_of": asOf, "limit": 500, "sort": "path"})
		var paths []string
		for _, n := range list.Notes {
			paths = append(paths, n.Path)
		}
		want := slices.Sorted(maps.Keys(m.notes))
		require.ElementsMatch(t, want, paths, asOf)
		for _, p := range want {
			read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": p, "as_of": asOf})
			require.Equal(t, m.notes[p], read.Content, "%s at %s", p, asOf)
		}
		for range 5 {
			a, b := word(), word()
			found, _ := call[tools.SearchResult](t, w.session, "search_notes", args{"query": a + " " + b, "as_of": asOf, "limit": 50})
			var hits []string
			for _, h := range found.Results {
				hits = append(hits, h.Path)
			}
			var with []string
			for p, text := range m.notes {
				if begins := func(w string) bool { return strings.Contains(" "+text, " "+w) }; begins(a) && begins(b) {
					with = append(with, p)
				}
			}
			require.ElementsMatch(t, with, hits, "%s %s at %s", a, b, asOf)
		}
	}
}
