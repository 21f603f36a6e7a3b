package vault

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
)

// interrupted simulates a crash: it adds an operation to the journal, creates its partial
// result on disk, and restarts the program.
func (f *fixture) interrupted(change store.FileChange, onDisk func(temp string)) {
	f.t.Helper()
	op := &store.Operation{Kind: "move", Files: []store.FileChange{change}}
	require.NoError(f.t, f.store.Begin(context.Background(), op, nil))
	onDisk(op.Files[0].Temp)
	f.restart()
}

// TestCrashInACaseOnlyRename is for case-insensitive disks, where a case-only rename goes
// through a temp name: a crash between its two steps leaves the note or folder under that
// hidden name.
func TestCrashInACaseOnlyRename(t *testing.T) {
	pure := store.FileChange{OldPath: "plan.md", NewPath: "Plan.md", OldDisk: "plan.md", NewDisk: "Plan.md", Old: []byte("text\n"), New: []byte("text\n")}
	changed := pure
	changed.New = []byte("new text\n")
	folder := store.FileChange{Folder: true, OldPath: "work", NewPath: "Work", OldDisk: "work", NewDisk: "Work"}
	tests := []struct {
		name, file, aside, want, text string
		change                        store.FileChange
	}{
		{"a note", "plan.md", "", "Plan.md", "text\n", pure},
		{"a note with new text", "plan.md", ".old", "Plan.md", "new text\n", changed},
		{"a folder", "work", "", "Work/a.md", "in it\n", folder},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, "plan.md", "text\n", "work/a.md", "in it\n")
			f.interrupted(tt.change, func(temp string) {
				f.rename(tt.file, temp+tt.aside)
				if tt.aside != "" {
					f.write(temp, tt.text) // staged before
				}
			})
			assert.Equal(t, tt.text, f.onDisk(tt.want))
			assert.Len(t, f.files(), 2)
			f.requireConsistent()
		})
	}
}

// TestRecover_MoveWithBothNames has a move interrupted between linking the new name and
// removing the old one; that differs from one name that matches both spellings.
func TestRecover_MoveWithBothNames(t *testing.T) {
	f := newFixture(t, "old.md", "text\n")
	f.interrupted(store.FileChange{OldPath: "old.md", NewPath: "new.md", OldDisk: "old.md", NewDisk: "new.md", Old: []byte("text\n"), New: []byte("text\n")},
		func(string) {
			require.NoError(t, os.Link(filepath.Join(f.dir, "old.md"), filepath.Join(f.dir, "new.md")))
		})
	assert.Equal(t, map[string]string{"new.md": "text\n"}, f.files())
	f.requireConsistent()
}

// TestRecover_DeleteSetAside has a deletion interrupted before its temp file is removed.
func TestRecover_DeleteSetAside(t *testing.T) {
	f := newFixture(t, "a.md", "text\n", "b.md", "b\n")
	f.interrupted(store.FileChange{OldPath: "a.md", OldDisk: "a.md", Old: []byte("text\n")}, func(temp string) { f.rename("a.md", temp) })
	assert.Equal(t, map[string]string{"b.md": "b\n"}, f.files(), "it is completed")
	f.requireConsistent()
}

// TestCrashAfterALink: a disk that cannot swap names first keeps the old file by a link.
func TestCrashAfterALink(t *testing.T) {
	f := newFixture(t, "a.md", "old\n")
	f.lacks = lacking["without swaps"]
	f.interrupted(store.FileChange{OldPath: "a.md", NewPath: "a.md", OldDisk: "a.md", NewDisk: "a.md", Old: []byte("old\n"), New: []byte("new\n")},
		func(temp string) {
			f.write(temp, "new\n")
			require.NoError(t, os.Link(filepath.Join(f.dir, "a.md"), filepath.Join(f.dir, temp+".old")))
		})
	assert.Equal(t, map[string]string{"a.md": "new\n"}, f.files())
	f.requireConsistent()
}

// On a disk without links, an edit first renames the note away. If the disk fails at that
// point, the next scan restores the note's name and completes the edit.
func TestDiskThatFailsInAnExchange(t *testing.T) {
	f := newFixture(t, "a.md", "old\n")
	f.lacks = lacking["without links"]
	f.killAt(1 << 30)
	works, away := f.failpoint, false
	f.failpoint = func(step string) error {
		away = away || step == "before swap 0"
		if away && step == "create" || away && step == "rename over" && f.files()["a.md"] == "" {
			return syscall.EIO
		}
		return works(step)
	}
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: "new"}}})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.Contains(t, err.Error(), "the disk failed in the middle of the change")
	f.failpoint = works
	f.reconcile()
	assert.Equal(t, map[string]string{"a.md": "old\n\nnew\n"}, f.files())
	f.requireConsistent()
}

