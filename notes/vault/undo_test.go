package vault

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/notes"
)

// requireUndone undoes a change and redoes it, checking that every byte of the files is as
// before and then as after the change.
func (f *fixture) requireUndone(done notes.Written, before, after map[string]string) {
	f.t.Helper()
	foldersAfter := f.dirs()
	undone, err := f.History().Restore(f.t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(f.t, err)
	require.Equal(f.t, before, f.files(), "%s undone", done.Path)
	require.Empty(f.t, undone.Conflicts)
	f.reconcile()
	f.requireConsistent()
	again, err := f.History().Restore(f.t.Context(), notes.RestoreRequest{Change: undone.Change})
	require.NoError(f.t, err)
	require.Equal(f.t, after, f.files(), "%s made again", done.Path)
	require.Equal(f.t, foldersAfter, f.dirs(), "%s made again", done.Path)
	require.NotEqual(f.t, done.Change, again.Change)
	f.reconcile()
}

// dirs returns the folders of the vault, including empty ones.
func (f *fixture) dirs() (dirs []string) {
	f.t.Helper()
	require.NoError(f.t, filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(f.dir, p); err == nil && d.IsDir() && rel != "." {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
		return err
	}))
	slices.Sort(dirs)
	return dirs
}

// TestUndo_DecomposedNames: undoing a change restores names in the Unicode form that they had.
func TestUndo_DecomposedNames(t *testing.T) {
	nfd := norm.NFD.String("Crème/Café.md")
	f := newFixture(t, nfd, "c\n", norm.NFD.String("Thé.md"), "[[Café]]\n")
	for _, change := range []func() (notes.Written, error){
		func() (notes.Written, error) {
			return f.Move(t.Context(), notes.MoveRequest{Note: "Thé", To: "Crème/Tea.md", UpdateLinks: true})
		},
		func() (notes.Written, error) {
			return f.Move(t.Context(), notes.MoveRequest{Note: "Café", To: "Coffee.md", UpdateLinks: true})
		},
		func() (notes.Written, error) {
			return f.Move(t.Context(), notes.MoveRequest{Note: "Crème", To: "Cream", UpdateLinks: true})
		},
		func() (notes.Written, error) { return f.Delete(t.Context(), notes.DeleteRequest{Note: "Thé"}) },
	} {
		before := f.files()
		done, err := change()
		require.NoError(t, err)
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.NoError(t, err)
		require.Equal(t, before, f.files(), done.Path)
		f.requireConsistent()
	}
}

// TestUndo_Folders checks that an undo removes only folders that its change made, and only
// if they are empty.
func TestUndo_Folders(t *testing.T) {
	f := undoFixture(t)
	require.NoError(t, os.MkdirAll(filepath.Join(f.dir, "Q"), 0o755)) // made by the user
	undo := func(change int64) notes.Written {
		t.Helper()
		f.restart()
		w, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: change})
		require.NoError(t, err)
		return w
	}
	undo(undoable(t, f, "move").Change)
	assert.Equal(t, []string{"P", "Q"}, f.dirs(), "Q was there before the move")

	done := undoable(t, f, "move a folder")
	undone := undo(done.Change)
	assert.Equal(t, []string{"P", "Q"}, f.dirs())
	undone = undo(undone.Change)
	assert.Equal(t, []string{"Q", "Q/R"}, f.dirs())
	undo(undone.Change)

	done = undoable(t, f, "create") // New/Note.md
	f.write("New/of the user.txt", "x")
	undo(done.Change)
	assert.Equal(t, []string{"New", "P", "Q"}, f.dirs())
	assert.Equal(t, "x", f.onDisk("New/of the user.txt"))

	done = undoable(t, f, "move") // makes Q/R
	require.NoError(t, os.Mkdir(filepath.Join(f.dir, "Q/R/S"), 0o755))
	undo(done.Change)
	assert.Equal(t, []string{"New", "P", "Q", "Q/R", "Q/R/S"}, f.dirs(), "the user has made a folder in it")
	f.requireConsistent()
}

