//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// link returns errors.ErrUnsupported if the file system has no hard links. exFAT returns
// EPERM and some FUSE file systems EIO; Go already maps the other codes.
func link(from *Dir, name string, to *Dir, newName string) error {
	err := unix.Linkat(int(from.file.Fd()), name, int(to.file.Fd()), newName, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EIO) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

func renameOver(from *Dir, name string, to *Dir, newName string) error {
	return unix.Renameat(int(from.file.Fd()), name, int(to.file.Fd()), newName)
}

func syncFolder(f *os.File) error { return f.Sync() }
