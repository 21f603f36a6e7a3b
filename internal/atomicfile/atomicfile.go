// Package atomicfile creates, replaces, moves and removes files atomically. At all times,
// including after a crash, a name refers either to its old content or to all of its new
// content, and a file that another program saves concurrently is not lost. On file
// systems that lack the operations for both, such as exFAT, a name may not exist for a
// moment: see [Dir.Exchange].
//
// A write has two steps. [Dir.Stage] writes a temp file beside its destination and makes
// it durable; the destination is unchanged. Then [Dir.Publish] (for a new name),
// [Dir.Exchange] (for an existing file) or [Dir.Withdraw] (to remove a name) changes the
// destination with one file system operation.
//
// Exchange and Withdraw keep the displaced file under the temp name. The caller compares
// it with the file it intended to replace, and if they differ repeats the operation to
// undo it. Checking before the rename instead would leave a window in which a save by
// another program is lost.
//
// All names are relative to a [Dir], a directory of an os.Root that stays open for the
// duration of a write.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Dir is an open directory. It is not safe for concurrent use.
type Dir struct {
	// Before is called with a name before each system call that changes the disk, and, on
	// Windows, before each wait for a program that holds a file; if it fails, the call is
	// not made and its error is returned. Tests set it to stop a program at any point.
	Before func(call string) error

	root *os.Root
	file *os.File // the same directory, for system calls that os.Root lacks
}

// Part is the suffix of the file that [Dir.Stage] is writing until it is complete.
const Part = ".part"

// OpenDir opens a directory of root; "." means root itself.
func OpenDir(root *os.Root, folder string) (*Dir, error) {
	sub, err := root.OpenRoot(folder + "/.") // without the dot, opening a named pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	f, err := sub.Open(".")
	if err != nil {
		_ = sub.Close()
		return nil, err
	}
	return &Dir{Before: func(string) error { return nil }, root: sub, file: f}, nil
}

// step makes a system call that changes the disk.
func (d *Dir) step(call string, do func() error) error {
	if err := d.Before(call); err != nil {
		return err
	}
	return do()
}

// Close closes the directory.
func (d *Dir) Close() error { return errors.Join(d.file.Close(), d.root.Close()) }

// Stage writes data to a new file named temp and makes it durable. The file gets the mode
// of like and, where permitted, its owner, extended attributes and, on macOS, creation
// time; if like is nil, the mode is 0666 before the umask. After an error the file does not
// exist. The file has the suffix [Part] until all data is written, so a file named temp is
// always complete.
func (d *Dir) Stage(temp string, data []byte, like *os.File) error {
	part := temp + Part
	err := d.write(part, data, like)
	if err == nil {
		err = d.Withdraw(part, temp)
	}
	if err != nil {
		return errors.Join(err, d.Discard(part))
	}
	return nil
}

func (d *Dir) write(name string, data []byte, like *os.File) (err error) {
	mode := fs.FileMode(0o666)
	if like != nil {
		mode = 0o600 // until it has the attributes of like
	}
	if err := d.Before("create"); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := d.step("write", func() error { _, err := f.Write(data); return err }); err != nil {
		return err
	}
	if like != nil {
		if err := CopyAttributes(f, like); err != nil {
			return fmt.Errorf("keep the file's attributes: %w", err)
		}
	}
	return d.step("sync", f.Sync)
}

// Publish renames the staged file to name. If name exists, Publish changes nothing and
// returns fs.ErrExist.
func (d *Dir) Publish(temp, name string) error { return d.Move(temp, d, name) }

// Move renames a file or folder to a new name, possibly in another directory. If the new
// name exists, Move changes nothing and returns fs.ErrExist.
//
// If the file system does not support renaming without replacement, Move falls back to a
// hard link and, if there are no hard links either, to an empty file that reserves the
// name.
func (d *Dir) Move(name string, to *Dir, newName string) error {
	err := d.renameNoReplace(name, to, newName)
	if errors.Is(err, errors.ErrUnsupported) {
		err = d.linkThenRemove(name, to, newName)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = d.reserveThenRename(name, to, newName)
	}
	return linkError("rename", name, newName, err)
}

func (d *Dir) renameNoReplace(name string, to *Dir, newName string) error {
	return d.step("rename", func() error { return renameNoReplace(d, name, to, newName) })
}

