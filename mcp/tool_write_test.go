package mcp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/vectors/table"
)

// files returns all notes of the vault on disk.
func (w *realWorld) files(t testing.TB) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(w.root, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err := filepath.Rel(w.root, p)
			require.NoError(t, err)
			files[name] = w.disk(t, name)
		}
		return err
	}))
	return files
}

// disk returns the contents of a file of the vault.
func (w *realWorld) disk(t testing.TB, p string) string {
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(p)))
	require.NoError(t, err)
	return string(data)
}

func TestEditNoteAddsToSections(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Home.md": "# Home\n\nHi.\n\n## Maps\n\n- [[A]]\n\n### Old\n\nx\n\n## Log\n\nnone\n"})
	edit := func(fields args) string {
		out, text := call[tools.WriteResult](t, w.session, "edit_note", args{"note": "Home", "edits": []any{fields}})
		assert.Contains(t, text, "hash "+notes.ShortHash(out.Hash)+",")
		return w.disk(t, "Home.md")
	}
	assert.Equal(t, "# Home\n\nHi.\n\n## Maps\n\n- [[A]]\n\n### Old\n\nx\n\n- [[X]]\n\n## Log\n\nnone\n", edit(args{"op": "append", "heading": "Maps", "content": "- [[X]]"}))
	assert.Equal(t, "# Home\n\nHi.\n\n## Maps\n\n- [[B]]\n- [[A]]\n\n### Old\n\nx\n\n- [[X]]\n\n## Log\n\nnone\n", edit(args{"op": "prepend", "section": "## Maps", "text": "- [[B]]"}))
	assert.Contains(t, edit(args{"op": "append", "heading": "Places", "content": "- Rome", "create_heading": "true"}), "none\n\n## Places\n\n- Rome\n")

	before := w.disk(t, "Home.md")
	for _, c := range []struct {
		fields args
		want   []string
	}{
		{args{"op": "append", "heading": "Nope", "content": "x"}, []string{"\n- Home > Maps (line 5)\n", "create_heading", "Nothing was changed"}},
		{args{"op": "append", "content": "x", "old": "Hi."}, []string{`append has no field "old"`, "content, heading, create_heading"}},
		{args{"op": "replace_all", "new": "x"}, []string{"content is missing"}},
		{args{"op": "replace_all", "old": "i", "new": "x"}, []string{"its fields are content; to replace a text, use replace_text (count: how often it occurs)"}},
		{args{"op": "replace_all", "new": "x", "content": "y"}, []string{`replace_all has no field "new"`}},
		{args{"op": "replace_text", "old": "Hi."}, []string{"edit 1 (replace_text): new is missing"}},
		{args{"op": "replace_section", "heading": "Log"}, []string{"content is missing"}},
		{args{"op": "set_front_matter", "key": "status"}, []string{"value is missing; null removes the key"}},
		{args{"op": "insert_after", "heading": "Log", "content": "x", "create_heading": true}, []string{`"create_heading"; its fields are heading, content`}},
	} {
		text := refused(t, w.session, "edit_note", args{"note": "Home", "edits": []any{c.fields}})
		for _, want := range c.want {
			assert.Contains(t, text, want)
		}
	}
	assert.Equal(t, before, w.disk(t, "Home.md"))

	// Fields that a host fills with empty values, because it must send all, do not count as
	// passed.
	assert.Contains(t, edit(args{"op": "append", "content": "end", "old": "", "new": nil, "heading": "", "key": "", "value": nil, "create_heading": false}), "- Rome\n\nend\n")
	assert.Contains(t, edit(args{"op": "replace_text", "old": "Hi.\n\n", "new": ""}), "# Home\n\n## Maps")
}

