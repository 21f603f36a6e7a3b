package notestest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Vault writes files, keyed by slash-separated path, to a new directory and
// returns it.
func Vault(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "vault")
	require.NoError(tb, os.Mkdir(dir, 0o755))
	Write(tb, dir, files)
	return dir
}

// Write writes files, keyed by slash-separated path, to an existing directory. It
// overwrites existing files in place.
func Write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(tb, os.WriteFile(path, []byte(text), 0o644))
	}
}

// Read returns the content of every regular file below a directory, keyed by
// slash-separated path. A symlink to a file counts as one.
func Read(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil // a pipe, or a symlink to a folder or a missing file
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	require.NoError(tb, err)
	return files
}
