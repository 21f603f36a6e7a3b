//go:build unix

package service

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// isOpenToOthers reports whether other users have access to a file.
func isOpenToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// MayWrite reports whether this user may create files in a folder.
func MayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