func TestCreateNoteKeepsWhatTheContentSays(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Rye Bread.md": "x\n", "File.md": "x\n"})
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(w.root, "Out")))
	made, _ := call[tools.CreateResult](t, w.session, "create_note", args{"title": "Call", "content": "---\ntags: [call]\nstatus: open\n---\nText\n",
		"tags": "work, call", "front_matter": args{"tags": []any{"Ann"}, "status": "open", "rank": 1}})
	assert.Equal(t, "---\ntags: [call, Ann, work]\nstatus: open\nrank: 1\n---\nText\n", w.disk(t, made.Path))
	made, _ = call[tools.CreateResult](t, w.session, "create_note", args{"title": "Plan", "content": "x", "path": "Notes/"})
	assert.Equal(t, "Notes/Plan.md", made.Path)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"title": "Rye bread", "content": "x"}, `"Rye Bread.md" exists already, and differs only in case`},
		{args{"title": "T", "content": "---\nstatus: open\n---\n", "front_matter": args{"status": "done"}}, `"status" has different values`},
		{args{"title": "T", "content": "x", "folder": "File.md"}, `"File.md" is a file, not a folder`},
		{args{"title": "T", "content": "x", "folder": "Out/Deep"}, `"Out" is a symlink to a folder`},
		{args{"title": "T"}, "content is required: pass Markdown, which may be empty, or a template"},
	} {
		assert.Contains(t, refused(t, w.session, "create_note", c.args), c.want)
	}
	made, _ = call[tools.CreateResult](t, w.session, "create_note", args{"title": "From a template", "template": "Rye Bread"})
	assert.Equal(t, "x\n", w.disk(t, made.Path))
	made, _ = call[tools.CreateResult](t, w.session, "create_note", args{"title": "2026-02-16"})
	assert.Equal(t, "2026-02-16.md", made.Path)
}

func TestCreateNote_DivertedLinks(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Work/Boat.md": "x\n", "Daily/D.md": "[[Boat]]\n"})
	made, text := call[tools.CreateResult](t, w.session, "create_note", args{"path": "Daily/Boat.md", "content": "x"})
	assert.Equal(t, []string{"Daily/D.md"}, made.Diverted)
	require.Len(t, made.Notes, 1)
	assert.Contains(t, made.Notes[0], fmt.Sprintf("undo this with restore_note change=%d and choose another title", made.Change))
	assert.Contains(t, text, made.Notes[0]+" (1):\n- Daily/D.md")
}

// A call that a relay repeats gets the first result, whatever has changed since, and asks
// the user nothing; a key that is reused for another call does nothing.
func TestRepeatedCallsAreAnswered(t *testing.T) {
	w := newRealTables(t, map[string]string{"A.md": "a\n", "B.md": "b\n", "C.md": "c\n", "L.md": "[[A]]\n", "M.md": "m\n", "N.md": "n\n"})
	var asked atomic.Int32
	client := func() *sdk.ClientSession { // each is as after the start of a new daemon
		return w.client(t, Profile{Tools: []string{groupAll}}, &sdk.ClientOptions{
			ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked.Add(1)
				return &sdk.ElicitResult{Action: "accept"}, nil
			},
		})
	}
	send := func(s *sdk.ClientSession, key, tool string, a args) *sdk.CallToolResult {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Meta: sdk.Meta{MetaRequestKey: key}, Name: tool, Arguments: a})
		require.NoError(t, err)
		return res
	}
	s := client()
	call[table.Item](t, s, "create_table", args{"table_name": "t", "dimension": 1})
	for _, id := range []string{"red", "blue", "green"} {
		call[tools.AddVectorResult](t, s, "add_vector", args{"table_name": "t", "vector": []any{1}, "id": id, "metadata": args{"name": id}})
	}
	for i, c := range []struct {
		tool  string
		args  args
		asks  int32
		after func() // other changes before the repeated call
	}{
		{"delete_note", args{"note": "A"}, 1, func() { w.write(t, "A.md", "another\n") }},
		{"move_note", args{"note": "B", "to": "D.md"}, 0, func() { w.write(t, "B.md", "another\n") }},
		{"edit_note", args{"note": "C", "edits": []any{args{"op": "append", "content": "x"}}}, 0, func() { w.write(t, "C.md", "another\n") }},
		{"edit_note", args{"notes": []any{"M", "N", "None"}, "edits": []any{args{"op": "append", "content": "x"}}}, 0, func() { w.write(t, "N.md", "another\n") }},
		{"restore_note", args{"note": "A", "revision": 1}, 0, func() { w.write(t, "A.md", "another\n") }},
		{"create_note", args{"title": "New", "content": "x"}, 0, func() { require.NoError(t, os.Remove(filepath.Join(w.root, "New.md"))) }},
		{"create_table", args{"table_name": "u", "dimension": 2}, 0, func() { call[tools.DropTableResult](t, w.session, "drop_table", args{"table_name": "u"}) }},
		{"add_vector", args{"table_name": "t", "rows": []any{args{"vector": []any{2}}, args{"vector": []any{3}, "id": "3"}}}, 0, func() {
			call[tools.DeleteVectorsResult](t, w.session, "delete_vectors", args{"table_name": "t", "ids": "3"})
		}},
		{"delete_vectors", args{"table_name": "t", "ids": "red"}, 0, func() {
			call[tools.AddVectorResult](t, w.session, "add_vector", args{"table_name": "t", "vector": []any{1}, "id": "red"})
		}},
		{"delete_vectors", args{"table_name": "t", "filter": args{"name": "blue"}}, 1, func() {
			call[tools.AddVectorResult](t, w.session, "add_vector", args{"table_name": "t", "vector": []any{1}, "metadata": args{"name": "blue"}})
		}},
		{"drop_table", args{"table_name": "t"}, 1, func() {}},
	} {
		key := fmt.Sprintf("key %d", i)
		asked.Store(0)
		first := send(client(), key, c.tool, c.args)
		require.False(t, first.IsError, first.Content[0].(*sdk.TextContent).Text)
		if c.args["notes"] != nil {
			assert.Equal(t, "n\n\nx\n", w.disk(t, "N.md"))
		}
		assert.Equal(t, c.asks, asked.Load(), c.tool)
		c.after()
		w.vault.Changed([]string{"A.md", "B.md", "C.md", "N.md", "New.md"})
		rows := func() string {
			_, text := call[tools.ListTablesResult](t, w.session, "list_tables", nil)
			return text
		}
		disk, tables := w.files(t), rows()
		again := send(client(), key, c.tool, c.args)
		assert.Equal(t, first, again, c.tool)
		assert.Equal(t, c.asks, asked.Load(), "%s: a repeat asks nobody", c.tool)

		for _, other := range []struct {
			tool string
			args args
		}{
			{"create_note", args{"title": "Other", "content": "x"}},
			{"delete_note", args{"note": "L"}},
			{"create_table", args{"table_name": "other", "dimension": 2}},
			{"drop_table", args{"table_name": "other"}},
			{"delete_vectors", args{"table_name": "t", "filter": args{"x": 1}}},
		} {
			res := send(s, key, other.tool, other.args)
			assert.True(t, res.IsError)
			assert.Contains(t, res.Content[0].(*sdk.TextContent).Text, "its request key was already used with another tool")
		}
		assert.Equal(t, disk, w.files(t), c.tool)
		assert.Equal(t, tables, rows(), c.tool)
	}
}

