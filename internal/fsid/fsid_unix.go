//go:build unix

package fsid

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenNonblock prevents open from blocking on a named pipe in place of a note or folder.
const OpenNonblock = syscall.O_NONBLOCK

// KeepsUnlinked reports whether a file can still be read after its last name is gone.
const KeepsUnlinked = true

func sysStat(info fs.FileInfo) (ctimeNano, inode int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ctime(st), int64(st.Ino)
	}
	return 0, 0
}

// IdentityOf returns the identity of a file from its file info; zero on Windows.
func IdentityOf(info fs.FileInfo) Identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return Identity{Device: uint64(st.Dev), Inode: uint64(st.Ino)}
	}
	return Identity{}
}

// PathIdentity returns the identity of the folder at path, whose file info is info.
func PathIdentity(_ string, info fs.FileInfo) (Identity, error) { return IdentityOf(info), nil }

func openIdentity(folder *os.File) (Identity, error) {
	info, err := folder.Stat()
	if err != nil {
		return Identity{}, err
	}
	return IdentityOf(info), nil
}

// HardLinks returns the number of names of the file.
func HardLinks(f *os.File) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink), nil
	}
	return 1, nil
}

// Locked reports whether another program holds an advisory lock on the file. It returns
// false on a file system without locks.
func Locked(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing the file would also do it
	}
	return err == unix.EWOULDBLOCK
}