// linkThenRemove moves a file by creating a hard link, which never replaces a file, and
// removing the old name. A crash between the two steps leaves both names, so the caller
// needs a journal to remove the old one.
func (d *Dir) linkThenRemove(name string, to *Dir, newName string) error {
	if err := d.link(name, to, newName); err != nil {
		return err
	}
	err := d.step("remove", func() error { return d.root.Remove(name) })
	return undone(err, func() error { return to.Discard(newName) })
}

// undone returns err. If it is not nil, it first calls back, which undoes the preceding
// system call.
func undone(err error, back func() error) error {
	if err == nil {
		return nil
	}
	if back := back(); back != nil {
		return errors.Join(err, back, ErrIncomplete)
	}
	return err
}

func (d *Dir) link(name string, to *Dir, newName string) error {
	return d.step("link", func() error { return link(d, name, to, newName) })
}

// reserveThenRename moves a file on file systems that support neither hard links nor
// renaming without replacement, such as exFAT and many network disks: it creates an empty
// file with the new name, exclusively, and renames the file over it. A crash in between
// leaves the empty file. A folder needs no reservation, because it can replace only an
// empty folder.
func (d *Dir) reserveThenRename(name string, to *Dir, newName string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := to.root.Lstat(newName); err == nil {
			return fs.ErrExist
		}
		return d.renameOver(name, to, newName)
	}
	if err := to.reserve(newName); err != nil {
		return err
	}
	return undone(d.renameOver(name, to, newName), func() error { return to.Discard(newName) })
}

func (d *Dir) reserve(name string) error {
	if err := d.Before("create"); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// renameOver renames a file and replaces any file with the new name.
func (d *Dir) renameOver(name string, to *Dir, newName string) error {
	return d.step("rename over", func() error { return renameOver(d, name, to, newName) })
}

// ErrIncomplete is returned by Move, Publish and Exchange if one of several system calls
// failed and those before it could not be undone. No content is lost, but the names are
// as after a crash at that point.
var ErrIncomplete = errors.New("the file system failed in the middle of a change")

// Exchange swaps the staged file with the file at name; temp then refers to the displaced
// file. If the file system cannot swap, Exchange keeps the displaced file by a hard link
// and then renames temp to name.
//
// Without hard links it renames the file at name to temp + ".old", so name does not exist
// for a moment. If another program creates it at that moment, Exchange keeps that
// program's file, returns fs.ErrExist and leaves temp + ".old".
func (d *Dir) Exchange(temp, name string) error {
	err := d.step("exchange", func() error { return exchange(d, temp, name) })
	if errors.Is(err, errors.ErrUnsupported) {
		err = d.exchangeByLink(temp, name)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = d.exchangeByRename(temp, name)
	}
	return linkError("exchange", temp, name, err)
}

func (d *Dir) exchangeByLink(temp, name string) error {
	keep := temp + ".old"
	if err := d.link(name, d, keep); err != nil {
		return err
	}
	if err := d.renameOver(temp, d, name); err != nil {
		return undone(err, func() error { return d.Discard(keep) })
	}
	return d.nameDisplaced(keep, temp)
}

// nameDisplaced is the last step of an exchange. If it fails, the exchange is not undone,
// because that would replace a file.
func (d *Dir) nameDisplaced(keep, temp string) error {
	if err := d.Withdraw(keep, temp); err != nil {
		return errors.Join(err, ErrIncomplete)
	}
	return nil
}

func (d *Dir) exchangeByRename(temp, name string) error {
	keep := temp + ".old"
	if err := d.Withdraw(name, keep); err != nil {
		return err
	}
	if err := d.Publish(temp, name); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		return undone(err, func() error { return d.renameOver(keep, d, name) })
	}
	return d.nameDisplaced(keep, temp)
}

// Withdraw renames the file at name to temp, so that name no longer exists. No other
// program may use the name temp.
func (d *Dir) Withdraw(name, temp string) error {
	err := d.renameNoReplace(name, d, temp)
	if errors.Is(err, errors.ErrUnsupported) {
		err = d.renameOver(name, d, temp)
	}
	return linkError("rename", name, temp, err)
}

// Discard removes a temp file. It returns nil if the file does not exist.
func (d *Dir) Discard(temp string) error {
	if _, err := d.root.Lstat(temp); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := d.step("remove", func() error { return d.root.Remove(temp) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Root returns the directory, for reading.
func (d *Dir) Root() *os.Root { return d.root }

// Sync makes the names in the directory durable.
func (d *Dir) Sync() error {
	return d.step("sync folder", func() error { return syncFolder(d.file) })
}

func linkError(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}
