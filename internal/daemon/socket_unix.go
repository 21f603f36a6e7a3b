//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// sharedTemp is where the runtime directory goes on a system without one. It is
// not os.TempDir, which is itself too long a path on macOS and differs between
// processes of one user.
const sharedTemp = "/tmp"

// runtimeDir returns a directory with a short path that only the user can enter,
// and creates it if need be.
func runtimeDir() (string, error) {
	return runtimeDirIn(os.Getenv("XDG_RUNTIME_DIR"), sharedTemp)
}

// runtimeDirIn returns a directory below the user's own runtime directory if
// that is one, and else below the one that all users share.
func runtimeDirIn(own, shared string) (string, error) {
	if info, err := os.Stat(own); filepath.IsAbs(own) && err == nil && owned(own, info) == nil && private(info) {
		if dir := filepath.Join(own, "notesd"); len(dir)+maxKeyName <= maxSocketPath {
			return dir, securePrivateDir(dir)
		}
	}
	dir := filepath.Join(shared, "notesd-"+strconv.Itoa(os.Geteuid()))
	return dir, securePrivateDir(dir)
}

// securePrivateDir creates dir for the user alone, or checks that it is so. In a
// directory that everybody writes to, another user may have put something else
// there first, a symbolic link above all; that is refused and never repaired,
// since what lies in it cannot be trusted.
func securePrivateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("runtime directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("runtime directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("runtime directory: %s is not a directory; remove it", dir)
	}
	if err := owned(dir, info); err != nil {
		return fmt.Errorf("runtime directory: %w", err)
	}
	if !private(info) {
		return fmt.Errorf("runtime directory: others can enter %s (mode %04o); remove it", dir, info.Mode().Perm())
	}
	return nil
}

// owned returns an error unless the user owns the file.
func owned(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to you (user %d)", path, st.Uid, os.Geteuid())
	}
	return nil
}

// private reports whether only the owner can enter the directory.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

func isSocket(info fs.FileInfo) bool { return info.Mode()&fs.ModeSocket != 0 }

// refused reports whether nobody listens at a socket, or too many wait for it
// already, which Linux answers at once.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN)
}

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