// Changes that replace text are conditional on the version that the session saw last; those
// that only add text, or quote the text they replace, succeed.
func TestReplace_UnseenVersion(t *testing.T) {
	const first, second = "# A\n\none\n\n## S\n\nx\n", "# A\n\ntwo\n\n## S\n\nx\n"
	edit := func(fields args) args { return args{"note": "N", "edits": []any{fields}} }
	replaceAll := edit(args{"op": "replace_all", "content": "new\n"})
	for _, c := range []struct {
		name, tool string
		args       args
		conflict   bool
	}{
		{"replace_all", "edit_note", replaceAll, true},
		{"replace_section", "edit_note", edit(args{"op": "replace_section", "heading": "S", "content": "y"}), true},
		{"delete", "delete_note", args{"note": "N"}, true},
		{"restore", "restore_note", args{"note": "N", "revision": 1}, true},
		{"append", "edit_note", edit(args{"op": "append", "content": "y"}), false},
		{"append to a section", "edit_note", edit(args{"op": "append", "heading": "S", "content": "y"}), false},
		{"replace_text", "edit_note", edit(args{"op": "replace_text", "old": "x", "new": "y"}), false},
		{"insert_after", "edit_note", edit(args{"op": "insert_after", "heading": "S", "content": "y"}), false},
		{"front matter", "edit_note", edit(args{"op": "set_front_matter", "key": "k", "value": 1}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRealWorld(t, map[string]string{"N.md": "# A\n"})
			call[tools.WriteResult](t, w.session, "edit_note", edit(args{"op": "replace_all", "content": first}))
			s := w.client(t, Profile{Tools: []string{groupAll}}, nil)
			stranger := w.client(t, Profile{Tools: []string{groupAll}}, nil)
			switch c.name {
			case "delete": // read as a resource
				_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///N.md"})
				require.NoError(t, err)
			case "replace_section": // embedded by a prompt
				_, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_note", Arguments: map[string]string{"note": "N"}})
				require.NoError(t, err)
			default:
				call[tools.ReadResult](t, s, "read_note", args{"note": "N"})
			}
			w.write(t, "N.md", second)
			w.vault.Changed([]string{"N.md"})
			if !c.conflict {
				call[tools.WriteResult](t, s, c.tool, c.args)
				assert.Contains(t, w.disk(t, "N.md"), "two")
				// To write over an unseen version does not make that version seen.
				assert.Contains(t, refused(t, s, "edit_note", replaceAll), "since this session last saw it")
				return
			}
			for range 2 {
				text := refused(t, s, c.tool, c.args)
				for _, want := range []string{"the note was changed since this session last saw it; nothing was written", "hash now: ", "-one", "+two"} {
					assert.Contains(t, text, want)
				}
				assert.Equal(t, second, w.disk(t, "N.md"))
			}
			// A session that has never read the note may change it, and so may this one
			// after it has read the note again.
			res, err := stranger.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: replaceAll})
			require.NoError(t, err)
			assert.False(t, res.IsError)
			read, _ := call[tools.ReadResult](t, s, "read_note", args{"note": "N"})
			again, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: edit(args{"op": "replace_all", "content": first})})
			require.NoError(t, err)
			assert.False(t, again.IsError)
			w.write(t, "N.md", read.Content)
			w.vault.Changed([]string{"N.md"})
			moved := args{"note": "N", "edits": replaceAll["edits"], "expected_hash": read.Hash}
			call[tools.WriteResult](t, s, "edit_note", moved)
			call[tools.MoveResult](t, s, "move_note", args{"note": "N", "to": "M.md"})
			w.write(t, "M.md", second)
			w.vault.Changed([]string{"M.md"})
			assert.Contains(t, refused(t, s, "delete_note", args{"note": "M"}), "since this session last saw it")
		})
	}
}

