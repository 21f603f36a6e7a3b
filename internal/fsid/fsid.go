// Package fsid reports what each platform knows of a file's identity: the device and
// inode that distinguish a folder from another one in its place, the times that reveal a
// change without reading the file, the exact spelling of a name on a disk that folds
// case, the folder that contains a path, mount points, hard links, and locks of other
// programs.
//
// Numbers that a system does not provide are zero; callers then rely on size,
// modification time and hash alone.
package fsid

import (
	"io/fs"
	"os"
	"syscall"
)

// ErrNotDirectory is the error for a path with a file in place of a folder.
const ErrNotDirectory = syscall.ENOTDIR

// Stat has the attributes that show, without reading a file, that it is unchanged.
type Stat struct {
	Size  int64
	Mtime int64 // ns
	Ctime int64 // ns; 0 if not available
	Inode int64 // 0 if not available
}

// StatOf returns the stat of a file from its file info.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.Ctime, s.Inode = sysStat(info)
	return s
}

// Identity distinguishes a file from all others on this machine while it exists; the
// system reuses the numbers of deleted files. The zero value means that they were not
// recorded or are not available.
type Identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// Born returns when an open folder was created, in nanoseconds, or 0 if the system does not
// record it, or a server may change it.
func Born(root *os.Root) (int64, error) {
	folder, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer func() { _ = folder.Close() }() // only read from
	return born(folder)
}

// RootIdentity returns the identity of an open folder.
func RootIdentity(root *os.Root) (Identity, error) {
	folder, err := root.Open(".")
	if err != nil {
		return Identity{}, err
	}
	defer func() { _ = folder.Close() }() // only read from
	return openIdentity(folder)
}
