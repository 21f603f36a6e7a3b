package fsid

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// OpenNonblock is not used on Windows.
const OpenNonblock = 0

// KeepsUnlinked reports whether a file can still be read after its last name is gone.
const KeepsUnlinked = false

// sysStat returns zeros: directory listings include neither number, and reading them
// requires opening the file.
func sysStat(fs.FileInfo) (ctimeNano, inode int64) { return 0, 0 }

// IdentityOf returns zero. A disk mounted in a folder is a reparse point, which scans do
// not enter.
func IdentityOf(fs.FileInfo) Identity { return Identity{} }

// PathIdentity returns the identity of the folder at path. It opens it without access to
// the data and with full sharing, so that other programs can rename it.
func PathIdentity(path string, _ fs.FileInfo) (Identity, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Identity{}, err
	}
	h, err := windows.CreateFile(name, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return Identity{}, fmt.Errorf("identify %s: %w", path, err)
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing was written
	return identityIn(h), nil
}

func openIdentity(folder *os.File) (Identity, error) {
	return identityIn(windows.Handle(folder.Fd())), nil
}

// identityIn returns zero for a disk without these numbers.
func identityIn(h windows.Handle) Identity {
	info, err := handleInformation(h)
	if err != nil {
		return Identity{}
	}
	return Identity{
		Device: uint64(info.VolumeSerialNumber),
		Inode:  uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}
}

func handleInformation(h windows.Handle) (info windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(h, &info)
	return info, err
}

// HardLinks returns the number of names of the file.
func HardLinks(f *os.File) (int, error) {
	info, err := handleInformation(windows.Handle(f.Fd()))
	return int(info.NumberOfLinks), err
}

// Locked returns false: replacing a file that another program has open without sharing
// fails.
func Locked(*os.File) bool { return false }

func born(folder *os.File) (int64, error) {
	h := windows.Handle(folder.Fd())
	var remote [256]byte // a FILE_REMOTE_PROTOCOL_INFO
	if windows.GetFileInformationByHandleEx(h, windows.FileRemoteProtocolInfo, &remote[0], uint32(len(remote))) == nil {
		return 0, nil // a server may compute it from times that change
	}
	info, err := handleInformation(h)
	return info.CreationTime.Nanoseconds(), err
}
