//go:build unix

package vault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/notes"
)

// TestSymlink_FolderNotFollowed checks that symlinked folders are not followed; a
// note reached through one would have two paths.
func TestSymlink_FolderNotFollowed(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "real/a.md", "a\n", "b.md", "b\n")
	f.symlink("real", "alias")
	f.symlink(".", "self")
	f.reconcile()
	before := f.files()
	_, err := f.Create(ctx, notes.CreateRequest{Path: "alias/new.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.Contains(t, domainError(t, err).Error(), "symlink")
	_, err = f.Create(ctx, notes.CreateRequest{Title: "new", Folder: "self/deep", Content: "x"})
	require.ErrorIs(t, err, notes.ErrForbidden)
	for _, to := range []string{"alias/", "alias/c.md", "self/c.md"} {
		_, err = f.Move(ctx, notes.MoveRequest{Note: "b.md", To: to, UpdateLinks: true})
		require.ErrorIs(t, err, notes.ErrForbidden, to)
	}
	_, err = f.Move(ctx, notes.MoveRequest{Note: "real", To: "self/other", UpdateLinks: true})
	require.ErrorIs(t, err, notes.ErrForbidden)
	f.symlink("real", norm.NFD.String("Café"))
	_, err = f.Create(ctx, notes.CreateRequest{Path: "Café/new.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrForbidden)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "self/real", To: "other", UpdateLinks: true})
	require.ErrorIs(t, err, notes.ErrNotFound)
	require.NoError(t, os.Remove(filepath.Join(f.dir, norm.NFD.String("Café"))))
	assert.Equal(t, before, f.files())
	_, err = f.Read(ctx, "alias/a.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	require.NoError(t, f.reconcilePaths(ctx, []string{"alias/a.md", "self/b.md"}))
	f.requireConsistent()
}

// TestSymlinkFollowsItsTarget checks that changes to the target of a symlink also change
// the note.
func TestSymlinkFollowsItsTarget(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "real/a.md", "a\n", ".hidden/b.md", "b\n")
	f.symlink("real/a.md", "one.md")
	require.NoError(t, f.reconcilePaths(ctx, []string{"one.md"}))
	f.symlink("one.md", "two.md")
	f.symlink("real/late.md", "three.md")
	f.reconcile()
	for _, step := range []struct {
		look string
		do   func()
	}{
		{"real/a.md", func() { f.write("real/a.md", "another a\n") }},
		{"real/a.md", func() { f.remove("real/a.md") }},
		{"real/a.md", func() { f.write("real/a.md", "back\n") }},
		{"real/late.md", func() { f.write("real/late.md", "late\n") }},
		{"real", func() { f.rename("real", "moved") }},
		{"real", func() { f.rename("moved", "real") }},
	} {
		step.do()
		require.NoError(t, f.reconcilePaths(ctx, []string{step.look, "moved"}))
		f.feeder.run(ctx)
		f.requireConsistent()
	}
}

// TestFolderBecomesASymlink moves a folder elsewhere and leaves a symlink behind.
func TestFolderBecomesASymlink(t *testing.T) {
	f := newFixture(t, "old/a.md", "a\n")
	f.rename("old", "new")
	f.symlink("new", "old")
	require.NoError(t, f.reconcilePaths(context.Background(), []string{"old/a.md", "new"}))
	f.feeder.run(context.Background())
	f.requireConsistent()
	f.reconcile()
	f.requireConsistent()
}

// TestFolderBecomesASymlinkOut checks that the notes of a folder that was moved out of the
// vault and replaced by a symlink are gone, whichever paths are scanned.
func TestFolderBecomesASymlinkOut(t *testing.T) {
	f := newFixture(t, "d/a.md", "a\n", "d/e/b.md", "b\n", "d/pipe.md", "a\x00b")
	f.reconcile()
	out := filepath.Join(t.TempDir(), "d")
	require.NoError(t, os.Rename(filepath.Join(f.dir, "d"), out))
	f.symlink(out, "d")
	require.NoError(t, f.reconcilePaths(t.Context(), []string{"d/a.md", "d/e", "d/e/b.md", "d/pipe.md"}))
	f.requireConsistent()
	status, err := f.Status(t.Context())
	require.NoError(t, err)
	assert.Zero(t, status.Notes)
	assert.Empty(t, status.Skipped)
}

// TestMoveRelinksAFileOnce checks that the links of a note that symlinks lead to are
// rewritten only once.
func TestMoveRelinksAFileOnce(t *testing.T) {
	f := newFixture(t, "X.md", "x\n", "real/a.md", "[x](../X.md) [[X]]\n", "other.txt", "[x](X.md)\n")
	f.symlink("real/a.md", "one.md")
	f.symlink("one.md", "two.md")
	f.symlink("other.txt", "three.md")
	f.symlink("other.txt", "four.md")
	f.reconcile()
	w, err := f.Move(context.Background(), notes.MoveRequest{Note: "X.md", To: "sub/Y.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Empty(t, w.Conflicts)
	assert.Equal(t, "[x](../sub/Y.md) [[Y]]\n", f.onDisk("real/a.md"))
	assert.Equal(t, "[x](sub/Y.md)\n", f.onDisk("other.txt"))
}

// TestSymlink_ThroughSymlinkedFolder checks that "folder/../x" differs from "x" if the
// folder is a symlink.
func TestSymlink_ThroughSymlinkedFolder(t *testing.T) {
	f := newFixture(t, "x.md", "not this\n", "deep/x.md", "this\n", "deep/sub/y.md", "y\n")
	f.symlink("deep/sub", "folder")
	f.symlink("folder/../x.md", "note.md")
	f.reconcile()
	_, err := f.Edit(context.Background(), notes.EditRequest{Note: "note.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	assert.Equal(t, "not this\n", f.onDisk("x.md"))
	assert.Equal(t, "this\n\nmore\n", f.onDisk("deep/x.md"))
}

// TestReconcile_NoteReplacedByNonFile checks that a note replaced by something other than a
// file is deleted, once.
func TestReconcile_NoteReplacedByNonFile(t *testing.T) {
	replace := map[string]func(full string) error{
		"a pipe":                func(full string) error { return syscall.Mkfifo(full, 0o644) },
		"a folder":              func(full string) error { return os.Mkdir(full, 0o755) },
		"a broken symlink":      func(full string) error { return os.Symlink("nowhere", full) },
		"a symlink to a folder": func(full string) error { return os.Symlink("sub", full) },
		"a symlink to itself":   func(full string) error { return os.Symlink("a.md", full) },
	}
	for name, replacement := range replace {
		for _, whole := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, whole vault: %t", name, whole), func(t *testing.T) {
				f := newFixture(t, "a.md", "a\n", "sub/b.md", "b\n")
				f.remove("a.md")
				require.NoError(t, replacement(filepath.Join(f.dir, "a.md")))
				if whole {
					f.reconcile()
				} else {
					require.NoError(t, f.reconcilePaths(context.Background(), []string{"a.md"}))
				}
				rows, err := f.store.Rows(context.Background(), nil)
				require.NoError(t, err)
				assert.Len(t, rows, 1)
				again, _ := f.queue.Take()
				assert.Empty(t, again)
			})
		}
	}
}

// TestWrite_NoteBecamePipe checks that a note replaced by a pipe does not block while the
// vault's lock is held: opening a pipe for reading waits for a writer.
func TestWrite_NoteBecamePipe(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	f.remove("a.md")
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.dir, "a.md"), 0o644))
	_, err := f.Edit(context.Background(), notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Contains(t, domainError(t, err).Error(), "regular file")
}

// TestWrite_PipeForFolder checks that a pipe in place of a folder does not block while the
// vault's lock is held, although the folder is listed for another form of a name in it.
func TestWrite_PipeForFolder(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o644))
	_, err := f.Create(context.Background(), notes.CreateRequest{Path: "pipe/\u00e9.md", Content: "text"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.ErrorContains(t, err, "is a file, not a folder")
	_, err = f.Move(context.Background(), notes.MoveRequest{Note: "a.md", To: "pipe/\u00e9/"})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

// TestReplica_PipeForFolder: a pipe in place of a folder, like a junction of Windows, deletes nothing
// in the folders of other nodes.
func TestReplica_PipeForFolder(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o644))
	_, unseen, err := f.Replica().Files(t.Context(), nil, 0)
	require.NoError(t, err)
	assert.True(t, unseen("pipe/n.md"))
	assert.False(t, unseen("b.md"))
}

// TestSymlinksLeadToNothingHidden checks that reading or writing a symlink requires access
// to its target as well as to its path.
func TestSymlinksLeadToNothingHidden(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Public/a.md", "[s](s.png) [p](p.png) ![i](i.png) [[secret]]\n", "Private/n.md", "# Payroll\nzebra #pay [[a]]\n", "Private/p.png", "p",
		".hid/h.md", "hidden\n", ".hid/s.png", "s", "Ign/i.md", "ignored\n", "Ign/i.png", "i", "Prompts/p.md", "prompt\n")
	f.open(Options{Ignore: []string{"Ign/**"}, Protected: func() []string { return []string{"Prompts"} }})
	f.symlink("../.hid/h.md", "Public/hidden.md")
	f.symlink("../Ign/i.md", "Public/ignored.md")
	f.symlink("../Private/n.md", "Public/secret.md")
	f.symlink("secret.md", "Public/twice.md")
	f.symlink("../.hid/s.png", "Public/s.png")
	f.symlink("../Private/p.png", "Public/p.png")
	f.symlink("../Ign/i.png", "Public/i.png")
	f.symlink("../Prompts/p.md", "Public/prompt.md")
	f.reconcile()
	public := notes.Scope{Read: []string{"Public"}}
	add := []notes.Edit{{Op: "append", Content: "more"}}

	for _, scope := range []notes.Scope{{}, public} {
		for _, name := range []string{"Public/hidden.md", "Public/ignored.md"} {
			_, err := f.Read(ctx, name, scope)
			require.ErrorIs(t, err, notes.ErrNotFound, name)
			_, err = f.Edit(ctx, notes.EditRequest{Note: name, Edits: add, Scope: scope})
			require.ErrorIs(t, err, notes.ErrNotFound, name)
		}
		for _, name := range []string{"Public/s.png", "Public/i.png"} {
			_, err := f.Attachment(ctx, name, scope)
			require.ErrorIs(t, err, notes.ErrNotFound, name)
		}
		_, err := f.Edit(ctx, notes.EditRequest{Note: "Public/prompt.md", Edits: add, Scope: scope})
		require.Error(t, err, "the prompts")
	}
	_, err := f.Read(ctx, "Public/secret.md", notes.Scope{})
	require.NoError(t, err, "who may read everything reads it under both names")
	_, err = f.Attachment(ctx, "Public/p.png", notes.Scope{})
	require.NoError(t, err)

	for _, name := range []string{"Public/secret.md", "Public/twice.md", "secret", "Payroll", notes.URI("Public/secret.md")} {
		_, err := f.Read(ctx, name, public)
		require.ErrorIs(t, err, notes.ErrNotFound, name)
		assert.NotContains(t, domainError(t, err).Error(), "Private")
		for _, change := range []func() error{
			func() error {
				_, err := f.Edit(ctx, notes.EditRequest{Note: name, Edits: add, Scope: public})
				return err
			},
			func() error { _, err := f.Delete(ctx, notes.DeleteRequest{Note: name, Scope: public}); return err },
			func() error {
				_, err := f.Move(ctx, notes.MoveRequest{Note: name, To: "Public/x.md", Scope: public})
				return err
			},
		} {
			require.ErrorIs(t, change(), notes.ErrNotFound, name)
		}
	}
	_, err = f.Attachment(ctx, "Public/p.png", public)
	require.ErrorIs(t, err, notes.ErrNotFound)
	files, err := f.Attachments(ctx, "Public/a.md", public)
	require.NoError(t, err)
	assert.Empty(t, files)
	page, err := f.List(ctx, notes.ListQuery{Filter: notes.Filter{Scope: public.Read}})
	require.NoError(t, err)
	assert.Equal(t, 1, page.Total, "a.md alone: %v", page.Notes)
	tags, err := f.Tags(ctx, public)
	require.NoError(t, err)
	assert.Empty(t, tags)
	report, err := f.Links(ctx, "Public/a.md", notes.LinkQuery{Scope: public})
	require.NoError(t, err)
	assert.Empty(t, report.Outgoing)
	assert.Empty(t, report.Backlinks)

	_, err = f.Edit(ctx, notes.EditRequest{Note: "Public/secret.md", Edits: add, Scope: notes.Scope{Write: []string{"Public"}}})
	require.ErrorIs(t, err, notes.ErrForbidden, "may read there and not write")
	assert.NotContains(t, domainError(t, err).Error(), "Private")
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "Public/secret.md", Scope: notes.Scope{Write: []string{"Public"}}, DryRun: true})
	require.NoError(t, err, "a deletion removes only the symlink")
	assert.Equal(t, "# Payroll\nzebra #pay [[a]]\n", f.onDisk("Private/n.md"))
	assert.Equal(t, "prompt\n", f.onDisk("Prompts/p.md"))

	require.NoError(t, os.Remove(filepath.Join(f.dir, "Public/a.md"))) // and a note that becomes such a symlink
	f.symlink("../Private/n.md", "Public/a.md")
	_, err = f.Read(ctx, "Public/a.md", public)
	require.ErrorIs(t, err, notes.ErrNotFound)
}

