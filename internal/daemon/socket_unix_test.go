//go:build unix

package daemon

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListenProtectsTheSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(dir, 0o755))
	lock := acquire(t, dir)
	ln, err := Listen(lock)
	require.NoError(t, err)
	path := ln.Addr().String()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "the directory is closed to others")
	info, err = os.Stat(filepath.Join(dir, lockFile))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, ln.Close())
	assert.NoFileExists(t, path)
}

func TestListenReplacesAStaleSocket(t *testing.T) {
	dir := shortTempDir(t)
	path := filepath.Join(dir, socketFile)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	require.NoError(t, stale.Close())
	require.FileExists(t, path)

	lock := acquire(t, dir)
	require.NoError(t, lock.setSocket(path))
	_, err = Probe(context.Background(), dir)
	require.ErrorIs(t, err, ErrNotRunning)
	ln, err := Listen(lock)
	require.NoError(t, err)
	require.NoError(t, ln.Close())
}

func TestListenLeavesOtherFilesAlone(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a symlink":   func(path string) error { return os.Symlink("/etc/passwd", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortTempDir(t)
			path := filepath.Join(dir, socketFile)
			require.NoError(t, put(path))
			before, err := os.Lstat(path)
			require.NoError(t, err)
			_, err = Listen(acquire(t, dir))
			require.ErrorContains(t, err, "is not a socket")
			after, err := os.Lstat(path)
			require.NoError(t, err)
			assert.Equal(t, before.Mode(), after.Mode())
		})
	}
}

func TestSocketPathOfALongStateDirectory(t *testing.T) {
	runtimeDir := shortTempDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	long := "/" + strings.Repeat("d", maxSocketPath)
	path, err := socketPath(long)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(runtimeDir, "notesd"), filepath.Dir(path))
	assert.LessOrEqual(t, len(path), maxSocketPath)
	other, err := socketPath(long + "x")
	require.NoError(t, err)
	assert.NotEqual(t, path, other)
	again, err := socketPath(long)
	require.NoError(t, err)
	assert.Equal(t, path, again)

	edge := "/" + strings.Repeat("d", maxSocketPath-2-len(socketFile))
	path, err = socketPath(edge)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(edge, socketFile), path, "a path that just fits is used")
}

func TestRuntimeDirectoryOfOthersIsRefused(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(base, "target"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(base, "target"), filepath.Join(base, "link")))
	require.ErrorContains(t, securePrivateDir(filepath.Join(base, "link")), "not a directory")
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	require.ErrorContains(t, securePrivateDir(filepath.Join(base, "file")), "not a directory")
	require.NoError(t, os.Mkdir(filepath.Join(base, "open"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(base, "open"), 0o770))
	require.ErrorContains(t, securePrivateDir(filepath.Join(base, "open")), "others can enter")
	require.NoError(t, securePrivateDir(filepath.Join(base, "new")))
	require.NoError(t, securePrivateDir(filepath.Join(base, "new")))
	require.ErrorContains(t, securePrivateDir(filepath.Join(base, "no", "parent")), "no such file")
	if os.Geteuid() == 0 {
		foreign := filepath.Join(base, "foreign")
		require.NoError(t, os.Mkdir(foreign, 0o700))
		require.NoError(t, os.Chown(foreign, 65534, 65534))
		require.ErrorContains(t, securePrivateDir(foreign), "belongs to user 65534")
		_, err := SecureStateDir(foreign)
		require.ErrorContains(t, err, "belongs to user 65534")
	}
}

func TestRuntimeDirectoryIsNotTakenFromAnUnsafePlace(t *testing.T) {
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	for _, base := range []string{"", "relative", open, filepath.Join(open, "missing"), "/" + strings.Repeat("d", 90)} {
		shared := t.TempDir()
		dir, err := runtimeDirIn(base, shared)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(dir, shared+"/notesd-"), dir)
	}
}

// shortTempDir is like t.TempDir, with a path short enough for a socket in it.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(sharedTemp, "n")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestPeerMustBeTheSameUser(t *testing.T) {
	require.NoError(t, sameUser(7, 7))
	require.ErrorContains(t, sameUser(7, 8), "user 7")
	dir := t.TempDir()
	ln, err := Listen(acquire(t, dir))
	require.NoError(t, err)
	defer ln.Close()
	c, err := net.DialUnix("unix", nil, ln.Addr().(*net.UnixAddr))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, checkPeer(c))
}
