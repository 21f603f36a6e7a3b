package vault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

var twoFolders = []string{"home", "work"}

// leads returns the targets of the links of a note, in text order; "" for an unresolved
// link.
func (f *fixture) leads(note string) []string {
	f.t.Helper()
	return f.column(f.store.Notes(), `SELECT coalesce(t.path, a.path, '') FROM links l JOIN notes n ON n.id = l.note
		LEFT JOIN notes t ON t.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE n.path = '`+note+`' ORDER BY l.ordinal`)
}

// Links resolve as in Obsidian, which treats each folder as a vault.
func TestLinksOfSeveralFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders,
		"home/Plan.md", "x", "work/Plan.md", "x", "work/Area/Plan.md", "x", "home/Only.md", "x", "home/pic.png", "png", "work/home/Inner.md", "x", "home/Inner.md", "x",
		"work/A.md", "[[Plan]] [[Area/Plan]] [[/Area/Plan]] [p](Plan.md) [p](/Area/Plan.md) [[Only]] [[home/Only]] [o](home/Only.md) ![[home/pic.png]] [[work/Area/Plan]] [[home/Inner]] [[../home/Only]]")
	assert.Equal(t, []string{"work/Plan.md", "work/Area/Plan.md", "work/Area/Plan.md", "work/Plan.md", "work/Area/Plan.md", "", "home/Only.md", "home/Only.md",
		"home/pic.png", "work/Area/Plan.md", "work/home/Inner.md", ""}, f.leads("work/A.md"))

	f.remove("work/home/Inner.md")
	f.reconcile()
	assert.Equal(t, "home/Inner.md", f.leads("work/A.md")[10], "nothing in its own folder fits any more")
}

// A wikilink never names a folder, whatever other links are resolved with it.
func TestLinkWithTheNameOfItsFolder(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "work/README.md", "x", "work/A.md", "[[work]] [elsewhere](missing/)", "home/B.md", "x")
	assert.Equal(t, []string{"", ""}, f.leads("work/A.md"))
}

// References may be absolute paths, or Obsidian's URIs, whose vault is one of the folders.
func TestReferencesToSeveralFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "home/Plan.md", "of home", "work/Plan.md", "of work")
	for ref, want := range map[string]string{
		"work/Plan": "of work", filepath.Join(f.dir, "work", "Plan.md"): "of work", "note:///home/Plan.md": "of home",
		"obsidian://open?vault=Work&file=Plan": "of work", "obsidian://vault/home/Plan": "of home",
	} {
		note, err := f.Read(context.Background(), ref, notes.Scope{})
		require.NoError(t, err, ref)
		assert.Equal(t, want, note.Content, ref)
	}
	_, err := f.Read(context.Background(), "Plan", notes.Scope{})
	assert.Equal(t, []string{"home/Plan.md", "work/Plan.md"}, domainError(t, err).Candidates)
}

func TestRootOfSeveralFoldersHoldsNoNote(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "work/A.md", "x", "work/sub/B.md", "y")
	ctx := context.Background()
	for name, do := range map[string]func() error{
		"create":            func() error { _, err := f.Create(ctx, notes.CreateRequest{Title: "New"}); return err },
		"create elsewhere":  func() error { _, err := f.Create(ctx, notes.CreateRequest{Path: "Other/New.md"}); return err },
		"create beside":     func() error { _, err := f.Create(ctx, notes.CreateRequest{Path: "work.md"}); return err },
		"in another case":   func() error { _, err := f.Create(ctx, notes.CreateRequest{Path: "Work/New.md"}); return err },
		"move":              func() error { _, err := f.Move(ctx, notes.MoveRequest{Note: "A", To: "/"}); return err },
		"move of a folder":  func() error { _, err := f.Move(ctx, notes.MoveRequest{Note: "work/sub", To: "sub2"}); return err },
		"move of the vault": func() error { _, err := f.Move(ctx, notes.MoveRequest{Note: "work", To: "home/work"}); return err },
	} {
		e := domainError(t, do())
		if name == "move of the vault" {
			assert.ErrorIs(t, e, notes.ErrForbidden)
			assert.Contains(t, e.Hint, "vault.folders")
			continue
		}
		assert.ErrorIs(t, e, notes.ErrInvalid, name)
		assert.Contains(t, e.Error(), "home, work", name)
		assert.Contains(t, e.Hint, `"home/`, name)
	}
	f.requireConsistent()
}

