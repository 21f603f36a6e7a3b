//go:build !windows

package atomicfile

import (
	"errors"
	"syscall"
)

// IsDiskFull reports whether a write failed because the disk is full or the user's quota
// is exceeded.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// IsReadOnlyDisk reports whether a write failed because the file system is mounted
// read-only.
func IsReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// IsOtherDisk reports whether a rename failed because the names are on different disks.
func IsOtherDisk(err error) bool { return errors.Is(err, syscall.EXDEV) }

// IsHeldElsewhere reports whether another program has the file open without sharing it.
// On Unix open files can be replaced, so it returns false.
func IsHeldElsewhere(error) bool { return false }
