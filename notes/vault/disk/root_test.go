package disk_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/vault/disk"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func open(t *testing.T, dirs map[string]string) (*disk.Disk, *disk.Root) {
	t.Helper()
	d, err := disk.New(dirs, fsid.Identity{})
	require.NoError(t, err)
	root, err := d.Open()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, root.Close()) })
	return d, root
}

// TestRoot_Symlinks_Oracle checks that, in a vault of several folders with arbitrary
// symlinks, paths resolve as os.Root resolves them, and never into another folder.
func TestRoot_Symlinks_Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 66))
	found, linked, refused := 0, 0, 0
	for range 60 {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		write(t, filepath.Join(dir, "outside", "n.md"), "secret")
		names := []string{"n.md", "a", "b", "a/n.md", "a/b", "a/b/n.md", "b/c.md", "l", "a/l", "b/l.md", "a/b/l"}
		for _, folder := range []string{"work", "home"} {
			for _, name := range []string{"n.md", "a/n.md", "a/b/n.md", "b/c.md"} {
				write(t, filepath.Join(dir, folder, name), folder)
			}
			for _, name := range []string{"l", "a/l", "b/l.md", "a/b/l"} {
				target := names[rng.IntN(len(names))]
				switch rng.IntN(8) {
				case 0:
					target = "../" + target
				case 1:
					target = "../../outside/n.md"
				case 2:
					target = "../home/" + target
				case 3:
					target = filepath.Join(dir, folder, target)
				case 4:
					target = "l/../" + path.Base(target)
				}
				require.NoError(t, os.Symlink(target, filepath.Join(dir, folder, name)))
			}
		}
		_, root := open(t, map[string]string{"work": filepath.Join(dir, "work"), "home": filepath.Join(dir, "home")})
		work, err := os.OpenRoot(filepath.Join(dir, "work"))
		require.NoError(t, err)
		for _, first := range names {
			for _, second := range append(names, "") {
				in := path.Join(first, second)
				name := "work/" + in
				meant, err := work.Stat(in)
				real, ok := root.RealPath(name)
				require.Equal(t, err == nil, ok, "%s: %v", name, err)
				above := ""
				for i, c := range in {
					info, err := work.Lstat(in[:i])
					if c == '/' && err == nil && info.Mode()&fs.ModeSymlink != 0 {
						above = "work/" + in[:i]
						break
					}
				}
				require.Equal(t, above, root.SymlinkAbove(name))
				if err != nil {
					refused++
					continue
				}
				found++
				require.True(t, strings.HasPrefix(real, "work"), real)
				info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(real)))
				require.NoError(t, err)
				require.True(t, os.SameFile(meant, info), "%s is %s", name, real)
				if data, _, err := disk.Read(root, name, 100); err == nil {
					require.Equal(t, "work", string(data), name)
				}
				if real != name {
					linked++
				}
			}
		}
		require.NoError(t, work.Close())
	}
	assert.Greater(t, min(found, linked, refused), 20)
}

// TestRoot_Several checks that a path is handled only in the folder that it names.
func TestRoot_Several(t *testing.T) {
	dir := t.TempDir()
	dirs := map[string]string{"work": filepath.Join(dir, "w"), "home": filepath.Join(dir, "h"), "gone": filepath.Join(dir, "g")}
	write(t, filepath.Join(dirs["work"], "a", "n.md"), "work")
	write(t, filepath.Join(dirs["home"], "n.md"), "home")
	d, root := open(t, dirs)
	assert.Equal(t, []string{"gone", "home", "work"}, d.Folders())
	var opened []string
	for name := range root.All() {
		opened = append(opened, name)
	}
	assert.Equal(t, []string{"home", "work"}, opened)

	for _, name := range []string{"n.md", "work/n.md", "work/../h/n.md", "work/../../h/n.md", "home/../w/a/n.md", "gone/n.md", "other/n.md", "../w/a/n.md", ""} {
		_, _, err := disk.Read(root, name, 100)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), dir, name)
		_, ok := root.RealPath(name)
		assert.False(t, ok, name)
		require.Error(t, root.Mkdir(path.Join(name, "made"), 0o700), name)
	}
	name, err := root.Missing("gone/n.md")
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, "gone", name)
	assert.NotContains(t, err.Error(), dir)
	_, err = root.Missing("work/n.md")
	require.NoError(t, err)

	var walked []string
	require.NoError(t, root.WalkDir("work", func(p string, _ fs.DirEntry, err error) error {
		walked = append(walked, p)
		return err
	}))
	assert.Equal(t, []string{"work", "work/a", "work/a/n.md"}, walked)
	require.NoError(t, root.Mkdir("home/new", 0o700))
	assert.DirExists(t, filepath.Join(dirs["home"], "new"))
	if runtime.GOOS != "windows" { // which identifies the vault's own folders alone
		assert.NotEqual(t, fsid.Identity{}, root.Identity("home/new"))
	}
	assert.NotEqual(t, root.Identity("home"), root.Identity("work"))
	assert.Equal(t, fsid.Identity{}, root.Identity("gone"))
	assert.Equal(t, fsid.Identity{}, root.Identity("home/n.md"), "a file is no folder")
	require.NoError(t, root.Remove("home/new"))
	assert.NoDirExists(t, filepath.Join(dirs["home"], "new"))
}

