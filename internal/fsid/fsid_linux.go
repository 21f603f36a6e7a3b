package fsid

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ctime returns the time of the last inode change in nanoseconds. Unlike mtime, a program
// cannot set it.
func ctime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

// IsMountRoot reports whether a file system is mounted at the open folder. A bind
// mount from the same disk has no device number of its own.
func IsMountRoot(folder *os.File) bool {
	var st unix.Statx_t
	err := unix.Statx(int(folder.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

func born(folder *os.File) int64 {
	var st unix.Statx_t
	if err := unix.Statx(int(folder.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
