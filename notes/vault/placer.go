package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"notesd/internal/atomicfile"
	"notesd/notes"
	"notesd/notes/store"
)

// placer carries out an operation on disk.
//
// First every new text is staged: written and synced to a temp file, whose name is in
// the journal, in the folder of the file that it is for. Then all files are compared once
// more, and a vault that nodes share commits the operation to its log. Then each name
// changes, one after the other:
//
//   - A changed file is exchanged with its temp file in one step. What the exchange
//     displaced is compared with the text that was to be replaced. If they differ,
//     another program saved in between: the two are exchanged back, and the file is a
//     conflict. A save between the two exchanges is under the temp name then, and goes
//     back as well.
//   - A new file gets its name by a link or rename that fails if the name is taken.
//   - A deleted file is renamed to the temp name, compared, and put back if it differs.
//   - A moved file is renamed. If its text changes too, the new text is published under
//     the new name before the old file is set aside.
//
// At any moment a temp name holds the new text, whole, or the file that was displaced,
// and the note's name holds the old text or the new: so recovery, which carries the
// operation on after a crash, knows how far each file came. A conflict of the first file undoes everything; one of a later file
// stays with that file. Temp files are removed when the journal entry is closed.
type placer struct {
	*operation
	dirs   map[string]*atomicfile.Dir
	placed int // files whose names have been changed

	committed bool // the log that the vault's nodes share has the operation
}

func (d *placer) dir(folder string) (*atomicfile.Dir, error) {
	if dir := d.dirs[folder]; dir != nil {
		return dir, nil
	}
	dir, err := d.root.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	if d.v.failpoint != nil {
		dir.Before = d.v.step
	}
	if d.dirs == nil {
		d.dirs = map[string]*atomicfile.Dir{}
	}
	d.dirs[folder] = dir
	return dir, nil
}

func (d *placer) close() {
	for _, dir := range d.dirs {
		_ = dir.Close() // what had to be durable was synced
	}
}

// place stages every file, commits them to the log if the vault has one, and then
// changes every name. When it fails and nothing is committed, every name holds what
// it held, and undo tidies up.
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
		if like, err = openRegular(d.root, f.Source()); err != nil {
			return err
		}
		defer func() { _ = like.Close() }() // only read from
	}
	return dir.Stage(f.Temp, f.New, like)
}

// makeFolders creates what is missing of a folder, and remembers it.
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
	err := d.root.Mkdir(folder, 0o755)
	switch {
	case err == nil:
		d.Made = append(d.Made, folder)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	return nil
}

// check compares every file once more before the first name changes: from then on a
// change by another program is a conflict of that file alone.
func (d *placer) check() error {
	for i := range d.Files {
		f := &d.Files[i]
		if f.OldDisk == "" {
			if _, err := d.root.Lstat(f.NewDisk); err == nil {
				return &notes.Error{Op: d.Kind, Path: f.NewPath, Err: notes.ErrExists, Detail: "a file with this name is there already"}
			}
			continue
		}
		if f.Folder {
			continue // Move refuses by itself
		}
		if err := d.checkOld(f); err != nil {
			return err
		}
	}
	return nil
}

func (d *placer) checkOld(f *store.FileChange) error {
	data, err := d.read(d.root, f.Source())
	if errors.Is(err, fs.ErrNotExist) {
		return &notes.Error{Op: d.Kind, Path: f.OldPath, Err: notes.ErrConflict, Detail: "the file was removed in the meantime", Hint: "Read the folder again."}
	}
	if err != nil {
		return err
	}
	if string(data) != string(f.Old) {
		return conflict(d.Kind, f.OldPath, f.Old, data)
	}
	return nil
}

// swap changes the names, the first file's first. A conflict there undoes
// everything; one at a later file stays with that file.
func (d *placer) swap() error {
	for i := range d.Files {
		f := &d.Files[i]
		if err := d.v.step(fmt.Sprintf("before swap %d", i)); err != nil {
			return err
		}
		err := d.swapFile(f)
		switch {
		case err == nil:
			f.State = store.StateDone
			d.placed++
		case d.placed == 0 && !d.committed || errors.Is(err, errKilled):
			return err
		default:
			f.State, f.Conflict = store.StateConflict, d.writeProblem(err)
		}
		if err := d.v.step(fmt.Sprintf("after swap %d", i)); err != nil {
			return err
		}
	}
	for _, dir := range d.dirs {
		if err := dir.Sync(); errors.Is(err, errKilled) || err != nil && (d.placed == 0 || d.committed) {
			return err
		}
	}
	return nil
}

