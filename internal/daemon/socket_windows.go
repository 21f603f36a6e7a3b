package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// runtimeDir returns a directory with a short path inside the user's profile,
// whose access control list keeps others out.
func runtimeDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "notesd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("runtime directory: %w", err)
	}
	return dir, nil
}

// owned and private hold on Windows by where the directories lie: below the
// user's profile, whose access control list is inherited.
func owned(string, fs.FileInfo) error { return nil }

func private(fs.FileInfo) bool { return true }

// isSocket knows a socket by its being no regular file: Go reports AF_UNIX
// sockets as irregular or as sockets, depending on its version.
func isSocket(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSocket|fs.ModeIrregular) != 0
}

// refused reports whether nobody listens at a socket.
func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}
