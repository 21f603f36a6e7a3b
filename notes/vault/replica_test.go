package vault_test

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// openReplica opens a vault on a folder with these files.
func openReplica(t *testing.T, opt vault.Options, files ...string) (vault.Replica, string) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		save(t, dir, files[i], files[i+1])
	}
	s, err := store.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	v, err := vault.New(t.Context(), s, dir, opt)
	require.NoError(t, err)
	require.NoError(t, v.Reconcile(t.Context()))
	return v.Replica(), dir
}

func save(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}

// listed walks the folder and returns the files that a replica should list.
func listed(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, full)
		hidden := name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "skip"
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && d.Type().IsRegular():
			all = append(all, filepath.ToSlash(name))
		}
		return nil
	}))
	slices.Sort(all)
	return all
}

// TestReplica_Files checks that listing all or part of a folder matches a walk, that each
// listed file can be read, and that missing files are not reported as unseen.
func TestReplica_Files(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 5))
	for range 12 {
		r, dir := openReplica(t, vault.Options{Ignore: []string{"skip"}}, "first.md", "x")
		folders := []string{"", "a/", "a/b/", "Ünder/", ".hidden/", "skip/", "a/skip/"}
		for range rng.IntN(30) {
			name := folders[rng.IntN(len(folders))] + []string{"n.md", "pic.png", "B.canvas", ".x.md", "skip", "ü.md"}[rng.IntN(6)]
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err == nil {
				_ = os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644) // fails if a folder has the name
			}
		}
		if os.Symlink("first.md", filepath.Join(dir, "link.md")) != nil {
			t.Skip("this system does not let the test make symlinks")
		}
		want := listed(t, dir)
		check := func(paths []string, want []string) {
			files, unseen, err := r.Files(t.Context(), paths, 0)
			require.NoError(t, err)
			names := []string{}
			for _, f := range files {
				names = append(names, f.Path)
				assert.False(t, unseen(f.Path), f.Path)
				data, stat, err := r.Bytes(f)
				require.NoError(t, err)
				assert.Len(t, data, int(stat.Size))
				if f.Path != "first.md" {
					assert.Equal(t, f.Path, string(data))
				}
			}
			require.Equal(t, want, names, "%q", paths)
			assert.False(t, unseen("nowhere.md"))
		}
		check(nil, want)
		for _, folder := range []string{"a", "a/b", "Ünder", "skip", ".hidden", "nowhere", "first.md"} {
			check([]string{folder, "", "."}, slices.DeleteFunc(slices.Clone(want), func(p string) bool { return !notes.Under(p, folder) }))
		}
		_, unseen, err := r.Files(t.Context(), nil, 0)
		require.NoError(t, err)
		assert.True(t, unseen("link.md"), "the absence of a symlink's name means nothing")
	}
}

// TestReplica_FolderThatIsNotTheVault checks that an empty folder does not imply that files
// of the log were deleted.
func TestReplica_FolderThatIsNotTheVault(t *testing.T) {
	r, dir := openReplica(t, vault.Options{}, "a.md", "x")
	require.NoError(t, os.Remove(filepath.Join(dir, "a.md")))
	files, _, err := r.Files(t.Context(), nil, 1)
	require.NoError(t, err, "one file may have been deleted")
	assert.Empty(t, files)
	_, _, err = r.Files(t.Context(), nil, 50)
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.NoError(t, os.Remove(dir))
	_, _, err = r.Files(t.Context(), []string{"a.md"}, 0)
	require.ErrorIs(t, err, notes.ErrUnavailable)
}

// TestReplica_Symlinks: the absence of a file is inconclusive if a symlink that leads out of the vault,
// or nowhere, has its place or that of a folder above it. One within the vault shows where the file is.
func TestReplica_Symlinks(t *testing.T) {
	r, dir := openReplica(t, vault.Options{}, "out/sub/n.md", "x", "lost/n.md", "x", "pic.png", "x", "hid/n.md", "x", "moved/n.md", "x", "pics/pic.png", "x", "real/n.md", "x")
	outside := t.TempDir()
	save(t, outside, "sub/n.md", "x")
	save(t, outside, "pic.png", "x")
	save(t, dir, ".hidden/n.md", "x")
	for name, target := range map[string]string{"out": outside, "lost": "nowhere", "hid": ".hidden", "moved": "real", "pic.png": filepath.Join(outside, "pic.png"), "pics/pic.png": "../nowhere.png"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		if os.Symlink(target, filepath.Join(dir, name)) != nil {
			t.Skip("this system does not let the test make symlinks")
		}
	}
	want := map[string]bool{"out/sub/n.md": true, "lost/n.md": true, "hid/n.md": true, "pic.png": true, "pics/pic.png": true, "moved/n.md": false, "real/none.md": false, "outer.md": false}
	for _, paths := range [][]string{nil, slices.Collect(maps.Keys(want)), {"out", "lost", "hid", "moved", "pic.png", "pics"}} {
		_, unseen, err := r.Files(t.Context(), paths, 0)
		require.NoError(t, err)
		for p, want := range want {
			assert.Equal(t, want, unseen(p), "%s of %q", p, paths)
		}
	}
}

