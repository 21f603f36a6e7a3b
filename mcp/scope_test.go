package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
)

// TestNothingOutsideChangesAnAnswer compares two vaults, of which one also has notes and
// settings outside the folder that the client may read: every answer to the same calls is
// the same. Only what counts all changes of a vault may differ.
func TestNothingOutsideChangesAnAnswer(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	mine := map[string]string{
		"Mine/A.md": "---\nstatus: open\n---\n# A\n\nboats, [[Plan]], [[B]], [x](../Private/Guess.md), [y](../Private/Absent.md), [[Layoffs]] [[Twin]] #shared\n\n- [ ] call Ann\n",
		"Mine/B.md": "# B\n\n## One\n\nboats again [[A]] ![[pic.png]] ![[chart.png]]\n",
		"Mine/C.md": "harbours\n", "Mine/T.md": "[[Twin]]\n",
		"Mine/Sub/D.md": "[c](../C.md)\n", "Mine/chart.png": "png",
	}
	const guess = "# Guess\n\nmerger of boats #shared #covert\n\n- [ ] fire Bob\n"
	outside := map[string]string{
		"Private/Deep/Plan.md": "# Plan\n\nboats and a covert word [[A]] [[C]]\n", "Private/Guess.md": guess,
		"Private/Layoffs.md": "---\naliases: [Reorg]\nstatus: open\n---\nharbours\n",
		"Private/pic.png":    "png", "Private/Gone.md": "gone\n", "Root.md": "# Root\n", "Private/X/Twin.md": "", "Private/Y/Twin.md": "", "Private/Board.canvas": `{"nodes":[{"type":"file","file":"Mine/C.md"}]}`,
		"Private/Journal/2026-01-29.md": "a day\n", "Private/Journal/2026-01-30.md": "another day\n",
		".obsidian/app.json": `{"newFileLocation":"folder","newFileFolderPath":"Private/Inbox"}`,
	}
	start := func(files ...map[string]string) (*realWorld, *sdk.ClientSession) {
		all := map[string]string{}
		for _, some := range files {
			for p, text := range some {
				all[p] = text
			}
		}
		w := newRealWorldAt(t, all, func() time.Time { return now }, func(w *realWorld) {
			for p := range all {
				require.NoError(t, os.Chtimes(filepath.Join(w.root, p), now, now.Add(-time.Hour)))
			}
		})
		return w, w.client(t, Profile{Read: []string{"Mine"}}, nil)
	}
	with, bounded := start(mine, outside)
	_, alone := start(mine)
	call[tools.DeleteResult](t, with.session, "delete_note", args{"note": "Private/Gone.md"})
	call[tools.MoveResult](t, with.session, "move_note", args{"note": "Private/Layoffs.md", "to": "Private/Deep/Layoffs.md"})
	call[tools.WriteResult](t, with.session, "edit_note", args{"note": "Private/Guess.md", "edits": []args{{"op": "append", "content": "more"}}})

	counted := regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z?|("(?:revision|change)":|(?:revision|change)[ =]|\\n)\d+|"next_cursor":"[^"]+"|\bcursor \S+| [0-9a-f]{6}\]`) // the last are marks of texts with numbers
	answer := func(value any, err error) string {
		data, encodeErr := json.Marshal(value)
		require.NoError(t, encodeErr)
		return counted.ReplaceAllString(fmt.Sprint(string(data), err), "$1…")
	}
	same := func(what string, ask func(s *sdk.ClientSession) (any, error)) {
		t.Helper()
		assert.Equal(t, answer(ask(alone)), answer(ask(bounded)), what)
	}
	ctx := t.Context()
	same("instructions", func(s *sdk.ClientSession) (any, error) { return s.InitializeResult().Instructions, nil })
	edit := func(note, op, content string) args {
		return args{"note": note, "edits": []args{{"op": op, "content": content}}}
	}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"vault_overview", nil}, {"vault_overview", args{"list": "tags"}}, {"vault_overview", args{"list": "folders"}},
		{"list_notes", args{"sort": "path"}}, {"list_notes", args{"orphans": true}}, {"list_notes", args{"broken_links": true}}, {"list_notes", args{"folder": "Private"}},
		{"list_notes", args{"tags": "covert"}}, {"list_notes", args{"where": args{"status": "opne"}}}, {"list_notes", args{"as_of": "2026-01-31T12:00:00Z"}},
		{"list_tasks", nil}, {"list_tasks", args{"folder": "Private"}}, {"list_tasks", args{"text": "fire"}},
		{"search_notes", args{"query": "boats", "explain": true}}, {"search_notes", args{"query": "cover word", "explain": true}}, {"search_notes", args{"query": `"covert word"`}},
		{"search_notes", args{"query": "harbours path:Private/"}}, {"search_notes", args{"query": "boats", "limit": 1}},
		{"gather_context", args{"query": "boats and harbours"}}, {"related_notes", args{"note": "Mine/A.md"}}, {"related_notes", args{"text": "covert boats"}},
		{"note_links", args{"note": "A", "depth": 3}}, {"note_links", args{"note": "C", "direction": "in"}}, {"note_links", args{"note": "Plan"}},
		{"read_note", args{"note": "Mine/A.md"}}, {"read_note", args{"note": "Plan"}}, {"read_note", args{"note": "Reorg"}}, {"read_note", args{"note": "Private/Guess.md"}},
		{"read_note", args{"note": "Private"}}, {"read_note", args{"note": "Private/Gone.md"}}, {"read_note", args{"note": "Gone"}}, {"read_note", args{"note": "Private/Layoffs.md"}},
		{"read_note", args{"note": "Private/pic.png"}}, {"read_note", args{"note": "Gues"}}, {"read_note", args{"note": "today"}}, {"read_note", args{"note": "yesterday"}},
		{"read_note", args{"note": "this week"}}, {"read_note", args{"note": "Private/Guess.md", "as_of": "2026-01-31T12:00:00Z"}}, {"read_note", args{"notes": []string{"Plan", "Mine/B.md"}}},
		{"note_history", nil}, {"note_history", args{"note": "Private/Gone.md"}}, {"note_history", args{"note": "yesterday"}}, {"note_history", args{"note": "Mine/A.md"}},
		{"restore_note", args{"change": 1}}, {"restore_note", args{"change": 2}}, {"restore_note", args{"note": "Private/Gone.md", "revision": 1}},
		{"check_quotes", args{"quotes": []args{{"anchor": "Private/Guess.md", "quote": "merger of boats"}, {"anchor": "Plan", "quote": "covert word"}}}},
		{"rename_tag", args{"tag": "covert", "to": "open"}},
		{"edit_note", edit("today", "append", "x")}, {"edit_note", edit("yesterday", "append", "x")}, {"edit_note", edit("Private/Guess.md", "append", "x")},
		{"edit_note", args{"note": "Mine/C.md", "expected_hash": notes.Hash([]byte(guess)), "edits": []args{{"op": "append", "content": "x"}}}},
		{"create_note", args{"title": "today", "content": "x"}}, {"create_note", args{"title": "New", "content": "x"}}, {"create_note", args{"path": "/Private/New.md", "content": "x"}},
		{"create_note", args{"folder": "/Private/Deep", "title": "New"}}, {"create_note", args{"path": "Private/Guess.md", "content": "x"}}, {"create_note", args{"folder": "Mine", "title": "Guess", "content": "x", "template": "Private/Guess.md"}},
		{"move_note", args{"note": "Mine/C.md", "to": "Private"}}, {"move_note", args{"note": "Mine/C.md", "to": "Private/Deep"}}, {"move_note", args{"note": "Mine/C.md", "to": "/Private/C.md"}},
		{"move_note", args{"note": "Private", "to": "Mine/P"}}, {"move_note", args{"note": "Mine/Sub", "to": "Private"}}, {"move_note", args{"note": "Mine/Sub", "to": "Private/Sub"}},
		{"move_note", args{"notes": []string{"Mine/C.md", "Private/Guess.md"}, "to": "Mine/Sub"}}, {"move_note", args{"notes": []string{"Private/Guess.md", "Mine/C.md"}, "to": "Mine/Sub"}}, {"move_note", args{"notes": []string{"Mine/C.md", "Private"}, "to": "Mine/Sub"}},
		{"move_note", args{"notes": []string{"Mine/C.md", "Mine/T.md"}, "to": "Private"}}, {"move_note", args{"notes": []string{"Mine/C.md", "Mine/T.md"}, "to": "/Private/Deep"}}, {"move_note", args{"notes": []string{"Mine/C.md", "Mine/T.md"}, "to": ""}},
		{"move_note", args{"notes": []string{"Mine/C.md", "Guess"}, "to": "Mine/Sub"}}, {"move_note", args{"notes": []string{"Mine/C.md", "Private/pic.png"}, "to": "Mine/Sub"}}, {"move_note", args{"notes": []string{"Mine/C.md", "Private/Gone.md"}, "to": "Mine/Sub"}},
		{"move_note", args{"notes": []string{"Mine/B.md", "Mine/T.md"}, "to": "Mine/Sub", "dry_run": true}},
		// A note takes the name to which a link in a note of the client leads, outside.
		{"create_note", args{"path": "Mine/Sub/E.md", "content": "e"}}, {"move_note", args{"note": "Mine/Sub/E.md", "to": "Mine/Sub/Plan.md"}}, {"read_note", args{"note": "Mine/A.md"}},
		{"move_note", args{"note": "Mine/A.md", "to": "Mine/Sub/A.md", "dry_run": true}}, {"delete_note", args{"note": "Mine/Sub/Plan.md"}},
		{"edit_note", args{"note": "Mine/B.md", "edits": []args{{"op": "rename_heading", "heading": "One", "new": "Two"}}}},
		{"note_history", args{"limit": 50}}, {"vault_overview", nil},
	} {
		same(fmt.Sprint(c.tool, c.args), func(s *sdk.ClientSession) (any, error) {
			return s.CallTool(ctx, &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		})
	}
	for _, uri := range []string{recentURI, overviewURI, tagPrefix + "covert", "note:///Private/Guess.md", "note:///Private/pic.png", "note:///Mine/chart.png", "note:///Mine/pic.png"} {
		same(uri, func(s *sdk.ClientSession) (any, error) { return s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri}) })
		same("watch "+uri, func(s *sdk.ClientSession) (any, error) { return nil, s.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}) })
	}
	same("resources", func(s *sdk.ClientSession) (any, error) { return s.ListResources(ctx, nil) })
	for _, p := range []struct {
		name string
		args map[string]string
	}{
		{"summarize_notes", map[string]string{"query": "boats"}}, {"summarize_notes", map[string]string{"folder": "Private"}}, {"summarize_note", map[string]string{"note": "Guess"}},
		{"daily_review", map[string]string{"date": "yesterday"}}, {"find_connections", map[string]string{"note": "Mine/A.md"}}, {"ask_notes", map[string]string{"question": "who is fired, by which merger?"}},
	} {
		same(p.name, func(s *sdk.ClientSession) (any, error) {
			return s.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.name, Arguments: p.args})
		})
	}
	for name, ref := range map[string]*sdk.CompleteReference{
		"path": {Type: "ref/resource", URI: noteTemplate.URITemplate}, "tag": {Type: "ref/resource", URI: tagTemplate.URITemplate}, "folder": {Type: "ref/prompt", Name: "summarize_notes"},
	} {
		same("complete "+name, func(s *sdk.ClientSession) (any, error) {
			return s.Complete(ctx, &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: name}})
		})
	}
}

