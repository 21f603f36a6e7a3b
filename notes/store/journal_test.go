package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// openStore opens a store without a vault.
func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func editOf(p, old, new string) *store.Operation {
	return &store.Operation{Kind: "edit", Author: notes.Author{Name: "test", Version: "1"}, RequestKey: notes.BindRequest("key "+p, "edit", new),
		Files: []store.FileChange{{OldPath: p, NewPath: p, OldDisk: p, NewDisk: p, Old: []byte(old), New: []byte(new)}}}
}

// TestJournal checks that an operation is complete in the journal before anything
// changes, becomes revisions when it is finished, and that its answer is returned for
// repeats of the request.
func TestJournal(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := openStore(t, dir)
	op := editOf("A.md", "old\n", "new\n")
	op.Files = append(op.Files, store.FileChange{OldPath: "u\u0308.md", NewPath: "b/u\u0308.md", OldDisk: "u\u0308.md", NewDisk: "b/u\u0308.md", Link: "", Old: []byte("x"), New: []byte("y")},
		store.FileChange{NewPath: "Made.md", NewDisk: "Made.md", New: []byte{}}, store.FileChange{OldPath: "Gone.md", OldDisk: "Gone.md", Old: []byte("g")})
	require.NoError(t, s.Begin(ctx, op, nil))
	temps := map[string]bool{}
	for _, f := range op.Files {
		assert.True(t, store.IsTempName(f.Temp))
		temps[f.Temp] = true
	}
	assert.Len(t, temps, 4)
	_, err := store.Answered(ctx, s.History().Reader(), op.RequestKey, nil)
	require.ErrorIs(t, err, notes.ErrUnavailable, "its outcome is not known yet")
	page, err := s.Page(ctx, "A.md", notes.HistoryQuery{})
	require.NoError(t, err)
	assert.Empty(t, page.Revisions)

	require.NoError(t, s.Close())
	s = openStore(t, dir)
	pending, err := s.PendingOperations(ctx)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	again := pending[0]
	assert.Equal(t, "edit", again.Kind)
	assert.Equal(t, op.Author, again.Author)
	for i, f := range again.Files {
		want := op.Files[i]
		want.OldPath, want.NewPath = notes.Nfc(want.OldPath), notes.Nfc(want.NewPath)
		assert.True(t, bytes.Equal(want.Old, f.Old) && bytes.Equal(want.New, f.New), "the texts of %d", i)
		want.Old, want.New = f.Old, f.New
		assert.Equal(t, want, f)
	}

	for i := range again.Files {
		again.Files[i].State = store.StateDone
	}
	again.Files[1].State, again.Files[1].Conflict = store.StateConflict, notes.ErrConflict
	written := again.Written()
	assert.Equal(t, []string{"ü.md"}, written.Conflicts)
	revision, err := s.Finish(ctx, again, nil, written)
	require.NoError(t, err)
	require.NotZero(t, revision)
	text, err := s.RevisionText(ctx, "read", "A.md", revision, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "new\n", string(text))
	page, err = s.Page(ctx, "A.md", notes.HistoryQuery{})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 2, "the version that it replaced as well")
	assert.Equal(t, []int64{written.Change, 0}, []int64{page.Revisions[0].Change, page.Revisions[1].Change})
	assert.Equal(t, 1, page.Revisions[0].Added+page.Revisions[0].Removed-1)
	page, err = s.Page(ctx, "Gone.md", notes.HistoryQuery{})
	require.NoError(t, err)
	assert.Empty(t, page.Revisions[0].Hash, "deleted")
	page, err = s.Page(ctx, "ü.md", notes.HistoryQuery{})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 1, "the text that it left alone is kept")
	assert.Equal(t, notes.Outside, page.Revisions[0].Author)

	var answer notes.Written
	done, err := store.Answered(ctx, s.History().Reader(), op.RequestKey, &answer)
	require.NoError(t, err)
	assert.True(t, done)
	written.Revision, written.Others = revision, nil // not stored
	assert.Equal(t, written, answer)
	_, err = store.Answered(ctx, s.History().Reader(), notes.BindRequest("key A.md", "edit", "something else"), nil)
	require.ErrorIs(t, err, notes.ErrInvalid, "the key of another request")
	done, err = store.Answered(ctx, s.History().Reader(), "", nil)
	require.NoError(t, err)
	assert.False(t, done)
	pending, err = s.PendingOperations(ctx)
	require.NoError(t, err)
	assert.Empty(t, pending)
	undoable, err := s.Change(ctx, written.Change)
	require.NoError(t, err)
	require.Len(t, undoable.Files, 4)
	assert.Equal(t, "old\n", string(undoable.Files[0].Old))
	assert.Equal(t, store.StateConflict, undoable.Files[1].State)
}