// The links of a note that moves to another folder, and the links to it, lead where they
// led.
func TestMoveBetweenFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders,
		"work/A.md", "[[B]] [b](B.md) ![[pic.png]]", "work/B.md", "[[A]] [a](A.md) [[B]]", "work/pic.png", "png", "home/A2.md", "x",
		"work/Board.canvas", `{"nodes":[{"id":"1","type":"file","file":"B.md"}]}`)
	ctx := context.Background()
	moved, err := f.Move(ctx, notes.MoveRequest{Note: "work/A.md", To: "home/", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "home/A.md", moved.Path)
	assert.Equal(t, "[[work/B]] [b](work/B.md) ![[work/pic.png]]", f.onDisk("home/A.md"))
	assert.Equal(t, "[[home/A]] [a](home/A.md) [[B]]", f.onDisk("work/B.md"))
	f.reconcile()
	f.requireConsistent()
	assert.Equal(t, []string{"work/B.md", "work/B.md", "work/pic.png"}, f.leads("home/A.md"))
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "home/A.md"})
	require.NoError(t, err)
	assert.Equal(t, "work/A.md", page.Revisions[len(page.Revisions)-1].Path, "its history came with it")

	_, err = f.Move(ctx, notes.MoveRequest{Note: "home/A2.md", To: "work/A2.md", UpdateLinks: true}) // no text changes
	require.NoError(t, err)
	assert.Equal(t, "x", f.onDisk("work/A2.md"))
	assert.NoFileExists(t, filepath.Join(f.dir, "home/A2.md"))

	moved, err = f.Move(ctx, notes.MoveRequest{Note: "work/B.md", To: "work/sub/B.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Contains(t, f.onDisk("work/Board.canvas"), `"file":"sub/B.md"`, "a canvas names files of its own folder")
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Change: moved.Change})
	require.NoError(t, err)
	assert.Contains(t, f.onDisk("work/Board.canvas"), `"file":"B.md"`)

	moved, err = f.Move(ctx, notes.MoveRequest{Note: "work/B.md", To: "home/B.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"work/Board.canvas"}, moved.Left, "a canvas cannot name a file of another folder")
	f.reconcile()
	f.requireConsistent()
}

func TestMoveOfAFolderBetweenFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "work/sub/A.md", "[[B]]", "work/sub/B.md", "x", "work/C.md", "[[A]]")
	_, err := f.Move(context.Background(), notes.MoveRequest{Note: "work/sub", To: "home/", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[[home/sub/A]]", f.onDisk("work/C.md"))
	assert.Equal(t, "[[B]]", f.onDisk("home/sub/A.md"))
	f.reconcile()
	f.requireConsistent()
}

// A link from the root of the vault, within one of its folders, stays one.
func TestMove_LinkFromTheRootOfFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "work/A.md", "[x](/work/B.md) [[/work/B]]", "work/B.md", "x", "home/C.md", "[x](/work/B.md)")
	_, err := f.Move(context.Background(), notes.MoveRequest{Note: "work/B.md", To: "work/D.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[x](/work/D.md) [[/work/D]]", f.onDisk("work/A.md"))
	assert.Equal(t, "[x](/work/D.md)", f.onDisk("home/C.md"))
}

// isMissing checks that the notes of the folder work are kept, that nothing is written
// there, and that the other folder works.
func (f *fixture) isMissing(text string) {
	f.t.Helper()
	ctx := context.Background()
	f.write("home/New.md", text)
	f.reconcile()
	assert.Equal(f.t, []string{"create home/New.md"}, f.view.kinds())
	require.NoError(f.t, f.reconcilePaths(ctx, []string{"work", "work/n3.md"}))
	assert.Empty(f.t, f.view.kinds())
	st, err := f.Status(ctx)
	require.NoError(f.t, err)
	assert.Empty(f.t, st.Unavailable)
	require.Len(f.t, st.Warnings, 1)
	assert.Contains(f.t, st.Warnings[0], `"work"`)
	rows, err := f.store.Rows(ctx, []string{"work"})
	require.NoError(f.t, err)
	assert.Len(f.t, rows, 12)
	_, err = f.Edit(ctx, notes.EditRequest{Note: "home/New.md", Edits: []notes.Edit{{Op: "append", Content: "y"}}})
	require.NoError(f.t, err)
	f.remove("home/New.md")
	f.reconcile()
	f.view.kinds()
}

