package watcher

import "golang.org/x/sys/unix"

// RemoteFileSystem returns the type of the file system of abs if it is not local, or "".
func RemoteFileSystem(abs string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(abs, &st); err != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
