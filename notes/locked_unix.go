//go:build unix

package notes

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func hardLinks(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
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
