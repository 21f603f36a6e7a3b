package atomicfile

import (
	"errors"
	"slices"

	"golang.org/x/sys/windows"
)

func isAny(err error, codes ...windows.Errno) bool {
	var code windows.Errno
	return errors.As(err, &code) && slices.Contains(codes, code)
}

// IsDiskFull reports whether a write failed because the disk is full or the user's quota
// is exceeded.
func IsDiskFull(err error) bool {
	return isAny(err, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// IsReadOnlyDisk reports whether a write failed because the disk is
// write-protected.
func IsReadOnlyDisk(err error) bool { return isAny(err, windows.ERROR_WRITE_PROTECT) }

// IsOtherDisk reports whether a rename failed because the names are on different disks.
func IsOtherDisk(err error) bool { return isAny(err, windows.ERROR_NOT_SAME_DEVICE) }

// IsHeldElsewhere reports whether another program has the file open without
// sharing it.
func IsHeldElsewhere(err error) bool {
	return isAny(err, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE,
		windows.ERROR_UNABLE_TO_REMOVE_REPLACED, windows.ERROR_UNABLE_TO_MOVE_REPLACEMENT, windows.ERROR_UNABLE_TO_MOVE_REPLACEMENT_2)
}
