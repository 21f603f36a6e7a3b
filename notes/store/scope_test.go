package store_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestScope_NothingOutside checks that no answer of the store contains anything from
// outside the caller's folders, however it is reached: by a link, a symlink, a move, a
// deletion.
func TestScope_NothingOutside(t *testing.T) {
	ctx := t.Context()
	const secret = "Xsecret|Open/Link" // the second is a symlink to a file outside
	w := newWorld(t, map[string]string{
		"Open/A.md":              "---\nstatus: open\n---\n# A\n[[Link]] [[Hidden]] ![[pic.png]] #mine\n- [ ] call\n",
		"Open/Day/2031-05-15.md": "day\n",
		"Vault/Hidden.md":        "---\nXsecretkey: Xsecretvalue\naliases: [Xsecretalias]\n---\n# Xsecret title\n[[A]] [[pic.png]] #Xsecrettag\n- [ ] Xsecret task\n",
		"Vault/pic.png":          "png", "Vault/Gone.md": "Xsecret\n",
	})
	require.NoError(t, os.Symlink(filepath.Join("..", "Vault", "Hidden.md"), filepath.Join(w.dir, "Open", "Link.md")))
	w.reconcile()
	at := w.advance(time.Hour)
	_, err := w.vault.Edit(ctx, notes.EditRequest{Note: "Open/Link.md", Edits: []notes.Edit{{Op: "append", Content: "Xsecret end"}}}) // adds it to history
	require.NoError(t, err)
	w.advance(time.Hour)
	_, err = w.vault.Move(ctx, notes.MoveRequest{Note: "Open/Day/2031-05-15.md", To: "Vault/Xsecret day.md"})
	require.NoError(t, err)
	_, err = w.vault.Delete(ctx, notes.DeleteRequest{Note: "Vault/Gone.md"})
	require.NoError(t, err)

	answers := func(scope notes.Scope) (text, failures string) {
		var all, errs strings.Builder
		answer := func(name string, v any, err error) {
			data, marshalErr := json.Marshal(v)
			require.NoError(t, marshalErr)
			all.WriteString(name + " " + string(data) + "\n")
			if err != nil {
				data, _ = json.Marshal(err)
				errs.WriteString(name + " " + err.Error() + " " + string(data) + "\n")
			}
		}
		filter := notes.Filter{Scope: scope.Read}
		list, err := w.List(ctx, notes.ListQuery{Filter: filter, Fields: []string{"Xsecretkey", "title"}})
		answer("list", list, err)
		paths, err := w.Paths(ctx, filter)
		answer("paths", paths, err)
		tags, err := w.Tags(ctx, scope)
		answer("tags", tags, err)
		folders, err := w.Folders(ctx, scope)
		answer("folders", folders, err)
		graph, err := w.Graph(ctx, scope)
		answer("graph", graph, err)
		tasks, err := w.Store.Tasks(ctx, notes.TaskQuery{Scope: scope})
		answer("tasks", tasks, err)
		changes, err := w.Changes(ctx, notes.HistoryQuery{Scope: scope})
		answer("changes", changes, err)
		why, err := w.WhyNothing(ctx, notes.Filter{Scope: scope.Read, Where: object{"secretkey": "x"}, Tags: []string{"secrettag"}, Folder: "Vaults"})
		answer("why", why, err)
		m, err := w.AsOf(ctx, at, &sync.Mutex{})
		require.NoError(t, err)
		_, err = m.Notes(ctx, filter, func(n *notes.Note) error { answer("then", n, nil); return nil })
		answer("then", nil, err)
		for _, ref := range []string{"Open/A.md", "Open/Link.md", "Link", "Hidden", "Vault/Hidden.md", "Xsecret title", "Xsecretalias", "Open/Day/2031-05-15.md", "Vault/Gone.md", "Gone", "Vault", "Vault/pic.png", "Hiddn"} {
			meta, err := w.Lookup(ctx, ref, scope)
			answer("lookup", meta, err)
			links, err := w.Links(ctx, ref, notes.LinkQuery{Scope: scope, Depth: 3})
			answer("links", links, err)
			was, err := m.Read(ctx, ref, scope)
			answer("was", was, err)
			history, err := w.vault.History().Revisions(ctx, notes.HistoryQuery{Note: ref, Scope: scope})
			answer("history", history, err)
			page, err := w.Page(ctx, ref, notes.HistoryQuery{Scope: scope})
			answer("page", page, err)
			for revision := range int64(8) {
				n, err := w.Store.Revision(ctx, ref, revision, scope)
				answer("revision", n, err)
			}
			from, err := w.LinkedFrom(ctx, meta.ID, scope)
			answer("linked from", from, err)
			file, others, err := w.Files().Linked(ctx, ref, scope)
			answer("attachment", []any{file.Path, others}, err)
		}
		return all.String(), errs.String()
	}
	everything, _ := answers(notes.Scope{})
	for _, name := range []string{"list", "paths", "tags", "graph", "tasks", "changes", "why", "then", "lookup", "links", "was", "history", "page", "revision", "linked from"} {
		assert.Regexp(t, "(?m)^"+name+" .*("+secret+")", everything, "who may read everything sees it: %s", name)
	}
	within, failures := answers(notes.Scope{Read: []string{"Open"}})
	assert.Contains(t, within, "Open/A.md")
	for line := range strings.Lines(within) {
		assert.NotRegexp(t, secret, line)
	}
	for line := range strings.Lines(failures) {
		assert.NotContains(t, line, "Xsecret day", "where the note was moved to")
		assert.NotContains(t, line, `"Candidates":["Vault`)
		assert.NotContains(t, line, `"Candidates":["Open/Link`)
	}
}