// undoable makes a change of the given kind.
func undoable(t *testing.T, f *fixture, change string) notes.Written {
	t.Helper()
	var w notes.Written
	var err error
	switch change {
	case "create":
		w, err = f.Create(t.Context(), notes.CreateRequest{Path: "New/Note.md", Content: "new\n"})
	case "edit":
		w, err = f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	case "rename_heading":
		w, err = f.Edit(t.Context(), notes.EditRequest{Note: "P/One", Edits: []notes.Edit{{Op: "rename_heading", Heading: "One", New: "Uno"}}})
	case "rename_tag":
		w, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "job"})
	case "move":
		w, err = f.Move(t.Context(), notes.MoveRequest{Note: "P/One", To: "Q/R/Uno.md", UpdateLinks: true})
	case "move several":
		w, err = f.Move(t.Context(), notes.MoveRequest{Note: "P/One", More: []string{"A", "P/Two"}, To: "Q/R/", UpdateLinks: true})
	case "move a folder":
		w, err = f.Move(t.Context(), notes.MoveRequest{Note: "P", To: "Q/R", UpdateLinks: true})
	case "delete":
		w, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "P/One"})
	case "redirect":
		w, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "P/One", Redirect: "B"})
	case "restore":
		w = undoable(t, f, "edit")
		w, err = f.History().Restore(t.Context(), notes.RestoreRequest{Note: "A", Revision: w.Revision - 1})
	}
	require.NoError(t, err)
	require.NotZero(t, w.Change)
	return w
}

func undoFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, "A.md", "[[One#One]] [p](P/One.md) #work\n", "B.md", "b\n", "P/One.md", "# One\n[[A]] [a](../A.md) #work/x\n", "P/Two.md", "[o](One.md) [i](i.png)\r\n#work",
		"P/i.png", "i", "P/in.canvas", `{"nodes":[{"type":"file","file":"P/One.md"}]}`, "board.canvas", `{"nodes":[{"type":"file","file":"P/One.md"},{"file":"P/i.png"}]}`)
}

var undoableChanges = []string{"create", "edit", "rename_heading", "rename_tag", "move", "move several", "move a folder", "delete", "redirect", "restore"}

func TestUndo(t *testing.T) {
	for _, change := range undoableChanges {
		t.Run(change, func(t *testing.T) {
			f := undoFixture(t)
			before := f.files()
			if change == "restore" {
				undoable(t, f, "edit")
				before = f.files()
				f = undoFixture(t)
			}
			done := undoable(t, f, change)
			require.NoError(t, f.store.Prune(t.Context(), f.opt.History)) // pruning keeps the texts of canvases, too
			f.restart()
			f.requireUndone(done, before, f.files())
			page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{})
			require.NoError(t, err)
			counts := map[int64]int{}
			for _, r := range page.Revisions {
				counts[r.Change]++
			}
			if len(done.Moved) == 0 { // a note in a moved folder need not have a history
				assert.GreaterOrEqual(t, counts[done.Change], 1+len(slices.DeleteFunc(done.Relinked, func(p string) bool { return !notes.IsNoteName(p) })), "history names the change at every note")
			}
		})
	}
}

