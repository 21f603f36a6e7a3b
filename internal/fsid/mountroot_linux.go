package fsid

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsMountRoot reports whether something is mounted at the open folder. A
// folder bound to another one of the same disk has no device number of its
// own to show it.
func IsMountRoot(folder *os.File) bool {
	var st unix.Statx_t
	err := unix.Statx(int(folder.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