// TestMoveOfASymlinkToAFileElsewhere checks that moving a folder rewrites the links of a
// symlinked note in it, in the target file.
func TestMoveOfASymlinkToAFileElsewhere(t *testing.T) {
	f := newFixture(t, "Folder/x.md", "x\n", "data/text.txt", "[x](../Folder/x.md)\n")
	require.NoError(t, os.Symlink(filepath.Join("..", "data", "text.txt"), filepath.Join(f.dir, "Folder", "link.md")))
	f.reconcile()
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "Folder", To: "New", UpdateLinks: true})
	require.NoError(t, err)
	assert.Empty(t, w.Conflicts)
	assert.Contains(t, []string{"[x](x.md)\n", "[x](../New/x.md)\n"}, f.onDisk("data/text.txt"))
	f.reconcile()
	f.requireConsistent()
	report, err := f.Links(t.Context(), "New/link.md", notes.LinkQuery{Direction: "out"})
	require.NoError(t, err)
	require.Len(t, report.Outgoing, 1)
	assert.Equal(t, "New/x.md", report.Outgoing[0].To)
}

func TestMoveOfFolderWithASymlink_KeepsItsDate(t *testing.T) {
	f := newFixture(t, "dir/real.txt", "a text", "dir/Other.md", "x")
	f.symlink("real.txt", "dir/l.md")
	f.reconcile()
	before, err := f.Read(t.Context(), "dir/l.md", notes.Scope{})
	require.NoError(t, err)
	f.move("dir", "moved")
	after, err := f.Read(t.Context(), "moved/l.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, before.Date, after.Date)
}

// TestSymlink_SwappedDuringScan checks that a scan reads the file that it checked, even if
// a symlink to another takes its name before it is read: the note would have that file's
// text until the next scan, for clients that may not read the file.
func TestSymlink_SwappedDuringScan(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t, "open/a.md", "a\n", "closed/b.md", "secret\n")
	f.symlink("a.md", "open/link.md")
	f.write("open/plain.md", "plain\n")
	root, err := f.disk.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	s := &scan{v: f.Vault, root: root}
	require.NoError(t, s.comparePaths(ctx, []string{"open/link.md", "open/plain.md"}))
	require.Len(t, s.changed, 2)
	for _, name := range []string{"open/link.md", "open/plain.md"} {
		f.remove(name)
		f.symlink("../closed/b.md", name)
	}
	require.NoError(t, s.apply(ctx))
	scope := notes.Scope{Read: []string{"open"}}
	for _, ref := range []string{"open/link.md", "open/plain.md"} {
		meta, err := f.store.Lookup(ctx, ref, scope)
		if err == nil {
			note, err := f.store.LoadNote(ctx, meta.ID)
			require.NoError(t, err)
			assert.NotContains(t, note.Content, "secret", ref)
		}
		_, err = f.Read(ctx, ref, scope)
		require.ErrorIs(t, err, notes.ErrNotFound, ref)
	}
	f.reconcile()
	f.requireConsistent()
}