// TestJournal_FailedOperation checks that a failed request can be repeated and leaves nothing
// in history.
func TestJournal_FailedOperation(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	op := editOf("A.md", "old\n", "new\n")
	require.NoError(t, s.Begin(ctx, op, nil))
	entry, err := s.JournalOf(ctx, op.Files[0].Temp)
	require.NoError(t, err)
	assert.Equal(t, store.StatePending, entry.State)
	assert.Equal(t, "A.md", entry.Note)
	assert.Nil(t, entry.OldHash, "no history has the text: it must be rescued")
	require.NoError(t, s.Fail(ctx, op, store.StateConflict, errors.New("changed meanwhile")))
	done, err := store.Answered(ctx, s.History().Reader(), op.RequestKey, nil)
	require.NoError(t, err)
	assert.False(t, done)
	page, err := s.Page(ctx, "A.md", notes.HistoryQuery{})
	require.NoError(t, err)
	assert.Empty(t, page.Revisions)
	_, err = s.Change(ctx, op.Written().Change)
	require.ErrorIs(t, err, notes.ErrNotFound, "what failed cannot be undone")
	texts, err := sqlite.First[int](ctx, s.History().Reader(), `SELECT count(*) FROM blobs`)
	require.NoError(t, err)
	assert.Zero(t, texts, "nothing uses its texts")
	require.NoError(t, s.Begin(ctx, editOf("A.md", "old\n", "new\n"), nil), "and again")
	entry, err = s.JournalOf(ctx, store.TempName())
	require.NoError(t, err)
	assert.Nil(t, entry)
	for _, name := range []string{".~notesd-x.tmp", store.TempName() + "x", "a" + store.TempName(), ".~notesd-ABCDEFGHIJK1.tmp"} {
		assert.False(t, store.IsTempName(name), name)
	}
	for _, suffix := range []string{"", ".old", ".part"} {
		assert.True(t, store.IsTempName(store.TempName()+suffix))
		assert.True(t, store.IsTempName(".notesd-ABCDEFGHIJKL.tmp"+suffix), "as named by earlier versions")
	}
}

// TestBackupIsComplete checks that the copy has history and journal, but no operation
// that would be carried out a second time.
func TestBackupIsComplete(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	op := editOf("A.md", "old\n", "new\n")
	require.NoError(t, s.Begin(ctx, op, nil))
	op.Files[0].State = store.StateDone
	revision, err := s.Finish(ctx, op, nil, op.Written())
	require.NoError(t, err)
	require.NoError(t, s.Begin(ctx, editOf("B.md", "b", "c"), nil))
	copied := t.TempDir()
	require.NoError(t, s.Backup(ctx, filepath.Join(copied, store.HistoryFile)))
	back := openStore(t, copied)
	pending, err := back.PendingOperations(ctx)
	require.NoError(t, err)
	assert.Empty(t, pending)
	text, err := back.RevisionText(ctx, "read", "A.md", revision, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "new\n", string(text))
	pending, err = s.PendingOperations(ctx)
	require.NoError(t, err)
	assert.Len(t, pending, 1, "of the original it is not")
}

// revise completes one edit, a minute after the previous one.
func (w *world) revise(p, text string) notes.Written {
	w.t.Helper()
	w.advance(time.Minute)
	done, err := w.vault.Edit(context.Background(), notes.EditRequest{Note: notes.URI(p), Edits: []notes.Edit{{Op: "replace_all", Content: text}}, Author: notes.Author{Name: "test"}})
	require.NoError(w.t, err)
	return done
}