// TestReadable_Symlinks checks that a symlink is readable if its target is, and that a
// file that replaces it is treated like any other.
func TestReadable_Symlinks(t *testing.T) {
	w := newWorld(t, map[string]string{"Open/A.md": "a", "Vault/B.md": "b"})
	open := notes.Scope{Read: []string{"Open"}}
	paths := func() []string {
		w.reconcile()
		canRead, err := w.Readable(t.Context(), open)
		require.NoError(t, err)
		listed := w.list(notes.Filter{Scope: open.Read})
		for _, p := range []string{"Open/A.md", "Open/In.md", "Open/Out.md", "Vault/B.md"} {
			_, err := w.Lookup(t.Context(), notes.URI(p), open)
			assert.Equal(t, slices.Contains(listed, p), err == nil, "%s: %v", p, err)
			if slices.Contains(listed, p) {
				assert.True(t, canRead(p), p)
			}
		}
		return listed
	}
	require.NoError(t, os.Symlink("A.md", filepath.Join(w.dir, "Open", "In.md")))
	out := filepath.Join(w.dir, "Open", "Out.md")
	require.NoError(t, os.Symlink(filepath.Join("..", "Vault", "B.md"), out))
	assert.Equal(t, []string{"Open/A.md", "Open/In.md"}, paths())
	require.NoError(t, os.Remove(out))
	w.save("Open/Out.md", "its own")
	assert.Equal(t, []string{"Open/A.md", "Open/In.md", "Open/Out.md"}, paths())
	require.NoError(t, os.Remove(out))
	require.NoError(t, os.Symlink(filepath.Join("..", "Vault", "B.md"), out))
	assert.Equal(t, []string{"Open/A.md", "Open/In.md"}, paths())
}

// TestHistory_GoneSymlink checks that the versions of a deleted symlink are readable
// only if its target was, even if another file now has its path.
func TestHistory_GoneSymlink(t *testing.T) {
	w := newWorld(t, map[string]string{"Open/A.md": "a", "Vault/B.md": "secret"})
	open := notes.Scope{Read: []string{"Open"}}
	out := filepath.Join(w.dir, "Open", "Out.md")
	require.NoError(t, os.Symlink(filepath.Join("..", "Vault", "B.md"), out))
	w.reconcile()
	earlier := w.advance(time.Hour)
	w.advance(time.Hour)
	require.NoError(t, os.Remove(out))
	w.reconcile()
	check := func() {
		all, err := w.Page(t.Context(), "Open/Out.md", notes.HistoryQuery{})
		require.NoError(t, err)
		require.NotEmpty(t, all.Revisions)
		_, err = w.DeletedPath(t.Context(), "Out", open, notes.ErrNotFound)
		require.ErrorIs(t, err, notes.ErrNotFound)
		page, err := w.Page(t.Context(), "Open/Out.md", notes.HistoryQuery{Scope: open})
		require.NoError(t, err)
		assert.Empty(t, page.Revisions)
		page, err = w.Changes(t.Context(), notes.HistoryQuery{Scope: open})
		require.NoError(t, err)
		require.Len(t, page.Revisions, 1)
		assert.Equal(t, "Open/A.md", page.Revisions[0].Path)
		for _, r := range all.Revisions {
			_, err := w.RevisionText(t.Context(), "read", "Open/Out.md", r.Revision, open)
			require.ErrorIs(t, err, notes.ErrNotFound)
		}
		m, err := w.AsOf(t.Context(), earlier, &sync.Mutex{})
		require.NoError(t, err)
		n, err := m.Read(t.Context(), "Open/Out.md", notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, "secret", n.Content)
		_, err = m.Read(t.Context(), "Open/Out.md", open)
		require.ErrorIs(t, err, notes.ErrNotFound)
	}
	check()
	w.save("Open/Out.md", "its own")
	_, err := w.Lookup(t.Context(), "Open/Out.md", open)
	require.NoError(t, err)
	check()
	require.NoError(t, os.Remove(filepath.Join(w.dir, "Vault", "B.md")))
	w.reconcile()
	_, err = w.Forget(t.Context(), "Vault/B.md")
	require.NoError(t, err)
	check()
	data, err := os.ReadFile(w.History().Path())
	require.NoError(t, err)
	assert.NotContains(t, strings.ToLower(string(data)), "vault/b.md")
}

// TestAttachments_Links checks that links are updated when attachments are added and
// removed.
func TestAttachments_Links(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "![[pic.png]] [[Doc.pdf]]", "x/pic.png": "1", "y/pic.png": "2"})
	assert.Equal(t, map[string]string{"pic.png": "?", "Doc.pdf": "-"}, w.leads("A.md"))
	w.save("z/Doc.pdf", "pdf")
	require.NoError(t, os.Remove(filepath.Join(w.dir, "x", "pic.png")))
	w.reconcile()
	assert.Equal(t, map[string]string{"pic.png": "y/pic.png", "Doc.pdf": "z/Doc.pdf"}, w.leads("A.md"))
	require.NoError(t, os.Remove(filepath.Join(w.dir, "z", "Doc.pdf")))
	w.reconcile()
	assert.Equal(t, map[string]string{"pic.png": "y/pic.png", "Doc.pdf": "-"}, w.leads("A.md"))
	assert.Equal(t, []string{"A.md"}, w.list(notes.Filter{BrokenLinks: true}))
}