// Deleting a symlink leaves the file that it points to.
func TestDelete_Symlink(t *testing.T) {
	f := newFixture(t, "real/Target.md", "text\n")
	f.symlink("real/Target.md", "Link.md")
	f.reconcile()
	_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "Link.md"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"real/Target.md": "text\n"}, f.files())
	f.requireConsistent()
}

// TestDelete_SymlinkOutOfItsFolder also checks that the history of a deleted symlink does not
// follow the file that it pointed to.
func TestDelete_SymlinkOutOfItsFolder(t *testing.T) {
	for _, killed := range []bool{false, true} {
		f := newFixture(t, "real/Target.md", "text\n", "dir/Other.md", "o\n")
		f.symlink("../real/Target.md", "dir/Link.md")
		f.reconcile()
		if killed {
			f.failpoint = func(step string) error {
				if step == "finished" {
					f.write("real/Target.md", "edited\n")
					return errKilled
				}
				return nil
			}
		}
		_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "dir/Link.md"})
		if killed {
			require.ErrorIs(t, err, errKilled)
			f.restart()
		} else {
			require.NoError(t, err)
		}
		f.write("real/Target.md", "edited\n")
		f.late.readDue(t.Context(), f.clock.Now().Add(lateFor), 0)
		f.reconcile()
		assert.Equal(t, map[string]string{"real/Target.md": "edited\n", "dir/Other.md": "o\n"}, f.files())
		f.requireConsistent()
		page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "dir/Link.md"})
		require.NoError(t, err)
		require.NotEmpty(t, page.Revisions)
		assert.Empty(t, page.Revisions[0].Hash, "it was deleted last: %+v", page.Revisions)
	}
}

