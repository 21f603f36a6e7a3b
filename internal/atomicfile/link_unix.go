//go:build unix

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

func link(from *Dir, name string, to *Dir, newName string) error {
	return unix.Linkat(int(from.file.Fd()), name, int(to.file.Fd()), newName, 0)
}

func syncFolder(f *os.File) error { return f.Sync() }
