package mirror

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// The same changes have the same results in a local vault and on a node: files, responses
// and errors. Another node's folder receives the same.
func TestSameOnFilesAndOnTheLog(t *testing.T) {
	files := map[string]string{
		"Plan.md": "# Plan\n\nfirst\n", "Links.md": "[[Plan]] and ![[i.png]]\n", "F/A.md": "[[B]]\n", "F/B.md": "b\n", "F/i.png": "\x00\x01", "Empty.md": "", "Crlf.md": "a\r\nb\r\n",
	}
	alone, err := store.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, alone.Close()) })
	dir := notestest.Vault(t, files)
	plain, err := vault.New(t.Context(), alone, dir, vault.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, plain.Reconcile(t.Context()))
	s := pgtest.New(t)
	shared, other := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, shared, other)

	edit := func(note, hash string, e notes.Edit) func(v *vault.Vault) (notes.Written, error) {
		return func(v *vault.Vault) (notes.Written, error) {
			return v.Edit(t.Context(), notes.EditRequest{Note: note, ExpectedHash: hash, Edits: []notes.Edit{e}})
		}
	}
	create := func(path, text string) func(v *vault.Vault) (notes.Written, error) {
		return func(v *vault.Vault) (notes.Written, error) {
			return v.Create(t.Context(), notes.CreateRequest{Path: path, Content: text})
		}
	}
	move := func(from, to string) func(v *vault.Vault) (notes.Written, error) {
		return func(v *vault.Vault) (notes.Written, error) {
			return v.Move(t.Context(), notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
		}
	}
	remove := func(note, hash string) func(v *vault.Vault) (notes.Written, error) {
		return func(v *vault.Vault) (notes.Written, error) {
			return v.Delete(t.Context(), notes.DeleteRequest{Note: note, ExpectedHash: hash})
		}
	}
	restore := func(note string) func(v *vault.Vault) (notes.Written, error) {
		return func(v *vault.Vault) (notes.Written, error) {
			revisions, err := v.History().Revisions(t.Context(), notes.HistoryQuery{Note: note})
			require.NoError(t, err)
			last := revisions.Revisions[len(revisions.Revisions)-1]
			return v.History().Restore(t.Context(), notes.RestoreRequest{Note: note, Revision: last.Revision})
		}
	}
	for i, c := range []struct {
		name string
		do   func(v *vault.Vault) (notes.Written, error)
	}{
		{"create", create("New/Note.md", "text\n")},
		{"create an empty one", create("None.md", "")},
		{"create a big one", create("Big.md", strings.Repeat("many words\n", 100_000))},
		{"create with a decomposed name", create(norm.NFD.String("Café.md"), "c\n")},
		{"create with a taken name", create("Plan.md", "x")},
		{"create with a name in another case", create("PLAN.md", "x")},
		{"edit", edit("Plan", "", notes.Edit{Op: "append", Content: "second"})},
		{"edit the empty one", edit("Empty", "", notes.Edit{Op: "append", Content: "no longer"})},
		{"edit by a composed name", edit("Café", "", notes.Edit{Op: "append", Content: "more"})},
		{"edit line ends", edit("Crlf", "", notes.Edit{Op: "append", Content: "c"})},
		{"edit an old version", edit("Plan", notes.Hash([]byte("# Plan\n\nfirst\n")), notes.Edit{Op: "append", Content: "x"})},
		{"edit without effect", edit("F/B", "", notes.Edit{Op: "replace_all", Content: "b\n"})},
		{"move with links", move("Plan", "Archive/The plan.md")},
		{"move to another case", move("F/B", "F/b.md")},
		{"move onto another", move("F/A", "Links.md")},
		{"move a folder with an attachment", move("F", "G/H")},
		{"delete", remove("The plan", "")},
		{"delete an old version", remove("G/H/A", notes.Hash([]byte("x")))},
		{"restore what was deleted", restore("Archive/The plan.md")},
		{"restore a version", restore("Empty.md")},
		{"delete what is not there", remove("Never", "")},
	} {
		want, wantErr := c.do(plain)
		got, err := c.do(shared.Vault)
		assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), c.name)
		assert.Equal(t, []any{want.Path, want.Hash, want.Diff, want.Conflicts}, []any{got.Path, got.Hash, got.Diff, got.Conflicts}, c.name)
		require.Equal(t, notestest.Read(t, dir), shared.files(), "%d %s", i, c.name)
	}
	assert.Equal(t, shared.files(), agree(t, shared, other))
}
