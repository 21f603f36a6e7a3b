package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// RemoteFileSystem returns "network" if abs is on another machine, or "".
func RemoteFileSystem(abs string) string {
	volume, err := windows.UTF16PtrFromString(filepath.VolumeName(abs) + `\`)
	if err != nil || windows.GetDriveType(volume) != windows.DRIVE_REMOTE {
		return ""
	}
	return "network"
}

func mountID(*os.File) uint64 { return 0 }

func hidesNew(string) bool { return false }

func entryBudget() int { return 0 }

// isLimit reports whether adding a watch failed because a limit was reached.
func isLimit(err error) bool {
	return errors.Is(err, windows.ERROR_NO_SYSTEM_RESOURCES) || errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY)
}

// eventLoss wraps an error of the source; each means that events were lost.
func eventLoss(err error) error { return fmt.Errorf("events were lost: %w", err) }

func watchRemedy(int) string { return "Ignore folders that contain no notes." }

func instanceRemedy() string { return "Restart the program when the system is less busy." }
