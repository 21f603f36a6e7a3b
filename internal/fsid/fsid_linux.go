package fsid

import (
	"errors"
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

func born(folder *os.File) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(folder.Fd()), &disk); err != nil {
		return 0, err
	}
	switch uint32(disk.Type) {
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return 0, nil // Samba may compute it from times that change
	}
	var st unix.Statx_t
	err := unix.Statx(int(folder.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	return birthOf(&st, err)
}

func birthOf(st *unix.Statx_t, err error) (int64, error) {
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a container that does not allow the call
		return 0, nil
	case err != nil || st.Mask&unix.STATX_BTIME == 0:
		return 0, err
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec), nil
}
