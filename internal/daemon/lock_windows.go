package daemon

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is where the locked byte lies: far beyond the content, which other
// processes must be able to read, and a locked byte cannot be.
const lockOffset = 1 << 30

// tryLock takes the exclusive lock of f. It ends with the process.
func tryLock(f *os.File) error {
	at := windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return errHeld
	default:
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}