func TestUndo_ChangedSince(t *testing.T) {
	f := undoFixture(t)
	before := f.files()
	done := undoable(t, f, "rename_tag")
	changed := "changed\n#job"
	f.write("P/Two.md", changed)
	undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	assert.Equal(t, []string{"P/Two.md"}, undone.Conflicts)
	want := maps.Clone(before)
	want["P/Two.md"] = changed
	assert.Equal(t, want, f.files())
	f.reconcile()
	f.requireConsistent()

	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.ErrorIs(t, err, notes.ErrConflict, "every note was changed since, by the undo")
	assert.Equal(t, []string{"A.md", "P/One.md", "P/Two.md"}, domainError(t, err).Candidates)
	f.remove("P/Two.md")
	f.reconcile()
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: undone.Change})
	require.NoError(t, err, "the undo was of two notes")
	assert.Contains(t, f.onDisk("A.md"), "#job")
	assert.NotContains(t, f.files(), "P/Two.md")

	f = undoFixture(t)
	before = f.files()
	done = undoable(t, f, "move")
	f.write("Q/R/Uno.md", "rewritten [a](../../A.md) [b](../../B.md)\n")
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	before["P/One.md"] = "rewritten [a](../A.md) [b](../B.md)\n"
	assert.Equal(t, before, f.files())

	f = undoFixture(t)
	before = f.files()
	done = undoable(t, f, "move a folder")
	f.write("Q/R/Two.md", "rewritten\n")
	f.write("Q/R/Three.md", "three\n")
	undone, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	before["P/Three.md"] = "three\n"
	if len(undone.Conflicts) > 0 { // its links had to change
		assert.Equal(t, []string{"Q/R/Two.md"}, undone.Conflicts)
	}
	before["P/Two.md"] = "rewritten\n"
	assert.Equal(t, before, f.files(), "what came into the folder goes along")
	f.reconcile()
	f.requireConsistent()
}

// TestUndo_AwkwardName checks that a note or folder gets back a name that nothing new could
// have.
func TestUndo_AwkwardName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such names")
	}
	for _, step := range []struct{ from, to string }{{"P/C#.md", "P/C sharp.md"}, {"Draft [1].md", "P/Draft 1.md"}, {"Why?.md", "Why.md"}, {"A?/", "A"}} {
		f := newFixture(t, "P/C#.md", "[[Other]]\n", "Draft [1].md", "[w](Why%3F.md)\n", "Why?.md", "[o](Other.md)\n", "A?/N.md", "[o](../Other.md)\n", "Other.md", "[c](P/C%23.md)\n")
		before := f.files()
		done, err := f.Move(t.Context(), notes.MoveRequest{Note: step.from, To: step.to, UpdateLinks: true})
		require.NoError(t, err, step.from)
		f.requireUndone(done, before, f.files())
	}
}

func TestUndo_Conflicts(t *testing.T) {
	for change, obstacle := range map[string]string{"move": "P/One.md", "move a folder": "P/x.txt", "delete": "P/One.md"} {
		f := undoFixture(t)
		done := undoable(t, f, change)
		f.write(obstacle, "in the way")
		after := f.files()
		_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.Error(t, err, change)
		domainError(t, err)
		assert.Equal(t, after, f.files(), change)
	}
	for change, gone := range map[string]string{"move": "Q/R/Uno.md", "move a folder": "Q/R", "create": "New/Note.md"} {
		f := undoFixture(t)
		done := undoable(t, f, change)
		f.rename(gone, "elsewhere.md")
		f.reconcile()
		after := f.files()
		_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.ErrorIs(t, err, notes.ErrConflict, change)
		domainError(t, err)
		assert.Equal(t, after, f.files(), change)
	}
	for _, change := range undoableChanges {
		f := undoFixture(t)
		done := undoable(t, f, change)
		_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.NoError(t, err, change)
		after := f.files()
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.ErrorIs(t, err, notes.ErrConflict, change)
		assert.ErrorContains(t, err, "since; nothing was written", "%s undone a second time", change)
		assert.Equal(t, after, f.files(), change)
	}
}

// TestUndo_LinksWrittenSince checks that links keep leading where they led if they were
// written in a note since the move that is undone, which had changed nothing in it.
func TestUndo_LinksWrittenSince(t *testing.T) {
	for _, pruned := range []bool{false, true} {
		f := newFixture(t, "N.md", "text\n", "Other.md", "o\n")
		done, err := f.Move(t.Context(), notes.MoveRequest{Note: "N", To: "Sub/N.md", UpdateLinks: true})
		require.NoError(t, err)
		f.reconcile()
		f.save("Sub/N.md", "[o](../Other.md)\n")
		if pruned {
			f.exec(f.store.History(), `DELETE FROM blobs WHERE hash IN (SELECT old_hash FROM operation_files)`)
		}
		undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.NoError(t, err)
		assert.Empty(t, undone.Conflicts)
		assert.Equal(t, map[string]string{"N.md": "[o](Other.md)\n", "Other.md": "o\n"}, f.files())
		f.reconcile()
		f.requireConsistent()
	}
}