func TestFolderOfSeveralIsMissing(t *testing.T) {
	ctx := context.Background()
	newVault := func(t *testing.T) *fixture {
		files := []string{"home/A.md", "[[B]]", "home/B.md", "x"}
		for i := range 12 {
			files = append(files, fmt.Sprintf("work/n%d.md", i), fmt.Sprintf("note %d", i))
		}
		f := newFixtureOf(t, twoFolders, files...)
		f.view.kinds()
		return f
	}
	work := func(f *fixture) string { return filepath.Join(f.dir, "work") }

	t.Run("moved away and back", func(t *testing.T) {
		f := newVault(t)
		require.NoError(t, os.Rename(work(f), work(f)+" away"))
		f.isMissing("x")
		for name, do := range map[string]func() error{
			"read":      func() error { _, err := f.Read(ctx, "work/n1.md", notes.Scope{}); return err },
			"create":    func() error { _, err := f.Create(ctx, notes.CreateRequest{Path: "work/New.md"}); return err },
			"move from": func() error { _, err := f.Move(ctx, notes.MoveRequest{Note: "work/n1.md", To: "home/"}); return err },
			"move to":   func() error { _, err := f.Move(ctx, notes.MoveRequest{Note: "home/A.md", To: "work/"}); return err },
			"delete":    func() error { _, err := f.Delete(ctx, notes.DeleteRequest{Note: "work/n1.md"}); return err },
		} {
			e := domainError(t, do())
			assert.ErrorIs(t, e, notes.ErrUnavailable, name)
			assert.Contains(t, e.Error(), `"work" does not exist`, name)
		}
		assert.False(t, f.mounts.changed(f.disk))
		require.NoError(t, os.Rename(work(f)+" away", work(f)))
		assert.True(t, f.mounts.changed(f.disk), "Run compares everything again")
		f.reconcile()
		assert.Empty(t, f.view.kinds())
		f.requireConsistent()
	})
	t.Run("at the start", func(t *testing.T) {
		f := newVault(t)
		require.NoError(t, os.Rename(work(f), work(f)+" away"))
		f.restart()
		f.isMissing("x")
	})
	t.Run("another in its place", func(t *testing.T) {
		f := newVault(t)
		require.NoError(t, os.Rename(work(f), work(f)+" away"))
		require.NoError(t, os.Mkdir(work(f), 0o755))
		f.isMissing("x")
		_, err := f.Create(ctx, notes.CreateRequest{Path: "work/New.md"})
		assert.ErrorIs(t, domainError(t, err), notes.ErrUnavailable)
		for i := range 8 { // a restored backup
			f.write(fmt.Sprintf("work/n%d.md", i), fmt.Sprintf("note %d", i))
		}
		f.reconcile()
		assert.Len(t, f.view.kinds(), 4)
		require.NoError(t, os.RemoveAll(work(f)+" away"))
		f.requireConsistent()
	})
	t.Run("emptied", func(t *testing.T) {
		f := newVault(t)
		for i := range 12 {
			f.rename(fmt.Sprintf("work/n%d.md", i), fmt.Sprintf("away/n%d.md", i))
		}
		require.NoError(t, f.reconcilePaths(ctx, []string{"work"}))
		assert.Empty(t, f.view.kinds(), "the watcher's events for all of them are no deletion")
		f.isMissing("x")
		_, err := f.Create(ctx, notes.CreateRequest{Path: "work/New.md"})
		assert.ErrorIs(t, domainError(t, err), notes.ErrUnavailable)
		for i := range 11 {
			f.rename(fmt.Sprintf("away/n%d.md", i), fmt.Sprintf("work/n%d.md", i))
		}
		require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "away")))
		f.reconcile()
		assert.Equal(t, []string{"delete work/n11.md"}, f.view.kinds())
		f.requireConsistent()
	})
	t.Run("all moved into a subfolder", func(t *testing.T) {
		f := newVault(t)
		for i := range 12 {
			f.rename(fmt.Sprintf("work/n%d.md", i), fmt.Sprintf("work/sub/n%d.md", i))
		}
		f.reconcile()
		assert.Len(t, f.view.kinds(), 12)
		f.requireConsistent()
	})
	t.Run("no longer the vault's", func(t *testing.T) {
		f := newVault(t)
		f.folders = []string{"home"}
		require.NoError(t, os.RemoveAll(work(f)))
		f.restart()
		assert.Len(t, f.view.kinds(), 12)
		st, err := f.Status(ctx)
		require.NoError(t, err)
		assert.Empty(t, st.Warnings)
		f.requireConsistent()
	})
	t.Run("never there", func(t *testing.T) {
		f := newVault(t)
		f.folders = []string{"home", "new", "work"}
		f.restart()
		st, err := f.Status(ctx)
		require.NoError(t, err)
		require.Len(t, st.Warnings, 1)
		assert.Contains(t, st.Warnings[0], `"new"`)
		_, err = f.Create(ctx, notes.CreateRequest{Path: "new/New.md"})
		assert.ErrorIs(t, domainError(t, err), notes.ErrUnavailable)
		f.write("new/X.md", "x")
		assert.True(t, f.mounts.changed(f.disk))
		f.view.kinds()
		f.reconcile()
		assert.Equal(t, []string{"create new/X.md"}, f.view.kinds())
		f.requireConsistent()
	})
}

