package mcp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
)

func TestReadNoteOutline(t *testing.T) {
	w := newRealWorld(t, map[string]string{
		"Plan.md":  "---\nstatus: open\n---\n# Plan\n\nText.\n\n## Risks\n\n### Slugs\nToo.\n\n## Money\n",
		"Plain.md": "no headings\n",
	})
	read, text := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plan", "outline": true})
	assert.Equal(t, []notes.OutlineItem{
		{Heading: "Plan", Level: 1, LineStart: 4, LineEnd: 13, Bytes: 50},
		{Heading: "Risks", Level: 2, LineStart: 8, LineEnd: 12, Bytes: 26},
		{Heading: "Slugs", Level: 3, LineStart: 10, LineEnd: 12, Bytes: 16},
		{Heading: "Money", Level: 2, LineStart: 13, LineEnd: 13, Bytes: 9},
	}, read.Outline)
	assert.Empty(t, read.Content)
	assert.Equal(t, "open", read.FrontMatter["status"])
	assert.Contains(t, text, "8-12 ## Risks (26 bytes)")

	read, _ = call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plan#Risks", "outline": true})
	require.Len(t, read.Outline, 2)
	assert.Equal(t, "Risks", read.Outline[0].Heading)

	_, text = call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plain", "outline": true})
	assert.Contains(t, text, "There are no headings")
}

// An outline that does not fit can be read in parts by next_lines, and is then complete.
func TestReadNoteOutlineContinues(t *testing.T) {
	var note strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&note, "## Heading number %d\n\ntext\n\n", i)
	}
	w := newRealWorld(t, map[string]string{"Long.md": note.String()})
	a := args{"note": "Long.md", "outline": true}
	seen := 0
	for {
		read, text := call[tools.ReadResult](t, w.session, "read_note", a)
		for _, h := range read.Outline {
			assert.Equal(t, fmt.Sprintf("Heading number %d", seen), h.Heading)
			seen++
		}
		if !read.Truncated {
			break
		}
		assert.Contains(t, text, "go on with lines")
		a["lines"] = read.NextLines
	}
	assert.Equal(t, 2000, seen)
}

func TestReadSeveralNotes(t *testing.T) {
	long := strings.Repeat("a line of text\n", 5000)
	w := newRealWorld(t, map[string]string{"A.md": "# A\nalpha\n", "B.md": "# B\n\n## Part\nbeta\n\n## Other\n", "Long.md": long, "Long 2.md": long})
	many, text := call[tools.ReadManyResult](t, w.session, "read_note", args{"notes": []string{"A", "B#Part", "note:///Gone.md", "B.md:1-1"}})
	require.Len(t, many.Results, 3)
	assert.Equal(t, "# A\nalpha\n", many.Results[0].Content)
	assert.Equal(t, "## Part\nbeta\n\n", many.Results[1].Content)
	assert.Equal(t, "# B\n", many.Results[2].Content)
	assert.Len(t, many.Results[0].Hash, 64)
	assert.False(t, many.Truncated)
	require.Len(t, many.Notes, 1)
	assert.Contains(t, many.Notes[0], "note:///Gone.md: ")
	assert.Contains(t, text, `[note "note:///B.md?rev=`)
	assert.Contains(t, text, "Gone.md")

	within[tools.ReadManyResult](t, w, 20_000, "read_note", args{"notes": []string{"Long.md", "A.md", "Long 2.md"}})
	many, _ = call[tools.ReadManyResult](t, w.session, "read_note", args{"notes": "Long.md, A.md, Long 2.md"})
	require.Len(t, many.Results, 3, "each has its share")
	assert.Equal(t, "# A\nalpha\n", many.Results[1].Content)
	assert.True(t, many.Truncated)
	assert.Greater(t, len(many.Results[2].Content), len(many.Results[0].Content), "what A did not need is left to the others")
	assert.NotEmpty(t, many.Results[0].NextLines)
	many, _ = call[tools.ReadManyResult](t, w.session, "read_note", args{"notes": []string{"Long.md", "A.md", "Long 2.md"}, "max_bytes": 1000})
	contents := 0
	for _, read := range many.Results {
		contents += len(read.Content)
	}
	assert.InDelta(t, 1000, contents, 30, "max_bytes is for all of them")

	res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args{"notes": []string{"Nothing"}}})
	require.NoError(t, err)
	assert.True(t, res.IsError)
	assert.Contains(t, refused(t, w.session, "read_note", args{}), "pass a note, or several as notes")
}

// Every tool that takes a note accepts references as written in results, links and other
// programs.
func TestReferencesInEveryTool(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Work/Plan.md": "# Plan\n\nFirst.\n\n## Risks\n\nSnails. [[Other]]\n", "Other.md": "[[Plan]]\n"})
	read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plan", "lines": "5-7"})
	for _, ref := range []string{
		"Work/Plan.md", "Plan", "note:///Work/Plan.md", "note://Work/Plan.md", read.Anchor, "Work/Plan.md:5-7", "Plan#Risks", "[[Plan#Risks|it]]", w.root + "/Work/Plan.md",
		"file:///" + strings.TrimPrefix(filepath.ToSlash(w.root), "/") + "/Work/Plan.md", "obsidian://open?vault=" + filepath.Base(w.root) + "&file=Work%2FPlan",
	} {
		for tool, a := range map[string]args{
			"read_note": {}, "note_links": {}, "related_notes": {}, "note_history": {}, "list_tasks": {},
			"check_quotes": {"quotes": []args{{"anchor": ref, "quote": "Snails."}}},
		} {
			if tool != "check_quotes" {
				a["note"] = ref
			}
			res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
			require.NoError(t, err)
			text := res.Content[0].(*sdk.TextContent).Text
			assert.False(t, res.IsError, "%s %s: %s", tool, ref, text)
			switch tool {
			case "read_note", "note_links", "note_history":
				assert.Contains(t, text, "Work/Plan.md", "%s %s", tool, ref)
			case "check_quotes":
				assert.Contains(t, text, "exact", ref)
			}
		}
	}
	call[tools.DeleteResult](t, w.session, "delete_note", args{"note": "Plan"})
	history, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"note": read.Anchor})
	assert.Equal(t, "delete", history.Revisions[0].Operation)
}

// A line that is too long for one result is reported as cut, also if lines follow it, so
// that a reader who continues with those knows what is missing.
func TestReadNoteNamesACutLine(t *testing.T) {
	long := strings.Repeat("word ", 20_000) + "needle\n"
	w := newRealWorld(t, map[string]string{"Long.md": "# Long\n" + long + "after\n", "B.md": long + "after\n", "C.md": "c\n"})
	read, text := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Long"})
	assert.Equal(t, "# Long\n", read.Content, "a line is not begun when it does not fit")
	assert.NotContains(t, text, "is cut")
	read, text = call[tools.ReadResult](t, w.session, "read_note", args{"note": "Long", "lines": read.NextLines})
	assert.NotContains(t, read.Content, "needle")
	assert.Equal(t, "3-3", read.NextLines)
	assert.Contains(t, text, "line 2 is cut: raise max_bytes")
	read, _ = call[tools.ReadResult](t, w.session, "read_note", args{"note": "Long", "lines": "2-2", "max_bytes": 200_000})
	assert.Equal(t, long, read.Content)
	assert.Empty(t, read.Notes)

	many, _ := call[tools.ReadManyResult](t, w.session, "read_note", args{"notes": []string{"B", "C"}})
	require.Len(t, many.Results, 2)
	assert.Equal(t, []string{"line 1 is cut: raise max_bytes to see all of it"}, many.Results[0].Notes)
}
