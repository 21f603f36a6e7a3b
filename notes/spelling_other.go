//go:build !linux

package notes

import (
	"os"
	"path"
	"slices"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// errNotDirectory: a file is where a folder of the path was.
const errNotDirectory = syscall.ENOTDIR

// spelledSo reports whether a file of exactly this name (in any Unicode form)
// exists, given that a file answers to it: these systems' disks fold case.
func spelledSo(root *os.Root, diskPath string) bool {
	folder, err := root.Open(path.Dir(diskPath))
	if err != nil {
		return false
	}
	defer func() { _ = folder.Close() }() // only read from
	names, err := folder.Readdirnames(-1)
	want := norm.NFC.String(path.Base(diskPath))
	return err == nil && slices.ContainsFunc(names, func(n string) bool { return norm.NFC.String(n) == want })
}