// A tag is not renamed through a symlink in a file that the caller may not write.
func TestRenameTag_SymlinkOutOfScope(t *testing.T) {
	f := newFixture(t, "P/A.md", "#x\n", "Others/plan.txt", "#x\n")
	f.symlink("../Others/plan.txt", "P/Link.md")
	f.reconcile()
	before := f.files()
	_, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "x", To: "y", Scope: notes.Scope{Write: []string{"P"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.Equal(t, before, f.files())
}

// A note whose links change because its folder moves keeps one history through a crash, also
// one that is a symlink.
func TestRecover_FolderMoveKeepsHistory(t *testing.T) {
	const moved = "dir2/Third.md"
	ctx := t.Context()
	newVault := func(t *testing.T) *fixture {
		f := newFixture(t, "dir/Third.md", "[[dir/Third]]\n", "real/t.txt", "[[dir/Third]]\n")
		f.symlink("../real/t.txt", "dir/l.md")
		f.reconcile()
		f.save("dir/Third.md", "two [[dir/Third]]\n")
		f.save("dir/l.md", "two [[dir/Third]]\n")
		return f
	}
	move := func(f *fixture) error {
		_, err := f.Move(ctx, notes.MoveRequest{Note: "dir", To: "dir2", UpdateLinks: true})
		return err
	}
	whole := newVault(t)
	steps := whole.killAt(1 << 30)
	require.NoError(t, move(whole))
	assert.Equal(t, []string{"two [[dir2/Third]]\n", "two [[dir/Third]]\n", "[[dir/Third]]\n"}, whole.texts(moved))
	for step := range *steps {
		f := newVault(t)
		f.killAt(step)
		require.ErrorIs(t, move(f), errKilled)
		f.restart()
		if _, err := os.Stat(filepath.Join(f.dir, moved)); err != nil {
			continue // it was killed before the move was journalled
		}
		relinked := f.onDisk(moved)
		for _, note := range []string{moved, "dir2/l.md"} {
			assert.Equal(t, whole.texts(note), f.texts(note), "%s, step %d", note, step)
		}
		assert.Equal(t, []string{moved, "dir2/l.md"}, f.column(f.store.History(), `SELECT path FROM documents WHERE live = 1 ORDER BY path`), "step %d", step)
		f.clock.Advance(time.Minute)
		then := f.clock.Now()
		f.clock.Advance(time.Minute)
		f.save(moved, "three\n")
		n, err := f.History().ReadAt(ctx, moved, then, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, relinked, n.Content, "step %d", step)
	}

	whole.killAt(1 << 30)
	before := newVault(t).files()
	undone, err := whole.History().Restore(ctx, notes.RestoreRequest{Change: whole.firstMove()})
	require.NoError(t, err)
	assert.Empty(t, undone.Conflicts)
	assert.Equal(t, before, whole.files())
}
