package fsid

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

// IdentityOf returns the identity of a file from its stat.
func IdentityOf(info fs.FileInfo) Identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return Identity{Device: uint64(st.Dev), Inode: st.Ino}
	}
	return Identity{}
}