// TestListChanged_OfReadableNotes checks that a client is not notified of notes outside its
// folders that come, go or move.
func TestListChanged_OfReadableNotes(t *testing.T) {
	core := New(Options{})
	session := func(p Profile) *session {
		s := core.newSession(p, !fixedTools)
		return s
	}
	mine, all := session(Profile{Read: []string{"Mine"}}), session(Profile{})
	for name, c := range map[string]struct {
		changes   []notes.Change
		mine, all bool
	}{
		"outside":  {[]notes.Change{{Kind: notes.Created, Path: "Private/C.md"}, {Kind: notes.Moved, Path: "Private/D.md", OldPath: "Private/B.md"}}, false, true},
		"inside":   {[]notes.Change{{Kind: notes.Deleted, Path: "Mine/A.md"}}, true, true},
		"out":      {[]notes.Change{{Kind: notes.Moved, Path: "Private/A.md", OldPath: "Mine/A.md"}}, true, true},
		"modified": {[]notes.Change{{Kind: notes.Modified, Path: "Mine/A.md"}}, false, false},
	} {
		n := NewNotifier(core, notes.Position{})
		require.NoError(t, n.Apply(t.Context(), notes.Position{}, c.changes))
		news, _ := n.due(time.Now().Add(listLatest))
		assert.Equal(t, c.mine, news.lists(mine), name)
		assert.Equal(t, c.all, news.lists(all), name)
		again, _ := n.due(time.Now().Add(2 * listLatest))
		assert.False(t, again.lists(all), name)
	}
	n := NewNotifier(core, notes.Position{})
	require.NoError(t, n.Reset(t.Context()))
	news, _ := n.due(time.Now().Add(listLatest))
	assert.True(t, news.lists(mine), "everything may have changed")
}

// TestRequestKeysOfSubjects checks that a subject's request key is unrelated to the same key
// of another.
func TestRequestKeysOfSubjects(t *testing.T) {
	w := newRealWorld(t, realVault)
	var at atomic.Pointer[string]
	at.Store(listen(t, newSubjectsNode(t, w.core, map[string]Profile{"ann": {Read: []string{"Ann"}}, "bob": {Read: []string{"Bob"}}})))
	create := func(name, title string) string {
		res, err := connectSubject(t, name, &at, nil).CallTool(t.Context(), &sdk.CallToolParams{
			Meta: sdk.Meta{MetaRequestKey: "1"}, Name: "create_note", Arguments: args{"path": strings.ToUpper(name[:1]) + name[1:] + "/" + title + ".md", "content": "x"},
		})
		require.NoError(t, err)
		return res.Content[0].(*sdk.TextContent).Text
	}
	assert.Contains(t, create("ann", "Plan"), "Ann/Plan.md")
	assert.Contains(t, create("bob", "Plan"), "Bob/Plan.md")
	assert.Contains(t, create("ann", "Plan"), "Ann/Plan.md", "a repeat")
	assert.Contains(t, create("bob", "Other"), "already used with another tool or other arguments")
}
