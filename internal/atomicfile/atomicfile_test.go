package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
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

func TestPublishNeverReplaces(t *testing.T) {
	path, dir := place(t)
	require.NoError(t, dir.Stage("t", []byte("new"), nil))
	require.ErrorIs(t, dir.Publish("t", "a"), fs.ErrExist)
	require.NoError(t, dir.Publish("t", "b"))
	require.NoError(t, dir.Sync())
	usual, err := os.Create(filepath.Join(t.TempDir(), "usual"))
	require.NoError(t, err)
	want, err := usual.Stat()
	require.NoError(t, errors.Join(err, usual.Close()))
	info, err := os.Stat(filepath.Join(path, "b"))
	require.NoError(t, err)
	assert.Equal(t, want.Mode(), info.Mode(), "that of any new file")
	assert.Equal(t, map[string]string{"a": "old a", "b": "new"}, notestest.Read(t, path))
}

func TestExchange_KeepsDisplacedFile(t *testing.T) {
	path, dir := place(t)
	like, err := os.Open(filepath.Join(path, "a"))
	require.NoError(t, err)
	require.NoError(t, dir.Stage("t", []byte("new a"), like))
	require.NoError(t, like.Close())
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "new a", "t": "old a"}, notestest.Read(t, path))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(path, "a"))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	}
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "old a", "t": "new a"}, notestest.Read(t, path), "and back")
	require.NoError(t, dir.Discard("t"))
	require.NoError(t, dir.Discard("t"), "that it is gone is no error")
}

func TestWithdrawAndMove(t *testing.T) {
	path, dir := place(t)
	require.NoError(t, dir.Withdraw("a", "t"))
	assert.Equal(t, map[string]string{"t": "old a"}, notestest.Read(t, path))
	require.NoError(t, os.Mkdir(filepath.Join(path, "sub"), 0o755))
	sub, err := OpenDir(dir.Root(), "sub")
	require.NoError(t, err)
	require.NoError(t, dir.Move("t", sub, "b"))
	require.NoError(t, sub.Close())
	assert.Equal(t, map[string]string{"b": "old a"}, notestest.Read(t, filepath.Join(path, "sub")))
	require.ErrorIs(t, dir.Withdraw("nothing", "t"), fs.ErrNotExist)
}

func TestStage_Failure(t *testing.T) {
	path, dir := place(t)
	require.ErrorIs(t, dir.Stage("a", []byte("x"), nil), fs.ErrExist, "a temp name that is taken is not written to")
	closed, err := os.Open(filepath.Join(path, "a"))
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.Error(t, dir.Stage("t", []byte("x"), closed))
	assert.Equal(t, map[string]string{"a": "old a"}, notestest.Read(t, path))
}

// TestWithoutExchange simulates file systems that can neither swap nor rename without
// replacing, such as NFS, where hard links are used instead.
func TestWithoutExchange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has calls of its own")
	}
	path, dir := place(t)
	lack(dir, func(string) error { return nil }, "rename", "exchange")
	require.NoError(t, dir.Stage("t", []byte("new a"), nil))
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "new a", "t": "old a"}, notestest.Read(t, path))
	require.ErrorIs(t, dir.Publish("t", "a"), fs.ErrExist)
	require.NoError(t, dir.Publish("t", "b"))
	assert.Equal(t, map[string]string{"a": "new a", "b": "old a"}, notestest.Read(t, path))
}

// lack makes dir fail these calls as unsupported, and calls before for all others.
func lack(dir *Dir, before func(call string) error, calls ...string) {
	dir.Before = func(call string) error {
		if slices.Contains(calls, call) {
			return errors.ErrUnsupported
		}
		return before(call)
	}
}

func TestWithoutLinks(t *testing.T) {
	path, dir := place(t)
	lack(dir, func(string) error { return nil }, "rename", "exchange", "link")
	require.NoError(t, dir.Stage("t", []byte("new a"), nil))
	require.NoError(t, dir.Exchange("t", "a"))
	assert.Equal(t, map[string]string{"a": "new a", "t": "old a"}, notestest.Read(t, path))
	require.ErrorIs(t, dir.Publish("t", "a"), fs.ErrExist)
	require.NoError(t, dir.Publish("t", "b"))
	assert.Equal(t, map[string]string{"a": "new a", "b": "old a"}, notestest.Read(t, path))
	require.ErrorIs(t, dir.Move("nothing", dir, "c"), fs.ErrNotExist)
	require.NoError(t, dir.Withdraw("b", "t"))
	require.NoError(t, dir.Discard("t"))
	for _, name := range []string{"one", "two"} {
		require.NoError(t, os.Mkdir(filepath.Join(path, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(path, name, "in"), nil, 0o600))
	}
	require.ErrorIs(t, dir.Move("one", dir, "two"), fs.ErrExist)
	require.NoError(t, dir.Move("one", dir, "three"))
	assert.FileExists(t, filepath.Join(path, "three", "in"))
}

// Failures and concurrent saves between the two renames of an exchange without links.
func TestWithoutLinks_InBetween(t *testing.T) {
	broken := errors.New("the disk failed")
	for name, tt := range map[string]struct {
		at   map[string]error // of calls after the first rename
		save bool             // another program creates a file
		want map[string]string
		err  error
	}{
		"another program saves":             {nil, true, map[string]string{"a": "saved", "t": "new a", "t.old": "old a"}, fs.ErrExist},
		"the disk fails":                    {map[string]error{"create": broken}, false, map[string]string{"a": "old a", "t": "new a"}, broken},
		"the disk fails, and the way back":  {map[string]error{"create": broken, "rename over": broken}, false, map[string]string{"t": "new a", "t.old": "old a"}, ErrIncomplete},
		"the disk fails after it was named": {map[string]error{"rename over": broken}, false, map[string]string{"t": "new a", "t.old": "old a"}, ErrIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := place(t)
			require.NoError(t, dir.Stage("t", []byte("new a"), nil))
			between := false
			lack(dir, func(call string) error {
				if !between {
					between = call == "rename over"
					return nil
				}
				if call == "create" && tt.save {
					require.NoError(t, os.WriteFile(filepath.Join(path, "a"), []byte("saved"), 0o600))
				}
				return tt.at[call]
			}, "rename", "exchange", "link")
			require.ErrorIs(t, dir.Exchange("t", "a"), tt.err)
			assert.Equal(t, tt.want, notestest.Read(t, path))
		})
	}
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
