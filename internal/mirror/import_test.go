package mirror

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/notes"
	"notesd/notes/pglog"
)

func importer(t *testing.T, address string) func(dir string) Imported {
	db, err := pglog.Open(address, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return func(dir string) Imported {
		t.Helper()
		before := notestest.Read(t, dir)
		done, err := Import(t.Context(), dir, t.TempDir(), db.Log("team"), ImportOptions{Ignore: []string{"Private/"}, MaxNoteBytes: 1000, Author: notes.Author{Name: "ann"}, Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		assert.Equal(t, before, notestest.Read(t, dir), "the folder stays as it is")
		return done
	}
}

// TestImport adds a folder to a vault that already has some of its files.
func TestImport(t *testing.T) {
	server := pgtest.New(t)
	member := newNode(t, server.URL(), "team", map[string]string{"Same.md": "same\n", "Plan.md": "the plan\n", "README.md": "read\n"})
	member.sync()
	files := map[string]string{
		"Same.md": "same\n", "Plan.md": "another plan\n", "readme.md": "other case\n",
		"New.md": "---\r\ntags: [a]\r\n---\r\n[[Plan]]\r\n", "Ideen/Größe 🚀.md": "gro\u0308\u00dfer\n", "Empty.md": "", "picture.png": "\x89PNG\x00",
		"Large.md": strings.Repeat("x", 1001), "Private/Diary.md": "mine\n", ".obsidian/app.json": "{}",
	}
	dir := notestest.Vault(t, files)
	require.NoError(t, os.Symlink("New.md", filepath.Join(dir, "Link.md")))
	run := importer(t, server.URL())

	done := run(dir)
	assert.Equal(t, 4, done.Added)
	assert.Equal(t, 1, done.Unchanged)
	left := map[string]string{}
	for _, p := range done.Left {
		left[p.Path] = p.Reason
	}
	assert.Len(t, left, 3)
	assert.Contains(t, left["Plan.md"], "the vault has another text")
	assert.Contains(t, left["readme.md"], `"README.md", whose name differs in case only`)
	assert.Contains(t, left["Large.md"], "larger than the limit")

	again := run(dir)
	assert.Zero(t, again.Added)
	assert.Equal(t, 5, again.Unchanged)
	assert.Equal(t, done.Left, again.Left)

	member.sync()
	want := map[string]string{"Plan.md": "the plan\n", "README.md": "read\n"}
	for _, p := range []string{"Same.md", "New.md", "Ideen/Größe 🚀.md", "Empty.md", "picture.png"} {
		want[p] = files[p]
	}
	assert.Equal(t, want, member.files())
}

// TestImport_ConcurrentCommit has another node write during an import, which can be
// repeated.
func TestImport_ConcurrentCommit(t *testing.T) {
	server := pgtest.New(t)
	member := newNode(t, server.URL(), "team", map[string]string{"Plan.md": "the plan\n"})
	member.sync()
	text := []byte("another plan\n")
	err := new(Imported).commit(t.Context(), member.m.log, notes.Author{Name: "ann"}, []notes.FileChange{{Path: "New.md", After: notes.Hash(text), Data: text}, {Path: "Plan.md", After: notes.Hash(text), Data: text}})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, "import \"Plan.md\": another node has added it in the meantime", err.Error())
	member.sync()
	assert.Equal(t, map[string]string{"Plan.md": "the plan\n"}, member.files())

	done := importer(t, server.URL())(notestest.Vault(t, map[string]string{"Plan.md": "another plan\n", "New.md": "new\n"}))
	assert.Equal(t, 1, done.Added)
	assert.Equal(t, []notes.Skipped{{Path: "Plan.md", Reason: "the vault has another text of that name"}}, done.Left)
}
