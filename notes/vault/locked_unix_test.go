//go:build unix

package vault

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"notesd/notes"
)

// holdLock locks the note as another program would.
func holdLock(t *testing.T, f *fixture) {
	t.Helper()
	file, err := os.Open(filepath.Join(f.dir, "N.md"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
}

func mkfifo(name string) error { return unix.Mkfifo(name, 0o644) }

// In a shared folder, group members use a umask that lets the group write new files.
func TestCreate_GroupUmask(t *testing.T) {
	f := newFixture(t)
	umask := unix.Umask(0o002)
	t.Cleanup(func() { unix.Umask(umask) })
	_, err := f.Create(t.Context(), notes.CreateRequest{Path: "sub/New.md", Content: "new"})
	require.NoError(t, err)
	for name, want := range map[string]os.FileMode{"sub": 0o775, "sub/New.md": 0o664} {
		info, err := os.Stat(filepath.Join(f.dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
}
