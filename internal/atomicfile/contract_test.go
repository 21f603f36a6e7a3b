package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/atomicfile"
)

func open(t *testing.T) (string, *atomicfile.Dir) {
	t.Helper()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	require.NoError(t, err)
	dir, err := atomicfile.OpenDir(root, ".")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, errors.Join(dir.Close(), root.Close())) })
	return path, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// An error in any call of a Stage leaves the directory unchanged, and a crash before any
// call leaves no incomplete file with the temp name.
func TestStage_FailureAtEachCall(t *testing.T) {
	boom := errors.New("boom")
	for _, call := range []string{"create", "write", "sync", "rename"} {
		t.Run(call, func(t *testing.T) {
			path, dir := open(t)
			write(t, filepath.Join(path, "a.md"), "old")
			dir.Before = func(c string) error {
				if c != call {
					return nil
				}
				assert.NotContains(t, names(t, path), ".temp", "the temp name before %s", c)
				return boom
			}
			require.ErrorIs(t, dir.Stage(".temp", []byte("new"), nil), boom)
			assert.Equal(t, []string{"a.md"}, names(t, path))
		})
	}
}

// Of many concurrent writers that create the same name exactly one succeeds.
func TestPublish_ConcurrentWriters(t *testing.T) {
	path, _ := open(t)
	var created atomic.Int32
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			root, err := os.OpenRoot(path)
			if !assert.NoError(t, err) {
				return
			}
			defer root.Close()
			dir, err := atomicfile.OpenDir(root, ".")
			if !assert.NoError(t, err) {
				return
			}
			defer dir.Close()
			temp := string(rune('a'+i)) + ".temp"
			if !assert.NoError(t, dir.Stage(temp, []byte{byte(i)}, nil)) {
				return
			}
			switch err := dir.Publish(temp, "note.md"); {
			case err == nil:
				created.Add(1)
			case assert.ErrorIs(t, err, fs.ErrExist):
				assert.NoError(t, dir.Discard(temp))
			}
		})
	}
	wait.Wait()
	assert.EqualValues(t, 1, created.Load())
	assert.Equal(t, []string{"note.md"}, names(t, path))
}

// Readers see either the old or the new content of a file being exchanged, and the name
// always exists.
func TestExchange_ReadersSeeWholeFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("ReplaceFile fails while a reader has the file open")
	}
	path, dir := open(t)
	texts := map[string]bool{}
	for _, c := range []byte("ab") {
		text := make([]byte, 64<<10)
		for i := range text {
			text[i] = c
		}
		texts[string(text)] = true
	}
	for text := range texts {
		require.NoError(t, dir.Stage(".temp", []byte(text), nil))
		if _, err := dir.Root().Stat("note.md"); err != nil {
			require.NoError(t, dir.Publish(".temp", "note.md"))
		}
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				data, err := os.ReadFile(filepath.Join(path, "note.md"))
				if !assert.NoError(t, err) || !assert.True(t, texts[string(data)], "%d bytes", len(data)) {
					return
				}
			}
		})
	}
	for range 200 {
		require.NoError(t, dir.Exchange(".temp", "note.md"))
	}
	close(done)
	wait.Wait()
}

func TestExchange_MissingFiles(t *testing.T) {
	path, dir := open(t)
	require.NoError(t, dir.Stage(".temp", []byte("new"), nil))
	err := dir.Exchange(".temp", "missing.md")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var link *os.LinkError
	require.ErrorAs(t, err, &link, "the error names both files")
	assert.Equal(t, []string{".temp"}, names(t, path))
	write(t, filepath.Join(path, "a.md"), "old")
	require.ErrorIs(t, dir.Exchange("missing", "a.md"), fs.ErrNotExist)
	text, err := os.ReadFile(filepath.Join(path, "a.md"))
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
}

func TestMove_ExistingTarget(t *testing.T) {
	path, dir := open(t)
	require.NoError(t, os.Mkdir(filepath.Join(path, "sub"), 0o755))
	write(t, filepath.Join(path, "a.md"), "a")
	write(t, filepath.Join(path, "sub", "a.md"), "b")
	sub, err := atomicfile.OpenDir(dir.Root(), "sub")
	require.NoError(t, err)
	defer sub.Close()
	require.ErrorIs(t, dir.Move("a.md", sub, "a.md"), fs.ErrExist)
	require.NoError(t, dir.Move("a.md", sub, "c.md"))
	assert.Equal(t, []string{"a.md", "c.md"}, names(t, filepath.Join(path, "sub")))
	require.NoError(t, errors.Join(dir.Sync(), sub.Sync()))
}

func TestStage_Mode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	path, dir := open(t)
	dir.Before = func(call string) error {
		if info, err := os.Stat(filepath.Join(path, ".temp"+atomicfile.Part)); err == nil && call == "write" {
			assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "other users must not read the text before the file has its mode")
		}
		return nil
	}
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o755, 0o400} {
		name := filepath.Join(path, "like.md")
		write(t, name, "x")
		require.NoError(t, os.Chmod(name, mode))
		like, err := os.Open(name)
		require.NoError(t, err)
		require.NoError(t, dir.Stage(".temp", []byte("y"), like))
		require.NoError(t, like.Close())
		info, err := os.Stat(filepath.Join(path, ".temp"))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm())
		require.NoError(t, dir.Discard(".temp"))
		require.NoError(t, os.Remove(name))
	}
}

func TestOpenDir_NotADirectory(t *testing.T) {
	path, dir := open(t)
	write(t, filepath.Join(path, "a.md"), "x")
	_, err := atomicfile.OpenDir(dir.Root(), "a.md")
	require.Error(t, err)
	_, err = atomicfile.OpenDir(dir.Root(), "missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = atomicfile.OpenDir(dir.Root(), "..")
	require.Error(t, err)
}
