package notes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"notesd/internal/atomicfile"
)

// recoverOperations finishes what a crash has interrupted. A file that has
// the old bytes gets the new ones, one that has the new ones is done, and one
// that has neither was changed by somebody else: it is left alone, and the
// operation reports a conflict for it.
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
		if err := disk.redo(ctx, f); err != nil {
			f.state, f.conflict = stateConflict, err
		}
	}
	for _, dir := range disk.dirs {
		if err := dir.Sync(); err != nil {
			return err
		}
	}
	v.opt.Log.Warn("finished an interrupted change", "kind", op.kind, "note", op.files[0].place(), "conflicts", op.conflicts())
	if len(op.files) == len(op.conflicts()) {
		return v.store.fail(ctx, op, stateConflict, op.files[0].conflict)
	}
	_, err := v.complete(ctx, root, op, disk)
	return err
}

// redo brings one file of an interrupted operation to its end.
func (d *placer) redo(ctx context.Context, f *fileChange) error {
	dir, err := d.recoveryDir(f)
	if err != nil {
		return err
	}
	if f.folder {
		return d.redoFolder(dir, f)
	}
	if err := d.restoreDisplaced(dir, f); err != nil {
		return err
	}
	if f.oldDisk != "" {
		d.rescue(ctx, f)
	}
	if err := d.discardTemps(f); err != nil {
		return err
	}
	oldIs, newIs := d.holds(f.oldDisk, f.old), d.holds(f.newDisk, f.new)
	moves := f.oldDisk != "" && f.newPath != "" && f.oldDisk != f.newDisk
	switch {
	case f.newPath == "" && oldIs == absent, f.newPath != "" && newIs == same && (!moves || oldIs == absent):
		return nil // done before the crash
	case moves && newIs == same && oldIs == same && !d.isOneFile(f):
		return d.setAside(f) // what it had published the new name for
	case f.oldDisk == "" && newIs == absent, f.oldDisk != "" && oldIs == same && (!moves || newIs == absent || d.isOneFile(f)):
		return d.again(dir, f)
	}
	return conflict(d.op.kind, f.oldPath, f.old, nil)
}

// isOneFile reports whether both names of a move reach the same file although
// it has but one name: the disk folds case, or Unicode forms.
func (d *placer) isOneFile(f *fileChange) bool {
	old, oldErr := d.root.Lstat(f.oldDisk)
	is, newErr := d.root.Lstat(f.newDisk)
	if oldErr != nil || newErr != nil || !os.SameFile(old, is) {
		return false
	}
	file, err := d.root.Open(f.newDisk)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only asked
	names, err := hardLinks(file)
	return err == nil && names == 1
}

func (d *placer) redoFolder(dir *atomicfile.Dir, f *fileChange) error {
	isThere := func(diskPath string) bool {
		_, err := d.root.Lstat(diskPath)
		return err == nil && spelledSo(d.root, diskPath)
	}
	switch was, is := isThere(f.oldDisk), isThere(f.newDisk); {
	case is && !was:
		return nil
	case was && !is:
		return d.rename(dir, f)
	case !was && !is: // on its way: see rename
		from, err := d.dir(path.Dir(f.oldDisk))
		if err != nil {
			return err
		}
		return from.Move(f.temp, dir, path.Base(f.newDisk))
	}
	return movedOnto(f.oldPath, f.newPath)
}

func (d *placer) recoveryDir(f *fileChange) (*atomicfile.Dir, error) {
	if f.newPath != "" {
		if err := d.makeFolders(path.Dir(f.newDisk)); err != nil {
			return nil, err
		}
	}
	return d.dir(f.dir())
}

// again does the file's step as if for the first time.
func (d *placer) again(dir *atomicfile.Dir, f *fileChange) error {
	if f.newPath != "" && !f.isPureMove() {
		if err := d.stageFile(dir, f); err != nil {
			return err
		}
	}
	return d.swapFile(f)
}

// What a name holds.
type holding int

const (
	absent holding = iota
	same
	other
)

func (d *placer) holds(diskPath string, want []byte) holding {
	if diskPath == "" {
		return absent
	}
	data, err := d.root.ReadFile(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !spelledSo(d.root, diskPath):
		return absent
	case err == nil && string(data) == string(want):
		return same
	}
	return other
}

// restoreDisplaced deals with a crash after a file was displaced and before
// it was compared: what is under a temp name may be somebody's save, or, when
// neither name of a move is there, the note itself.
func (d *placer) restoreDisplaced(dir *atomicfile.Dir, f *fileChange) error {
	if f.oldDisk == "" {
		return nil
	}
	if f.oldDisk == f.newDisk {
		temp := path.Join(f.dir(), f.temp)
		if d.holds(temp, f.old) == other && d.holds(temp, f.new) == other && d.holds(f.newDisk, f.new) == same {
			return dir.Exchange(f.temp, path.Base(f.newDisk))
		}
		return nil
	}
	from, err := d.dir(path.Dir(f.oldDisk))
	if err != nil {
		return nil // the old folder is gone, and nothing of ours with it
	}
	lost := f.newPath != "" && d.holds(f.newDisk, nil) == absent // a move that has neither name
	for _, name := range []string{f.temp, f.temp + ".old"} {
		if name == f.temp && f.newPath != "" && !f.isPureMove() {
			continue // our own text, staged
		}
		is := d.holds(path.Join(path.Dir(f.oldDisk), name), f.old)
		if (is == other || is == same && lost) && d.holds(f.oldDisk, nil) == absent {
			return from.Move(name, from, path.Base(f.oldDisk))
		}
	}
	return nil
}
