//go:build unix

package notes

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// hardLinks returns how many names the file has.
func hardLinks(f *os.File) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink), nil
	}
	return 1, nil
}

// locked asks for the lock that a program which cares would hold, without
// waiting. A file system without locks has none that are held.
func locked(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing the file does it as well
	}
	return err == unix.EWOULDBLOCK
}
