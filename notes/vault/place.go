package vault

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// placer carries out an operation on disk.
//
// First every new text is staged: it is written and synced to a temp file in the folder of
// its target; the journal has the temp file's name. Then all files are compared once more,
// and if nodes share the vault, the operation is committed to their log. Then the names
// change, one file after the other:
//
//   - A changed file is exchanged with its temp file in one step. The displaced file is
//     compared with the text that was to be replaced. If they differ, another program saved
//     in between: the two are exchanged back, and the file is a conflict. A save between
//     the two exchanges is then under the temp name, and is put back as well.
//   - A new file gets its name by a link or rename that fails if the name is taken.
//   - A deleted file is renamed to the temp name, compared, and put back if it differs.
//   - A moved file is renamed. If its text changes too, the new text is published under the
//     new name before the old file is set aside.
//
// At any moment a temp name holds either the complete new text or the displaced file, and
// the note's name holds the old text or the new. Recovery, which resumes the operation
// after a crash, can therefore tell how far each file got. A conflict in the first file
// undoes everything; a conflict in a later file affects only that file. Temp files are
// removed when the journal entry is closed.
type placer struct {
	*operation
	dirs map[string]*atomicfile.Dir
	met  map[*store.FileChange][]byte // texts of other programs that an exchange displaced for a moment

	committed bool // the operation is in the shared log
}

func (d *placer) dir(folder string) (*atomicfile.Dir, error) {
	if dir := d.dirs[folder]; dir != nil {
		return dir, nil
	}
	dir, err := d.root.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	dir.Before = d.v.step
	if d.dirs == nil {
		d.dirs = map[string]*atomicfile.Dir{}
	}
	d.dirs[folder] = dir
	return dir, nil
}

// maxDirs is the number of open folders from which they are closed before the next file: an
// operation may change files in more folders than a process may have open.
const maxDirs = 100

func (d *placer) isCrowded() bool { return len(d.dirs) >= maxDirs }

func (d *placer) close() {
	for _, dir := range d.dirs {
		_ = dir.Close() // already synced where durability matters
	}
	clear(d.dirs)
}

// sync makes the changed names durable. An error is returned only if the operation is in
// the shared log: any other can no longer be undone.
func (d *placer) sync() error {
	for _, dir := range d.dirs {
		if err := dir.Sync(); errors.Is(err, errKilled) || err != nil && d.committed {
			return err
		}
	}
	return nil
}

