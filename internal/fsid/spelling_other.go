//go:build !linux

package fsid

import (
	"os"
	"path"
	"slices"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// ErrNotDirectory: a file is where a folder of the path was.
const ErrNotDirectory = syscall.ENOTDIR

// SpelledSo reports whether a file of exactly this name (in any Unicode form)
// exists, given that a file answers to it: these systems' disks fold case.
func SpelledSo(root *os.Root, diskPath string) bool {
	folder, err := root.Open(path.Dir(diskPath))
	if err != nil {
		return false
	}
	defer func() { _ = folder.Close() }() // only read from
	names, err := folder.Readdirnames(-1)
	want := norm.NFC.String(path.Base(diskPath))
	return err == nil && slices.ContainsFunc(names, func(n string) bool { return norm.NFC.String(n) == want })
}