func TestUndo_Scope(t *testing.T) {
	f := undoFixture(t)
	done := undoable(t, f, "rename_tag")
	after := f.files()
	_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change, Scope: notes.Scope{Read: []string{"P"}}})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.NotContains(t, err.Error(), "A.md")
	_, unknown := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change + 1, Scope: notes.Scope{Read: []string{"P"}}})
	require.ErrorIs(t, unknown, notes.ErrNotFound)
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change, Scope: notes.Scope{Write: []string{"P"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change, Scope: notes.Scope{ReadOnly: true}})
	require.ErrorIs(t, err, notes.ErrReadOnly)
	assert.Equal(t, after, f.files())

	dry, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change, DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"P/One.md", "P/Two.md"}, dry.Relinked)
	assert.Contains(t, dry.Diff, "+[[One#One]] [p](P/One.md) #work")
	assert.Contains(t, dry.Diff, "+++ b/P/Two.md\n", "a preview shows the change of every note")
	assert.Zero(t, dry.Change)
	assert.Equal(t, after, f.files())

	request := notes.RestoreRequest{Change: done.Change, RequestKey: "key"}
	first, err := f.History().Restore(t.Context(), request)
	require.NoError(t, err)
	again, err := f.History().Restore(t.Context(), request)
	require.NoError(t, err, "a repeated request has its answer")
	assert.Equal(t, first.Change, again.Change)

	later := func(days int) error {
		f.clock.Advance(time.Duration(days) * 24 * time.Hour)
		name := fmt.Sprintf("After %d.md", days)
		f.save(name, "text\n")
		f.revisions(name) // kept from now on, which confirms the time
		f.clock.Advance(24 * time.Hour)
		require.NoError(t, f.store.Prune(t.Context(), f.opt.History))
		_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: first.Change, DryRun: true})
		return err
	}
	require.NoError(t, later(29))
	err = later(2)
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.ErrorContains(t, err, "30 days")
}

// An undo interrupted at any step is completed or not done at all.
func TestUndo_Crash(t *testing.T) {
	for _, change := range []string{"move several", "move a folder"} {
		for step := 1; ; step += stepsApart() {
			f := undoFixture(t)
			before := f.files()
			done := undoable(t, f, change)
			after := f.files()
			f.reconcile()
			count := 0
			f.failpoint = func(name string) error {
				if strings.HasPrefix(name, parseStep) {
					return nil
				}
				if count++; count == step {
					return errKilled
				}
				return nil
			}
			_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
			if err == nil {
				assert.Greater(t, step, 10)
				break
			}
			require.ErrorIs(t, err, errKilled)
			f.restart()
			if files := f.files(); !maps.Equal(after, files) {
				assert.Equal(t, before, files, "%s, killed at step %d", change, step)
			}
			f.requireConsistent()
		}
	}
}

