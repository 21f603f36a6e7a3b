package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

func TestRenameTag(t *testing.T) {
	w := newRealWorld(t, map[string]string{
		"A.md": "---\ntags: [project, other]\n---\ntext\n", "B.md": "about #project/house and #projects\n", "C.md": "#other\n",
	})
	dry, text := call[tools.RenameTagResult](t, w.session, "rename_tag", args{"tag": "#project", "to": "area", "dry_run": true})
	assert.Equal(t, []string{"A.md", "B.md"}, dry.Changed)
	assert.True(t, dry.DryRun)
	assert.Contains(t, text, "Nothing was written: renaming #project to #area would change 2 notes")
	assert.Equal(t, "about #project/house and #projects\n", w.disk(t, "B.md"))

	done, text := call[tools.RenameTagResult](t, w.session, "rename_tag", args{"tag": "project", "to": "area"})
	assert.Equal(t, 2, done.Total)
	assert.Contains(t, text, "Renamed #project to #area: 2 notes changed")
	assert.Equal(t, "---\ntags: [area, other]\n---\ntext\n", w.disk(t, "A.md"))
	assert.Equal(t, "about #area/house and #projects\n", w.disk(t, "B.md"))
	list, _ := call[tools.ListResult](t, w.session, "list_notes", args{"tags": []string{"area"}})
	assert.Equal(t, 2, list.Total)
	history, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"note": "B.md"})
	require.Len(t, history.Revisions, 2)
	call[tools.WriteResult](t, w.session, "restore_note", args{"note": "B.md", "revision": history.Revisions[1].Revision})
	assert.Equal(t, "about #project/house and #projects\n", w.disk(t, "B.md"))

	assert.Contains(t, refused(t, w.session, "rename_tag", args{"tag": "nothing", "to": "x"}), "nothing")

	history, text = call[tools.HistoryResult](t, w.session, "note_history", args{"note": "A.md"})
	assert.Equal(t, done.Change, history.Revisions[0].Change)
	assert.Contains(t, text, fmt.Sprintf("tag renamed by tester 2, +1 -1 lines, %d bytes, change %d", history.Revisions[0].Size, done.Change))
	undone, text := call[tools.WriteResult](t, w.session, "restore_note", args{"change": done.Change})
	assert.Equal(t, "---\ntags: [project, other]\n---\ntext\n", w.disk(t, "A.md"))
	assert.Equal(t, []string{"B.md"}, undone.Conflicts, "it was restored since")
	assert.Contains(t, text, fmt.Sprintf("Undid change %d: \"A.md\", revision %d", done.Change, undone.Revision))
	assert.Contains(t, text, "changed since, not restored; undo their later changes first (1):\n- B.md")
	created, _ := call[tools.CreateResult](t, w.session, "create_note", args{"title": "New", "content": "x"})
	history, _ = call[tools.HistoryResult](t, w.session, "note_history", args{"note": created.Path})
	undone, text = call[tools.WriteResult](t, w.session, "restore_note", args{"change": history.Revisions[0].Change})
	assert.Contains(t, text, `"New.md" is deleted, revision`)
	assert.Empty(t, undone.Hash)
	assert.False(t, undone.Unchanged)

	for _, wrong := range []args{{}, {"note": "A"}, {"revision": 1}, {"note": "A", "change": 1}, {"revision": 1, "change": 1}} {
		assert.Contains(t, refused(t, w.session, "restore_note", wrong), "change")
	}
	assert.Contains(t, refused(t, w.session, "restore_note", args{"change": 1000}), "there is no change 1000")
}

// Edits of tags and headings through the tool.
func TestEditNoteTagsAndHeadings(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "---\ntags: [one]\n---\n# Plan\n\n## Risks\n\nNone.\n", "B.md": "See [[A#Risks]] and [[A]].\n"})
	edited, text := call[tools.WriteResult](t, w.session, "edit_note", args{"note": "A", "edits": []args{
		{"op": "add_tag", "tag": "#two"}, {"op": "remove_tag", "tag": "one"}, {"op": "rename_heading", "heading": "Risks", "new": "Dangers"},
	}})
	assert.Equal(t, "---\ntags: [two]\n---\n# Plan\n\n## Dangers\n\nNone.\n", w.disk(t, "A.md"))
	assert.Equal(t, "See [[A#Dangers]] and [[A]].\n", w.disk(t, "B.md"))
	assert.Equal(t, []string{"B.md"}, edited.Relinked)
	assert.Contains(t, text, "also changed (1):\n- B.md")
	assert.Contains(t, refused(t, w.session, "edit_note", args{"note": "A", "edits": []args{{"op": "rename_heading", "heading": "Dangers"}}}), "new is missing; pass the heading's new text")
	assert.Contains(t, refused(t, w.session, "edit_note", args{"note": "A", "edits": []args{{"op": "add_tag", "tag": "x", "content": "y"}}}), `add_tag has no field "content"`)
}

// All tags and folders are listed in pages that fit, each name once.
func TestOverviewListsAllNames(t *testing.T) {
	files := map[string]string{}
	for i := range 700 {
		files[fmt.Sprintf("Folder number %03d/Note.md", i)] = fmt.Sprintf("#all #tag-with-a-long-name-%03d\n", i)
	}
	w := newRealWorld(t, files)
	for list, want := range map[string]int{"tags": 701, "folders": 700} {
		seen := map[string]int{}
		a := args{"list": list}
		pages := 0
		for {
			page, text := call[tools.Overview](t, w.session, "vault_overview", a)
			assert.Equal(t, 700, page.Notes)
			assert.Less(t, len(text), 20_000)
			for _, tag := range page.Tags {
				seen[tag.Tag] = tag.Notes
			}
			for _, f := range page.Folders {
				seen[f.Folder] = f.Notes
			}
			pages++
			if page.Next == "" {
				break
			}
			assert.Contains(t, text, "More with cursor")
			a["cursor"] = page.Next
		}
		assert.Greater(t, pages, 1)
		assert.Len(t, seen, want)
		for name, n := range seen {
			assert.Equal(t, map[bool]int{true: 700, false: 1}[name == "all"], n, name)
		}
	}
	overview, _ := call[tools.Overview](t, w.session, "vault_overview", nil)
	assert.Len(t, overview.Tags, 20)
	assert.Contains(t, refused(t, w.session, "vault_overview", args{"list": "notes"}), strings.Join([]string{"tags", "folders"}, ", "))
}
