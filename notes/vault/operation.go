package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"notesd/internal/atomicfile"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// change is what is common to all writes that a caller asks for.
type change struct {
	kind   string // create, edit, move, delete, restore
	author notes.Author
	key    string // RequestKey
	scope  notes.Scope
	dryRun bool
	placed bool // the log that the vault's nodes share has the change already
}

// operation is one write under the vault's lock: planned by the files that it
// changes, or read from the journal, and then performed.
type operation struct {
	*store.Operation
	v     *Vault
	ctx   context.Context
	root  *disk.Root
	scope notes.Scope
	clear []string // of an undo: folders that the change made, outermost first, to be removed if they are empty
}

// change runs one operation under the vault's lock: the answer of an earlier
// sending of the same request, or else what plan makes of the files as they
// are now, performed and fed to the followers. A dry run, and a change that
// leaves the file as it is, end with the answer that performing would have had.
func (v *Vault) change(ctx context.Context, c change, plan func(o *operation) error) (notes.Written, error) {
	written, err := v.changeLocked(ctx, c, plan)
	var behind *behindError
	for try := 0; try < maxCatchUps && errors.As(err, &behind); try++ {
		if err := v.opt.Shared.CatchUp(ctx, behind.paths); err != nil {
			return written, err
		}
		written, err = v.changeLocked(ctx, c, plan)
	}
	if err != nil {
		return written, writeProblem(c.kind, "", err)
	}
	v.feed.run(context.WithoutCancel(ctx))
	return written, nil
}

func (v *Vault) changeLocked(ctx context.Context, c change, plan func(o *operation) error) (notes.Written, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var written notes.Written
	if err := v.interrupted.finishOnce(ctx); err != nil {
		return written, err
	}
	if done, err := store.Answered(ctx, v.store.History().Reader(), c.key, &written); done || err != nil {
		return written, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return written, err
	}
	defer func() { _ = root.Close() }() // what is written is synced
	o := &operation{Operation: &store.Operation{Kind: c.kind, Author: c.author, RequestKey: c.key, Shared: v.opt.Shared != nil && !c.placed}, v: v, ctx: ctx, root: root, scope: c.scope}
	if err := plan(o); err != nil {
		return written, v.mounts.explain(root, err)
	}
	if f := &o.Files[0]; c.dryRun || f.OldPath != "" && f.OldDisk == f.NewDisk && bytes.Equal(f.Old, f.New) {
		written = o.Written()
		if c.dryRun && c.kind == "edit" {
			written.Whole = o.WholeDiff()
		}
		return written, nil
	}
	if err := v.mounts.checkOperation(root, o.Operation); err != nil {
		return written, err
	}
	return o.perform()
}