// TestUndo_Series undoes random changes in reverse order: each undo must restore every byte
// and folder from before its change.
func TestUndo_Series(t *testing.T) {
	notestest.SkipInShort(t)
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 77))
		f := undoFixture(t)
		type state struct {
			change int64
			files  map[string]string
			dirs   []string
		}
		var before []state
		note := func() string {
			names := slices.Sorted(maps.Keys(f.files()))
			names = slices.DeleteFunc(names, func(p string) bool { return !notes.IsNoteName(p) })
			return names[rng.IntN(len(names))]
		}
		folder := func() string { return []string{"", "P/", "Q/", "Q/R/", "P/Deep/er/", "New/"}[rng.IntN(6)] }
		for len(before) < 10 {
			was := state{files: f.files(), dirs: f.dirs()}
			var w notes.Written
			var err error
			switch name := fmt.Sprintf("N%d", rng.IntN(1000)); rng.IntN(9) {
			case 0, 1:
				w, err = f.Move(t.Context(), notes.MoveRequest{Note: note(), To: folder() + name + ".md", UpdateLinks: rng.IntN(4) > 0})
			case 2:
				if dir := path.Dir(note()); dir != "." {
					w, err = f.Move(t.Context(), notes.MoveRequest{Note: dir + "/", To: folder() + name, UpdateLinks: true})
				}
			case 3:
				w, err = f.Create(t.Context(), notes.CreateRequest{Path: folder() + name + ".md", Content: "[[" + notes.BaseName(note()) + "]] #work\n"})
			case 4:
				if target := note(); len(was.files) > 5 {
					w, err = f.Delete(t.Context(), notes.DeleteRequest{Note: target})
				}
			case 5:
				w, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: []string{"work", "job"}[rng.IntN(2)], To: []string{"work", "job"}[rng.IntN(2)]})
			case 7:
				w, err = f.Move(t.Context(), notes.MoveRequest{Note: note(), More: []string{note(), note()}, To: folder() + name + "/", UpdateLinks: true})
			case 6:
				if len(before) > 0 { // undoes are undone, too
					w, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: before[len(before)-1].change})
				}
			default:
				w, err = f.Edit(t.Context(), notes.EditRequest{Note: note(), Edits: []notes.Edit{{Op: "append", Content: name}}})
			}
			if err != nil {
				domainError(t, err)
				require.Equal(t, was.files, f.files(), "a change that is refused leaves all as it was: %v", err)
				require.Equal(t, was.dirs, f.dirs(), "%v", err)
			} else if w.Change != 0 {
				was.change = w.Change
				before = append(before, was)
			}
			f.reconcile()
		}
		for _, was := range slices.Backward(before) {
			w, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: was.change})
			require.NoError(t, err, "seed %d", seed)
			require.Empty(t, w.Conflicts)
			require.Equal(t, was.files, f.files(), "seed %d", seed)
			require.Equal(t, was.dirs, f.dirs(), "seed %d", seed)
			f.reconcile()
		}
		f.requireConsistent()
	}
}

// TestMove_Folders checks that a move removes the folder that it empties only if notesd
// made that folder.
func TestMove_Folders(t *testing.T) {
	f := newFixture(t, "User/A.md", "a", "B.md", "b")
	move := func(from, to string) notes.Written {
		t.Helper()
		w, err := f.Move(t.Context(), notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
		require.NoError(t, err)
		return w
	}
	move("User/A.md", "Made/by/A.md")
	assert.Equal(t, []string{"Made", "Made/by", "User"}, f.dirs(), "the user's folder stays")
	f.restart()
	w := move("Made/by/A.md", "Made/C.md")
	assert.Equal(t, []string{"Made", "User"}, f.dirs())
	move("Made/C.md", "User/A.md")
	assert.Equal(t, []string{"User"}, f.dirs())
	move("User", "In/User")
	move("In/User", "Other")
	assert.Equal(t, []string{"Other"}, f.dirs())
	move("Other/A.md", "Made/A.md")
	assert.Equal(t, []string{"Made", "Other"}, f.dirs(), "it was the user's, by another name")
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "Made/.hidden"), nil, 0o600))
	move("Made/A.md", "A.md")
	assert.Equal(t, []string{"Made", "Other"}, f.dirs(), "it is not empty")

	_, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.ErrorIs(t, err, notes.ErrConflict, "the note is elsewhere")
	var explained *notes.Error
	require.ErrorAs(t, err, &explained)
	assert.Contains(t, explained.Hint, "Undo the later changes first")
	f.requireConsistent()
}

