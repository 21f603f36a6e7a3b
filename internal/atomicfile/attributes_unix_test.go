//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestExchange_KeepsOwnerAndAttributes(t *testing.T) {
	path, dir := place(t)
	file := filepath.Join(path, "a")
	if os.Geteuid() == 0 { // no other user can give a file away
		require.NoError(t, os.Chown(file, 4242, 4343))
	}
	const name = "user.tag"
	err := unix.Setxattr(file, name, []byte("red"), 0)
	attributes := !errors.Is(err, unix.ENOTSUP)
	if attributes {
		require.NoError(t, err)
	}
	before, err := os.Stat(file)
	require.NoError(t, err)
	like, err := os.Open(file)
	require.NoError(t, err)
	require.NoError(t, dir.Stage("t", []byte("new a"), like))
	require.NoError(t, like.Close())
	require.NoError(t, dir.Exchange("t", "a"))

	after, err := os.Stat(file)
	require.NoError(t, err)
	was, is := before.Sys().(*syscall.Stat_t), after.Sys().(*syscall.Stat_t)
	assert.Equal(t, []uint32{was.Uid, was.Gid}, []uint32{is.Uid, is.Gid})
	assert.NotEqual(t, was.Ino, is.Ino)
	if !attributes {
		t.Skip("SKIPPED: the file system has no extended attributes")
	}
	value := make([]byte, 8)
	n, err := unix.Getxattr(file, name, value)
	require.NoError(t, err)
	assert.Equal(t, "red", string(value[:n]))
}

// A file system may refuse to set any mode, as /proc does.
func TestCopyAttributes_SameMode(t *testing.T) {
	const file = "/proc/self/status"
	f, err := os.Open(file)
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	defer func() { assert.NoError(t, f.Close()) }()
	like, err := os.Open(file)
	require.NoError(t, err)
	defer func() { assert.NoError(t, like.Close()) }()
	require.Error(t, f.Chmod(0o444))
	require.NoError(t, CopyAttributes(f, like))
}
