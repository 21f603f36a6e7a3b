package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestIgnorePatterns checks that files matching the user's patterns are neither scanned nor
// reconciled when the watcher reports them, and cannot be read, written or moved to.
func TestIgnorePatterns(t *testing.T) {
	ctx := t.Context()
	ignored := []string{"Drafts/a.md", "x/Drafts/b.md", "Archive/2020/c.md", "Top.tmp.md", "x/y.tmp.md", "Notes/private/d.md", "Notes/sub/private/e.md", ".hidden/f.md"}
	seen := []string{"Draft.md", "Archive.md", "x/Archive/g.md", "private.md", "Notes/tmp.md"}
	var files []string
	for _, p := range append(ignored, seen...) {
		files = append(files, p, "about "+p+"\n", p[:len(p)-len("md")]+"png", "png")
	}
	f := newFixture(t)
	for i := 0; i < len(files); i += 2 {
		f.write(files[i], files[i+1])
	}
	f.write("Links.md", "![[Top.tmp.png]] ![[Drafts/a.png]] ![[Draft.png]]\n")
	require.NoError(t, f.store.Close())
	f.open(Options{Ignore: []string{"Drafts/", "/Archive/**", "*.tmp.*", "Notes/**/private"}})
	f.reconcile()
	paths := func() (list []string) {
		page, err := f.List(ctx, notes.ListQuery{Sort: "path"})
		require.NoError(t, err)
		for _, m := range page.Notes {
			list = append(list, m.Path)
		}
		return list
	}
	known := append([]string{"Links.md"}, seen...)
	assert.ElementsMatch(t, known, paths(), "a scan")
	for _, p := range ignored {
		assert.True(t, f.Ignored(p), p)
		f.write(p, "changed\n")
	}
	require.NoError(t, f.reconcilePaths(ctx, append([]string{"Drafts", "Notes/private", "Archive"}, ignored...)))
	assert.ElementsMatch(t, known, paths(), "what the watcher reports")

	for _, p := range ignored {
		_, err := f.Read(ctx, p, notes.Scope{})
		require.ErrorIs(t, err, notes.ErrNotFound, p)
		refused := notes.ErrForbidden
		if p[0] == '.' {
			refused = notes.ErrInvalid // no note may have such a name
		}
		_, err = f.Create(ctx, notes.CreateRequest{Path: p, Content: "x"})
		require.ErrorIs(t, err, refused, p)
		_, err = f.Edit(ctx, notes.EditRequest{Note: p, Edits: []notes.Edit{{Op: "append", Content: "x"}}})
		require.ErrorIs(t, err, notes.ErrNotFound, p)
		_, err = f.Move(ctx, notes.MoveRequest{Note: "Draft.md", To: p})
		require.ErrorIs(t, err, refused, p)
		assert.Equal(t, "changed\n", f.onDisk(p))
	}
	_, err := f.Move(ctx, notes.MoveRequest{Note: "x/Archive", To: "Archive/moved"})
	require.ErrorIs(t, err, notes.ErrForbidden, "a folder")
	attached, err := f.Attachments(ctx, "Links.md", notes.Scope{})
	require.NoError(t, err)
	require.Len(t, attached, 1)
	assert.Equal(t, "Draft.png", attached[0].Path)
	_, err = f.Attachment(ctx, "Drafts/a.png", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)

	f.rename("Draft.md", "Drafts/Draft.md") // now ignored: deleted, with its history kept
	f.reconcile()
	assert.NotContains(t, paths(), "Draft.md")
	assert.Equal(t, "about Draft.md\n", f.texts("Draft.md")[1])
}
