//go:build unix

package fsid

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// HardLinks returns how many names the file has.
func HardLinks(f *os.File) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink), nil
	}
	return 1, nil
}

// Locked asks for the lock that a program which cares would hold, without
// waiting. A file system without locks has none that are held.
func Locked(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing the file does it as well
	}
	return err == unix.EWOULDBLOCK
}
