package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// interrupted tracks the operations that are still pending in the journal.
type interrupted struct {
	v        *Vault
	finished bool             // none are left; guarded by the vault's lock
	failed   map[string]error // operations that changed nothing and could not be closed, by ID → why they failed
}

// finishOnce finishes interrupted operations before the first write, which may precede the
// first scan: a request repeated after the crash would otherwise conflict with its own
// partial work. The caller must hold the vault's lock.
func (i *interrupted) finishOnce(ctx context.Context) error {
	if i.finished {
		return nil
	}
	return i.finish(context.WithoutCancel(ctx))
}

// finish completes the operations that a crash interrupted. The temp names show how far
// each file got; see recovery. A file that another program changed before its turn is left
// alone, and the operation reports a conflict for it. The caller must hold the vault's
// lock.
func (i *interrupted) finish(ctx context.Context) error {
	v := i.v
	ops, err := v.store.PendingOperations(ctx)
	if err != nil || len(ops) == 0 {
		i.finished = err == nil
		return err
	}
	root, err := v.disk.Open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // writes are already synced
	decided := true
	for _, op := range ops {
		if cause := i.failed[op.ID()]; cause != nil {
			if err := i.fail(ctx, op, cause); err != nil {
				return err
			}
			continue
		}
		if v.mounts.checkOperation(root, op) != nil {
			decided = decided && !op.Shared
			continue // retried when its disk is back
		}
		r := &recovery{&placer{operation: &operation{Operation: op, v: v, ctx: ctx, root: root}}}
		if !r.decide() {
			decided = false
			continue // retried when the log can be queried
		}
		finished, err := r.recover()
		r.close()
		if err != nil {
			return err
		}
		decided = decided && (finished || !op.Shared)
	}
	i.finished = decided
	return nil
}

// fail closes an operation that changed nothing. If that is not possible, it is closed before
// the next write or full scan, rather than carried out. The caller must hold the vault's lock.
func (i *interrupted) fail(ctx context.Context, op *store.Operation, cause error) error {
	state := store.StateFailed
	if errors.Is(cause, notes.ErrConflict) {
		state = store.StateConflict
	}
	err := i.v.store.Fail(ctx, op, state, cause)
	if err == nil {
		delete(i.failed, op.ID())
		return nil
	}
	i.failed[op.ID()], i.finished = cause, false
	return err
}