// An operation interrupted while a folder is missing is recovered when the folder is back.
func TestRecoveryWaitsForItsFolder(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "home/A.md", "[[B]]", "work/B.md", "x")
	f.killAt(3)
	_, err := f.Move(context.Background(), notes.MoveRequest{Note: "work/B.md", To: "home/B.md", UpdateLinks: true, RequestKey: "k"})
	require.ErrorIs(t, err, errKilled)
	require.NoError(t, os.Rename(filepath.Join(f.dir, "work"), filepath.Join(f.dir, "work away")))
	f.restart()
	require.NoError(t, os.Rename(filepath.Join(f.dir, "work away"), filepath.Join(f.dir, "work")))
	f.reconcile()
	assert.Equal(t, "x", f.onDisk("home/B.md"))
	assert.NoFileExists(t, filepath.Join(f.dir, "work/B.md"))
	f.requireConsistent()
}

// A vault restored from a backup, or copied to another disk, can have an operation that a
// crash interrupted. The folder is adopted first, which the open operation must not prevent.
func TestRecovery_CopiedVault(t *testing.T) {
	f := newFixture(t, "A.md", "[[B]]", "B.md", "x", "C.md", "y")
	f.killAt(4)
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "B.md", To: "D.md", UpdateLinks: true})
	require.ErrorIs(t, err, errKilled)
	require.NoError(t, os.Rename(f.dir, f.dir+" away"))
	require.NoError(t, os.CopyFS(f.dir, os.DirFS(f.dir+" away")))
	f.restart()
	assert.Equal(t, map[string]string{"A.md": "[[D]]", "D.md": "x", "C.md": "y"}, f.files())
	f.requireConsistent()
}

// Each folder uses its own app's settings.
func TestAppSettingsOfSeveralFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders,
		"home/.obsidian/app.json", `{"userIgnoreFilters":["Archive/","/^Old/"]}`, "home/Archive/X.md", "zebra", "home/Old.md", "zebra", "work/Archive/X.md", "zebra", "work/Old.md", "zebra",
		"work/.obsidian/daily-notes.json", `{"folder":"Daily","template":"T/Day"}`, "work/.obsidian/templates.json", `{"folder":"T"}`, "work/T/Day.md", "work day\n",
		"home/.obsidian/templates.json", `{"folder":"T"}`, "home/T/Day.md", "home day\n",
		"work/.obsidian/plugins/obsidian-tasks-plugin/data.json", `{"statusSettings":{"coreStatuses":[{"symbol":"!","nextStatusSymbol":"x","type":"DONE"}]}}`,
		"work/Tasks.md", "- [!] one\n", "home/Tasks.md", "- [!] two\n")
	ctx := context.Background()
	now := f.clock.Now().Format("2006-01-02")

	ids, err := f.store.ResolveSearch(ctx, notes.Filter{})
	require.NoError(t, err)
	for p, found := range map[string]bool{"home/Archive/X.md": false, "home/Old.md": false, "work/Archive/X.md": true, "work/Old.md": true, "home/T/Day.md": false, "work/T/Day.md": false} {
		meta, err := f.store.Lookup(ctx, p, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, found, ids.Has(meta.ID), p)
	}
	again, err := f.store.ResolveSearch(ctx, notes.Filter{})
	require.NoError(t, err)
	assert.Same(t, ids, again, "until a note changes")

	w, err := f.Create(ctx, notes.CreateRequest{Title: "today"})
	require.NoError(t, err)
	assert.Equal(t, "work/Daily/"+now+".md", w.Path, "of the folder that has daily notes")
	assert.Equal(t, "work day\n", f.onDisk(w.Path))
	ids, err = f.store.ResolveSearch(ctx, notes.Filter{})
	require.NoError(t, err)
	meta, err := f.store.Lookup(ctx, w.Path, notes.Scope{})
	require.NoError(t, err)
	assert.True(t, ids.Has(meta.ID))
	w, err = f.Create(ctx, notes.CreateRequest{Title: "today", Scope: notes.Scope{Read: []string{"home"}}})
	require.NoError(t, err)
	assert.Equal(t, "home/"+now+".md", w.Path, "of the folder that the client may read")
	for folder, text := range map[string]string{"home": "home day\n", "work": "work day\n"} {
		w, err := f.Create(ctx, notes.CreateRequest{Title: "From " + folder, Folder: folder, Template: "Day"})
		require.NoError(t, err)
		assert.Equal(t, text, f.onDisk(w.Path))
	}

	page, err := f.Tasks(ctx, notes.TaskQuery{Status: "done"})
	require.NoError(t, err)
	require.Len(t, page.Tasks, 1)
	assert.Equal(t, "work/Tasks.md", page.Tasks[0].Path)

	for p, watched := range map[string]bool{
		"home/Old.md": true, "home/.obsidian": true, "home/.obsidian/app.json": true, "home/.obsidian/workspace.json": false,
		"home/.obsidian/plugins": true, "home/.obsidian/plugins/dataview": false, "home/T/.obsidian": false, ".obsidian/app.json": false,
	} {
		assert.Equal(t, watched, f.Watches(p), p)
	}
}