// What a dry run has shown is what the change that follows it is about.
func TestSeen_DryRun(t *testing.T) {
	for tool, change := range map[string]args{
		"edit_note":    {"note": "N", "edits": []any{args{"op": "replace_all", "content": "mine\n"}}},
		"restore_note": {"note": "N", "revision": 1},
		"delete_note":  {"note": "N"},
	} {
		t.Run(tool, func(t *testing.T) {
			w := newRealWorld(t, map[string]string{"N.md": "one\n"})
			call[tools.WriteResult](t, w.client(t, Profile{Tools: []string{groupAll}}, nil), "edit_note",
				args{"note": "N", "edits": []any{args{"op": "append", "content": "two"}}})
			dry := maps.Clone(change)
			dry["dry_run"] = true
			if tool == "delete_note" {
				call[tools.DeleteResult](t, w.session, tool, dry)
			} else {
				call[tools.WriteResult](t, w.session, tool, dry)
			}
			w.write(t, "N.md", "theirs\n")
			w.vault.Changed([]string{"N.md"})
			for _, again := range []args{change, dry, change} {
				assert.Contains(t, refused(t, w.session, tool, again), "since this session last saw it")
			}
			assert.Equal(t, "theirs\n", w.disk(t, "N.md"))
		})
	}
}

// The dry run of the undo of a move shows the note at its present path, not at the former one.
func TestSeen_DryRunOfUndoneMove(t *testing.T) {
	w := newRealWorld(t, map[string]string{"N.md": "one\n"})
	moved, _ := call[tools.MoveResult](t, w.client(t, Profile{Tools: []string{groupAll}}, nil), "move_note", args{"note": "N", "to": "M.md"})
	call[tools.WriteResult](t, w.session, "restore_note", args{"change": moved.Change, "dry_run": true})
	for _, path := range []string{"N.md", "M.md"} {
		w.write(t, path, "theirs\n")
	}
	w.vault.Changed([]string{"N.md", "M.md"})
	replace := func(note string) args {
		return args{"note": note, "edits": []any{args{"op": "replace_all", "content": "mine\n"}}}
	}
	assert.Contains(t, refused(t, w.session, "edit_note", replace("M.md")), "since this session last saw it")
	call[tools.WriteResult](t, w.session, "edit_note", replace("N.md"))
}