// A note that was edited or written after its folder moved goes back with the folder. If its
// links cannot be rewritten, it is reported where it is now.
func TestUndoMoveOfFolder_EditedSince(t *testing.T) {
	f := newFixture(t, "P/A.md", "[q](../Q.md)\n", "P/B.md", "b\n", "Q.md", "q\n")
	moved, err := f.Move(t.Context(), notes.MoveRequest{Note: "P/", To: "Z/P", UpdateLinks: true})
	require.NoError(t, err)
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "Z/P/A.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	f.write("Z/P/Locked.md", "[q](../../Q.md)\n")
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "Z/P/Locked.md"), 0o444))
	f.reconcile()
	undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: moved.Change})
	require.NoError(t, err)
	assert.Equal(t, []string{"P/Locked.md"}, undone.Conflicts)
	assert.Equal(t, "[q](../Q.md)\n\nmore\n", f.onDisk("P/A.md"))
	assert.Equal(t, "[q](../../Q.md)\n", f.onDisk("P/Locked.md"))
}

// TestUndo_LinksSinceAMove checks that undoing a move keeps the links of notes and canvases
// that were written or changed since the move.
func TestUndo_LinksSinceAMove(t *testing.T) {
	for change, to := range map[string]string{"move": "Q/R/Uno", "move a folder": "Q/R/One"} {
		f := undoFixture(t)
		done := undoable(t, f, change)
		f.write("A.md", "edited [["+to+"]] [p]("+to+".md)\n")
		f.write("New.md", "[n]("+to+".md)\n")
		f.write("New.canvas", `{"nodes":[{"type":"file","file":"`+to+`.md"}]}`)
		want := map[string]string{"A.md": "edited [[P/One]] [p](P/One.md)\n", "New.md": "[n](P/One.md)\n", "New.canvas": `{"nodes":[{"type":"file","file":"P/One.md"}]}`}
		if change == "move a folder" {
			f.write("Q/R/One.md", "edited [a](../../A.md) [[Two]]\n")
			f.write("Q/R/sub/New.md", "[a](../../../A.md) [o](../One.md)\n")
			want["P/One.md"], want["P/sub/New.md"] = "edited [a](../A.md) [[Two]]\n", "[a](../../A.md) [o](../One.md)\n"
		}
		f.reconcile()
		undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.NoError(t, err)
		f.reconcile()
		f.requireConsistent()
		for name, text := range want {
			assert.Equal(t, text, f.onDisk(name), "%s, %s", change, name)
		}
		assert.Empty(t, undone.Conflicts)
	}
}

// The same for a folder without notes, whose move is not in the feed.
func TestUndo_LinksSinceAMoveOfAttachments(t *testing.T) {
	f := newFixture(t, "pics/i.png", "i", "A.md", "![i](pics/i.png)\n")
	moved, err := f.Move(t.Context(), notes.MoveRequest{Note: "pics", To: "media/pics", UpdateLinks: true})
	require.NoError(t, err)
	f.write("New.md", "![i](media/pics/i.png) ![[media/pics/i.png]]\n")
	f.write("A.md", "edited ![i](media/pics/i.png)\n")
	f.reconcile()
	undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: moved.Change})
	require.NoError(t, err)
	assert.Empty(t, undone.Conflicts)
	assert.Equal(t, map[string]string{"pics/i.png": "i", "A.md": "edited ![i](pics/i.png)\n", "New.md": "![i](pics/i.png) ![[pics/i.png]]\n"}, f.files())
	f.reconcile()
	f.requireConsistent()
}

// Undoing such a move takes memory and time in proportion to the notes with links, whether they
// have changed since or not.
func TestUndo_ManyLinksSinceAMove(t *testing.T) {
	allocated := func(n int, edit bool) float64 {
		names := []string{"pics/i.png", "i"}
		for i := range n {
			names = append(names, fmt.Sprintf("n%d.md", i), "![i](pics/i.png)\n")
		}
		f := newFixture(t, names...)
		moved, err := f.Move(t.Context(), notes.MoveRequest{Note: "pics", To: "media/pics", UpdateLinks: true})
		require.NoError(t, err)
		for i := range n {
			if edit {
				f.write(fmt.Sprintf("n%d.md", i), "edited ![i](media/pics/i.png)\n")
			}
		}
		f.reconcile()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: moved.Change, DryRun: true})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, edit := range []bool{false, true} {
		assert.Less(t, allocated(800, edit), 12*allocated(100, edit), "8 times as many notes, edited: %t", edit)
	}
}

