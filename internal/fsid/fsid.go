// Package fsid reports what each platform knows of a file's identity: the device
// and inode that distinguish a folder from another one in its place, the times
// that show a change without reading the file, the exact spelling of a name on a
// disk that folds case, the folder that a path is in, mount points, hard links, and
// locks of other programs.
//
// A number that a system does not have is zero; callers then rely on size,
// modification time and hash alone.
package fsid

import (
	"io/fs"
	"os"
	"syscall"
)

// ErrNotDirectory is the error of a path in which a file takes the place of a folder.
const ErrNotDirectory = syscall.ENOTDIR

// Stat has the attributes by which a file is known to be unchanged without
// reading it.
type Stat struct {
	Size  int64
	Mtime int64 // ns
	Ctime int64 // ns; 0 where the system has none
	Inode int64 // 0 where the system has none
}

// StatOf returns the stat of a file from its file info.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.Ctime, s.Inode = sysStat(info)
	return s
}

// Identity distinguishes a file from every other one on this machine while it
// exists; the system reuses the numbers of deleted files. The zero value means
// "not recorded, or the system has no such numbers".
type Identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
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
