//go:build !windows

package atomicfile

import (
	"errors"
	"syscall"
)

// IsDiskFull reports whether a write failed because the disk, or the user's share
// of it, is full.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// IsReadOnlyDisk reports whether the file system takes no writes.
func IsReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// IsHeldElsewhere reports whether another program has the file open and does
// not share it. Here, a file that is open can be replaced.
func IsHeldElsewhere(error) bool { return false }