// A note that another session or program moves is still the one that a session has read.
func TestSeen_MovedByOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		move func(t *testing.T, w *realWorld)
	}{
		{"session", func(t *testing.T, w *realWorld) {
			call[tools.MoveResult](t, w.client(t, Profile{Tools: []string{groupAll}}, nil), "move_note", args{"note": "N", "to": "Dir/M.md"})
		}},
		{"program", func(t *testing.T, w *realWorld) {
			require.NoError(t, os.Mkdir(filepath.Join(w.root, "Dir"), 0o755))
			require.NoError(t, os.Rename(filepath.Join(w.root, "N.md"), filepath.Join(w.root, "Dir", "M.md")))
			w.vault.Changed([]string{"N.md", "Dir"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRealWorld(t, map[string]string{"N.md": "one\n"})
			call[tools.ReadResult](t, w.session, "read_note", args{"note": "N"})
			c.move(t, w)
			<-w.listed                                          // the notifier knows
			for _, path := range []string{"Dir/M.md", "N.md"} { // N.md is another note now
				w.write(t, path, "theirs\n")
				w.vault.Changed([]string{path})
				replace := args{"note": path, "edits": []any{args{"op": "replace_all", "content": "mine\n"}}}
				assert.Contains(t, refused(t, w.session, "edit_note", replace), "since this session last saw it")
				call[tools.ReadResult](t, w.session, "read_note", args{"note": path})
				call[tools.WriteResult](t, w.session, "edit_note", replace)
			}
		})
	}
}

// A note that others move away and back is the one that the session edited in between.
func TestSeen_MovedAwayAndBack(t *testing.T) {
	w := newRealWorld(t, map[string]string{"N.md": "one\n"})
	replace := func(note string) args {
		return args{"note": note, "edits": []any{args{"op": "replace_all", "content": "mine in " + note + "\n"}}}
	}
	call[tools.ReadResult](t, w.session, "read_note", args{"note": "N.md"})
	for _, move := range [][2]string{{"N.md", "M.md"}, {"M.md", "N.md"}} {
		require.NoError(t, os.Rename(filepath.Join(w.root, move[0]), filepath.Join(w.root, move[1])))
		w.vault.Changed(move[:])
		<-w.listed // the notifier knows
		call[tools.WriteResult](t, w.session, "edit_note", replace(move[1]))
	}
}

// A session has seen the links and tags that its own changes updated, but not what others
// wrote before.
func TestSeen_OwnUpdatesOfOtherNotes(t *testing.T) {
	const other = "# Other\n\n[[N]] #old\n"
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"move_note", args{"note": "N", "to": "M.md"}, "[[M]]"},
		{"rename_tag", args{"tag": "old", "to": "new"}, "#new"},
		{"edit_note", args{"note": "N", "edits": []any{args{"op": "rename_heading", "heading": "H", "new": "K"}}}, "[[N#K]]"},
		{"delete_note", args{"note": "N", "redirect": "A"}, "[[A]]"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			text := other
			if c.tool == "edit_note" {
				text = strings.Replace(other, "[[N]]", "[[N#H]]", 1)
			}
			w := newRealWorld(t, map[string]string{"N.md": "# H\n\n#old\n", "A.md": "a\n", "Other.md": text})
			s, stale := w.client(t, Profile{Tools: []string{groupAll}}, nil), w.client(t, Profile{Tools: []string{groupAll}}, nil)
			for _, session := range []*sdk.ClientSession{s, stale} {
				call[tools.ReadResult](t, session, "read_note", args{"note": "Other"})
			}
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
			require.NoError(t, err)
			require.False(t, res.IsError, "%v", res.Content)
			require.Contains(t, w.disk(t, "Other.md"), c.want)
			replace := args{"note": "Other", "edits": []any{args{"op": "replace_all", "content": "x\n"}}}
			assert.Contains(t, refused(t, stale, "edit_note", replace), "since this session last saw it")
			call[tools.WriteResult](t, s, "edit_note", replace)
		})
	}
}

func TestSeen_NotesOfAMovedFolder(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Dir/N.md": "one\n", "Dir/Linking.md": "[[Dir/N]]\n"})
	for _, note := range []string{"N", "Linking"} {
		call[tools.ReadResult](t, w.session, "read_note", args{"note": note})
	}
	call[tools.MoveResult](t, w.session, "move_note", args{"note": "Dir", "to": "Folder"})
	replace := func(note string) args {
		return args{"note": note, "edits": []any{args{"op": "replace_all", "content": "mine\n"}}}
	}
	require.Equal(t, "[[Folder/N]]\n", w.disk(t, "Folder/Linking.md"))
	call[tools.WriteResult](t, w.session, "edit_note", replace("Linking"))
	w.write(t, "Folder/N.md", "theirs\n")
	w.vault.Changed([]string{"Folder/N.md"})
	assert.Contains(t, refused(t, w.session, "edit_note", replace("N")), "since this session last saw it")
}

