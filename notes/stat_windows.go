package notes

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// What a walk learns of a file has no change time and no number here, and to
// ask for them takes opening it: size, mtime and hash alone tell files apart.
func sysStat(fs.FileInfo) (ctime, inode int64) { return 0, 0 }

// identityOf: where another disk is mounted in a folder, a walk meets a reparse
// point, which it does not enter.
func identityOf(fs.FileInfo) identity { return identity{} }

// rootIdentity tells the vault's folder from another one in its place.
func rootIdentity(root *os.Root) (identity, error) {
	folder, err := root.Open(".")
	if err != nil {
		return identity{}, err
	}
	defer func() { _ = folder.Close() }() // only asked
	info, err := handleInformation(folder)
	if err != nil {
		return identity{}, nil // a disk without numbers
	}
	return identity{
		Device: uint64(info.VolumeSerialNumber),
		Inode:  uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}, nil
}

func handleInformation(f *os.File) (info windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return info, err
}
