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

// remoteKinds are the file systems that others than this kernel write to; the
// numbers are those of statfs(2). FUSE is among them because it carries sshfs,
// rclone, virtiofs and the shared folders of containers and virtual machines.
// An overlay is not: what containers write goes through it.
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

// remoteFileSystem names the file system of abs if it is one whose changes the
// kernel does not all see, and is "" otherwise.
func remoteFileSystem(abs string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(abs, &st); err != nil {
		return ""
	}
	return remoteKinds[uint32(st.Type)]
}

// mountID tells mounts apart, also those of one file system; 0 if unknown.
// The unique number (Linux 6.8) is never used again, the other one may be.
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

// entryBudget is 0: inotify's limit shows when it is reached.
func entryBudget() int { return 0 }

// isLimit reports whether the error of a watch says that no more can be had.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM)
}

// lossOf says what an error of the source means: the loss of events, or
// nothing. A directory that was moved and then deleted is nothing: fsnotify
// tries to end a watch that the kernel has ended (EINVAL).
func lossOf(err error) error {
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
	want := 65536
	if n, err := strconv.Atoi(now); err == nil {
		want = max(want, 2*n)
	}
	for want < 2*directories {
		want *= 2
	}
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
