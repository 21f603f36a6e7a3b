//go:build unix

package service

import (
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isOpenToOthers reports whether others have access to a file of this user. The owner of
// another file, such as a container's secret, has decided who may read it.
func isOpenToOthers(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 != 0
}

// MayWrite reports whether this user may create files in a folder.
func MayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// openFiles returns how many files the process may have open.
func openFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur)
}

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
