//go:build unix

package disk_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOpen_PipeInPlaceOfFolder checks that a pipe cannot block what opens folders.
func TestOpen_PipeInPlaceOfFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	_, root := open(t, map[string]string{"": dir})
	assert.Empty(t, root.Names("pipe"))
	_, err := root.OpenRoot("pipe")
	require.ErrorIs(t, err, unix.ENOTDIR)
	_, err = root.OpenDir("pipe")
	require.ErrorIs(t, err, unix.ENOTDIR)
}
