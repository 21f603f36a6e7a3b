package watcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// remoteKinds maps the statfs(2) type to the name of file systems whose files can change
// without this kernel. FUSE is included because sshfs, rclone, virtiofs and the shared
// folders of containers and virtual machines use it. Overlay file systems are excluded
// because writes from containers go through them.
var remoteKinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC:    "nfs",
	unix.SMB_SUPER_MAGIC:    "smb",
	unix.SMB2_SUPER_MAGIC:   "smb2",
	unix.CIFS_SUPER_MAGIC:   "cifs",
	unix.V9FS_MAGIC:         "9p",
	unix.FUSE_SUPER_MAGIC:   "fuse",
	unix.AFS_SUPER_MAGIC:    "afs",
	unix.AFS_FS_MAGIC:       "afs",
	unix.CEPH_SUPER_MAGIC:   "ceph",
	unix.CODA_SUPER_MAGIC:   "coda",
	unix.NCP_SUPER_MAGIC:    "ncp",
	unix.HOSTFS_SUPER_MAGIC: "hostfs",
	0x786f4256:              "vboxsf",
	0x7c7c6673:              "prl_fs",
	0x01161970:              "gfs2",
	0x7461636f:              "ocfs2",
	0x0bd00bd0:              "lustre",
}

// RemoteFileSystem returns the name of the file system of abs if its files can change
// without this kernel, or "".
func RemoteFileSystem(abs string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(abs, &st); err != nil {
		return ""
	}
	return remoteKinds[uint32(st.Type)]
}

// mountID returns a number that identifies the mount of f, or 0 if it is unknown. The
// unique ID (Linux 6.8) is never reused; the older ID may be.
func mountID(f *os.File) uint64 {
	var st unix.Statx_t
	fd := int(f.Fd())
	for _, mask := range []int{unix.STATX_MNT_ID_UNIQUE, unix.STATX_MNT_ID} {
		err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, mask, &st)
		if err == nil && st.Mask&uint32(mask) != 0 {
			return st.Mnt_id
		}
	}
	return 0
}

func hidesNew(string) bool { return false }

// entryBudget returns 0, which means no limit: inotify reports when its limit is
// reached.
func entryBudget() int { return 0 }

// isLimit reports whether adding a watch failed because a limit was reached.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM)
}

// eventLoss wraps an error of the source if it means that events were lost, and returns
// nil otherwise. EINVAL is harmless: fsnotify removed a watch that the kernel had
// already removed, for example after a directory was moved and then deleted.
func eventLoss(err error) error {
	switch {
	case errors.Is(err, syscall.EINVAL):
		return nil
	case errors.Is(err, fsnotify.ErrEventOverflow):
		return fmt.Errorf("events were lost: %w (fs.inotify.max_queued_events is %s)",
			err, inotifySetting("max_queued_events"))
	default:
		return fmt.Errorf("events were lost: %w", err)
	}
}

func watchRemedy(directories int) string {
	now := inotifySetting("max_user_watches")
	n, _ := strconv.Atoi(now) // 0 if unknown
	want := max(1<<16, 2*n, 4*directories)
	return fmt.Sprintf("All programs of a user share fs.inotify.max_user_watches, which is %s; "+
		"raise it with: sudo sysctl fs.inotify.max_user_watches=%d", now, want)
}

func instanceRemedy() string {
	return fmt.Sprintf("All programs of a user share fs.inotify.max_user_instances, which is %s; "+
		"raise it with: sudo sysctl fs.inotify.max_user_instances=1024", inotifySetting("max_user_instances"))
}

func inotifySetting(name string) string {
	b, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}