// renames reports whether a file only gets another name. A note that moves to another
// folder of the vault, which may be on another disk, is written there and then removed.
func (d *placer) renames(f *store.FileChange) bool {
	return f.IsPureMove() && d.v.store.FolderOf(f.OldPath) == d.v.store.FolderOf(f.NewPath)
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

// read reads a file that the operation has to do with. Whatever has its name
// by now, a pipe or something huge, must not hold the vault's lock.
func (d *placer) read(root opener, name string) ([]byte, error) {
	data, _, err := readOnce(root, name, 2*d.v.opt.MaxNoteBytes+1<<20) // rewritten links may have made it larger than a note may be
	return data, err
}

// exchange puts the new bytes in place of the old, and puts the displaced
// file back when it is not what was to be replaced.
func (d *placer) exchange(dir *atomicfile.Dir, f *store.FileChange) error {
	name := path.Base(f.NewDisk)
	if err := dir.Exchange(f.Temp, name); err != nil {
		return err
	}
	displaced, err := d.read(dir.Root(), f.Temp)
	if err == nil && string(displaced) == string(f.Old) {
		return nil
	}
	if err := dir.Exchange(f.Temp, name); err != nil {
		return err
	}
	// A program that saved between the two exchanges wrote into the new file,
	// which is under temp now: its text is the newest, and goes back.
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

// withdraw renames a file to a temp name, and back if it is not the one that the
// operation was computed from.
func (d *placer) withdraw(dir *atomicfile.Dir, f *store.FileChange, temp string) error {
	name := path.Base(f.OldDisk)
	if err := dir.Withdraw(name, temp); err != nil {
		return err
	}
	return d.checkMoved(dir, f, temp, func() error { return dir.Move(temp, dir, name) })
}

// checkMoved compares a file that has got another name with the text that it is to have,
// and if it has another calls back, which gives it its name again.
func (d *placer) checkMoved(dir *atomicfile.Dir, f *store.FileChange, name string, back func() error) error {
	data, err := d.read(dir.Root(), name)
	switch {
	case err == nil && string(data) == string(f.Old):
		return nil
	case err == nil:
		err = conflict(d.Kind, f.OldPath, f.Old, data)
	}
	if backErr := back(); backErr != nil {
		return errors.Join(err, backErr)
	}
	return err
}

// move gives a file another name, with the same bytes or with new ones.
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
	return d.checkMoved(to, f, newName, func() error { return to.Move(newName, from, path.Base(f.OldDisk)) })
}

// rename gives a file or folder its new name. A disk that folds case says that
// a name which differs only in case is taken: then it goes by way of a third.
func (d *placer) rename(to *atomicfile.Dir, f *store.FileChange) error {
	from, err := d.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
	err = from.Move(oldName, to, newName)
	if !errors.Is(err, fs.ErrExist) || notes.Key(f.OldDisk) != notes.Key(f.NewDisk) {
		return err
	}
	if err := from.Withdraw(oldName, f.Temp); err != nil {
		return err
	}
	if err := from.Move(f.Temp, to, newName); err != nil {
		return errors.Join(err, from.Move(f.Temp, from, oldName))
	}
	return nil
}

// moveAndChange publishes the new bytes under the new name and withdraws the
// old file; in between both are there, never neither. A case-only rename on a
// disk that folds case goes the other way round.
func (d *placer) moveAndChange(to *atomicfile.Dir, f *store.FileChange) error {
	newName := path.Base(f.NewDisk)
	err := to.Publish(f.Temp, newName)
	folded := errors.Is(err, fs.ErrExist) && notes.Key(f.OldDisk) == notes.Key(f.NewDisk)
	if err != nil && !folded {
		return err
	}
	return d.finishMove(to, f, folded)
}

// finishMove sets the old file of a move aside. The new one is published already, unless
// the disk folds case.
func (d *placer) finishMove(to *atomicfile.Dir, f *store.FileChange, folded bool) error {
	newName := path.Base(f.NewDisk)
	switch err := d.setAside(f); {
	case err != nil && folded:
		return err
	case err != nil:
		return errors.Join(err, to.Move(newName, to, f.Temp))
	case folded:
		return to.Publish(f.Temp, newName)
	}
	return nil
}

// setAside withdraws the old file of a move.
func (d *placer) setAside(f *store.FileChange) error {
	from, err := d.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
	}
	return d.withdraw(from, f, f.Temp+".old")
}

// Shared is the log of a vault that several nodes share. It decides which of two
// changes of a note comes first: an operation is committed to it when its new texts
// are staged, before the first name changes, and what a crash has interrupted is
// finished or taken back as the log says.
type Shared interface {
	// Commit writes the batch. The error is a [*notes.LogConflict] if the log has other
	// files than the batch was computed from, and wraps [notes.ErrOutcomeUnknown] if it
	// may have been written all the same.
	Commit(ctx context.Context, b notes.Batch) error
	// Resolve reports whether the batch was committed; if not, it never will be.
	Resolve(ctx context.Context, id string) (committed bool, err error)
	// CatchUp brings the folder and the log in step, also at paths where the folder may
	// have changed. It is called without the vault's lock, and calls Place.
	CatchUp(ctx context.Context, paths []string) error
}

