package notes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"notesd/internal/atomicfile"
)

// recoverOperations finishes what a crash has interrupted. What is under the
// temp name says how far each file came; see redo. A file that somebody else
// changed before it was its turn is left alone, and the operation reports a
// conflict for it.
func (v *Vault) recoverOperations(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recoverPending(ctx)
}

// recoverOnce does so before the first write, which may come before the first
// look at the vault: a request that is repeated after the crash would find its
// own work in its way. The caller holds the vault's lock.
func (v *Vault) recoverOnce(ctx context.Context) error {
	if v.recovered {
		return nil
	}
	return v.recoverPending(context.WithoutCancel(ctx))
}

func (v *Vault) recoverPending(ctx context.Context) error {
	ops, err := v.store.pendingOperations(ctx)
	if err != nil || len(ops) == 0 {
		v.recovered = err == nil
		return err
	}
	root, err := v.disk.open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read from; what is written is synced
	for _, op := range ops {
		if v.mounts.checkOperation(root, op) != nil {
			continue // until its disk is back
		}
		if err := v.recoverOne(ctx, root, op); err != nil {
			return err
		}
	}
	v.recovered = true
	return nil
}

func (v *Vault) recoverOne(ctx context.Context, root *os.Root, op *operation) error {
	disk := &placer{vault: v, root: root, op: op}
	defer disk.close()
	for i := range op.files {
		f := &op.files[i]
		rows, err := v.store.rows(ctx, []string{f.oldPath})
		if err != nil {
			return err
		}
		f.note = rows[f.oldPath].id
		f.state = stateDone
		err = disk.redo(f)
		if errors.Is(err, errKilled) {
			return err
		}
		if err != nil {
			err = writeProblem(op, err)
			if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) {
				v.opt.Log.Error("an interrupted change cannot be finished yet; it will be tried again", "kind", op.kind, "note", f.place(), "err", err)
				return nil // what a file says that cannot be read is not known
			}
			f.state, f.conflict = stateConflict, err
		}
		if i == 0 && f.conflict != nil {
			moved, err := disk.wasMoved(ctx, f)
			if err != nil {
				return err
			}
			if !moved {
				return v.giveUp(ctx, op, disk)
			}
			f.state, f.conflict = stateDone, nil
		}
	}
	for _, dir := range disk.dirs {
		if err := dir.Sync(); err != nil {
			return err
		}
	}
	v.opt.Log.Warn("finished an interrupted change", "kind", op.kind, "note", op.files[0].place(), "conflicts", op.conflicts())
	firstSeen, err := v.replaced(ctx, op)
	if err != nil {
		return err
	}
	_, err = v.complete(ctx, root, op, disk, firstSeen)
	return err
}

// giveUp closes an interrupted operation whose first file, the note that it is
// about, was changed by somebody else before its turn: nothing else is changed.
func (v *Vault) giveUp(ctx context.Context, op *operation, disk *placer) error {
	f := &op.files[0]
	v.opt.Log.Warn("an interrupted change was not carried out: the note was changed in the meantime", "kind", op.kind, "note", f.place(), "err", f.conflict)
	if err := v.step("given up"); err != nil {
		return err
	}
	if err := v.store.fail(ctx, op, stateConflict, f.conflict); err != nil {
		return err
	}
	for i := range op.files[1:] {
		other := &op.files[i+1]
		other.before = beforeMove(op, other)
	}
	return disk.undo(ctx)
}

// beforeMove returns where a file of an operation that moves a folder lies
// until that has moved, or "" when it does not lie in the folder.
func beforeMove(op *operation, f *fileChange) string {
	if first := &op.files[0]; first.folder && under(f.oldDisk, first.newDisk) {
		return first.oldDisk + strings.TrimPrefix(f.oldDisk, first.newDisk)
	}
	return ""
}

// redo brings one file of an interrupted operation to its end. A temp name
// holds the new text, whole, until it is put in place, and the displaced file
// from then until the operation is recorded; so anything but the new text
// under it proves that the step was done, and what the note says now came
// after it. A step that was done is not done again.
func (d *placer) redo(f *fileChange) error {
	switch {
	case f.folder:
		return d.redoFolder(f)
	case f.oldDisk == "":
		return d.redoCreate(f)
	case f.newPath == "":
		return d.redoDelete(f)
	case f.oldDisk == f.newDisk:
		return d.redoExchange(f)
	case f.isPureMove():
		return d.redoRename(f)
	}
	return d.redoMove(f)
}

// content is what a name holds when an operation is recovered.
type content struct {
	there bool
	info  fs.FileInfo // of the name itself
	data  []byte
	err   error // why it cannot be read
}

func (c content) is(text []byte) bool {
	return c.there && c.err == nil && string(c.data) == string(text)
}

func (c content) isFile(other content) bool {
	return c.there && other.there && os.SameFile(c.info, other.info)
}