// The folder of daily notes stays the same while it is unavailable, and can be configured.
func TestFolderOfDailyNotes(t *testing.T) {
	f := newFixtureOf(t, []string{"home", "old", "work"}, "home/A.md", "x", "work/A.md", "x",
		"work/.obsidian/daily-notes.json", `{"folder":"Daily"}`, "old/.obsidian/daily-notes.json", `{"folder":"Days"}`)
	daily := func() string {
		p, _, err := f.store.PeriodicPath(context.Background(), "today", notes.Scope{})
		require.NoError(t, err)
		return p[:strings.LastIndex(p, "/")]
	}
	assert.Equal(t, "old/Days", daily())
	require.NoError(t, os.Rename(filepath.Join(f.dir, "old"), filepath.Join(f.dir, "away")))
	f.restart()
	assert.Equal(t, "old", daily(), "no other folder gets its notes")
	require.NoError(t, os.Rename(filepath.Join(f.dir, "away"), filepath.Join(f.dir, "old")))
	require.NoError(t, f.store.Close())
	f.open(Options{Daily: "work"})
	f.reconcile()
	assert.Equal(t, "work/Daily", daily())
}

func TestReadOnlyFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "home/A.md", "[[home/A]]", "work/B.md", "[[home/A]]", "work/sub/C.md", "x")
	ctx, scope := context.Background(), notes.Scope{NoWrite: []string{"work"}}
	for name, do := range map[string]func() error{
		"create": func() error {
			_, err := f.Create(ctx, notes.CreateRequest{Path: "work/New.md", Scope: scope})
			return err
		},
		"move from": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "work/B.md", To: "home/", Scope: scope})
			return err
		},
		"move to": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "home/A.md", To: "work/", Scope: scope})
			return err
		},
		"move folder": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "work/sub", To: "home/", Scope: scope})
			return err
		},
		"relink": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "home/A.md", To: "home/C.md", UpdateLinks: true, Scope: scope})
			return err
		},
	} {
		assert.ErrorIs(t, domainError(t, do()), notes.ErrForbidden, name)
	}
	_, err := f.Create(ctx, notes.CreateRequest{Path: "home/New.md", Scope: scope})
	assert.NoError(t, err)
	_, err = f.Read(ctx, "work/B.md", scope)
	assert.NoError(t, err)
}

// A symlink from one folder to another is not followed.
func TestSymlinkBetweenFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "home/A.md", "secret", "work/B.md", "x")
	require.NoError(t, os.Symlink("../home/A.md", filepath.Join(f.dir, "work", "L.md")))
	require.NoError(t, os.Symlink("../home", filepath.Join(f.dir, "work", "dir")))
	f.reconcile()
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 2, st.Notes)
	assert.Equal(t, 1, st.SkippedTotal)
	for _, p := range []string{"work/L.md", "work/dir/A.md"} {
		_, err := f.Read(context.Background(), p, notes.Scope{})
		assert.ErrorIs(t, err, notes.ErrNotFound)
	}
	_, err = f.Create(context.Background(), notes.CreateRequest{Path: "work/dir/New.md"})
	assert.ErrorIs(t, domainError(t, err), notes.ErrForbidden)
}
