package notes

import "io/fs"

// stat is what the file system says about a file: enough to see, without
// reading it, that it is the file whose bytes are known.
type stat struct {
	size  int64
	mtime int64 // ns
	ctime int64 // ns; 0 where the system has none
	inode int64 // 0 where the system has none
}

func statOf(info fs.FileInfo) stat {
	s := stat{size: info.Size(), mtime: info.ModTime().UnixNano()}
	s.ctime, s.inode = sysStat(info)
	return s
}

// identity tells one folder from another that took its place. The zero value
// means "not recorded, or the system has no such numbers".
type identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}
