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
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// change holds the parameters common to all requested writes.
type change struct {
	kind   string // create, edit, move, delete, restore
	author notes.Author
	key    string // RequestKey
	scope  notes.Scope
	dryRun bool
	placed bool // the change is already in the shared log
}

// operation is one write, made with the vault's lock held. It is planned from the current
// files, or read from the journal, and then performed.
type operation struct {
	*store.Operation
	v     *Vault
	ctx   context.Context
	root  *disk.Root
	scope notes.Scope
	clear []string // folders to be removed afterwards if they are empty, outermost first: in an undo, those that the change made
}

// change runs one operation under the vault's lock. It returns the stored answer if the
// request was already handled; otherwise it performs what plan computes from the current
// files, and feeds the result to the followers. A dry run, and a change that leaves the
// file as it is, write nothing and return what performing would have returned.
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
	if err := v.incident.get(); err != nil {
		return written, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return written, err
	}
	defer func() { _ = root.Close() }() // writes are already synced
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

// perform carries out an operation: it writes the journal entry and the temp files, changes
// each name, and then updates the store and closes the journal entry. If it returns an
// error, nothing has changed, unless the error says otherwise. If another program
// concurrently changed a file after the first, that file's conflict is in Files.
func (o *operation) perform() (notes.Written, error) {
	o.ctx = context.WithoutCancel(o.ctx) // an operation that has begun is not canceled
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
	dirs   map[string]*atomicfile.Dir
	placed int // files whose names have been changed

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
		_ = dir.Close() // already synced where durability matters
	}
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

// swap changes the names, the first file's first. A conflict there undoes everything; a
// conflict in a later file affects only that file.
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

// renames reports whether the file is only renamed. A note that moves to another of the
// vault's folders, which may be on another disk, is written there and then removed here.
func (d *placer) renames(f *store.FileChange) bool {
	return f.IsPureMove() && d.v.store.FolderOf(f.OldPath) == d.v.store.FolderOf(f.NewPath)
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
	data, _, err := disk.Read(root, name, 2*d.v.opt.MaxNoteBytes+1<<20) // rewritten links may exceed the size limit of notes
	return data, err
}

// withdraw renames a file to a temp name, and back if its text is not the one that the
// operation was computed from.
func (d *placer) withdraw(dir *atomicfile.Dir, f *store.FileChange, temp string) error {
	name := path.Base(f.OldDisk)
	if err := dir.Withdraw(name, temp); err != nil {
		return err
	}
	return d.checkMoved(dir, f, temp, func() error { return dir.Move(temp, dir, name) })
}

// checkMoved compares a renamed file with its expected text and, if they differ, calls
// back, which restores the file's name.
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
	return d.checkMoved(to, f, newName, func() error { return to.Move(newName, from, path.Base(f.OldDisk)) })
}

