// Package atomicfile replaces, creates, moves and removes files so that at
// every instant, also after a crash, each name holds either what it held
// before or all of what was written, and so that nothing that somebody else
// put there meanwhile is lost.
//
// A write has two halves. [Dir.Stage] writes a temp file beside its
// destination and makes it durable; nothing has changed yet. Then one of
// [Dir.Publish] (a new name, never over an existing file), [Dir.Exchange] (an
// existing one) and [Dir.Withdraw] (away) changes the name in one step of the
// file system. Exchange and Withdraw keep what was displaced under the temp
// name, so that the caller can see whether it is what it meant to replace,
// and undo the step when it is not: checking first and renaming afterwards
// leaves a window in which another program's save is lost.
//
// All names are relative to an os.Root, and a [Dir] is one folder of it that
// is held open for the time of one write.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Dir is an open folder. It is not safe for concurrent use.
type Dir struct {
	// Before, when set, is called with a name for each system call that changes
	// the disk, before that is made; its error is returned instead of making
	// the call. A test stops a program at any instant with it.
	Before func(call string) error

	root *os.Root
	file *os.File // the same folder: its descriptor serves system calls that os.Root lacks
}

// Part ends the name under which [Dir.Stage] writes a file until it is whole.
const Part = ".part"

// OpenDir opens the folder of root, "." for root itself.
func OpenDir(root *os.Root, folder string) (*Dir, error) {
	if info, err := root.Stat(folder); err != nil {
		return nil, err
	} else if !info.IsDir() { // opening a pipe would wait for whoever writes to it
		return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.ENOTDIR}
	}
	sub, err := root.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	f, err := sub.Open(".")
	if err != nil {
		_ = sub.Close()
		return nil, err
	}
	return &Dir{root: sub, file: f}, nil
}

// Close closes the folder.
func (d *Dir) Close() error { return errors.Join(d.file.Close(), d.root.Close()) }

func (d *Dir) before(call string) error {
	if d.Before == nil {
		return nil
	}
	return d.Before(call)
}

// Stage writes data to a new file named temp and makes it durable. The file
// gets the mode, and where the system lets it the owner and the extended
// attributes, of like, or mode 0644 less the umask when like is nil. On an
// error no file is left. A file named temp is always whole: until it is, its
// name ends in [Part].
func (d *Dir) Stage(temp string, data []byte, like *os.File) error {
	part := temp + Part
	err := d.write(part, data, like)
	if err == nil {
		err = d.Move(part, d, temp)
	}
	if err != nil {
		return errors.Join(err, d.Discard(part))
	}
	return nil
}

func (d *Dir) write(name string, data []byte, like *os.File) (err error) {
	mode := fs.FileMode(0o644)
	if like != nil {
		mode = 0o600 // until it has the attributes of like
	}
	if err := d.before("create"); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := d.before("write"); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if like != nil {
		if err := copyAttributes(f, like); err != nil {
			return fmt.Errorf("keep the file's attributes: %w", err)
		}
	}
	if err := d.before("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// Publish gives the staged file its name. It fails with fs.ErrExist, leaving
// everything as it was, when something has that name already.
func (d *Dir) Publish(temp, name string) error { return d.Move(temp, d, name) }

// Move renames a file to a name, in another folder perhaps, that nothing has:
// otherwise it fails with fs.ErrExist.
func (d *Dir) Move(name string, to *Dir, newName string) error {
	if err := d.before("rename"); err != nil {
		return err
	}
	err := renameNoReplace(d, name, to, newName)
	if !errors.Is(err, errors.ErrUnsupported) {
		return linkError("rename", name, newName, err)
	}
	return linkError("rename", name, newName, linkThenRemove(d, name, to, newName))
}

// linkThenRemove does without a rename that refuses to replace: a hard link
// refuses as well. A crash in between leaves both names, which the caller's
// journal knows to clean up.
func linkThenRemove(from *Dir, name string, to *Dir, newName string) error {
	if err := link(from, name, to, newName); err != nil {
		return err
	}
	if err := from.before("remove"); err != nil {
		return err
	}
	return from.root.Remove(name)
}

// Exchange swaps the staged file with the one that has the name: afterwards
// temp holds what was displaced. Where the file system cannot swap, the
// displaced file is kept by a hard link before the rename, and a save by
// another program that falls between the two is what temp holds.
func (d *Dir) Exchange(temp, name string) error {
	if err := d.before("exchange"); err != nil {
		return err
	}
	err := exchange(d, temp, name)
	if !errors.Is(err, errors.ErrUnsupported) {
		return linkError("exchange", temp, name, err)
	}
	return exchangeByLink(d, temp, name)
}

func exchangeByLink(d *Dir, temp, name string) error {
	keep := temp + ".old"
	if err := link(d, name, d, keep); err != nil {
		return linkError("link", name, keep, err)
	}
	if err := d.before("rename over"); err != nil {
		return err
	}
	if err := d.root.Rename(temp, name); err != nil {
		return errors.Join(linkError("rename", temp, name, err), d.Discard(keep))
	}
	if err := d.before("rename"); err != nil {
		return err
	}
	return linkError("rename", keep, temp, d.root.Rename(keep, temp))
}

// Withdraw takes the name away: the file is under temp afterwards.
func (d *Dir) Withdraw(name, temp string) error { return d.Move(name, d, temp) }

// Discard removes a temp file. That it is not there is no error.
func (d *Dir) Discard(temp string) error {
	if _, err := d.root.Lstat(temp); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.before("remove"); err != nil {
		return err
	}
	if err := d.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Root returns the folder for reading.
func (d *Dir) Root() *os.Root { return d.root }

// Sync makes the names in the folder durable.
func (d *Dir) Sync() error {
	if err := d.before("sync folder"); err != nil {
		return err
	}
	return syncFolder(d.file)
}

func linkError(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}
