package fsid

import (
	"os"
	"syscall"
)

func ctime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

func born(folder *os.File) int64 {
	info, err := folder.Stat()
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Birthtimespec.Nano()
}
