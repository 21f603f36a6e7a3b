package mcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disk returns a file of the vault.
func (w *realWorld) disk(t testing.TB, p string) string {
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(p)))
	require.NoError(t, err)
	return string(data)
}

func TestEditNoteAddsToSections(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Home.md": "# Home\n\nHi.\n\n## Maps\n\n- [[A]]\n\n### Old\n\nx\n\n## Log\n\nnone\n"})
	edit := func(fields args) string {
		out, text := call[writtenOutput](t, w.session, "edit_note", args{"note": "Home", "edits": []any{fields}})
		assert.Contains(t, text, out.Hash)
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
		{args{"op": "append", "heading": "Nope", "content": "x"}, []string{`"Home > Maps" (line 5)`, "create_heading", "Nothing was changed"}},
		{args{"op": "append", "content": "x", "old": "Hi."}, []string{`append has no field "old", which replace_text has`, "content, heading, create_heading"}},
		{args{"op": "replace_all", "new": "x"}, []string{"content is missing"}},
		{args{"op": "replace_all", "new": "x", "content": "y"}, []string{`replace_all has no field "new", which replace_text has`}},
		{args{"op": "replace_text", "old": "Hi."}, []string{"edit 1 (replace_text): new is missing"}},
		{args{"op": "replace_section", "heading": "Log"}, []string{"content is missing"}},
		{args{"op": "set_front_matter", "key": "status"}, []string{"value is missing; null removes the key"}},
		{args{"op": "insert_after", "heading": "Log", "content": "x", "create_heading": true}, []string{`"create_heading", which append and prepend have`}},
	} {
		text := refused(t, w.session, "edit_note", args{"note": "Home", "edits": []any{c.fields}})
		for _, want := range c.want {
			assert.Contains(t, text, want)
		}
	}
	assert.Equal(t, before, w.disk(t, "Home.md"))

	// What a host fills in of all fields, because it must, is not a field that was passed.
	assert.Contains(t, edit(args{"op": "append", "content": "end", "old": "", "new": nil, "heading": "", "key": "", "value": nil, "create_heading": false}), "- Rome\n\nend\n")
	assert.Contains(t, edit(args{"op": "replace_text", "old": "Hi.\n\n", "new": ""}), "# Home\n\n## Maps")
}

func TestCreateNoteKeepsWhatTheContentSays(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Rye Bread.md": "x\n", "File.md": "x\n"})
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(w.root, "Out")))
	made, _ := call[createOutput](t, w.session, "create_note", args{"title": "Call", "content": "---\ntags: [call]\nstatus: open\n---\nText\n",
		"tags": "work, call", "front_matter": args{"tags": []any{"Ann"}, "status": "open", "rank": 1}})
	assert.Equal(t, "---\ntags: [call, Ann, work]\nstatus: open\nrank: 1\n---\nText\n", w.disk(t, made.Path))
	made, _ = call[createOutput](t, w.session, "create_note", args{"title": "Plan", "content": "x", "path": "Notes/"})
	assert.Equal(t, "Notes/Plan.md", made.Path)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"title": "Rye bread", "content": "x"}, `"Rye Bread.md" exists already, and differs only in case`},
		{args{"title": "T", "content": "---\nstatus: open\n---\n", "front_matter": args{"status": "done"}}, `"status" has another value`},
		{args{"title": "T", "content": "x", "folder": "File.md"}, `"File.md" is a file and no folder`},
		{args{"title": "T", "content": "x", "folder": "Out/Deep"}, `"Out" is a symlink to a folder`},
	} {
		assert.Contains(t, refused(t, w.session, "create_note", c.args), c.want)
	}
}
