package fsid

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func ctime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

func born(folder *os.File) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(folder.Fd()), &disk); err != nil || disk.Flags&unix.MNT_LOCAL == 0 {
		return 0, err // a server may compute it from times that change
	}
	info, err := folder.Stat()
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, nil
	}
	return st.Birthtimespec.Nano(), nil
}