// perform carries an operation out: journal, temp files, the swap of each
// name, the store, and the journal again. An error means that nothing has
// changed, unless it says otherwise; a file after the first that another program
// changed in that very moment has its conflict in Files.
func (o *operation) perform() (notes.Written, error) {
	o.ctx = context.WithoutCancel(o.ctx) // once begun, it is finished
	replaced, err := o.replaced()
	if err != nil {
		return notes.Written{}, err
	}
	if err := o.v.store.Begin(o.ctx, o.Operation, replaced); err != nil {
		return notes.Written{}, o.writeProblem(err)
	}
	if err := o.v.step("journalled"); err != nil {
		return notes.Written{}, err
	}
	d := &placer{operation: o}
	defer d.close()
	if err := d.place(); err != nil && (d.committed || errors.Is(err, notes.ErrOutcomeUnknown)) {
		return notes.Written{}, o.unfinished(err, "a change is incomplete; it will be finished when the database and the disk are available",
			"it is not known whether the change was made: the database's answer was lost", "Do not repeat the change; read the note later to check it.")
	} else if err != nil {
		return notes.Written{}, d.abandon(err)
	}
	written, err := d.complete(replaced)
	if err != nil {
		return written, o.unfinished(err, "a change is on disk and could not be recorded; it will be tried again",
			"the change is on disk, but could not be recorded yet (is the disk with notesd's state full?)", "Do not repeat the change; read the note to check it.")
	}
	return written, nil
}

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
// operation on after a crash, knows how far each file came. A conflict of the first file
// undoes everything; one of a later file stays with that file. Temp files are removed when
// the journal entry is closed.
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
		if like, err = disk.OpenRegular(d.root, f.Source()); err != nil {
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
	err := d.root.Mkdir(folder, 0o777)
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
				return &notes.Error{Op: d.Kind, Path: f.NewPath, Err: notes.ErrExists, Detail: "a file with this name exists already"}
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
		case d.placed == 0 && !d.committed || errors.Is(err, errKilled) || errors.Is(err, atomicfile.ErrIncomplete):
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

// renames reports whether a file only gets another name. A note that moves to another
// folder of the vault, which may be on another disk, is written there and then removed.
func (d *placer) renames(f *store.FileChange) bool {
	return f.IsPureMove() && d.v.store.FolderOf(f.OldPath) == d.v.store.FolderOf(f.NewPath)
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
	if back := dir.Exchange(f.Temp, name); back != nil {
		return putBack(err, func() error { return back })
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

// read reads a file that the operation has to do with. Whatever has its name
// by now, a pipe or something huge, must not hold the vault's lock.
func (d *placer) read(root disk.Opener, name string) ([]byte, error) {
	if err := d.v.step("read back"); err != nil {
		return nil, err
	}
	data, _, err := disk.Read(root, name, 2*d.v.opt.MaxNoteBytes+1<<20) // rewritten links may have made it larger than a note may be
	return data, err
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
	return putBack(err, back)
}

// putBack gives a file its name again, because of an error, which it returns. If that
// fails too, the error is [atomicfile.ErrIncomplete]: see abandon. What another program has
// made of that name meanwhile stays.
func putBack(cause error, back func() error) error {
	err := back()
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(cause, err)
	}
	return errors.Join(cause, err, atomicfile.ErrIncomplete)
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
		return putBack(err, func() error { return from.Move(f.Temp, from, oldName) })
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

// abandon closes an operation that could not change a name. Its temp files go
// last: a program that opened the note while one of them had its name is still
// writing.
func (d *placer) abandon(cause error) error {
	if errors.Is(cause, errKilled) {
		return cause
	}
	if errors.Is(cause, atomicfile.ErrIncomplete) { // what the names hold is as after a crash: the next write finishes it
		return d.unfinished(cause, "the disk failed in the middle of a change; it is finished when the disk can be used",
			"the disk failed in the middle of the change", "The change will be finished when the disk is available again.")
	}
	state := store.StateFailed
	if errors.Is(cause, notes.ErrConflict) {
		state = store.StateConflict
	}
	return errors.Join(d.writeProblem(cause), d.v.store.Fail(d.ctx, d.Operation, state, cause), d.undo())
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

// removeEmptied removes the folder that a move has emptied, and those above it, as far as
// they are empty and an operation has made them: the user's own stay.
func (d *placer) removeEmptied() error {
	for dir := path.Dir(d.Files[0].OldDisk); d.Kind == "move" && dir != "."; dir = path.Dir(dir) {
		folder, err := d.root.OpenFile(dir, os.O_RDONLY, 0)
		if err != nil {
			return nil // it stays
		}
		names, _ := folder.Readdirnames(1)
		_ = folder.Close() // only read from
		if len(names) > 0 {
			return nil
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

// complete records an operation whose files are in place. Its temp files, which
// say how far it came, go last.
func (d *placer) complete(replaced map[int64]store.Version) (notes.Written, error) {
	if err := d.absorb(); err != nil {
		return notes.Written{}, err
	}
	if err := d.v.step("absorbed"); err != nil {
		return notes.Written{}, err
	}
	written := d.Written()
	var err error
	if written.Revision, err = d.v.store.Finish(d.ctx, d.Operation, replaced, written); err != nil {
		return notes.Written{}, err
	}
	written.Seq = d.v.store.Head()
	if err := d.v.step("finished"); err != nil {
		return written, err
	}
	if err := d.discard(); errors.Is(err, errKilled) {
		return written, err
	} else if err != nil {
		d.v.opt.Log.Warn("a temp file could not be removed yet", "note", d.Files[0].Place(), "err", err)
	}
	return written, cmp.Or(d.removeEmpty(d.clear), d.removeEmptied())
}

// replaced returns the versions that the store has of the operation's notes.
func (o *operation) replaced() (map[int64]store.Version, error) {
	var ids []int64
	for _, f := range o.Files {
		if f.Note != 0 {
			ids = append(ids, f.Note)
		}
	}
	return o.v.store.StoredVersions(o.ctx, ids)
}

// absorb makes the store equal to what the operation has put on disk.
func (o *operation) absorb() error {
	var paths []string
	for _, f := range o.Files {
		for _, p := range []string{f.OldPath, f.NewPath} {
			if p != "" {
				paths = append(paths, p)
			}
		}
	}
	rows, err := o.v.store.Rows(o.ctx, paths)
	if err != nil {
		return err
	}
	b := &batch{v: o.v, root: o.root, current: rows}
	inFolder := o.Files[0].Folder
	for _, f := range o.Files {
		switch {
		case f.State != store.StateDone:
		case f.Folder:
			if err := o.absorbFolder(b); err != nil {
				return err
			}
		case inFolder && notes.Under(f.NewPath, o.Files[0].NewPath):
			// came with the folder
		case !f.IsNote():
			o.v.queue.Add(f.NewDisk)
		default:
			o.absorbFile(b, f)
		}
	}
	return b.commit(o.ctx, o.Author, false)
}

func (o *operation) absorbFile(b *batch, f store.FileChange) {
	old, known := b.current[f.OldPath]
	if f.NewPath == "" {
		if known {
			b.remove(old)
		}
		return
	}
	p := prepared{File: store.File{Path: f.NewPath, DiskPath: f.NewDisk}}
	if f.Link != "" {
		p.DiskPath = f.Link
		o.v.queue.Add(f.NewDisk) // the symlink's target may be a note as well
	}
	if known {
		p.row = &old
	} else if r, ok := b.current[f.NewPath]; ok {
		p.row = &r
	}
	_ = b.absorb(&p, notes.Hash(f.New), func() ([]byte, error) { return f.New, nil })
}

// absorbFolder moves every note that the store has in the old folder to the new
// one.
func (o *operation) absorbFolder(b *batch) error {
	f := &o.Files[0]
	relinked := map[string][]byte{}
	for _, other := range o.Files[1:] {
		if other.State == store.StateDone {
			relinked[other.NewPath] = other.New
		}
	}
	for _, r := range b.current {
		if !notes.Under(r.Path, f.OldPath) {
			continue
		}
		p := prepared{row: &r, File: store.File{
			Path: f.NewPath + strings.TrimPrefix(r.Path, f.OldPath), DiskPath: f.NewDisk + strings.TrimPrefix(r.DiskPath, f.OldDisk)}}
		hash := r.Hash
		text, changed := relinked[p.Path]
		if changed {
			hash = notes.Hash(text)
		}
		err := b.absorb(&p, hash, func() ([]byte, error) {
			if changed {
				return text, nil
			}
			note, err := o.v.store.LoadNote(o.ctx, r.ID)
			if err != nil {
				return nil, err
			}
			return []byte(note.Content), nil
		})
		if err != nil {
			return err
		}
	}
	o.v.queue.Add(f.OldDisk, f.NewDisk) // attachments, and what the store did not know yet
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

func (o *operation) writeProblem(err error) error {
	return writeProblem(o.Kind, cmp.Or(o.Files[0].NewPath, o.Files[0].OldPath), err)
}

// unfinished leaves the rest of an operation that is, or may be, in the log or on disk to
// the next write, or scan of everything, which recovers it first. It logs what has
// happened and returns the error of the request.
func (o *operation) unfinished(err error, happened, detail, hint string) error {
	o.v.interrupted.finished = false
	if errors.Is(err, errKilled) {
		return err
	}
	place := o.Files[0].Place()
	o.v.opt.Log.Error(happened, "kind", o.Kind, "note", place, "err", err)
	return &notes.Error{Op: o.Kind, Path: notes.Nfc(place), Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

// Repeated reports whether the request was carried out already, so that sending
// it again only brings its answer: the user need not be asked for it. What a crash
// has interrupted is finished first.
func (v *Vault) Repeated(ctx context.Context, requestKey string) (bool, error) {
	if requestKey == "" {
		return false, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.interrupted.finishOnce(ctx); err != nil {
		return false, err
	}
	return store.Answered(ctx, v.store.History().Reader(), requestKey, nil)
}

// mayWrite returns an error unless the operation may write at all of the paths.
func (o *operation) mayWrite(paths ...string) error {
	for _, p := range paths {
		if err := o.v.guard.checkWrite(o.Kind, p, o.scope); err != nil {
			return err
		}
	}
	return nil
}

// checkNew returns an error unless a note may be created at p, whatever is there.
func (o *operation) checkNew(p string) error {
	if err := notes.CheckNewPath(o.Kind, p); err != nil {
		return err
	}
	if err := o.mayWrite(p); err != nil {
		return err
	}
	return checkPlace(o.root, o.Kind, p)
}

// behindError says that the log has a newer version than the folder.
type behindError struct {
	error
	paths []string // of the operation's files
}

func (e *behindError) Unwrap() error { return e.error }

// maxCatchUps bounds how often a change is computed again because the folder was
// behind the log.
const maxCatchUps = 5

// shareFor bounds the commit of an operation, which holds the vault's lock.
const shareFor = 20 * time.Second

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
	return &notes.Error{Op: d.Kind, Path: d.Files[0].Place(), Err: notes.ErrUnavailable, Detail: "the vault's shared database does not respond",
		Hint: "Nothing was changed. Reading and searching still work; try again later."}
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
	return &notes.Error{Op: d.Kind, Path: other.Path, Err: notes.ErrExists, Detail: "a file with this name exists already", Hash: other.Hash}
}
