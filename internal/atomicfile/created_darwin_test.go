package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/atomicfile"
)

func TestStage_KeepsCreationTime(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "note.md")
	require.NoError(t, os.WriteFile(note, []byte("old"), 0o600))
	long := time.Date(2016, 2, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(note, long, long)) // a file is never modified before its creation
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	d, err := atomicfile.OpenDir(root, ".")
	require.NoError(t, err)
	defer d.Close()
	like, err := os.Open(note)
	require.NoError(t, err)
	defer like.Close()

	require.NoError(t, d.Stage("temp", []byte("new"), like))
	require.NoError(t, d.Exchange("temp", "note.md"))
	info, err := os.Stat(note)
	require.NoError(t, err)
	assert.Equal(t, long.Unix(), info.Sys().(*syscall.Stat_t).Birthtimespec.Sec)
	assert.NotEqual(t, long.Unix(), info.ModTime().Unix())
}
