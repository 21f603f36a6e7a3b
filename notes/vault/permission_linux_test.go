package vault

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"notesd/notes"
)

// obeyPermissions makes modes apply to the test's goroutine even if root runs it.
func obeyPermissions(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	require.NoError(t, unix.Capget(&header, &has[0]))
	has[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	require.NoError(t, unix.Capset(&header, &has[0]))
}

// A read-only note stands in the way of a change only if its own text would have to change.
func TestMove_ReadOnlyNotes(t *testing.T) {
	obeyPermissions(t)
	f := newFixture(t, "P/One.md", "[[Q]]\n", "P/Locked.md", "text\n", "Q.md", "[one](P/One.md)\n", "Name.md", "[[One]]\n")
	locked := []string{"P/Locked.md", "Name.md"}
	for _, name := range locked {
		require.NoError(t, os.Chmod(filepath.Join(f.dir, name), 0o444))
	}
	f.move("P/One.md", "R/One.md")
	f.move("P", "R/P")
	assert.Equal(t, map[string]string{"R/One.md": "[[Q]]\n", "R/P/Locked.md": "text\n", "Q.md": "[one](R/One.md)\n", "Name.md": "[[One]]\n"}, f.files())
	info, err := os.Stat(filepath.Join(f.dir, "R/P/Locked.md"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o444), info.Mode())

	before := f.files()
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "One", To: "Uno.md", UpdateLinks: true})
	e := domainError(t, err)
	require.ErrorIs(t, e, notes.ErrForbidden)
	assert.Equal(t, [2]string{"Name.md", "the file is read-only"}, [2]string{e.Path, e.Detail})
	assert.Equal(t, before, f.files())
}

// An operation on several notes names the one that cannot be written.
func TestRelink_FolderNotWritable(t *testing.T) {
	obeyPermissions(t)
	f := newFixture(t, "A.md", "[[N]]\n", "locked/B.md", "[[N]]\n", "N.md", "text\n")
	folder := filepath.Join(f.dir, "locked")
	require.NoError(t, os.Chmod(folder, 0o555))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(folder, 0o755)) })
	before := f.files()
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "N", To: "M.md", UpdateLinks: true})
	e := domainError(t, err)
	require.ErrorIs(t, e, notes.ErrForbidden)
	assert.Equal(t, "locked/B.md", e.Path)
	assert.Equal(t, before, f.files())

	require.NoError(t, os.Chmod(folder, 0o755))
	staged := 0
	f.failpoint = func(step string) error {
		if step == "create" {
			staged++
			if staged == 2 {
				return syscall.EROFS
			}
		}
		return nil
	}
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "N", To: "M.md", UpdateLinks: true})
	e = domainError(t, err)
	require.ErrorIs(t, e, notes.ErrReadOnly)
	assert.Equal(t, "locked/B.md", e.Path)
	assert.Equal(t, before, f.files())
}

// TestRead_FolderNotReadable checks that a note is not read from the index while its folder
// cannot be opened.
func TestRead_FolderNotReadable(t *testing.T) {
	obeyPermissions(t)
	f := newFixture(t, "a/N.md", "x\n")
	folder := filepath.Join(f.dir, "a")
	require.NoError(t, os.Chmod(folder, 0))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(folder, 0o755)) })
	_, err := f.Read(t.Context(), "N", notes.Scope{})
	e := domainError(t, err)
	require.ErrorIs(t, e, notes.ErrUnavailable)
	assert.Equal(t, "no permission to read it", e.Detail)
	f.reconcile()
	_, err = f.Lookup(t.Context(), "N", notes.Scope{})
	require.NoError(t, err, "it is kept")
	require.NoError(t, os.Chmod(folder, 0o755))
	_, err = f.Read(t.Context(), "N", notes.Scope{})
	require.NoError(t, err)
}

// TestFolderNotListed checks that a note is not gone, for a scan or for recovery, if its folder
// cannot be listed, because too many files are open, on a disk that ignores case. A hard link
// imitates one.
func TestFolderNotListed(t *testing.T) {
	f := newFixture(t, "N.md", "x\n")
	rows, err := f.store.Rows(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, os.Link(filepath.Join(f.dir, "N.md"), filepath.Join(f.dir, "n.MD")))
	root, err := f.disk.Open()
	require.NoError(t, err)
	defer func() { assert.NoError(t, root.Close()) }()
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}))
	s := &scan{v: f.Vault, root: root}
	err = s.comparePaths(t.Context(), []string{"N.md"})
	back := (&batch{v: f.Vault, root: root}).isBack(rows["N.md"])
	_, unknown := (&recovery{&placer{operation: &operation{v: f.Vault, root: root}}}).contentOf("N.md")
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.NoError(t, err)
	assert.Empty(t, s.gone)
	assert.True(t, back)
	require.ErrorIs(t, unknown, errNotListed)
}

// TestRenameTag_InManyFolders changes notes in more folders than the process may have open, and
// finishes that after a crash.
func TestRenameTag_InManyFolders(t *testing.T) {
	const folders, most = 200, 220 // a folder takes two files
	var files []string
	for i := range folders {
		files = append(files, fmt.Sprintf("%d/A.md", i), "#a\n")
	}
	f := newFixture(t, files...)
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open) + most), Max: limit.Max}))
	defer func() { assert.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }()
	f.failpoint = func(at string) error {
		if at == "after swap 1" {
			return errKilled
		}
		return nil
	}
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "a", To: "z", RequestKey: "k"})
	require.ErrorIs(t, err, errKilled)
	f.restart()
	f.requireConsistent()
	for name, text := range f.files() {
		require.Equal(t, "#z\n", text, name)
	}

	f.failpoint = nil
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "z", To: "b"})
	require.NoError(t, err)
	for file := range f.left.Range {
		assert.Fail(t, "a displaced file could not be opened", file)
	}
}
