package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// place is a folder with two files.
func place(t *testing.T) (string, *Dir) {
	t.Helper()
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "a"), []byte("old a"), 0o640))
	root, err := os.OpenRoot(path)
	require.NoError(t, err)
	dir, err := OpenDir(root, ".")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, errors.Join(dir.Close(), root.Close())) })
	return path, dir
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(data)
	}
	return out
}

func TestPublishNeverReplaces(t *testing.T) {
	path, dir := place(t)
	require.NoError(t, dir.Stage("t", []byte("new"), nil))
	require.ErrorIs(t, dir.Publish("t", "a"), fs.ErrExist)
	require.NoError(t, dir.Publish("t", "b"))
	require.NoError(t, dir.Sync())
	assert.Equal(t, map[string]string{"a": "old a", "b": "new"}, contents(t, path))
}

func TestExchange_KeepsDisplacedFile(t *testing.T) {
	path, dir := place(t)
	like, err := os.Open(filepath.Join(path, "a"))
	require.NoError(t, err)
	require.NoError(t, dir.Stage("t", []byte("new a"), like))
	require.NoError(t, like.Close())
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "new a", "t": "old a"}, contents(t, path))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(path, "a"))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	}
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "old a", "t": "new a"}, contents(t, path), "and back")
	require.NoError(t, dir.Discard("t"))
	require.NoError(t, dir.Discard("t"), "that it is gone is no error")
}

func TestWithdrawAndMove(t *testing.T) {
	path, dir := place(t)
	require.NoError(t, dir.Withdraw("a", "t"))
	assert.Equal(t, map[string]string{"t": "old a"}, contents(t, path))
	require.NoError(t, os.Mkdir(filepath.Join(path, "sub"), 0o755))
	sub, err := OpenDir(dir.Root(), "sub")
	require.NoError(t, err)
	require.NoError(t, dir.Move("t", sub, "b"))
	require.NoError(t, sub.Close())
	assert.Equal(t, map[string]string{"b": "old a"}, contents(t, filepath.Join(path, "sub")))
	require.ErrorIs(t, dir.Withdraw("nothing", "t"), fs.ErrNotExist)
}

func TestStage_Failure(t *testing.T) {
	path, dir := place(t)
	require.ErrorIs(t, dir.Stage("a", []byte("x"), nil), fs.ErrExist, "a temp name that is taken is not written to")
	closed, err := os.Open(filepath.Join(path, "a"))
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.Error(t, dir.Stage("t", []byte("x"), closed))
	assert.Equal(t, map[string]string{"a": "old a"}, contents(t, path))
}

// TestWithoutExchange is for file systems that can neither swap nor refuse to
// replace, as NFS: hard links stand in.
func TestWithoutExchange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has calls of its own")
	}
	path, dir := place(t)
	require.NoError(t, dir.Stage("t", []byte("new a"), nil))
	require.NoError(t, exchangeByLink(dir, "t", "a"))
	assert.Equal(t, map[string]string{"a": "new a", "t": "old a"}, contents(t, path))
	require.ErrorIs(t, linkThenRemove(dir, "t", dir, "a"), fs.ErrExist)
	require.NoError(t, linkThenRemove(dir, "t", dir, "b"))
	assert.Equal(t, map[string]string{"a": "new a", "b": "old a"}, contents(t, path))
}

func TestOpenDir_OutsideRoot(t *testing.T) {
	path, dir := place(t)
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(path, "out")))
	_, err := OpenDir(dir.Root(), "out")
	require.Error(t, err)
	_, err = OpenDir(dir.Root(), "..")
	require.Error(t, err)
}