// place stages every file, commits the operation to the shared log if there is one, and
// then changes every name. If it fails and nothing is committed, every name holds what it
// held before, and undo cleans up.
func (d *placer) place() error {
	for _, step := range []func() error{d.stage, func() error { return d.v.step("staged") }, d.check, d.share, d.swap} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (d *placer) stage() error {
	for i := range d.Files {
		f := &d.Files[i]
		if d.isCrowded() {
			d.close()
		}
		if f.NewPath != "" && f.Before == "" {
			if err := d.makeFolders(path.Dir(f.NewDisk)); err != nil {
				return err
			}
		}
		dir, err := d.dir(f.StageDir())
		if err != nil {
			return err
		}
		if f.NewPath == "" || f.Folder || d.renames(f) {
			continue
		}
		if err := d.stageFile(dir, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *placer) stageFile(dir *atomicfile.Dir, f *store.FileChange) error {
	var like *os.File
	if f.OldDisk != "" {
		var err error
		if like, err = disk.OpenRegular(d.root, f.Source()); err != nil {
			return err
		}
		defer func() { _ = like.Close() }() // only read from
	}
	return dir.Stage(f.Temp, f.New, like)
}

// makeFolders creates the missing part of a folder's path, and records it in Made.
func (d *placer) makeFolders(folder string) error {
	if folder == "." {
		return nil
	}
	if err := d.makeFolders(path.Dir(folder)); err != nil {
		return err
	}
	if _, err := d.root.Lstat(folder); err == nil {
		return nil
	}
	if err := d.v.step("mkdir"); err != nil {
		return err
	}
	err := d.root.Mkdir(folder, 0o777)
	switch {
	case err == nil:
		d.Made = append(d.Made, folder)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	return nil
}

// check compares every file once more before the first name changes. From then on, a change
// by another program is a conflict in that file alone.
func (d *placer) check() error {
	for i := range d.Files {
		f := &d.Files[i]
		if f.OldDisk == "" {
			if _, err := d.root.Lstat(f.NewDisk); err == nil {
				return &notes.Error{Op: d.Kind, Path: f.NewPath, Err: notes.ErrExists, Detail: "a file with this name exists already"}
			}
			continue
		}
		if f.Folder {
			continue // Move fails if the name is taken
		}
		if err := d.checkOld(f); err != nil {
			return err
		}
	}
	return nil
}

func (d *placer) checkOld(f *store.FileChange) error {
	data, err := d.read(d.root, f.Source())
	if err != nil {
		return writeProblem(d.Kind, f.OldPath, err)
	}
	if string(data) != string(f.Old) {
		e := conflict(d.Kind, f.OldPath, f.Old, data)
		e.Err = errSavedSince
		return e
	}
	return nil
}

// errSavedSince is the conflict with a program that has saved a file since the operation was
// computed, found before the first name changes.
var errSavedSince = fmt.Errorf("%w: saved since it was read", notes.ErrConflict)

// swap changes the names, the first file's first. A conflict there undoes everything; a
// conflict in a later file affects only that file.
func (d *placer) swap() error {
	for i := range d.Files {
		f := &d.Files[i]
		if err := d.v.step(fmt.Sprintf("before swap %d", i)); err != nil {
			return err
		}
		if err := d.syncCrowded(); err != nil {
			return err
		}
		err := d.swapFile(f)
		switch {
		case err == nil:
			f.State = store.StateDone
		case i == 0 && !d.committed || errors.Is(err, errKilled) || errors.Is(err, atomicfile.ErrIncomplete):
			return err
		default:
			f.State, f.Conflict = store.StateConflict, d.writeProblem(err)
		}
		if err := d.v.step(fmt.Sprintf("after swap %d", i)); err != nil {
			return err
		}
	}
	return d.sync()
}

// syncCrowded syncs and closes the open folders if there are many.
func (d *placer) syncCrowded() error {
	if !d.isCrowded() {
		return nil
	}
	defer d.close()
	return d.sync()
}

func (d *placer) swapFile(f *store.FileChange) error {
	dir, err := d.dir(f.Dir())
	if err != nil {
		return err
	}
	switch {
	case f.Folder:
		return d.rename(dir, f)
	case f.OldPath == "":
		return dir.Publish(f.Temp, path.Base(f.NewDisk))
	case f.NewPath == "":
		return d.withdraw(dir, f, f.Temp)
	case f.OldDisk == f.NewDisk:
		return d.exchange(dir, f)
	}
	return d.move(dir, f)
}

// renames reports whether the file is only renamed. A note that moves to another of the
// vault's folders, or to or from a disk mounted in the vault, is written there and then
// removed here.
func (d *placer) renames(f *store.FileChange) bool {
	return f.IsPureMove() && d.v.store.FolderOf(f.OldPath) == d.v.store.FolderOf(f.NewPath) &&
		d.v.mounts.of(f.OldPath) == d.v.mounts.of(f.NewPath)
}

// exchange replaces the old file with the new one, and puts the displaced file back if it
// does not hold the expected old text.
func (d *placer) exchange(dir *atomicfile.Dir, f *store.FileChange) error {
	name := path.Base(f.NewDisk)
	if err := dir.Exchange(f.Temp, name); err != nil {
		return err
	}
	displaced, err := d.read(dir.Root(), f.Temp)
	if err == nil && string(displaced) == string(f.Old) {
		return nil
	}
	if back := dir.Exchange(f.Temp, name); back != nil {
		return putBack(err, func() error { return back })
	}
	if err == nil { // a program that read the new file in between may write its text over this one
		if d.met == nil {
			d.met = map[*store.FileChange][]byte{}
		}
		d.met[f] = displaced
	}
	// A program that saved between the two exchanges wrote to the new file, which is under
	// temp now. Its text is the newest and is put back.
	if ours, readErr := d.read(dir.Root(), f.Temp); readErr == nil && string(ours) != string(f.New) {
		if err := dir.Exchange(f.Temp, name); err != nil {
			return err
		}
		displaced = ours
	}
	if err != nil {
		return err
	}
	return conflict(d.Kind, f.OldPath, f.Old, displaced)
}

// read reads a file involved in the operation. A pipe or a huge file may have taken its
// name; neither may hold up the operation, which holds the vault's lock.
func (d *placer) read(root disk.Opener, name string) ([]byte, error) {
	if err := d.v.step("read back"); err != nil {
		return nil, err
	}
	data, _, err := disk.Read(root, name, d.v.opt.readLimit())
	return data, err
}

// withdraw renames a file to a temp name, and back if its text is not the one that the
// operation was computed from.
func (d *placer) withdraw(dir *atomicfile.Dir, f *store.FileChange, temp string) error {
	name := path.Base(f.OldDisk)
	if err := dir.Withdraw(name, temp); err != nil {
		return err
	}
	return d.checkMoved(f, path.Join(path.Dir(f.OldDisk), temp), func() error { return dir.Move(temp, dir, name) })
}

// checkMoved compares a renamed file with its expected text and, if they differ, calls
// back, which restores the file's name. A symlink may lead out of its folder.
func (d *placer) checkMoved(f *store.FileChange, diskPath string, back func() error) error {
	data, err := d.read(d.root, diskPath)
	switch {
	case err == nil && string(data) == string(f.Old):
		return nil
	case err == nil:
		err = conflict(d.Kind, f.OldPath, f.Old, data)
	}
	return putBack(err, back)
}

// putBack restores a file's name after the error cause, and returns that error. If this
// fails too, the error also wraps [atomicfile.ErrIncomplete]; see abandon. A file that
// another program has created under the name stays.
func putBack(cause error, back func() error) error {
	err := back()
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(cause, err)
	}
	return errors.Join(cause, err, atomicfile.ErrIncomplete)
}

// move renames a file, with or without changing its text.
func (d *placer) move(to *atomicfile.Dir, f *store.FileChange) error {
	if !d.renames(f) {
		return d.moveAndChange(to, f)
	}
	if err := d.rename(to, f); err != nil {
		return err
	}
	from, err := d.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	newName := path.Base(f.NewDisk)
	return d.checkMoved(f, f.NewDisk, func() error { return to.Move(newName, from, path.Base(f.OldDisk)) })
}

// rename gives a file or folder its new name. A case-insensitive disk reports a name that
// differs only in case as taken; the file then goes through a temp name.
func (d *placer) rename(to *atomicfile.Dir, f *store.FileChange) error {
	from, err := d.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	for name, dir := range d.dirs { // Windows renames no folder with an open one in it
		if f.Folder && notes.Under(name, f.OldDisk) {
			_ = dir.Close() // opened to stage files, which are synced
			delete(d.dirs, name)
		}
	}
	oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
	err = from.Move(oldName, to, newName)
	if f.Folder && errors.Is(err, fs.ErrPermission) { // SMB renames no folder with an open file: close the displaced ones
		d.v.late.readDue(d.ctx, time.Time{}, maxLate+1)
		err = from.Move(oldName, to, newName)
	}
	if !errors.Is(err, fs.ErrExist) || notes.Key(f.OldDisk) != notes.Key(f.NewDisk) {
		return err
	}
	if err := from.Withdraw(oldName, f.Temp); err != nil {
		return err
	}
	if err := from.Move(f.Temp, to, newName); err != nil {
		return putBack(err, func() error { return from.Move(f.Temp, from, oldName) })
	}
	return nil
}

// moveAndChange publishes the new text under the new name and then withdraws the old file.
// In between, both exist. For a case-only rename on a case-insensitive disk the order is
// reversed.
func (d *placer) moveAndChange(to *atomicfile.Dir, f *store.FileChange) error {
	newName := path.Base(f.NewDisk)
	err := to.Publish(f.Temp, newName)
	folded := errors.Is(err, fs.ErrExist) && notes.Key(f.OldDisk) == notes.Key(f.NewDisk)
	if err != nil && !folded {
		return err
	}
	return d.finishMove(to, f, folded)
}

// finishMove sets aside the old file of a move. The new file is already published, unless
// folded is true: then the old file is in the way, and the new one is published afterwards.
func (d *placer) finishMove(to *atomicfile.Dir, f *store.FileChange, folded bool) error {
	newName := path.Base(f.NewDisk)
	from, err := d.dir(path.Dir(f.OldDisk))
	if err == nil {
		err = d.withdraw(from, f, f.Temp+".old")
	}
	switch {
	case err != nil && folded:
		return err
	case err != nil:
		return putBack(err, func() error { return to.Withdraw(newName, f.Temp) })
	case folded:
		if err := to.Publish(f.Temp, newName); err != nil {
			return putBack(err, func() error { return from.Move(f.Temp+".old", from, path.Base(f.OldDisk)) })
		}
	}
	return nil
}

// undo removes the temp files and folders of an operation that changed nothing.
func (d *placer) undo() error {
	return errors.Join(d.discard(), d.removeEmpty(d.Made))
}

// discard removes the temp files: displaced files, and new texts that were not placed. If
// another program wrote to a displaced file while it had the note's name, or still has it
// open, its text is saved to history first; if that fails, the file stays.
func (d *placer) discard() error {
	var errs []error
	for i := range d.Files {
		f := &d.Files[i]
		if d.isCrowded() {
			d.close()
		}
		for _, place := range slices.Compact([]string{f.Dir(), f.StageDir(), path.Dir(f.Source())}) {
			dir, err := d.dir(place)
			if err != nil {
				continue // the folder holds no temp file of this operation
			}
			err = errors.Join(dir.Discard(f.Temp+atomicfile.Part), d.discardTemp(dir, place, f, f.Temp), d.discardTemp(dir, place, f, f.Temp+".old"))
			if errors.Is(err, errKilled) {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *placer) discardTemp(dir *atomicfile.Dir, place string, f *store.FileChange, temp string) error {
	if f.Folder || f.OldDisk == "" {
		return dir.Discard(temp)
	}
	note := d.PathNow(f)
	if text, found := d.met[f]; found {
		if err := d.v.store.KeepText(d.ctx, note, text, d.v.opt.Now()); err != nil {
			d.v.opt.Log.Warn("the text that another program saved during a change could not be kept in the history; the note holds it", "note", note, "err", err)
		}
		delete(d.met, f)
	}
	late, err := d.v.late.rescue(d.ctx, dir.Root(), temp, note, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		d.v.left.Store(path.Join(place, temp), note)
		d.v.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", note, "file", path.Join(place, temp), "err", err)
		return nil
	}
	d.v.left.Delete(path.Join(place, temp))
	if err := dir.Discard(temp); err != nil {
		return errors.Join(err, late.close())
	}
	d.v.late.watch(d.ctx, late)
	return nil
}

// removeEmpty removes folders that an operation made, given outermost first. A folder that
// is not empty stays, for example if another program has put a file in it. The only errors
// are those of fail-points.
func (d *placer) removeEmpty(folders []string) error {
	for _, folder := range slices.Backward(folders) {
		if err := d.v.step("rmdir"); err != nil {
			return err
		}
		if info, err := d.root.Lstat(folder); err == nil && info.IsDir() {
			_ = d.root.Remove(folder) // fails if it is not empty
		}
	}
	return nil
}

// removeEmptied removes the folder that a move has emptied, and its parents, as long as
// they are empty and were made by an operation. Folders made by the user stay.
func (d *placer) removeEmptied() error {
	for dir := path.Dir(d.Files[0].OldDisk); d.Kind == "move" && dir != "."; dir = path.Dir(dir) {
		folder, err := d.root.OpenFile(dir, os.O_RDONLY|fsid.OpenNonblock, 0)
		if err != nil {
			return nil // it stays
		}
		_, err = folder.Readdirnames(1) // a move out of a large folder does not list it all
		_ = folder.Close()              // only read from
		if !errors.Is(err, io.EOF) {
			return nil // it is not empty, or cannot be read
		}
		if made, err := d.v.store.MadeFolder(d.ctx, dir); err != nil || !made {
			return nil
		}
		if err := d.removeEmpty([]string{dir}); err != nil {
			return err
		}
	}
	return nil
}

// failpoint lets tests inject failures. A nil failpoint is a no-op.
type failpoint func(step string) error

func (f failpoint) step(name string) error {
	if f == nil {
		return nil
	}
	return f(name)
}

// errKilled is returned by fail-points to simulate the end of the program; no cleanup
// follows it.
var errKilled = errors.New("killed")