// maxCatchUps bounds how often a change is computed again because the folder was
// behind the log.
const maxCatchUps = 5

// shareFor bounds the commit of an operation, which holds the vault's lock.
const shareFor = 20 * time.Second

// behindError says that the log has a newer version than the folder.
type behindError struct {
	error
	paths []string // of the operation's files
}

func (e *behindError) Unwrap() error { return e.error }

// share commits the operation to the log, if the vault has one.
func (d *placer) share() error {
	if !d.Shared {
		return nil
	}
	b := notes.Batch{ID: d.ID(), Kind: d.Kind, Author: d.Author}
	for i := range d.Files {
		f := &d.Files[i]
		c := notes.FileChange{OldPath: notes.Nfc(f.OldDisk), Path: notes.Nfc(f.NewDisk), Folder: f.Folder}
		if c.OldPath != "" && !f.Folder {
			c.Before = notes.Hash(f.Old)
		}
		if c.Path != "" && !f.Folder {
			if c.After = notes.Hash(f.New); c.After != c.Before {
				c.Data = f.New
			}
		}
		b.Changes = append(b.Changes, c)
	}
	ctx, cancel := context.WithTimeout(d.ctx, shareFor)
	defer cancel()
	err := d.v.opt.Shared.Commit(ctx, b)
	var other *notes.LogConflict
	switch {
	case err == nil:
		d.committed = true
		return d.v.step("committed")
	case errors.Is(err, notes.ErrOutcomeUnknown) || errors.Is(err, errKilled):
		return err
	case errors.As(err, &other):
		behind := &behindError{error: d.logConflict(other)}
		for _, c := range b.Changes {
			behind.paths = append(behind.paths, c.OldPath, c.Path)
		}
		return behind
	}
	d.v.opt.Log.Warn("a change could not be committed", "kind", d.Kind, "err", err)
	return &notes.Error{Op: d.Kind, Path: d.Files[0].Place(), Err: notes.ErrUnavailable, Detail: "the database that the vault's nodes share does not answer",
		Hint: "Nothing was changed. Reading and searching go on; try again later."}
}

func (d *placer) logConflict(other *notes.LogConflict) error {
	if other.Hash == "" {
		return &notes.Error{Op: d.Kind, Path: other.Path, Err: notes.ErrConflict, Detail: "the note was moved or deleted in the meantime; nothing was written", Hint: "Read the folder again."}
	}
	for _, f := range d.Files {
		if notes.Nfc(f.OldDisk) == other.Path {
			return conflict(d.Kind, other.Path, f.Old, other.Text)
		}
	}
	return &notes.Error{Op: d.Kind, Path: other.Path, Err: notes.ErrExists, Detail: "a file with this name is there already", Hash: other.Hash}
}

// undo removes temp files and folders of an operation that changed nothing.
func (d *placer) undo() error {
	return errors.Join(d.discard(), d.removeEmpty(d.Made))
}

// removeEmpty removes folders that an operation made, given outermost first. One that is
// not empty stays, such as one that another program has put a file in. The error is that
// of a step.
func (d *placer) removeEmpty(folders []string) error {
	for _, folder := range slices.Backward(folders) {
		if err := d.v.step("rmdir"); err != nil {
			return err
		}
		if info, err := d.root.Lstat(folder); err == nil && info.IsDir() {
			_ = d.root.Remove(folder) // it is not empty
		}
	}
	return nil
}

// discard removes the temp files: what was displaced, or what was to take its
// place. One that a program wrote to while it had the note's name, or had open
// until now (an editor), is kept in history first; when that fails, it stays.
func (d *placer) discard() error {
	var errs []error
	for i := range d.Files {
		f := &d.Files[i]
		for _, place := range slices.Compact([]string{f.Dir(), f.StageDir(), path.Dir(f.Source())}) {
			dir, err := d.dir(place)
			if err != nil {
				continue // a folder that could not be opened holds no temp file of the operation
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
	late, err := d.v.late.rescue(d.ctx, dir.Root(), temp, f.OldPath, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		d.v.left.set(path.Join(place, temp), f.OldPath)
		d.v.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", f.OldPath, "file", path.Join(place, temp), "err", err)
		return nil
	}
	d.v.left.remove(path.Join(place, temp))
	if err := dir.Discard(temp); err != nil {
		return errors.Join(err, late.close())
	}
	d.v.late.watch(d.ctx, late)
	return nil
}
