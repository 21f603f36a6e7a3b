package vault

import (
	"os"
	"path/filepath"
	"runtime"
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
