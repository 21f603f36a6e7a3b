package vault

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// TestExFAT_OtherSpellings checks that another spelling of an ignored folder's name does not
// make its files readable, or new files possible there.
func TestExFAT_OtherSpellings(t *testing.T) {
	f := &fixture{t: t, dir: notestest.MountExFAT(t), state: t.TempDir(), view: newMirror(), clock: newClock()}
	f.write("Private/Secret.md", "secret\n")
	f.write("Private/pic.png", "secret")
	f.write("Open/A.md", "![[pic.png]]\n")
	f.open(Options{Ignore: []string{"Private"}})
	t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
	f.reconcile()
	ctx := t.Context()
	for _, folder := range []string{"Private", "private", "PRIVATE"} {
		_, err := f.Read(ctx, folder+"/Secret.md", notes.Scope{})
		require.ErrorIs(t, err, notes.ErrNotFound, folder)
		_, err = f.Attachment(ctx, folder+"/pic.png", notes.Scope{})
		require.ErrorIs(t, err, notes.ErrNotFound, folder)
		_, err = f.Create(ctx, notes.CreateRequest{Path: folder + "/deep/New.md", Content: "x"})
		require.Error(t, err, folder)
		_, err = f.Create(ctx, notes.CreateRequest{Path: folder + "/New.md", Content: "x"})
		require.Error(t, err, folder)
		_, err = f.Move(ctx, notes.MoveRequest{Note: "Open/A.md", To: folder + "/"})
		require.Error(t, err, folder)
	}
	f.requireConsistent()

	before := f.files()
	for _, folder := range []string{"open", "OPEN/"} { // its notes and the links to them would not be found
		_, err := f.Move(ctx, notes.MoveRequest{Note: folder, To: "Elsewhere", UpdateLinks: true})
		require.ErrorIs(t, err, notes.ErrNotFound, folder)
	}
	assert.Equal(t, before, f.files())
}

// TestExFAT_RespellIgnored checks that a folder that the team has renamed in case only keeps its
// name here if an ignore pattern has it.
func TestExFAT_RespellIgnored(t *testing.T) {
	for _, pattern := range []string{"Private", "Private/Keys/**"} {
		f := &fixture{t: t, dir: notestest.MountExFAT(t), state: t.TempDir(), view: newMirror(), clock: newClock()}
		f.write("Private/Keys/Secret.md", "secret\n")
		f.open(Options{Ignore: []string{pattern}})
		t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
		f.reconcile()
		one, err := f.Replica().Respell(t.Context(), notes.Author{}, "Private", "private")
		require.ErrorIs(t, err, notes.ErrForbidden, pattern)
		assert.False(t, one)
		assert.Contains(t, f.files(), "Private/Keys/Secret.md")
	}
}

func TestOnExFAT(t *testing.T) {
	f := &fixture{t: t, dir: notestest.MountExFAT(t), state: t.TempDir(), view: newMirror(), clock: newClock()}
	f.write("Alpha.md", "see [[Beta]]\n")
	f.write("work/Beta.md", "back to [[Alpha]]\n")
	f.open(Options{})
	t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
	f.reconcile()
	ctx := t.Context()
	does := func(_ notes.Written, err error) {
		t.Helper()
		require.NoError(t, err)
		f.requireConsistent()
	}
	move := func(from, to string) (notes.Written, error) {
		return f.Move(ctx, notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
	}
	does(f.Create(ctx, notes.CreateRequest{Path: "new/Delta.md", Content: "[[Alpha]]\n"}))
	_, err := f.Create(ctx, notes.CreateRequest{Path: "ALPHA.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrExists)
	require.ErrorContains(t, err, `"Alpha.md" exists already, and differs only in case`)
	does(f.Edit(ctx, notes.EditRequest{Note: "Alpha.md", Edits: []notes.Edit{{Op: "append", Content: "a line"}}}))
	does(move("Alpha.md", "ALPHA.md"))
	does(move("work/Beta.md", "work/beta two.md"))
	does(move("work", "Work"))
	does(move("Work", "deep/er/projects"))
	does(f.Delete(ctx, notes.DeleteRequest{Note: "new/Delta.md"}))
	f.rename("ALPHA.md", "Alpha.md") // by another program
	f.reconcile()
	f.requireConsistent()
	f.rename("Alpha.md", "ALPHA.md")
	require.NoError(t, f.reconcilePaths(ctx, []string{"ALPHA.md", "Alpha.md", "deep/er/projects/beta two.md", "deep/ER/projects/beta two.md", "deep/er/projects/Beta two.md"}))
	f.requireConsistent()
	f.rename("ALPHA.md", "Alpha.md")
	require.NoError(t, f.reconcilePaths(ctx, []string{"ALPHA.md", "Alpha.md"}))
	f.requireConsistent()
	assert.Equal(t, "see [[beta two]]\n\na line\n", f.onDisk("Alpha.md"))
	assert.Equal(t, "back to [[Alpha]]\n", f.onDisk("deep/er/projects/beta two.md"))
	assert.NoFileExists(t, filepath.Join(f.dir, "new/Delta.md"))

	f.write("toplantı.md", "dotless\n") // whose other case, I, is that of another letter on a disk
	f.reconcile()
	f.rename("toplantı.md", "Toplantı.md")
	require.NoError(t, f.reconcilePaths(ctx, []string{"toplantı.md", "Toplantı.md"}))
	f.requireConsistent()
}