func TestMoveOfAFolderNamesItsNotes(t *testing.T) {
	files := map[string]string{"Languages/French.md": "x\n", "Languages/Old/Latin.md": "[[French]]\n", "Languages/map.png": "x", "Other.md": "x\n"}
	w := newRealWorld(t, files)
	moved, text := call[tools.MoveResult](t, w.session, "move_note", args{"note": "Languages", "to": "Lang", "dry_run": true})
	assert.Equal(t, 2, moved.Total)
	assert.Contains(t, text, "Nothing was written")
	moved, text = call[tools.MoveResult](t, w.session, "move_note", args{"note": "Languages", "to": "Lang"})
	assert.Equal(t, []string{"Lang/French.md", "Lang/Old/Latin.md"}, moved.Moved)
	assert.Equal(t, 2, moved.Total)
	assert.Equal(t, "Moved the folder \"Languages\" to \"Lang\", change 1\nnotes in it (2):\n- Lang/French.md\n- Lang/Old/Latin.md", text)

	back, text := call[tools.WriteResult](t, w.session, "restore_note", args{"change": moved.Change})
	assert.Equal(t, `Undid change 1: the folder "Lang" is "Languages" again, change 2`, text)
	assert.Equal(t, "Languages", back.Path)
	assert.Equal(t, "[[French]]\n", w.disk(t, "Languages/Old/Latin.md"))
	assert.Equal(t, "x", w.disk(t, "Languages/map.png"))

	many := map[string]string{}
	for i := range 700 {
		many[fmt.Sprintf("A folder with a long name/Note number %03d.md", i)] = "x"
	}
	moved, _ = call[tools.MoveResult](t, newRealWorld(t, many).session, "move_note", args{"note": "A folder with a long name", "to": "B folder with a long name"})
	assert.Equal(t, 700, moved.Total)
	assert.Less(t, len(moved.Moved), 700)
	assert.NotEmpty(t, moved.Moved)
}

// Several notes move as one change, and back: the result has each note's paths.
func TestMoveOfSeveralNotes(t *testing.T) {
	files := map[string]string{"In/A.md": "[[B]] [b](B.md)\n", "In/B.md": "[k](../Keep.md)\n", "Keep.md": "[a](In/A.md)\n", "Out/C.md": "c\n"}
	w := newRealWorld(t, files)
	for _, note := range []string{"In/A.md", "In/B.md", "Keep.md"} {
		call[tools.ReadResult](t, w.session, "read_note", args{"note": note})
	}
	require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Keep.md"}))
	several := args{"notes": []string{"In/A.md", "In/B.md"}, "to": "Out", "dry_run": true}
	would, text := call[tools.MoveResult](t, w.session, "move_note", several)
	assert.Equal(t, "Nothing was written: this would move 2 notes to \"Out/\":\n- In/A.md → Out/A.md\n- In/B.md → Out/B.md\nlinks changed in (1):\n- Keep.md", text)
	assert.True(t, would.DryRun)
	delete(several, "dry_run")
	moved, text := call[tools.MoveResult](t, w.session, "move_note", several)
	assert.Equal(t, "Moved 2 notes to \"Out/\", change 1:\n- In/A.md → Out/A.md\n- In/B.md → Out/B.md\nlinks changed in (1):\n- Keep.md", text)
	assert.Equal(t, []string{"Out/A.md", "Out/B.md"}, moved.Moved)
	assert.Equal(t, []string{"In/A.md", "In/B.md"}, moved.From)
	assert.Equal(t, 2, moved.Total)
	assert.Equal(t, "Out/", moved.Path)
	assert.Equal(t, "[a](Out/A.md)\n", w.disk(t, "Keep.md"))
	assert.Equal(t, "note:///Keep.md", <-w.updated)

	// The session has seen the notes under their new paths.
	replace := args{"note": "Out/B.md", "dry_run": true, "edits": []any{args{"op": "replace_all", "content": "mine\n"}}}
	call[tools.WriteResult](t, w.session, "edit_note", replace)
	w.write(t, "Out/A.md", "theirs\n")
	w.vault.Changed([]string{"Out/A.md"})
	replace["note"] = "Out/A.md"
	assert.Contains(t, refused(t, w.session, "edit_note", replace), "since this session last saw it")
	w.write(t, "Out/A.md", "[[B]] [b](B.md)\n")
	w.vault.Changed([]string{"Out/A.md"})

	_, text = call[tools.WriteResult](t, w.session, "restore_note", args{"change": moved.Change})
	assert.Contains(t, text, "also changed (2):\n- In/B.md\n- Keep.md")
	for name, was := range files {
		assert.Equal(t, was, w.disk(t, name))
	}
	assert.Contains(t, refused(t, w.session, "move_note", args{"to": "Out/"}), "pass a note")
	one, text := call[tools.MoveResult](t, w.session, "move_note", args{"notes": []string{"Keep"}, "to": "Out"})
	assert.Equal(t, "Out/Keep.md", one.Path)
	assert.Contains(t, text, `Moved "Keep.md" to "Out/Keep.md", revision `)
}