// TestOpen_Replaced checks that nothing is read from another folder in the vault's place
// until it is adopted, and that the vault is available again when its folder is back.
func TestOpen_Replaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	write(t, filepath.Join(dir, "n.md"), "mine")
	d, root := open(t, map[string]string{"": dir})
	assert.Nil(t, d.Folders())
	require.NoError(t, root.Close()) // Windows renames no folder that is open
	id, recorded := disk.FolderID(dir), d.Identity()
	if id == "" {
		t.Skip("this system does not identify folders")
	}

	require.NoError(t, os.Rename(dir, dir+" away"))
	assert.Equal(t, id, disk.FolderID(dir+" away"), "it is known by another name")
	assert.Empty(t, disk.FolderID(dir))
	_, err := d.Open()
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.ErrorContains(t, err, "does not exist")

	write(t, filepath.Join(dir, "n.md"), "another's")
	_, err = d.Open()
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.ErrorContains(t, err, "another folder")
	another, other, err := d.OpenAny()
	require.NoError(t, err)
	require.NoError(t, another.Close())
	assert.Equal(t, recorded, d.Identity(), "what is there is not recorded")
	d.Adopt(other)
	root, err = d.Open()
	require.NoError(t, err)
	require.NoError(t, root.Close())

	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Rename(dir+" away", dir))
	_, err = d.Open()
	require.ErrorIs(t, err, notes.ErrUnavailable)
	d.Adopt(recorded)
	root, err = d.Open()
	require.NoError(t, err)
	data, _, err := disk.ReadStable(root, "n.md", 4)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
	require.NoError(t, root.Close())
}

// TestRead_Bounds checks that a file is read completely or not at all.
func TestRead_Bounds(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "n.md"), "12345")
	write(t, filepath.Join(dir, "empty.md"), "")
	_, root := open(t, map[string]string{"": dir})
	data, stat, err := disk.Read(root, "n.md", 5)
	require.NoError(t, err)
	assert.Equal(t, "12345", string(data))
	assert.EqualValues(t, 5, stat.Size)
	_, stat, err = disk.Read(root, "n.md", 4)
	require.ErrorIs(t, err, disk.ErrTooLarge)
	assert.EqualValues(t, 5, stat.Size, "a file that is refused is recognized when it changes")
	data, _, err = disk.ReadStable(root, "empty.md", 0)
	require.NoError(t, err)
	assert.Empty(t, data)
	_, _, err = disk.Read(root, ".", 100)
	require.ErrorIs(t, err, disk.ErrNotRegular)
	_, _, err = disk.ReadStable(root, "none.md", 100)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestIsUnknown checks that absence counts as known, and an unresponsive disk as unknown.
func TestIsUnknown(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EIO: true, syscall.EMFILE: true, syscall.EACCES: true, syscall.ENOENT: false, fsid.ErrNotDirectory: false, disk.ErrTooLarge: false,
	} {
		assert.Equal(t, want, disk.IsUnknown(&fs.PathError{Op: "open", Path: "n.md", Err: err}), err)
	}
	assert.False(t, disk.IsUnknown(nil))
}

// TestRoot_Lasting: a renamed folder is the same as before, and one created again is not, although
// the system may reuse its numbers.
func TestRoot_Lasting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	lasting := func(dir string) string {
		d, err := disk.New(map[string]string{"": dir}, fsid.Identity{})
		require.NoError(t, err)
		root, err := d.Open()
		require.NoError(t, err)
		defer func() { assert.NoError(t, root.Close()) }()
		id, err := root.Lasting()
		require.NoError(t, err)
		require.NotEmpty(t, id)
		return id
	}
	write(t, filepath.Join(dir, "n.md"), "n")
	was := lasting(dir)
	require.NoError(t, os.Rename(dir, dir+" 2"))
	assert.Equal(t, was, lasting(dir+" 2"))
	require.NoError(t, os.RemoveAll(dir+" 2"))
	require.NoError(t, os.Mkdir(dir, 0o700))
	assert.NotEqual(t, was, lasting(dir))
}
