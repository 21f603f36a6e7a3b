package notes

import (
	"io/fs"
	"syscall"
)

func sysStat(info fs.FileInfo) (ctime, inode int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), int64(st.Ino)
	}
	return 0, 0
}

func identityOf(info fs.FileInfo) identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{Device: uint64(st.Dev), Inode: st.Ino}
	}
	return identity{}
}
