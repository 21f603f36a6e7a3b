package atomicfile

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func renameNoReplace(from *Dir, name string, to *Dir, newName string) error {
	return renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
}

func exchange(d *Dir, temp, name string) error {
	return renameat2(d, temp, d, name, unix.RENAME_EXCHANGE)
}

// renameat2 returns errors.ErrUnsupported if the kernel or the file system does not
// support the flag; NFS and some FUSE file systems return EINVAL.
func renameat2(from *Dir, name string, to *Dir, newName string, flags uint) error {
	err := unix.Renameat2(int(from.file.Fd()), name, int(to.file.Fd()), newName, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