// A deletion finds that another program has saved the note, and cannot restore the file's
// name because that program has saved again.
func TestDeletionBetweenTwoSaves(t *testing.T) {
	f := newFixture(t, "a.md", "old\n")
	saves := []string{"first save\n", "second save\n"}
	f.failpoint = func(step string) error {
		if step == "rename" && len(saves) > 0 {
			f.write("a.md", saves[0])
			saves = saves[1:]
		}
		return nil
	}
	_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "a.md"})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, map[string]string{"a.md": "second save\n"}, f.files())
	f.reconcile()
	f.requireConsistent()
	page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "a.md"})
	require.NoError(t, err)
	var hashes []string
	for _, r := range page.Revisions {
		hashes = append(hashes, r.Hash)
	}
	assert.Contains(t, hashes, notes.Hash([]byte("first save\n")), "what was displaced is in the history")
}

// TestCrashInAnEditOfASymlinkedNote checks recovery when the journal has both the file to
// be written, which need not have a note's name, and the symlink that is the note.
func TestCrashInAnEditOfASymlinkedNote(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "real/t.txt", "text\n")
	require.NoError(t, os.Symlink("real/t.txt", filepath.Join(f.dir, "l.md")))
	f.reconcile()
	f.failpoint = func(step string) error {
		if step == "before swap 0" {
			return errKilled
		}
		return nil
	}
	r := notes.EditRequest{Note: "l.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}, RequestKey: "k"}
	_, err := f.Edit(ctx, r)
	require.ErrorIs(t, err, errKilled)
	f.restart()
	assert.Equal(t, "text\n\nmore\n", f.onDisk("real/t.txt"))
	f.requireConsistent()
	for range 3 { // nothing is left to be scanned repeatedly
		paths, all := f.queue.Take()
		assert.False(t, all)
		require.NoError(t, f.reconcilePaths(ctx, paths))
	}
	assert.Empty(t, f.queue.paths)
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "l.md"})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 2)
	assert.Equal(t, "edit", page.Revisions[0].Operation)
	_, err = f.Edit(ctx, r)
	require.NoError(t, err, "the repeated request is answered")
	assert.Equal(t, "text\n\nmore\n", f.onDisk("real/t.txt"))
}

// A row whose path is not a note's name must not be scanned endlessly.
func TestReconcile_RowWithoutNoteName(t *testing.T) {
	f := newFixture(t, "t.txt", "text\n")
	b := &batch{v: f.Vault, current: map[string]store.Row{"t.txt": {Path: "t.txt", DiskPath: "t.txt"}}}
	root, err := f.disk.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	b.root = root
	b.remove(store.Row{Path: "t.txt", DiskPath: "t.txt"})
	assert.Empty(t, b.again)
	assert.Len(t, b.entries, 1)
}

// TestCrashWithTwoSavesInBetween: an editor saves immediately before the exchange, the
// program is killed before it can put that text back, and the editor saves again.
func TestCrashWithTwoSavesInBetween(t *testing.T) {
	f := newFixture(t, "a.md", "old\n")
	f.interrupted(store.FileChange{OldPath: "a.md", NewPath: "a.md", OldDisk: "a.md", NewDisk: "a.md", Old: []byte("old\n"), New: []byte("new\n")},
		func(temp string) {
			f.write(temp, "first save\n")
			f.write("a.md", "second save\n")
		})
	assert.Equal(t, map[string]string{"a.md": "second save\n"}, f.files())
	history, err := f.History().Revisions(context.Background(), notes.HistoryQuery{Note: "a.md"})
	require.NoError(t, err)
	var sizes []int64
	for _, r := range history.Revisions {
		sizes = append(sizes, r.Size)
	}
	assert.Contains(t, sizes, int64(len("first save\n")), "the first save can be brought back")
}

// TestTempFiles_Foreign checks that only files with exactly the format of temp
// names are removed.
func TestTempFiles_Foreign(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	ours := store.TempName()
	keep := []string{".~notesd-todo.md", ".~notesd-", ".~notesd-ABC.tmp", ".~notesd-abcdefghijkl.tmp", ours + ".bak"}
	for _, name := range append(keep, ours, ours+".old") {
		f.write(name, "mine\n")
	}
	f.reconcile()
	for _, name := range keep {
		assert.Equal(t, "mine\n", f.onDisk(name))
	}
	assert.Len(t, f.files(), len(keep)+1)
}

// TestWrite_StoreFails: the file is written, but the store fails.
func TestWrite_StoreFails(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "a.md", "a\n")
	add := func(text string) error {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: text}}, Author: notes.Author{Name: text}, RequestKey: text})
		return err
	}
	f.failpoint = func(step string) error {
		if step == "stored" {
			return syscall.ENOSPC
		}
		return nil
	}
	err := add("one")
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.NotContains(t, domainError(t, err).Hint, "Nothing was changed")
	assert.Equal(t, "the disk is full", domainError(t, add("two")).Detail, "recovery fails")
	f.failpoint = nil
	require.NoError(t, add("two"))
	require.NoError(t, add("one"), "the repeated request is answered")
	assert.Equal(t, "a\n\none\n\ntwo\n", f.onDisk("a.md"))
	f.reconcile()
	f.requireConsistent()
	history, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "a.md"})
	require.NoError(t, err)
	require.Len(t, history.Revisions, 3)
	assert.Equal(t, "one", history.Revisions[1].Author.Name)
}