// The result of undoing a move says what it moves, even if the note's text is unchanged.
func TestUndoOfAMoveSaysSo(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Plan.md": "# Plan\n", "Index.md": "[[Plan]]\n"})
	moved, text := call[tools.MoveResult](t, w.session, "move_note", args{"note": "Plan", "to": "Work/Scheme.md"})
	assert.Equal(t, "Plan", moved.Title)
	assert.Contains(t, text, "\nits title is still \"Plan\"; edit_note changes it\nlinks changed in (1)")
	undo := args{"change": moved.Change, "dry_run": true}
	would, text := call[tools.WriteResult](t, w.session, "restore_note", undo)
	assert.Contains(t, text, "Nothing was written: \"Work/Scheme.md\" would be \"Plan.md\" again\nalso changed (1):\n- Index.md")
	assert.False(t, would.Unchanged)
	delete(undo, "dry_run")
	same, _ := call[tools.MoveResult](t, w.session, "move_note", args{"note": "Index", "to": "Index 2.md"})
	assert.Empty(t, same.Title, "its title is its name")
	undone, text := call[tools.WriteResult](t, w.session, "restore_note", undo)
	assert.Contains(t, text, `Undid change 1: "Work/Scheme.md" is "Plan.md" again, revision `)
	assert.Equal(t, "Work/Scheme.md", undone.OldPath)
	assert.False(t, undone.Unchanged)

	_, err := call[tools.CreateResult](t, w.session, "create_note", args{"path": "Work/New.md", "content": "new"})
	assert.Contains(t, err, `Created "Work/New.md"`, "a path is enough")
	history, _ := call[tools.HistoryResult](t, w.session, "note_history", args{"note": "Work/New.md"})
	_, text = call[tools.WriteResult](t, w.session, "restore_note", args{"change": history.Revisions[0].Change, "dry_run": true})
	assert.Contains(t, text, `Nothing was written: "Work/New.md" would be deleted`)
	assert.Contains(t, text, "--- a/Work/New.md\n")
}

func TestWrites_ReportUnchangedNote(t *testing.T) {
	w := newRealWorld(t, map[string]string{"N.md": "x\n"})
	made, _ := call[tools.CreateResult](t, w.session, "create_note", args{"title": "M", "content": "m"})
	for _, dry := range []bool{false, true} {
		same, text := call[tools.WriteResult](t, w.session, "restore_note", args{"note": "M", "revision": made.Revision, "dry_run": dry})
		assert.True(t, same.Unchanged)
		assert.Equal(t, made.Hash, same.Hash)
		assert.Contains(t, text, `"M.md" is unchanged`)
		assert.NotContains(t, text, "revision")
	}
	edited, _ := call[tools.WriteResult](t, w.session, "edit_note", args{"note": "M", "edits": []any{args{"op": "replace_all", "content": "new"}}})
	assert.False(t, edited.Unchanged)
}

