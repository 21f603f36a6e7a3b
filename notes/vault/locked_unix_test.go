//go:build unix

package vault

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// holdLock is another program with a lock on the note.
func holdLock(t *testing.T, f *fixture) {
	t.Helper()
	file, err := os.Open(filepath.Join(f.dir, "N.md"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
}

func mkfifo(name string) error { return unix.Mkfifo(name, 0o644) }