// TestWrite_FailureIsNotRecorded checks that a change that has failed is not made later if
// the failure cannot be recorded, as when one disk holds the vault and the state and is full.
func TestWrite_FailureIsNotRecorded(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "a.md", "a\n")
	add := func(text string) error {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: text}}, RequestKey: text})
		return err
	}
	f.failpoint = func(step string) error {
		if step != "staged" {
			return nil
		}
		f.failpoint = nil
		f.exec(f.store.History(), `CREATE TRIGGER full BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'full'); END`)
		return syscall.ENOSPC
	}
	err := add("one")
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.Contains(t, domainError(t, err).Hint, "Nothing was changed")
	require.Error(t, f.Reconcile(ctx))
	require.Error(t, add("two"))
	f.exec(f.store.History(), `DROP TRIGGER full`)
	f.reconcile()
	f.requireConsistent()
	assert.Equal(t, "a\n", f.onDisk("a.md"))
	require.NoError(t, add("one"), "its request key is free")
	assert.Equal(t, "a\n\none\n", f.onDisk("a.md"))
}

// TestRecover_FolderNotSynced checks that recovery succeeds, as a write does, where folders
// cannot be synced, as in a shared folder of VirtualBox.
func TestRecover_FolderNotSynced(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	kill := true
	unsynced := func(step string) error {
		switch {
		case step == "sync folder":
			return syscall.EINVAL
		case step == "after swap 0" && kill:
			return errKilled
		}
		return nil
	}
	add := func() error {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
		return err
	}
	f.failpoint = unsynced
	require.ErrorIs(t, add(), errKilled)
	require.NoError(t, f.store.Close())
	f.open(Options{})
	f.failpoint, kill = unsynced, false
	f.reconcile()
	require.NoError(t, add())
	assert.Equal(t, map[string]string{"a.md": "a\n\nmore\n\nmore\n"}, f.files())
	f.requireConsistent()
}

// TestCrash_FolderOfTheFirstNoteRenamed interrupts a change of several notes, of which all are
// written, or only the first. The folder of the first is renamed before the next start.
func TestCrash_FolderOfTheFirstNoteRenamed(t *testing.T) {
	for step, done := range map[string]bool{"stored": true, "after swap 1": true, "staged": false} {
		t.Run(step, func(t *testing.T) {
			ctx := t.Context()
			f := newFixture(t, "D/a.md", "a #a\n", "E/b.md", "b #a\n", "F/c.md", "c #a\n")
			f.failpoint = func(at string) error {
				if at == step {
					return errKilled
				}
				return nil
			}
			_, err := f.RenameTag(ctx, notes.RenameTagRequest{Tag: "a", To: "z", RequestKey: "k"})
			require.ErrorIs(t, err, errKilled)
			f.rename("D", "Renamed")
			f.restart()
			f.requireConsistent()
			tag := map[bool]string{true: "#z", false: "#a"}[done]
			assert.Equal(t, map[string]string{"Renamed/a.md": "a " + tag + "\n", "E/b.md": "b " + tag + "\n", "F/c.md": "c " + tag + "\n"}, f.files())
			if !done {
				return
			}
			page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "Renamed/a.md"})
			require.NoError(t, err)
			at := slices.IndexFunc(page.Revisions, func(r notes.Revision) bool { return r.Operation == "rename_tag" })
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, "found", page.Revisions[len(page.Revisions)-1].Operation, "the note keeps its history")
			_, err = f.History().Restore(ctx, notes.RestoreRequest{Change: page.Revisions[at].Change})
			require.NoError(t, err)
			assert.Equal(t, "b #a\n", f.onDisk("E/b.md"))
		})
	}
}

// TestCrash_DailyNoteCreatedSince: the crash leaves an incomplete temp file, and another program
// creates the daily note before the next start.
func TestCrash_DailyNoteCreatedSince(t *testing.T) {
	f := newFixture(t, "a.md", "a\n")
	add := func() error {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "today", Edits: []notes.Edit{{Op: "append", Content: "from the client"}}, RequestKey: "k"})
		return err
	}
	killed := false
	f.failpoint = func(step string) error {
		if killed = killed || step == "sync"; killed {
			return errKilled
		}
		return nil
	}
	require.ErrorIs(t, add(), errKilled)
	today := f.clock.Now().Format(time.DateOnly) + ".md"
	f.write(today, "from the user\n")
	f.restart()
	require.NoError(t, add())
	assert.Equal(t, map[string]string{"a.md": "a\n", today: "from the user\n\nfrom the client\n"}, f.files())
	f.requireConsistent()
}
