package vault

import (
	"cmp"
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
// undoes everything, and so does one in any of several notes that move together; a conflict
// in a later file affects only that file. Temp files are removed when the journal entry is
// closed.
type placer struct {
	*operation
	dirs map[string]*atomicfile.Dir
	met  map[*store.FileChange][]byte // texts of other programs that an exchange displaced for a moment

	committed bool // the operation is in the shared log
}

func (p *placer) dir(folder string) (*atomicfile.Dir, error) {
	if dir := p.dirs[folder]; dir != nil {
		return dir, nil
	}
	dir, err := p.root.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	dir.Before = p.v.step
	if p.dirs == nil {
		p.dirs = map[string]*atomicfile.Dir{}
	}
	p.dirs[folder] = dir
	return dir, nil
}

// maxDirs is the number of open folders from which they are closed before the next file: an
// operation may change files in more folders than a process may have open.
const maxDirs = 32

func (p *placer) isCrowded() bool { return len(p.dirs) >= maxDirs }

func (p *placer) close() {
	for _, dir := range p.dirs {
		_ = dir.Close() // already synced where durability matters
	}
	clear(p.dirs)
}

// sync makes the changed names durable. An error is returned only if the operation is in
// the shared log: any other can no longer be undone.
func (p *placer) sync() error {
	for _, dir := range p.dirs {
		if err := dir.Sync(); errors.Is(err, errKilled) || err != nil && p.committed {
			return err
		}
	}
	return nil
}

// place stages every file, commits the operation to the shared log if there is one, and
// then changes every name. If it fails and nothing is committed, every name holds what it
// held before, and undo cleans up.
func (p *placer) place() error {
	for _, step := range []func() error{p.stage, func() error { return p.v.step("staged") }, p.check, p.share, p.swap} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) stage() error {
	for i := range p.Files {
		f := &p.Files[i]
		if p.isCrowded() {
			p.close()
		}
		if f.NewPath != "" && f.Before == "" {
			if err := p.makeFolders(path.Dir(f.NewDisk)); err != nil {
				return err
			}
		}
		dir, err := p.dir(f.StageDir())
		if err == nil && f.NewPath != "" && !f.Folder && !p.renames(f) {
			err = p.stageFile(dir, f)
		}
		if i > 0 && (errors.Is(err, fs.ErrPermission) || atomicfile.IsReadOnlyDisk(err)) { // the caller would name the first file
			return writeProblem(p.Kind, cmp.Or(f.OldPath, f.NewPath), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) stageFile(dir *atomicfile.Dir, f *store.FileChange) error {
	var like *os.File
	if f.OldDisk != "" {
		var err error
		if like, err = disk.OpenRegular(p.root, f.Source()); err != nil {
			return err
		}
		defer func() { _ = like.Close() }() // only read from
	}
	return dir.Stage(f.Temp, f.New, like)
}

// makeFolders creates the missing part of a folder's path, and records it in Made.
func (p *placer) makeFolders(folder string) error {
	if folder == "." {
		return nil
	}
	if err := p.makeFolders(path.Dir(folder)); err != nil {
		return err
	}
	if _, err := p.root.Lstat(folder); err == nil {
		return nil
	}
	if err := p.v.step("mkdir"); err != nil {
		return err
	}
	err := p.root.Mkdir(folder, 0o777)
	switch {
	case err == nil:
		p.Made = append(p.Made, folder)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	return nil
}

// check compares every file once more before the first name changes. From then on, a change
// by another program is a conflict in that file alone.
func (p *placer) check() error {
	for i := range p.Files {
		f := &p.Files[i]
		if f.OldDisk == "" {
			if _, err := p.root.Lstat(f.NewDisk); err == nil {
				return &notes.Error{Op: p.Kind, Path: f.NewPath, Err: notes.ErrExists, Detail: "a file with this name exists already"}
			}
			continue
		}
		if f.Folder {
			continue // Move fails if the name is taken
		}
		if err := p.checkOld(f); err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) checkOld(f *store.FileChange) error {
	data, err := p.read(p.root, f.Source())
	if err != nil {
		return writeProblem(p.Kind, f.OldPath, err)
	}
	if string(data) != string(f.Old) {
		e := conflict(p.Kind, f.OldPath, f.Old, data)
		e.Err = errSavedSince
		return e
	}
	return nil
}

// errSavedSince is the conflict with a program that has saved a file since the operation was
// computed, found before the first name changes.
var errSavedSince = fmt.Errorf("%w: saved since it was read", notes.ErrConflict)

// swap changes the names, the first file's first. A conflict there, or in a note that moves
// together with it, undoes everything; a conflict in a later file affects only that file.
func (p *placer) swap() error {
	for i := range p.Files {
		f := &p.Files[i]
		if err := p.v.step(fmt.Sprintf("before swap %d", i)); err != nil {
			return err
		}
		if err := p.syncCrowded(); err != nil {
			return err
		}
		err := p.swapFile(f)
		switch {
		case err == nil:
			f.State = store.StateDone
		case i == 0 && !p.committed || errors.Is(err, errKilled) || errors.Is(err, atomicfile.ErrIncomplete):
			return err
		case i < p.together && !p.committed:
			return errors.Join(writeProblem(p.Kind, f.OldPath, err), p.moveBack(p.Files[:i]))
		default:
			if err := p.leave(i, p.writeProblem(err)); err != nil {
				return err
			}
		}
		if err := p.v.step(fmt.Sprintf("after swap %d", i)); err != nil {
			return err
		}
	}
	return p.sync()
}

// syncCrowded syncs and closes the open folders if there are many.
func (p *placer) syncCrowded() error {
	if !p.isCrowded() {
		return nil
	}
	defer p.close()
	return p.sync()
}

func (p *placer) swapFile(f *store.FileChange) error {
	dir, err := p.dir(f.Dir())
	if err != nil {
		return err
	}
	switch {
	case f.Folder:
		return p.rename(dir, f)
	case f.OldPath == "":
		return dir.Publish(f.Temp, path.Base(f.NewDisk))
	case f.NewPath == "":
		return p.withdraw(dir, f, f.Temp)
	case f.OldDisk == f.NewDisk:
		return p.exchange(dir, f)
	}
	return p.move(dir, f)
}

// moveBack gives notes that have moved their old names and texts.
func (p *placer) moveBack(moved []store.FileChange) error {
	for i := range slices.Backward(moved) {
		f := &moved[i]
		oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
		from, err := p.dir(path.Dir(f.OldDisk))
		to, toErr := p.dir(f.Dir())
		switch err = errors.Join(err, toErr); {
		case err != nil:
		case p.renames(f):
			err = to.Move(newName, from, oldName)
		default:
			if err = to.Withdraw(newName, f.Temp); err == nil {
				err = from.Move(f.Temp+".old", from, oldName)
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", atomicfile.ErrIncomplete, err)
		}
		f.State = store.StatePending
	}
	return nil
}

// leave records a conflict in a file. If the file was to move and is not the first, links in
// later files are to lead to its new path, so it moves as it is. If that fails, these files are
// listed as well. The only errors are those of fail-points.
func (p *placer) leave(i int, conflict error) error {
	f := &p.Files[i]
	f.State, f.Conflict = store.StateConflict, conflict
	if i == 0 || f.OldDisk == "" || f.NewDisk == "" || f.OldDisk == f.NewDisk || p.Kind != "move" && p.Kind != "restore" {
		return nil
	}
	err := p.moveChanged(f)
	if errors.Is(err, errKilled) {
		return err
	}
	for _, other := range p.Files[i+1:] {
		if err != nil && !other.Moves() && !slices.Contains(p.Kept, other.OldPath) {
			p.Kept = append(p.Kept, other.OldPath)
		}
	}
	return nil
}

// moveChanged moves a note that another program has changed since, with its new text, in which
// no links are updated.
func (p *placer) moveChanged(f *store.FileChange) error {
	text, err := p.read(p.root, f.OldDisk)
	if err != nil {
		return err
	}
	to, err := p.dir(f.Dir())
	if err == nil {
		err = p.discardTemp(to, f.Dir(), f, f.Temp)
	}
	if err == nil {
		err = p.rename(to, f)
	}
	if err == nil {
		f.New, f.Author, f.State = text, notes.Outside, store.StateDone
		delete(p.parsed, f.NewPath) // of the planned text
	}
	return err
}

// renames reports whether the file is only renamed. A note that moves to another of the
// vault's folders, or to or from a disk mounted in the vault, is written there and then
// removed here.
func (p *placer) renames(f *store.FileChange) bool {
	return f.IsPureMove() && p.v.store.FolderOf(f.OldPath) == p.v.store.FolderOf(f.NewPath) &&
		p.v.mounts.of(f.OldPath) == p.v.mounts.of(f.NewPath)
}

// exchange replaces the old file with the new one, and puts the displaced file back if it
// does not hold the expected old text.
func (p *placer) exchange(dir *atomicfile.Dir, f *store.FileChange) error {
	name := path.Base(f.NewDisk)
	if err := dir.Exchange(f.Temp, name); err != nil {
		return err
	}
	displaced, err := p.read(dir.Root(), f.Temp)
	if err == nil && string(displaced) == string(f.Old) {
		return nil
	}
	if back := dir.Exchange(f.Temp, name); back != nil {
		return putBack(err, func() error { return back })
	}
	if err == nil { // a program that read the new file in between may write its text over this one
		if p.met == nil {
			p.met = map[*store.FileChange][]byte{}
		}
		p.met[f] = displaced
	}
	// A program that saved between the two exchanges wrote to the new file, which is under
	// temp now. Its text is the newest and is put back.
	if ours, readErr := p.read(dir.Root(), f.Temp); readErr == nil && string(ours) != string(f.New) {
		if err := dir.Exchange(f.Temp, name); err != nil {
			return err
		}
		displaced = ours
	}
	if err != nil {
		return err
	}
	return conflict(p.Kind, f.OldPath, f.Old, displaced)
}

// read reads a file involved in the operation. A pipe or a huge file may have taken its
// name; neither may hold up the operation, which holds the vault's lock.
func (p *placer) read(root disk.Opener, name string) ([]byte, error) {
	if err := p.v.step("read back"); err != nil {
		return nil, err
	}
	data, _, err := disk.Read(root, name, p.v.opt.readLimit())
	return data, err
}

// withdraw renames a file to a temp name, and back if its text is not the one that the
// operation was computed from.
func (p *placer) withdraw(dir *atomicfile.Dir, f *store.FileChange, temp string) error {
	name := path.Base(f.OldDisk)
	if err := dir.Withdraw(name, temp); err != nil {
		return err
	}
	return p.checkMoved(f, path.Join(path.Dir(f.OldDisk), temp), func() error { return dir.Move(temp, dir, name) })
}

// checkMoved compares a renamed file with its expected text and, if they differ, calls
// back, which restores the file's name. A symlink may lead out of its folder.
func (p *placer) checkMoved(f *store.FileChange, diskPath string, back func() error) error {
	data, err := p.read(p.root, diskPath)
	switch {
	case err == nil && string(data) == string(f.Old):
		return nil
	case err == nil:
		err = conflict(p.Kind, f.OldPath, f.Old, data)
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
func (p *placer) move(to *atomicfile.Dir, f *store.FileChange) error {
	if !p.renames(f) {
		return p.moveAndChange(to, f)
	}
	if err := p.rename(to, f); err != nil {
		return err
	}
	from, err := p.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	newName := path.Base(f.NewDisk)
	return p.checkMoved(f, f.NewDisk, func() error { return to.Move(newName, from, path.Base(f.OldDisk)) })
}

// rename gives a file or folder its new name. A case-insensitive disk reports a name that
// differs only in case as taken; the file then goes through a temp name.
func (p *placer) rename(to *atomicfile.Dir, f *store.FileChange) error {
	from, err := p.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	for name, dir := range p.dirs { // Windows renames no folder with an open one in it
		if f.Folder && notes.Under(name, f.OldDisk) {
			_ = dir.Close() // opened to stage files, which are synced
			delete(p.dirs, name)
		}
	}
	oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
	err = from.Move(oldName, to, newName)
	if f.Folder && errors.Is(err, fs.ErrPermission) { // SMB renames no folder with an open file: close the displaced ones
		p.v.late.readDue(p.ctx, time.Time{}, maxLate+1)
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
func (p *placer) moveAndChange(to *atomicfile.Dir, f *store.FileChange) error {
	newName := path.Base(f.NewDisk)
	err := to.Publish(f.Temp, newName)
	folded := errors.Is(err, fs.ErrExist) && notes.Key(f.OldDisk) == notes.Key(f.NewDisk)
	if err != nil && !folded {
		return err
	}
	return p.finishMove(to, f, folded)
}

// finishMove sets aside the old file of a move. The new file is already published, unless
// folded is true: then the old file is in the way, and the new one is published afterwards.
func (p *placer) finishMove(to *atomicfile.Dir, f *store.FileChange, folded bool) error {
	newName := path.Base(f.NewDisk)
	from, err := p.dir(path.Dir(f.OldDisk))
	if err == nil {
		err = p.withdraw(from, f, f.Temp+".old")
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
func (p *placer) undo() error {
	return errors.Join(p.discard(), p.removeEmpty(p.Made))
}

// discard removes the temp files: displaced files, and new texts that were not placed. If
// another program wrote to a displaced file while it had the note's name, or still has it
// open, its text is saved to history first; if that fails, the file stays.
func (p *placer) discard() error {
	var errs []error
	for i := range p.Files {
		f := &p.Files[i]
		if p.isCrowded() {
			p.close()
		}
		for _, place := range slices.Compact([]string{f.Dir(), f.StageDir(), path.Dir(f.Source())}) {
			dir, err := p.dir(place)
			if err != nil {
				continue // the folder holds no temp file of this operation
			}
			err = errors.Join(dir.Discard(f.Temp+atomicfile.Part), p.discardTemp(dir, place, f, f.Temp), p.discardTemp(dir, place, f, f.Temp+".old"))
			if errors.Is(err, errKilled) {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *placer) discardTemp(dir *atomicfile.Dir, place string, f *store.FileChange, temp string) error {
	if f.Folder || f.OldDisk == "" {
		return dir.Discard(temp)
	}
	note := p.PathNow(f)
	if text, found := p.met[f]; found {
		if err := p.v.store.KeepText(p.ctx, note, text, p.v.opt.Now()); err != nil {
			p.v.opt.Log.Warn("the text that another program saved during a change could not be kept in the history; the note holds it", "note", note, "err", err)
		}
		delete(p.met, f)
	}
	late, err := p.v.late.rescue(p.ctx, dir.Root(), temp, note, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		p.v.left.Store(path.Join(place, temp), note)
		p.v.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", note, "file", path.Join(place, temp), "err", err)
		return nil
	}
	p.v.left.Delete(path.Join(place, temp))
	if err := dir.Discard(temp); err != nil {
		return errors.Join(err, late.close())
	}
	p.v.late.watch(p.ctx, late)
	return nil
}

// removeEmpty removes folders that an operation made, given outermost first. A folder that
// is not empty stays, for example if another program has put a file in it. The only errors
// are those of fail-points.
func (p *placer) removeEmpty(folders []string) error {
	for _, folder := range slices.Backward(folders) {
		if err := p.v.step("rmdir"); err != nil {
			return err
		}
		if info, err := p.root.Lstat(folder); err == nil && info.IsDir() {
			_ = p.root.Remove(folder) // fails if it is not empty
		}
	}
	return nil
}

// removeEmptied removes the folders that a move has emptied, and their parents, as long as
// they are empty and were made by an operation. Folders made by the user stay.
func (p *placer) removeEmptied() error {
	for i := range p.Files {
		for dir := path.Dir(p.Files[i].OldDisk); p.Kind == "move" && dir != "."; dir = path.Dir(dir) {
			folder, err := p.root.OpenFile(dir, os.O_RDONLY|fsid.OpenNonblock, 0)
			if err != nil {
				break // it stays
			}
			_, err = folder.Readdirnames(1) // a move out of a large folder does not list it all
			_ = folder.Close()              // only read from
			if !errors.Is(err, io.EOF) {
				break // it is not empty, or cannot be read
			}
			if made, err := p.v.store.MadeFolder(p.ctx, dir); err != nil || !made {
				break
			}
			if err := p.removeEmpty([]string{dir}); err != nil {
				return err
			}
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