// closeCommitted closes the operation with this log id, if a crash interrupted it and it
// could not be finished: finishing it later would overwrite newer changes from the log. The
// caller must hold the vault's lock.
func (i *interrupted) closeCommitted(ctx context.Context, id string) error {
	if i.finished {
		return nil
	}
	ops, err := i.v.store.PendingOperations(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(ops, func(op *store.Operation) bool { return op.ID() == id })
	if at < 0 {
		return nil
	}
	for f := range ops[at].Files {
		ops[at].Files[f].State, ops[at].Files[f].Conflict = store.StateConflict, errOvertaken
	}
	_, err = i.v.store.Finish(ctx, ops[at], nil, ops[at].Written()) // stores the answer for a repeated request
	return err
}

var errOvertaken = errors.New("a crash interrupted the change; its files follow the log")

// recover completes an operation from the journal, or closes it. It returns false if a file
// cannot be read at the moment.
func (r *recovery) recover() (finished bool, _ error) {
	if r.Shared && !r.committed {
		r.Files[0].Conflict = &notes.Error{Op: r.Kind, Path: r.Files[0].FinalDisk(), Err: notes.ErrConflict, Detail: "the change was not committed"}
		return true, r.giveUp()
	}
	for i := range r.Files {
		f := &r.Files[i]
		if err := r.syncCrowded(); err != nil {
			return false, err
		}
		rows, err := r.v.store.Rows(r.ctx, []string{f.OldPath})
		if err != nil {
			return false, err
		}
		f.Note = rows[f.OldPath].ID
		f.State = store.StateDone
		err = r.redo(f)
		if errors.Is(err, errKilled) {
			return false, err
		}
		if err != nil {
			err = r.writeProblem(err)
			if !errors.Is(err, notes.ErrConflict) && !errors.Is(err, notes.ErrExists) {
				r.v.opt.Log.Error("an interrupted change cannot be finished yet; it will be tried again", "kind", r.Kind, "note", f.FinalDisk(), "err", err)
				return false, nil // the content of an unreadable file is unknown
			}
			if err := r.leave(i, err); err != nil {
				return false, err
			}
		}
		if i == 0 && f.Conflict != nil && !r.committed {
			placed, err := r.wasPlaced(f)
			if err != nil {
				return false, err
			}
			if !placed {
				return true, r.giveUp()
			}
			f.State, f.Conflict = store.StateDone, nil
		}
	}
	if err := r.sync(); err != nil {
		return false, err
	}
	r.v.opt.Log.Warn("finished an interrupted change", "kind", r.Kind, "note", r.Files[0].FinalDisk(), "conflicts", r.Conflicts())
	firstSeen, err := r.replaced()
	if err != nil {
		return false, err
	}
	_ = r.parse() // a note on which the parser panics is skipped, as by a scan
	_, err = r.complete(firstSeen)
	return true, err
}

// giveUp closes an interrupted operation without changing its other files, because its
// first file, the operation's subject, was changed by another program before its turn.
func (r *recovery) giveUp() error {
	f := &r.Files[0]
	r.v.opt.Log.Warn("an interrupted change was not carried out: the note was changed in the meantime", "kind", r.Kind, "note", f.FinalDisk(), "err", f.Conflict)
	if err := r.v.step("given up"); err != nil {
		return err
	}
	if err := r.v.store.Fail(r.ctx, r.Operation, store.StateConflict, f.Conflict); err != nil {
		return err
	}
	for i := range r.Files[1:] {
		if other := &r.Files[i+1]; f.Folder && notes.Under(other.OldDisk, f.NewDisk) { // it lies there, because the folder has not moved
			other.Before = f.OldDisk + strings.TrimPrefix(other.OldDisk, f.NewDisk)
		}
	}
	return r.undo()
}

// recovery finishes an operation that a crash interrupted. The journal has the old and the
// new text of each file, and the disk shows how far each file got. Around each step, these
// names hold:
//
//	                 the note's name     the temp name        temp name + ".old"
//	changed  before  old text            none, or new text
//	         after   new text            displaced file
//	created  before  none                none, or new text
//	         after   new text            none, or the same file
//	deleted  before  old text            none
//	         after   none                removed file
//	moved    before  old name: old text  none, or new text    none
//	         between both names          none, or the same    none
//	         after   new name: new text  none                 old file
//
// A temp name with the suffix [atomicfile.Part] shows that the new text was not staged yet.
//
// A disk that can neither swap nor link (see [atomicfile.Dir.Exchange]) has two more
// states: a name that is to get a file may have an empty one, which reserves it; and while
// a note is changed it may have no name, with the new text under one temp name and the
// displaced old file under the other.
//
// Three rules follow. If a temp name holds anything but the new text, that was a note's
// file, and its step was done. Text found in a note after its step is newer than the
// operation, and stays. Before its step, a note must hold the old text; otherwise the file
// is a conflict: in the first file, it aborts the operation; in a later one, it affects
// only that file.
//
// Every function here may itself be interrupted, and then runs again at the next start. It
// therefore examines the disk first and does not repeat completed steps. Temp files, being
// the evidence, are removed last, when the journal entry is closed.
type recovery struct{ *placer }

// redo completes one file of an interrupted operation, without repeating a completed step.
// See recovery for the rules.
func (r *recovery) redo(f *store.FileChange) error {
	switch {
	case f.Folder:
		return r.redoFolder(f)
	case f.OldDisk == "":
		return r.redoCreate(f)
	case f.NewPath == "":
		return r.redoDelete(f)
	case f.OldDisk == f.NewDisk:
		return r.redoExchange(f)
	case r.renames(f):
		return r.redoRename(f)
	}
	return r.redoMove(f)
}

// content is what a name holds when an operation is recovered. In the functions below, was
// and named are the contents of the note's old and new name, which are often one; the other
// variables are those of its temp names.
type content struct {
	exists bool
	info   fs.FileInfo // of the name itself, not of a symlink's target
	data   []byte
	err    error // why it cannot be read
}

// holds reports whether the name has a file with this text.
func (c content) holds(text []byte) bool {
	return c.exists && c.err == nil && string(c.data) == string(text)
}

// vacant reports whether the name has no file, or an empty one. [atomicfile.Dir.Move] may
// have reserved the name with an empty file, which has no text to lose.
func (c content) vacant() bool { return !c.exists || c.err == nil && len(c.data) == 0 }

// isFile reports whether both names are of one file.
func (c content) isFile(other content) bool {
	return c.exists && other.exists && os.SameFile(c.info, other.info)
}

// contentOf reads what is under a name. It returns an error if the content cannot be
// determined at the moment; if the name has something other than a regular file,
// content.err is set instead.
func (r *recovery) contentOf(diskPath string) (content, error) {
	info, err := r.root.Lstat(diskPath)
	spelled, known := r.root.SpelledSo(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory) || err == nil && known && !spelled:
		return content{}, nil
	case err != nil:
		return content{}, err
	case !known:
		return content{}, errNotListed
	}
	c := content{exists: true, info: info}
	if target, err := r.root.Stat(diskPath); err == nil && !target.Mode().IsRegular() {
		c.err = disk.ErrNotRegular
		return c, nil
	}
	if c.data, c.err = r.read(r.root, diskPath); disk.IsUnknown(c.err) {
		return content{}, c.err
	}
	return c, nil
}