// TestHistory_Pages checks that pages of any size add up to the whole history, of a
// note and of all notes, and show nothing outside the scope.
func TestHistory_Pages(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"A.md": "a", "sub/B.md": "b", "C.md": "c"})
	for i := range 7 {
		w.revise("A.md", fmt.Sprintf("a%d", i))
		w.revise("sub/B.md", fmt.Sprintf("b%d", i))
	}
	w.advance(time.Minute)
	_, err := w.vault.Move(ctx, notes.MoveRequest{Note: "sub/B.md", To: "Out.md"})
	require.NoError(t, err)
	w.advance(time.Hour)
	w.save("C.md", "c, by an editor")
	for _, read := range []func(notes.HistoryQuery) (notes.HistoryPage, error){
		func(q notes.HistoryQuery) (notes.HistoryPage, error) { return w.Page(ctx, "sub/B.md", q) },
		func(q notes.HistoryQuery) (notes.HistoryPage, error) { return w.Changes(ctx, q) },
	} {
		whole, err := read(notes.HistoryQuery{Limit: 1000})
		require.NoError(t, err)
		assert.Empty(t, whole.Next)
		require.Greater(t, len(whole.Revisions), 7)
		for i, r := range whole.Revisions[1:] {
			assert.False(t, r.Time.After(whole.Revisions[i].Time), "newest first")
		}
		for limit := 1; limit < 6; limit++ {
			var all []notes.Revision
			q := notes.HistoryQuery{Limit: limit}
			for {
				page, err := read(q)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page.Revisions), limit)
				all = append(all, page.Revisions...)
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			require.Equal(t, whole.Revisions, all, "pages of %d", limit)
		}
		inSub, err := read(notes.HistoryQuery{Limit: 1000, Scope: notes.Scope{Read: []string{"sub"}}})
		require.NoError(t, err)
		require.NotEmpty(t, inSub.Revisions)
		for _, r := range inSub.Revisions {
			assert.Equal(t, "sub/B.md", r.Path)
		}
		outside, err := read(notes.HistoryQuery{Limit: 1000, Scope: notes.Scope{Read: []string{"Out.md"}}})
		require.NoError(t, err)
		require.Len(t, outside.Revisions, 1)
		assert.Empty(t, outside.Revisions[0].OldPath, "where it was may not be known")
		since, err := read(notes.HistoryQuery{Since: whole.Revisions[3].Time})
		require.NoError(t, err)
		assert.Equal(t, whole.Revisions[:4], since.Revisions)
		for _, cursor := range []string{"x", "r", "c1", "-1"} {
			_, err := read(notes.HistoryQuery{Cursor: cursor})
			require.ErrorIs(t, err, notes.ErrInvalid, cursor)
		}
	}
}

// TestChanges_CountLines checks the counts of changed lines, including those of
// versions not yet in history.
func TestChanges_CountLines(t *testing.T) {
	w := newWorld(t, map[string]string{"Old.md": "1\n2\n3\n", "New.md": "1\n2\n", "Empty.md": ""})
	w.advance(time.Hour)
	w.save("Old.md", "1\n2\nthree\nfour\n")
	page, err := w.Changes(t.Context(), notes.HistoryQuery{})
	require.NoError(t, err)
	lines := map[string][3]any{}
	for _, r := range page.Revisions {
		if r.Revision == 0 {
			lines[r.Path] = [3]any{r.Operation, r.Added, r.Removed}
		}
	}
	assert.Equal(t, map[string][3]any{"Old.md": {"edit", 2, 1}, "New.md": {"found", 2, 0}, "Empty.md": {"found", 0, 0}}, lines)
}

// TestDeletedPath checks that a name resolves to a single deleted note that the
// caller may read.
func TestDeletedPath(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"Work/Letter.md": "w", "Home/Letter.md": "h", "Home/100%_sure.md": "s", "Home/100 xsure.md": "no", "Live.md": "l", "Ärger.md": "r"})
	for _, p := range []string{"Ärger.md", "Work/Letter.md", "Home/Letter.md", "Home/100%_sure.md", "Home/100 xsure.md"} {
		_, err := w.vault.Delete(ctx, notes.DeleteRequest{Note: p})
		require.NoError(t, err)
	}
	missing := errors.New("missing")
	for name, want := range map[string]string{"Work/Letter": "Work/Letter.md", "Work/Letter.md": "Work/Letter.md", "work/letter": "Work/Letter.md", "100%_sure": "Home/100%_sure.md", "ärger": "Ärger.md"} {
		got, err := w.DeletedPath(ctx, name, notes.Scope{}, missing)
		require.NoError(t, err, name)
		assert.Equal(t, want, got)
	}
	_, err := w.DeletedPath(ctx, "Letter", notes.Scope{}, missing)
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	got, err := w.DeletedPath(ctx, "Letter", notes.Scope{Read: []string{"Home"}}, missing)
	require.NoError(t, err)
	assert.Equal(t, "Home/Letter.md", got)
	_, err = w.vault.Create(ctx, notes.CreateRequest{Path: "Work/Draft.md", Content: "d"})
	require.NoError(t, err)
	_, err = w.vault.Move(ctx, notes.MoveRequest{Note: "Work/Draft.md", To: "Home/Final.md"})
	require.NoError(t, err)
	_, err = w.vault.Delete(ctx, notes.DeleteRequest{Note: "Home/Final.md"})
	require.NoError(t, err)
	for _, name := range []string{"Draft", "draft", "Draft.md", "Work/Draft", "Final"} {
		got, err := w.DeletedPath(ctx, name, notes.Scope{}, missing)
		require.NoError(t, err, name)
		assert.Equal(t, "Home/Final.md", got)
	}
	_, err = w.DeletedPath(ctx, "Draft", notes.Scope{Read: []string{"Home"}}, missing)
	require.ErrorIs(t, err, missing, "the caller may not know that name")
	for _, name := range []string{"Live", "etter", "raft", "%", "Work/Letter2"} {
		_, err := w.DeletedPath(ctx, name, notes.Scope{}, missing)
		require.ErrorIs(t, err, missing, name)
	}
}