// rename gives a file or folder its new name. A case-insensitive disk reports a name that
// differs only in case as taken; the file then goes through a temp name.
func (d *placer) rename(to *atomicfile.Dir, f *store.FileChange) error {
	from, err := d.dir(path.Dir(f.OldDisk))
	if err != nil {
		return err
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

// abandon closes an operation that could not change a name. Its temp files are removed
// last, because a program that opened the note while one of them had its name may still be
// writing.
func (d *placer) abandon(cause error) error {
	if errors.Is(cause, errKilled) {
		return cause
	}
	if errors.Is(cause, atomicfile.ErrIncomplete) { // same state as after a crash; the next write finishes it
		return d.unfinished(cause, "the disk failed in the middle of a change; it is finished when the disk can be used",
			"the disk failed in the middle of the change", "The change will be finished when the disk is available again.")
	}
	state := store.StateFailed
	if errors.Is(cause, notes.ErrConflict) {
		state = store.StateConflict
	}
	return errors.Join(d.writeProblem(cause), d.v.store.Fail(d.ctx, d.Operation, state, cause), d.undo())
}

// undo removes the temp files and folders of an operation that changed nothing.
func (d *placer) undo() error {
	return errors.Join(d.discard(), d.removeEmpty(d.Made))
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

// complete records an operation whose files are in place. Its temp files, which show how
// far it got, are removed last.
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

// replaced returns the stored versions of the operation's notes, before the change.
func (o *operation) replaced() (map[int64]store.Version, error) {
	var ids []int64
	for _, f := range o.Files {
		if f.Note != 0 {
			ids = append(ids, f.Note)
		}
	}
	return o.v.store.StoredVersions(o.ctx, ids)
}

// absorb updates the store to match what the operation has put on disk.
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
			// absorbFolder includes it
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
		p.DiskPath, p.real = f.Link, f.NewDisk
		o.v.queue.Add(f.NewDisk) // the symlink's target may be a note as well
	}
	if known {
		p.row = &old
	} else if r, ok := b.current[f.NewPath]; ok {
		p.row = &r
	}
	_ = b.absorb(&p, notes.Hash(f.New), func() ([]byte, error) { return f.New, nil })
}

// absorbFolder moves every stored note from the old folder to the new one.
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
	o.v.queue.Add(f.OldDisk, f.NewDisk) // attachments, and files not yet stored
	return nil
}

// discard removes the temp files: displaced files, and new texts that were not placed. If
// another program wrote to a displaced file while it had the note's name, or still has it
// open, its text is saved to history first; if that fails, the file stays.
func (d *placer) discard() error {
	var errs []error
	for i := range d.Files {
		f := &d.Files[i]
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
	late, err := d.v.late.rescue(d.ctx, dir.Root(), temp, f.OldPath, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		d.v.left.Store(path.Join(place, temp), f.OldPath)
		d.v.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", f.OldPath, "file", path.Join(place, temp), "err", err)
		return nil
	}
	d.v.left.Delete(path.Join(place, temp))
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
// recovery, which runs before the next write or full scan. It logs the message happened,
// and returns the error for the request.
func (o *operation) unfinished(err error, happened, detail, hint string) error {
	o.v.interrupted.finished = false
	if errors.Is(err, errKilled) {
		return err
	}
	place := o.Files[0].Place()
	o.v.opt.Log.Error(happened, "kind", o.Kind, "note", place, "err", err)
	return &notes.Error{Op: o.Kind, Path: notes.Nfc(place), Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

// Repeated reports whether the request was already carried out, so that repeating it only
// returns the stored answer and needs no confirmation from the user. Operations interrupted
// by a crash are finished first.
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

// mayWrite returns an error unless the operation may write to all of the paths.
func (o *operation) mayWrite(paths ...string) error {
	for _, p := range paths {
		if err := o.v.checkWrite(o.Kind, p, o.scope); err != nil {
			return err
		}
	}
	return nil
}

// checkNew returns an error unless a note may be created at p. It does not check whether p
// is taken.
func (o *operation) checkNew(p string) error {
	if err := notes.CheckNewPath(o.Kind, p); err != nil {
		return err
	}
	if err := o.mayWrite(p); err != nil {
		return err
	}
	return o.checkPlace(p)
}

// behindError means that the log has a newer version than the folder.
type behindError struct {
	error
	paths []string // of the operation's files
}

func (e *behindError) Unwrap() error { return e.error }

// maxCatchUps bounds how often a change is recomputed because the folder was behind the
// log.
const maxCatchUps = 5

// shareFor bounds the commit of an operation to the log, during which the vault's lock is
// held.
const shareFor = 20 * time.Second

// share commits the operation to the shared log, if there is one.
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
	detail, hint := "the vault's shared database does not respond", "try again later."
	if errors.Is(err, sqlite.ErrNewer) {
		detail, hint = "the vault's shared database was upgraded by a newer notesd", "to write, upgrade notesd on this machine."
	}
	return &notes.Error{Op: d.Kind, Path: d.Files[0].Place(), Err: notes.ErrUnavailable, Detail: detail, Hint: "Nothing was changed. Reading and searching still work; " + hint}
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