// TestUndo_Parts checks that the edits of several notes, made as parts of one change, are
// undone together, also in files that several of them have changed.
func TestUndo_Parts(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t, "A.md", "# Old\na\n", "B.md", "# Old\n[[A#Old]]\n", "C.md", "# Other\n[[A#Old]] [[B#Old]]\n")
	change := func() notes.Written {
		t.Helper()
		var first notes.Written
		for _, note := range []string{"A", "B", "today"} {
			edits := []notes.Edit{{Op: "rename_heading", Heading: "Old", New: "New"}}
			if note == "today" {
				edits = []notes.Edit{{Op: "append", Content: "a new daily note"}}
			}
			w, err := f.Edit(ctx, notes.EditRequest{Note: note, Edits: edits, PartOf: first.Change})
			require.NoError(t, err)
			if first.Change == 0 {
				first = w
			}
			assert.Equal(t, first.Change, w.Change)
			assert.Equal(t, first.Change, f.revisions(w.Path)[0].Change)
		}
		return first
	}
	before := f.files()
	done := change()
	assert.Len(t, f.files(), 4)
	assert.Equal(t, "# Other\n[[A#New]] [[B#New]]\n", f.onDisk("C.md"))
	f.requireUndone(done, before, f.files())

	_, err := f.Edit(ctx, notes.EditRequest{Note: "C", Edits: []notes.Edit{{Op: "append", Content: "since"}}})
	require.NoError(t, err)
	undone, err := f.History().Restore(ctx, notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	assert.Equal(t, []string{"C.md"}, undone.Conflicts)
	assert.Equal(t, "# Old\n[[A#Old]]\n", f.onDisk("B.md"))
	assert.Contains(t, f.onDisk("C.md"), "[[A#New]] [[B#New]]")
}

// TestUndo_KeepsLaterChanges checks that what was changed in other sections of a note since, by a tool
// or another program, is kept, and that undoing the undo restores every byte.
func TestUndo_KeepsLaterChanges(t *testing.T) {
	text := "---\r\nk: 1\r\n---\r\nTop\r\n\r\n## A\r\n- eggs\r\n\r\n## B\r\n```\r\n## C\r\n```\r\nb\r\n"
	edit := func(old, replacement string) notes.Edit {
		return notes.Edit{Op: "replace_text", Old: old, New: replacement}
	}
	for _, test := range []struct {
		edit            notes.Edit
		before, replace string // the text that another program replaces, and by what
		kept            bool
	}{
		{edit("- eggs", "- ham"), "b\r\n", "b\r\nmine\r\n", true},
		{edit("- eggs", "- ham"), "Top\r\n", "Top\r\nmine\r\n", true},
		{edit("- eggs", "- ham"), "- ham\r\n\r\n## B\r\n", "- ham\r\n\r\n## Mine\r\n\r\n## B\r\n", false}, // it is in the section
		{edit("- eggs", "- ham"), "- ham\r\n", "- ham\r\n- mine\r\n", false},
		{edit("- eggs", "- ham"), "k: 1", "k: 2", true},
		{edit("b", "```\r\nb\r\n```"), "b\r\n```\r\n", "b\r\n```\r\n\r\n```sh\r\nx\r\n```\r\n", false},
		{edit("b", "```\r\nb\r\n```"), "- eggs", "- mine", true},
		{edit("## C", "## D"), "b\r\n", "mine\r\n", false}, // it is no heading
		{notes.Edit{Op: "set_front_matter", Key: "k", Value: "v"}, "- eggs", "- mine", true},
		{notes.Edit{Op: "set_front_matter", Key: "k", Value: "v"}, "k: v", "k: v\r\nmine: 1", false},
		{notes.Edit{Op: "append", Content: "para\n\n## D\n- d"}, "- d", "- d\r\n- mine", false},
		{notes.Edit{Op: "append", Content: "## D\n- d"}, "b\r\n", "mine\r\n", true},
		{notes.Edit{Op: "rename_heading", Heading: "A", New: "E"}, "b\r\n", "mine\r\n", true},
	} {
		f := newFixture(t, "A.md", text)
		done, err := f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{test.edit}})
		require.NoError(t, err)
		changed := f.onDisk("A.md")
		require.Contains(t, changed, test.before)
		later := strings.Replace(changed, test.before, test.replace, 1)
		f.save("A.md", later)
		undone, err := f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		if !test.kept {
			require.ErrorIs(t, err, notes.ErrConflict, test.replace)
			assert.Equal(t, later, f.onDisk("A.md"))
			continue
		}
		require.NoError(t, err, test.replace)
		assert.Equal(t, strings.Replace(text, test.before, test.replace, 1), f.onDisk("A.md"))
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
		require.ErrorIs(t, err, notes.ErrConflict, "it is undone already")
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: undone.Change})
		require.NoError(t, err)
		assert.Equal(t, later, f.onDisk("A.md"))
	}
}