// errNotListed means that the folder of a file could not be listed, on a disk that ignores case.
var errNotListed = errors.New("its folder cannot be listed")

// contentsOf reads what is under several names.
func (r *recovery) contentsOf(names ...string) ([]content, error) {
	all := make([]content, len(names))
	for i, name := range names {
		var err error
		if all[i], err = r.contentOf(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// clear removes the empty file that reserves a name, if there is one.
func (c content) clear(dir *atomicfile.Dir, name string) error {
	if !c.exists || !c.vacant() {
		return nil
	}
	return dir.Discard(name)
}

// fill moves a file from a temp name to the name that holds c, which must be vacant.
func (c content) fill(from *atomicfile.Dir, temp string, to *atomicfile.Dir, name string) error {
	if err := c.clear(to, name); err != nil {
		return err
	}
	return from.Move(temp, to, name)
}

// redoExchange finishes the change of a note's text; see exchange. If another program's save is
// under the temp name, it is put back and the change is a conflict.
func (r *recovery) redoExchange(f *store.FileChange) error {
	dir, err := r.dir(f.Dir())
	if err != nil {
		return err // its folder may have been removed
	}
	name, temp := path.Base(f.NewDisk), path.Join(f.Dir(), f.Temp)
	all, err := r.contentsOf(f.NewDisk, temp, temp+".old")
	if err != nil {
		return err
	}
	named, under, kept := all[0], all[1], all[2]
	switch { // states of an exchange made of several calls
	case !kept.exists:
	case !under.exists: // only the last call is missing
		if err := dir.Withdraw(f.Temp+".old", f.Temp); err != nil {
			return err
		}
		under = kept
	case kept.isFile(named):
		if err := dir.Discard(f.Temp + ".old"); err != nil {
			return err
		}
	case under.holds(f.New) && named.vacant():
		if err := named.fill(dir, f.Temp+".old", dir, name); err != nil {
			return err
		}
		named = kept
	}
	switch {
	case under.holds(f.Old):
		return nil
	case under.exists && !under.holds(f.New) && named.holds(f.New): // another program's save, displaced and not yet compared
		if err := dir.Exchange(f.Temp, name); err != nil {
			return err
		}
	case under.exists && !under.holds(f.New), named.holds(f.New):
		return nil
	case named.holds(f.Old):
		if err := r.stageAgain(dir, f, under); err != nil {
			return err
		}
		return r.exchange(dir, f)
	}
	return conflict(r.Kind, f.OldPath, f.Old, named.data)
}

// stageAgain stages the new text if the crash prevented that or left it partial.
func (r *recovery) stageAgain(dir *atomicfile.Dir, f *store.FileChange, staged content) error {
	if staged.exists {
		return nil
	}
	if err := dir.Discard(f.Temp + atomicfile.Part); err != nil {
		return err
	}
	return r.stageFile(dir, f)
}

// redoCreate finishes the creation of a note, unless the name is taken.
func (r *recovery) redoCreate(f *store.FileChange) error {
	if err := r.makeFolders(path.Dir(f.NewDisk)); err != nil {
		return err
	}
	dir, err := r.dir(f.Dir())
	if err != nil {
		return err
	}
	temp := path.Join(f.Dir(), f.Temp)
	all, err := r.contentsOf(f.NewDisk, temp, temp+atomicfile.Part)
	if err != nil {
		return err
	}
	named, staged, part := all[0], all[1], all[2]
	if named.exists && (!staged.exists && !part.exists || named.isFile(staged)) {
		return nil // published, and possibly changed since
	}
	if err := r.stageAgain(dir, f, staged); err != nil {
		return err
	}
	return named.fill(dir, f.Temp, dir, path.Base(f.NewDisk))
}

// redoDelete finishes a deletion, unless the note was changed or created again since.
func (r *recovery) redoDelete(f *store.FileChange) error {
	all, err := r.contentsOf(f.OldDisk, path.Join(f.Dir(), f.Temp))
	if err != nil {
		return err
	}
	named, gone := all[0], all[1]
	if gone.holds(f.Old) || !gone.exists && !named.exists {
		return nil
	}
	dir, err := r.dir(f.Dir())
	if err != nil {
		return err
	}
	switch {
	case gone.exists && !named.vacant():
		return nil // recreated since
	case gone.exists:
		if err := named.fill(dir, f.Temp, dir, path.Base(f.OldDisk)); err != nil {
			return err
		}
	case named.holds(f.Old):
		return r.withdraw(dir, f, f.Temp)
	}
	return conflict(r.Kind, f.OldPath, f.Old, named.data)
}

// redoRename finishes a rename. If only the new name exists, the note has moved. Otherwise
// it moves now, unless it was changed.
func (r *recovery) redoRename(f *store.FileChange) error {
	from, to, err := r.moveDirs(f)
	if err != nil {
		return err
	}
	oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
	all, err := r.contentsOf(f.OldDisk, f.NewDisk, path.Join(path.Dir(f.OldDisk), f.Temp))
	if err != nil {
		return err
	}
	was, named, between := all[0], all[1], all[2]
	switch {
	case between.holds(f.Old) && was.vacant() && named.vacant(): // see rename
		return named.fill(from, f.Temp, to, newName)
	case between.exists && was.vacant() && named.vacant():
		if err := was.fill(from, f.Temp, from, oldName); err != nil {
			return err
		}
	case named.exists && !was.exists:
		return nil
	case was.isFile(named) && !r.isOneFile(f): // linked, and the old name not yet removed
		return from.Discard(oldName)
	case was.holds(f.Old) && was.isFile(named):
		return r.move(to, f)
	case was.holds(f.Old) && named.vacant():
		if err := named.clear(to, newName); err != nil {
			return err
		}
		return r.move(to, f)
	}
	return conflict(r.Kind, f.OldPath, f.Old, was.data)
}

// wasPlaced reports whether the first file was edited or moved before the crash, even if its
// names were reused or its folder was renamed since. The evidence is a later file that was
// already changed or moved or, of a move, the store or the file's inode.
func (r *recovery) wasPlaced(f *store.FileChange) (bool, error) {
	edited := f.OldDisk == f.NewDisk
	if !f.Folder && !edited && !r.renames(f) {
		return false, nil
	}
	var rows map[string]store.Row
	if !edited {
		var err error
		if rows, err = r.v.store.Rows(r.ctx, []string{f.OldPath, f.NewPath}); err != nil {
			return false, err
		}
	}
	for _, row := range rows {
		if notes.Under(row.Path, f.NewPath) {
			return true, nil
		}
		info, err := r.root.Lstat(f.NewDisk + strings.TrimPrefix(row.DiskPath, f.OldDisk))
		if err == nil && row.Stat.Inode != 0 && fsid.StatOf(info).Inode == row.Stat.Inode {
			return true, nil
		}
	}
	for i := range r.Files[1:] {
		other := &r.Files[i+1]
		under, err := r.contentOf(path.Join(other.Dir(), other.Temp))
		if under.exists && !under.holds(other.New) || err != nil {
			return err == nil, err
		}
		if !other.Moves() || r.Files[0].Folder {
			continue
		}
		if all, err := r.contentsOf(other.OldDisk, other.NewDisk); err != nil || !all[0].exists && all[1].exists {
			return err == nil, err
		}
	}
	return false, nil
}

// redoMove finishes a move that also changes the note; see moveAndChange.
func (r *recovery) redoMove(f *store.FileChange) error {
	from, to, err := r.moveDirs(f)
	if err != nil {
		return err
	}
	oldName, newName := path.Base(f.OldDisk), path.Base(f.NewDisk)
	all, err := r.contentsOf(f.OldDisk, f.NewDisk, path.Join(f.Dir(), f.Temp), path.Join(path.Dir(f.OldDisk), f.Temp+".old"))
	if err != nil {
		return err
	}
	was, named, staged, aside := all[0], all[1], all[2], all[3]
	if staged.isFile(named) {
		if err := to.Discard(f.Temp); err != nil {
			return err
		}
		staged = content{}
	}
	switch {
	case staged.exists && aside.holds(f.Old) && named.vacant(): // the disk is case-insensitive
		return named.fill(to, f.Temp, to, newName)
	case aside.holds(f.Old):
		return nil
	case aside.exists && !was.vacant(): // recreated since
		return nil
	case aside.exists: // another program's save, set aside and not yet compared
		if err := was.fill(from, f.Temp+".old", from, oldName); err != nil {
			return err
		}
		return r.takeBack(to, f, named)
	case was.holds(f.Old) && (named.vacant() || r.isOneFile(f)):
		if !r.isOneFile(f) {
			if err := named.clear(to, newName); err != nil {
				return err
			}
		}
		if err := r.stageAgain(to, f, staged); err != nil {
			return err
		}
		return r.moveAndChange(to, f)
	case staged.exists:
	case named.holds(f.New) && was.holds(f.Old):
		return r.finishMove(to, f, false)
	case named.holds(f.New) && was.exists:
		return r.takeBack(to, f, named)
	case named.exists && !was.exists:
		return nil
	}
	return conflict(r.Kind, f.OldPath, f.Old, was.data)
}

// takeBack withdraws the file that a move has published, because the old file has changed,
// and returns the conflict.
func (r *recovery) takeBack(to *atomicfile.Dir, f *store.FileChange, named content) error {
	if named.holds(f.New) {
		if err := to.Withdraw(path.Base(f.NewDisk), f.Temp); err != nil {
			return err
		}
	}
	return conflict(r.Kind, f.OldPath, f.Old, nil)
}

// moveDirs opens the folders of a move. If the old folder no longer exists, from is the new
// one.
func (r *recovery) moveDirs(f *store.FileChange) (from, to *atomicfile.Dir, err error) {
	if err := r.makeFolders(path.Dir(f.NewDisk)); err != nil {
		return nil, nil, err
	}
	if to, err = r.dir(f.Dir()); err != nil {
		return nil, nil, err
	}
	from, err = r.dir(path.Dir(f.OldDisk))
	if errors.Is(err, fs.ErrNotExist) {
		from, err = to, nil // the old file is gone too
	}
	return from, to, err
}

// isOneFile reports whether both names of a move are spellings of one directory entry,
// because the disk ignores case or Unicode normalization.
func (r *recovery) isOneFile(f *store.FileChange) bool {
	old, oldErr := r.root.Lstat(f.OldDisk)
	renamed, newErr := r.root.Lstat(f.NewDisk)
	if oldErr != nil || newErr != nil || !os.SameFile(old, renamed) {
		return false
	}
	file, err := disk.OpenRegular(r.root, f.NewDisk)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // opened for its link count
	names, err := fsid.HardLinks(file)
	return err == nil && names == 1
}

// redoFolder finishes the move of a folder; see rename.
func (r *recovery) redoFolder(f *store.FileChange) error {
	from, to, err := r.moveDirs(f)
	if err != nil {
		return err
	}
	all, err := r.contentsOf(f.OldDisk, f.NewDisk)
	if err != nil {
		return err
	}
	switch was, named := all[0].exists, all[1].exists; {
	case named && !was:
		return nil
	case was && !named:
		return r.rename(to, f)
	case !was && !named: // under the temp name; see rename
		return from.Move(f.Temp, to, path.Base(f.NewDisk))
	}
	return movedOnto(f.OldPath, f.NewPath)
}

// decide determines whether an interrupted operation was committed, and returns false if
// the log cannot be queried. Without a log, every operation counts as committed.
func (r *recovery) decide() bool {
	if r.v.opt.Shared == nil {
		r.Shared = false
	}
	if !r.Shared {
		return true
	}
	var err error
	if r.committed, err = r.v.opt.Shared.Resolve(r.ctx, r.ID()); err != nil {
		r.v.opt.Log.Warn("an interrupted change waits for the database", "kind", r.Kind, "note", r.Files[0].FinalDisk(), "err", err)
	}
	return err == nil
}
