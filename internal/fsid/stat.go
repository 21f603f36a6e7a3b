package fsid

import "io/fs"

// Stat is what the file system says about a file: enough to see, without
// reading it, that it is the file whose bytes are known.
type Stat struct {
	Size  int64
	Mtime int64 // ns
	Ctime int64 // ns; 0 where the system has none
	Inode int64 // 0 where the system has none
}

// StatOf returns the stat of a file from what the system said of it.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.Ctime, s.Inode = sysStat(info)
	return s
}

// Identity tells one folder from another that took its place. The zero value
// means "not recorded, or the system has no such numbers".
type Identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}