// TestUndo_OfAnotherNote checks that a change is not undone in another note that has its path now.
func TestUndo_OfAnotherNote(t *testing.T) {
	f := newFixture(t, "A.md", "# A\nsecret\n\n# B\nb\n")
	done, err := f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "replace_text", Old: "secret\n", New: ""}}})
	require.NoError(t, err)
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "Old.md"})
	require.NoError(t, err)
	f.save("A.md", "# A\n\n# B\nother\n")
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, "# A\n\n# B\nother\n", f.onDisk("A.md"))
}

// TestUndo_PartsChangedBetween checks that a file which another program has changed between
// two parts of a change is left as it is.
func TestUndo_PartsChangedBetween(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t, "A.md", "a\n", "B.md", "b\n")
	edit := func(note string, partOf int64) int64 {
		t.Helper()
		w, err := f.Edit(ctx, notes.EditRequest{Note: note, Edits: []notes.Edit{{Op: "append", Content: "more"}}, PartOf: partOf})
		require.NoError(t, err)
		return w.Change
	}
	first := edit("A", 0)
	edit("B", first)
	f.save("A.md", "of another program\n")
	edit("A", first)
	undone, err := f.History().Restore(ctx, notes.RestoreRequest{Change: first})
	require.NoError(t, err)
	assert.Equal(t, []string{"A.md"}, undone.Conflicts)
	assert.Equal(t, "b\n", f.onDisk("B.md"))
	assert.Equal(t, "of another program\n\nmore\n", f.onDisk("A.md"))
}

// TestRestore_FolderSpelledAnew restores a note after its folder was renamed in case only.
func TestRestore_FolderSpelledAnew(t *testing.T) {
	for name, request := range map[string]func(change int64) notes.RestoreRequest{
		"note":   func(int64) notes.RestoreRequest { return notes.RestoreRequest{Note: "projects/x.md"} },
		"change": func(change int64) notes.RestoreRequest { return notes.RestoreRequest{Change: change} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "projects/x.md", "text\n", "projects/y.md", "y\n")
			done, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "projects/x.md"})
			require.NoError(t, err)
			f.rename("projects", "Projects")
			f.reconcile()
			w, err := f.History().Restore(t.Context(), request(done.Change))
			require.NoError(t, err)
			assert.Equal(t, "Projects/x.md", w.Path)
			assert.Equal(t, map[string]string{"Projects/x.md": "text\n", "Projects/y.md": "y\n"}, f.files())
			f.requireConsistent()
			page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "Projects/x.md"})
			require.NoError(t, err)
			assert.Len(t, page.Revisions, 3, "found, deleted, restored")
		})
	}
}