// TestReplica_EvictedFile checks that files evicted by iCloud Drive do not count as
// deleted.
func TestReplica_EvictedFile(t *testing.T) {
	r, dir := openReplica(t, vault.Options{}, "a.md", "x", ".b.md.icloud", "plist", ".pic.png.icloud", "plist")
	for _, paths := range [][]string{nil, {"a.md", "b.md", "pic.png", "c.md"}} {
		files, unseen, err := r.Files(t.Context(), paths, 2)
		require.NoError(t, err)
		assert.Len(t, files, 1, dir)
		for p, want := range map[string]bool{"b.md": true, "pic.png": true, "c.md": false} {
			assert.Equal(t, want, unseen(p), p)
		}
	}
}

func TestReplica_Bytes(t *testing.T) {
	r, dir := openReplica(t, vault.Options{MaxNoteBytes: 10}, "a.md", "x", "big.bin", "more than ten bytes")
	_, _, err := r.Bytes(store.File{Path: "big.bin", DiskPath: "big.bin"})
	require.ErrorIs(t, err, notes.ErrTooLarge)
	for _, gone := range []string{"b.md", "a.md/b.md", "none/b.md"} {
		_, _, err = r.Bytes(store.File{Path: gone, DiskPath: gone})
		require.ErrorIs(t, err, fs.ErrNotExist, gone)
	}
	save(t, dir, "a.md", "new")
	data, _, err := r.Bytes(store.File{Path: "a.md", DiskPath: "a.md"})
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
}

func TestReplica_PlaceRemovesEmptiedFolders(t *testing.T) {
	r, dir := openReplica(t, vault.Options{}, "a/b/c/n.md", "x", "a/b/c/m.md", "x", "a/keep.png", "x")
	move := func(name string) {
		t.Helper()
		_, err := r.Place(t.Context(), "move", notes.Author{Name: "other"}, []store.FileChange{{OldPath: "a/b/c/" + name, OldDisk: "a/b/c/" + name, NewPath: name, Old: []byte("x"), New: []byte("x")}}, "a", "a/b", "a/b/c")
		require.NoError(t, err)
	}
	move("n.md")
	assert.FileExists(t, filepath.Join(dir, "a/b/c/m.md"), "a folder with a file stays")
	move("m.md")
	assert.NoDirExists(t, filepath.Join(dir, "a/b"))
	assert.FileExists(t, filepath.Join(dir, "a/keep.png"))
}

// TestReplica_Place checks that the changes of a batch are made together, that files with
// unexpected text stay, and that if the first file is one of them, nothing is changed.
func TestReplica_Place(t *testing.T) {
	r, dir := openReplica(t, vault.Options{}, "a.md", "a\n", "b.md", "b\n", "c.md", "c\n")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(data)
	}
	by := notes.Author{Name: "other"}
	done, err := r.Place(t.Context(), vault.Together, by, []store.FileChange{
		{OldPath: "a.md", OldDisk: "a.md", NewPath: "a.md", Old: []byte("a\n"), New: []byte("a 2\n")},
		{OldPath: "b.md", OldDisk: "b.md", Old: []byte("b\n")},
		{NewPath: "sub/new.png", New: []byte("\x00png")},
		{OldPath: "c.md", OldDisk: "c.md", NewPath: "moved/c.md", Old: []byte("c\n"), New: []byte("c 2\n")},
	})
	require.NoError(t, err)
	assert.Empty(t, done.Conflicts)
	assert.Equal(t, []string{"a.md", "moved/c.md", "sub/new.png"}, listed(t, dir))
	assert.Equal(t, []string{"a 2\n", "c 2\n", "\x00png"}, []string{read("a.md"), read("moved/c.md"), read("sub/new.png")})

	save(t, dir, "a.md", "by an editor\n")
	_, err = r.Place(t.Context(), "edit", by, []store.FileChange{
		{OldPath: "a.md", OldDisk: "a.md", NewPath: "a.md", Old: []byte("a 2\n"), New: []byte("a 3\n")}, {NewPath: "d.md", New: []byte("d\n")},
	})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, "by an editor\n", read("a.md"))
	assert.NoFileExists(t, filepath.Join(dir, "d.md"))
	const disk, name = "e\u0301.md", "\u00e9.md" // as macOS may spell it
	save(t, dir, disk, "e\n")
	place := func() error {
		_, err := r.Place(t.Context(), "edit", by, []store.FileChange{{OldPath: name, OldDisk: disk, NewPath: name, Old: []byte("e\n"), New: []byte("e 2\n")}})
		return err
	}
	require.NoError(t, os.Link(filepath.Join(dir, disk), filepath.Join(dir, "linked")))
	require.ErrorIs(t, place(), notes.ErrForbidden, "its other name would keep the old text")
	require.NoError(t, os.Remove(filepath.Join(dir, "linked")))
	require.NoError(t, place())
	assert.Equal(t, "e 2\n", read(disk), "it keeps its spelling")
	for _, name := range []string{"../x.md", "sub//x.md", "o\u0302.md", ".hidden.md"} {
		_, err = r.Place(t.Context(), "create", by, []store.FileChange{{NewPath: name, New: []byte("x\n")}})
		require.ErrorIs(t, err, notes.ErrForbidden, name)
	}
	for _, taken := range []string{"a.md", "a.md/x.md"} {
		_, err = r.Place(t.Context(), "create", by, []store.FileChange{{NewPath: taken, New: []byte("x\n")}})
		require.Error(t, err, "over %s", taken)
		assert.Equal(t, "by an editor\n", read("a.md"))
	}
}