// TestForget_LeavesNoByte checks that no bytes of a forgotten note remain in the state
// files.
func TestForget_LeavesNoByte(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"Secret.md": "xyzzy-first plugh", "Other.md": "[[Secret]]"})
	w.revise("Secret.md", "xyzzy-second plugh")
	_, err := w.vault.Move(ctx, notes.MoveRequest{Note: "Secret.md", To: "Hidden-plugh.md", UpdateLinks: true})
	require.NoError(t, err)
	_, err = w.vault.Delete(ctx, notes.DeleteRequest{Note: "Hidden-plugh.md"})
	require.NoError(t, err)
	require.NoError(t, w.Subscribe(ctx, "session", "note:///Hidden-plugh.md"))
	require.NoError(t, w.Subscribe(ctx, "session", "note:///Living.md"))
	require.NoError(t, os.Remove(filepath.Join(w.dir, "Other.md"))) // its link contains the name
	w.reconcile()
	for _, p := range []string{"Secret.md", "Other.md"} {
		done, err := w.Forget(ctx, p)
		require.NoError(t, err)
		assert.NotZero(t, done.Versions)
		assert.Contains(t, done.Paths, p)
	}
	uris, err := w.Subscriptions(ctx, "session")
	require.NoError(t, err)
	assert.Equal(t, []string{"note:///Living.md"}, uris)
	require.NoError(t, w.Close())
	dir := filepath.Dir(w.History().Path())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		for _, word := range []string{"xyzzy", "plugh", "Secret"} {
			assert.NotContains(t, string(data), word, e.Name())
		}
	}
}

// TestJournal_Folder checks that the journal entry of a folder move, in a vault shared
// by several nodes, suffices to finish the move and to undo it, including the folders
// created.
func TestJournal_Folder(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"a/Known.md": "known\n", "a/New.md": "new\n", "ab/Other.md": "other\n"})
	w.revise("a/Known.md", "edited\n")
	w.revise("ab/Other.md", "edited\n")
	op := &store.Operation{Kind: "move", Shared: true, Made: []string{"b"}, Files: []store.FileChange{{OldPath: "a", NewPath: "b/c", OldDisk: "a", NewDisk: "b/c", Folder: true}}}
	require.NoError(t, w.Begin(ctx, op, nil))
	assert.Len(t, w.revisionsOf("a/New.md"), 1, "its text is in history before it moves")
	pending, err := w.PendingOperations(ctx)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	assert.True(t, pending[0].Shared)
	assert.True(t, pending[0].Files[0].Folder)
	assert.Equal(t, op.ID(), pending[0].ID())
	placed, err := w.Placed(ctx, op.ID())
	require.NoError(t, err)
	assert.Empty(t, placed)

	op.Files[0].State = store.StateDone
	_, err = w.Finish(ctx, op, nil, op.Written())
	require.NoError(t, err)
	placed, err = w.Placed(ctx, op.ID())
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true, "b/c": true}, placed)
	for p, want := range map[string]string{"b/c/Known.md": "a/Known.md", "b/c/New.md": "a/New.md"} {
		newest := w.revisionsOf(p)[0]
		assert.Equal(t, []any{"move", p, want}, []any{newest.Operation, newest.Path, newest.OldPath})
		text, err := w.RevisionText(ctx, "read", p, newest.Revision, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, newest.Hash, notes.Hash(text))
	}
	assert.Equal(t, "edit", w.revisionsOf("ab/Other.md")[0].Operation, "another folder whose name begins alike")
	done, err := w.Change(ctx, op.Written().Change)
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, done.Made)
	assert.True(t, done.Files[0].Folder)
	for folder, made := range map[string]bool{"b": true, "b/c": false} {
		has, err := w.MadeFolder(ctx, folder)
		require.NoError(t, err)
		assert.Equal(t, made, has, folder)
	}
}