// Every writing tool's result matches its schema, whatever it reports, and says the same as
// text.
func TestWriteToolOutputs(t *testing.T) {
	for _, tc := range []struct {
		tool string
		call func(*testing.T, *sdk.ClientSession, string, args) string
		args args
		text string
	}{
		{"move_note", textOf[tools.MoveResult], args{"old_path": "Beds", "new_path": "Beds of peas.md"}, "links changed in (1):\n- Index.md"},
		{"move_note", textOf[tools.MoveResult], args{"note": "Beds", "to": "Full.md", "dry_run": "yes", "update_links": false}, `Nothing was written: this would move "Garden/Beds.md" to "Full.md"`},
		{"create_note", textOf[tools.CreateResult], args{"title": "New", "content": "text"}, `Created "New.md", revision`},
		{"edit_note", textOf[tools.WriteResult], args{"note": "Garden/Beds", "edits": []any{args{"op": "replace_text", "old_str": "four", "new_str": "five"}}}, `Edited "Garden/Beds.md", revision`},
		{"edit_note", textOf[tools.WriteResult], args{"note": "Garden/Beds", "edits": args{"op": "append", "content": "x"}, "dry_run": true}, `Nothing was written: "Garden/Beds.md" would become`},
		{"edit_note", textOf[tools.WriteResult], args{"note": "Garden/Beds", "edits": args{"op": "replace_text", "old": "four", "new": "four"}}, `"Garden/Beds.md" is unchanged`},
		{"delete_note", textOf[tools.DeleteResult], args{"note": "Garden/Beds"}, "restore_note change=1 brings it back\nstill linked from (1):\n- Index.md"},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			w := newRealWorld(t, map[string]string{"Garden/Beds.md": "four beds\n", "Index.md": "[[Beds]]\n"})
			before := w.files(t)
			assert.Contains(t, tc.call(t, w.session, tc.tool, tc.args), tc.text)
			if tc.args["dry_run"] != nil {
				assert.Equal(t, before, w.files(t))
			}
		})
	}
}

// The note can be restored as the result of the deletion says.
func TestDeleteNote_UndoAsReported(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Garden/Beds.md": "four beds\n"})
	before := w.files(t)
	deleted, text := call[tools.DeleteResult](t, w.session, "delete_note", args{"note": "Beds"})
	assert.Contains(t, text, fmt.Sprintf("restore_note change=%d", deleted.Change))
	assert.Contains(t, refused(t, w.session, "read_note", args{"note": "Beds"}), `the note "Garden/Beds.md" was deleted`)
	call[tools.WriteResult](t, w.session, "restore_note", args{"change": deleted.Change})
	assert.Equal(t, before, w.files(t))
}

// A note that is restored by its name does not get the links back that its deletion redirected.
func TestRestoreNote_AfterRedirect(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Old.md": "old\n", "New.md": "new\n", "A.md": "[[Old]]\n", "B.md": "[[Old]]\n", "Alone.md": "alone\n"})
	before := w.files(t)
	deleted, _ := call[tools.DeleteResult](t, w.session, "delete_note", args{"note": "Old", "redirect": "New"})
	_, text := call[tools.WriteResult](t, w.session, "restore_note", args{"note": "Old.md"})
	assert.Contains(t, text, fmt.Sprintf("its deletion changed the links in 2 notes; restore_note change=%d changes them back", deleted.Change))
	call[tools.WriteResult](t, w.session, "restore_note", args{"change": deleted.Change})
	assert.Equal(t, before, w.files(t))
	call[tools.DeleteResult](t, w.session, "delete_note", args{"note": "Alone"})
	_, text = call[tools.WriteResult](t, w.session, "restore_note", args{"note": "Alone.md"})
	assert.NotContains(t, text, "its deletion")
	// To a client of one folder, a note that was moved out of it is a deleted one.
	w = newRealWorld(t, map[string]string{"Mine/A.md": "a\n"})
	call[tools.WriteResult](t, w.session, "edit_note", args{"note": "Mine/A.md", "edits": []args{{"op": "append", "content": "more"}}})
	call[tools.MoveResult](t, w.session, "move_note", args{"note": "Mine/A.md", "to": "Private/A.md"})
	_, text = call[tools.WriteResult](t, w.client(t, Profile{Read: []string{"Mine"}}, nil), "restore_note", args{"note": "Mine/A.md"})
	assert.NotContains(t, text, "its deletion", "the last change that it may see is the edit")
}

func textOf[T any](t *testing.T, s *sdk.ClientSession, tool string, a args) string {
	_, text := call[T](t, s, tool, a)
	return text
}

// A client that does not read a new note must know of what the template left to do.
func TestCreateNoteTellsOfTemplaterCommands(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Person.md": "# {{title}}\n\nMet: <% tp.date.now() %>\n", "Plain.md": "# {{title}}\n"})
	for template, content := range map[string]string{"Person": "Hi", "Plain": "Hi", "": "<% mine %>"} {
		out, text := call[tools.CreateResult](t, w.session, "create_note", args{"title": "From " + template, "template": template, "content": content})
		assert.Equal(t, template == "Person", strings.Contains(text, "commands of Templater"), text)
		assert.Equal(t, template == "Person", len(out.Notes) == 1)
	}
}
