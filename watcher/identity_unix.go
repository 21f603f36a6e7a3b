//go:build unix

package watcher

import (
	"io/fs"
	"os"
	"syscall"
)

// lookup identifies the directory entry at abs, without following a symbolic
// link.
func lookup(abs string) (id fileID, isDir bool, err error) {
	fi, err := os.Lstat(abs)
	if err != nil {
		return fileID{}, false, err
	}
	id, err = identify(abs, fi)
	return id, fi.IsDir(), err
}

// identify returns the identity of the file at abs, whose stat is fi.
func identify(_ string, fi fs.FileInfo) (fileID, error) {
	st := fi.Sys().(*syscall.Stat_t)
	return fileID{dev: uint64(st.Dev), ino: uint64(st.Ino)}, nil
}

func stampOf(fi fs.FileInfo) stamp {
	st := fi.Sys().(*syscall.Stat_t)
	return stamp{
		size:  fi.Size(),
		mtime: fi.ModTime().UnixNano(),
		ctime: ctime(st),
		ino:   uint64(st.Ino),
		mode:  uint32(fi.Mode()),
	}
}
