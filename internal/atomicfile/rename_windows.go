package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var replaceFile = windows.NewLazySystemDLL("kernel32.dll").NewProc("ReplaceFileW")

func (d *Dir) full(name string) (*uint16, error) {
	return windows.UTF16PtrFromString(filepath.Join(d.file.Name(), name))
}

func renameNoReplace(from *Dir, name string, to *Dir, newName string) error {
	return moveFile(from, name, to, newName, windows.MOVEFILE_WRITE_THROUGH)
}

func renameOver(from *Dir, name string, to *Dir, newName string) error {
	return moveFile(from, name, to, newName, windows.MOVEFILE_WRITE_THROUGH|windows.MOVEFILE_REPLACE_EXISTING)
}

func moveFile(from *Dir, name string, to *Dir, newName string, flags uint32) error {
	source, err := from.full(name)
	if err != nil {
		return err
	}
	target, err := to.full(newName)
	if err != nil {
		return err
	}
	return from.patiently(func() error { return windows.MoveFileEx(source, target, flags) })
}

// patiently calls op again, for some 0.6 s, while another program holds its file: virus
// scanners, indexers and sync programs open a file for a moment after it has changed.
func (d *Dir) patiently(op func() error) error {
	err := op()
	for pause := 10 * time.Millisecond; IsHeldElsewhere(err) && !errors.Is(err, ErrIncomplete) && pause < 500*time.Millisecond; pause *= 2 {
		if err := d.Before("wait"); err != nil {
			return err
		}
		<-time.After(pause)
		err = op()
	}
	return err
}

// exchange uses ReplaceFile, which renames the displaced file to a third name in the same
// operation and gives the new file the attributes of the displaced one.
func exchange(d *Dir, temp, name string) error {
	keep := temp + ".old"
	var names [3]*uint16
	for i, n := range []string{name, temp, keep} {
		p, err := d.full(n)
		if err != nil {
			return err
		}
		names[i] = p
	}
	err := d.patiently(func() error {
		ok, _, err := replaceFile.Call(uintptr(unsafe.Pointer(names[0])), uintptr(unsafe.Pointer(names[1])), uintptr(unsafe.Pointer(names[2])), 0, 0, 0)
		if ok != 0 {
			return nil
		}
		err = fmt.Errorf("ReplaceFile: %w", err)
		if errors.Is(err, windows.ERROR_UNABLE_TO_MOVE_REPLACEMENT_2) { // the displaced file was renamed, and name does not exist
			return undone(err, func() error { return moveFile(d, keep, d, name, windows.MOVEFILE_WRITE_THROUGH) })
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := moveFile(d, keep, d, temp, windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return errors.Join(err, ErrIncomplete)
	}
	return nil
}

func link(*Dir, string, *Dir, string) error { return errors.ErrUnsupported }

// syncFolder is a no-op: Windows cannot sync a directory, and MoveFileEx writes through.
func syncFolder(*os.File) error { return nil }

// CopyAttributes is a no-op: ReplaceFile copies the attributes.
func CopyAttributes(_, _ *os.File) error { return nil }
