//go:build !linux

package fsid

import (
	"os"
	"path"
	"slices"

	"golang.org/x/text/unicode/norm"
)

// IsMountRoot returns false: a mounted disk has its own device number, and there
// are no bind mounts.
func IsMountRoot(*os.File) bool { return false }

// SpelledSo reports whether a file of exactly this name, in any Unicode form,
// exists, given that a stat of the name succeeds: the disks of these systems
// fold case.
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
