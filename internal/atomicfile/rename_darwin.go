package atomicfile

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func renameNoReplace(from *Dir, name string, to *Dir, newName string) error {
	return renameatx(from, name, to, newName, unix.RENAME_EXCL)
}

func exchange(d *Dir, temp, name string) error {
	return renameatx(d, temp, d, name, unix.RENAME_SWAP)
}

// renameatx returns errors.ErrUnsupported if the volume does not support the flag.
func renameatx(from *Dir, name string, to *Dir, newName string, flags uint32) error {
	err := unix.RenameatxNp(int(from.file.Fd()), name, int(to.file.Fd()), newName, flags)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
