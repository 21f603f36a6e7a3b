package watcher

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lookup identifies the directory entry at abs, without following a symbolic
// link. Only directories get an identity, because reading it requires opening
// the file.
func lookup(abs string) (id fileID, isDir bool, err error) {
	fi, err := os.Lstat(abs)
	if err != nil || !fi.IsDir() {
		return fileID{}, false, err
	}
	id, err = identify(abs, fi)
	return id, true, err
}

// identify returns the identity of the directory at abs. It requests no access
// to the data and shares all access, so that other programs can rename it.
func identify(abs string, _ fs.FileInfo) (fileID, error) {
	name, err := windows.UTF16PtrFromString(abs)
	if err != nil {
		return fileID{}, err
	}
	h, err := windows.CreateFile(name, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return fileID{}, fmt.Errorf("identify %s: %w", abs, err)
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return fileID{}, fmt.Errorf("identify %s: %w", abs, err)
	}
	return fileID{
		dev: uint64(info.VolumeSerialNumber),
		ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}, nil
}

// stampOf uses the fields that a directory listing provides; others would
// require opening the file.
func stampOf(fi fs.FileInfo) stamp {
	return stamp{size: fi.Size(), mtime: fi.ModTime().UnixNano(), mode: uint32(fi.Mode())}
}