// look reads what is under a name. The error says that this cannot be known
// just now; what is no text is not an error.
func (d *placer) look(diskPath string) (content, error) {
	info, err := d.root.Lstat(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory) || err == nil && !spelledSo(d.root, diskPath):
		return content{}, nil
	case err != nil:
		return content{}, err
	}
	c := content{there: true, info: info}
	if target, err := d.root.Stat(diskPath); err == nil && !target.Mode().IsRegular() {
		c.err = errNotRegular
		return c, nil
	}
	if c.data, c.err = d.read(d.root, diskPath); isUnknown(c.err) {
		return content{}, c.err
	}
	return c, nil
}

// looks reads what is under several names.
func (d *placer) looks(names ...string) ([]content, error) {
	all := make([]content, len(names))
	for i, name := range names {
		var err error
		if all[i], err = d.look(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (d *placer) redoExchange(f *fileChange) error {
	dir, err := d.dir(f.dir())
	if err != nil {
		return err // its folder is gone
	}
	name, temp := path.Base(f.newDisk), path.Join(f.dir(), f.temp)
	all, err := d.looks(f.newDisk, temp, temp+".old")
	if err != nil {
		return err
	}
	is, under, kept := all[0], all[1], all[2]
	if kept.there && !under.there { // the last of the calls that stand in for an exchange
		if err := dir.Move(f.temp+".old", dir, f.temp); err != nil {
			return err
		}
		under = kept
	}
	switch {
	case under.is(f.old):
		return nil
	case under.there && !under.is(f.new) && is.is(f.new): // somebody's save, displaced and not yet compared
		if err := dir.Exchange(f.temp, name); err != nil {
			return err
		}
	case under.there && !under.is(f.new), is.is(f.new):
		return nil
	case is.is(f.old):
		if err := d.stageAgain(dir, f, under); err != nil {
			return err
		}
		return d.exchange(dir, f)
	}
	return conflict(d.op.kind, f.oldPath, f.old, is.data)
}

// stageAgain stages what a crash has not let be staged, or not wholly.
func (d *placer) stageAgain(dir *atomicfile.Dir, f *fileChange, staged content) error {
	if staged.there {
		return nil
	}
	if err := dir.Discard(f.temp + atomicfile.Part); err != nil {
		return err
	}
	return d.stageFile(dir, f)
}

func (d *placer) redoCreate(f *fileChange) error {
	if err := d.makeFolders(path.Dir(f.newDisk)); err != nil {
		return err
	}
	dir, err := d.dir(f.dir())
	if err != nil {
		return err
	}
	all, err := d.looks(f.newDisk, path.Join(f.dir(), f.temp))
	if err != nil {
		return err
	}
	is, staged := all[0], all[1]
	if is.there && (!staged.there || is.isFile(staged)) {
		return nil // published, and perhaps changed since
	}
	if err := d.stageAgain(dir, f, staged); err != nil {
		return err
	}
	return dir.Publish(f.temp, path.Base(f.newDisk))
}

func (d *placer) redoDelete(f *fileChange) error {
	all, err := d.looks(f.oldDisk, path.Join(f.dir(), f.temp))
	if err != nil {
		return err
	}
	is, gone := all[0], all[1]
	if !is.there && (!gone.there || gone.is(f.old)) {
		return nil
	}
	dir, err := d.dir(f.dir())
	if err != nil {
		return err
	}
	if gone.isFile(is) { // linked, and the name not yet removed
		if err := dir.Discard(f.temp); err != nil {
			return err
		}
		gone = content{}
	}
	switch {
	case gone.there && is.there:
		return nil // made again since
	case gone.there:
		if err := dir.Move(f.temp, dir, path.Base(f.oldDisk)); err != nil {
			return err
		}
	case is.is(f.old):
		return d.withdraw(dir, f)
	}
	return conflict(d.op.kind, f.oldPath, f.old, is.data)
}

// redoRename: the note has moved when its old name is gone and the new one
// there. Otherwise it moves now, unless it was changed.
func (d *placer) redoRename(f *fileChange) error {
	from, to, err := d.moveDirs(f)
	if err != nil {
		return err
	}
	oldName, newName := path.Base(f.oldDisk), path.Base(f.newDisk)
	all, err := d.looks(f.oldDisk, f.newDisk, path.Join(path.Dir(f.oldDisk), f.temp))
	if err != nil {
		return err
	}
	was, is, between := all[0], all[1], all[2]
	switch {
	case between.is(f.old) && !was.there && !is.there: // see rename
		return from.Move(f.temp, to, newName)
	case between.there && !was.there && !is.there:
		if err := from.Move(f.temp, from, oldName); err != nil {
			return err
		}
	case is.there && !was.there:
		return nil
	case was.isFile(is) && !d.isOneFile(f): // linked, and the old name not yet removed
		return from.Discard(oldName)
	case was.is(f.old) && (!is.there || was.isFile(is)):
		return d.move(to, f)
	}
	return conflict(d.op.kind, f.oldPath, f.old, was.data)
}

// wasMoved reports whether a note or folder was moved before the crash,
// whatever has its names since: the store or the file system says so, or that
// a link to it was rewritten, which comes after it.
func (d *placer) wasMoved(ctx context.Context, f *fileChange) (bool, error) {
	if !f.folder && !f.isPureMove() {
		return false, nil
	}
	rows, err := d.vault.store.rows(ctx, []string{f.oldPath, f.newPath})
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if under(r.path, f.newPath) {
			return true, nil
		}
		info, err := d.root.Lstat(f.newDisk + strings.TrimPrefix(r.diskPath, f.oldDisk))
		if err == nil && r.stat.inode != 0 && statOf(info).inode == r.stat.inode {
			return true, nil
		}
	}
	for i := range d.op.files[1:] {
		other := &d.op.files[i+1]
		under, err := d.look(path.Join(other.dir(), other.temp))
		if under.there && !under.is(other.new) || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// redoMove finishes a move that changes the note too: see moveAndChange.
func (d *placer) redoMove(f *fileChange) error {
	from, to, err := d.moveDirs(f)
	if err != nil {
		return err
	}
	oldName, newName := path.Base(f.oldDisk), path.Base(f.newDisk)
	all, err := d.looks(f.oldDisk, f.newDisk, path.Join(f.dir(), f.temp), path.Join(path.Dir(f.oldDisk), f.temp+".old"))
	if err != nil {
		return err
	}
	was, is, staged, aside := all[0], all[1], all[2], all[3]
	if aside.isFile(was) { // linked, and the name not yet removed
		if err := from.Discard(f.temp + ".old"); err != nil {
			return err
		}
		aside = content{}
	}
	if staged.isFile(is) {
		if err := to.Discard(f.temp); err != nil {
			return err
		}
		staged = content{}
	}
	switch {
	case staged.there && aside.is(f.old) && !is.there: // the disk folds case
		return to.Publish(f.temp, newName)
	case aside.is(f.old):
		return nil
	case aside.there && was.there: // made again since
		return nil
	case aside.there: // somebody's save, set aside and not yet compared
		if err := from.Move(f.temp+".old", from, oldName); err != nil {
			return err
		}
		return d.takeBack(to, f, is)
	case was.is(f.old) && (!is.there || d.isOneFile(f)):
		if err := d.stageAgain(to, f, staged); err != nil {
			return err
		}
		return d.moveAndChange(to, f)
	case staged.there:
	case is.is(f.new) && was.is(f.old):
		return d.finishMove(to, f, false)
	case is.is(f.new) && was.there:
		return d.takeBack(to, f, is)
	case is.there && !was.there:
		return nil
	}
	return conflict(d.op.kind, f.oldPath, f.old, was.data)
}

// takeBack takes away what a move has published, as the note itself has not
// moved, and returns the conflict.
func (d *placer) takeBack(to *atomicfile.Dir, f *fileChange, is content) error {
	if is.is(f.new) {
		if err := to.Move(path.Base(f.newDisk), to, f.temp); err != nil {
			return err
		}
	}
	return conflict(d.op.kind, f.oldPath, f.old, nil)
}

// moveDirs opens the folders of a move, of which the old one may be gone.
func (d *placer) moveDirs(f *fileChange) (from, to *atomicfile.Dir, err error) {
	if err := d.makeFolders(path.Dir(f.newDisk)); err != nil {
		return nil, nil, err
	}
	if to, err = d.dir(f.dir()); err != nil {
		return nil, nil, err
	}
	from, err = d.dir(path.Dir(f.oldDisk))
	if errors.Is(err, fs.ErrNotExist) {
		from, err = to, nil // nothing of the note is there
	}
	return from, to, err
}

// isOneFile reports whether both names of a move reach the same file although
// it has but one name: the disk folds case, or Unicode forms.
func (d *placer) isOneFile(f *fileChange) bool {
	old, oldErr := d.root.Lstat(f.oldDisk)
	is, newErr := d.root.Lstat(f.newDisk)
	if oldErr != nil || newErr != nil || !os.SameFile(old, is) {
		return false
	}
	file, err := openRegular(d.root, f.newDisk)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only asked
	names, err := hardLinks(file)
	return err == nil && names == 1
}

func (d *placer) redoFolder(f *fileChange) error {
	from, to, err := d.moveDirs(f)
	if err != nil {
		return err
	}
	isThere := func(diskPath string) bool {
		_, err := d.root.Lstat(diskPath)
		return err == nil && spelledSo(d.root, diskPath)
	}
	switch was, is := isThere(f.oldDisk), isThere(f.newDisk); {
	case is && !was:
		return nil
	case was && !is:
		return d.rename(to, f)
	case !was && !is: // on its way: see rename
		return from.Move(f.temp, to, path.Base(f.newDisk))
	}
	return movedOnto(f.oldPath, f.newPath)
}
