package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// perform carries an operation out: journal, temp files, the swap of each
// name, the store, and the journal again. The caller holds the vault's lock.
// An error means that nothing has changed, unless it says otherwise; a file
// after the first that somebody else changed in that very moment has its
// conflict in op.files.
func (v *Vault) perform(ctx context.Context, root *os.Root, op *store.Operation) (notes.Written, error) {
	ctx = context.WithoutCancel(ctx) // once begun, it is finished
	replaced, err := v.replaced(ctx, op)
	if err != nil {
		return notes.Written{}, err
	}
	if err := v.store.Begin(ctx, op, replaced); err != nil {
		return notes.Written{}, writeProblem(op, err)
	}
	if err := v.step("journalled"); err != nil {
		return notes.Written{}, err
	}
	disk := &placer{vault: v, root: root, op: op}
	defer disk.close()
	if err := disk.place(); err != nil {
		return notes.Written{}, v.abandon(ctx, op, disk, err)
	}
	written, err := v.complete(ctx, root, op, disk, replaced)
	if err != nil {
		v.recovered = false // the next write, or look at everything, finishes it first
		return written, v.unrecorded(op, err)
	}
	return written, nil
}

// abandon closes an operation that could not change a name. Its temp files go
// last: who opened the note while one of them had its name is still writing.
func (v *Vault) abandon(ctx context.Context, op *store.Operation, disk *placer, cause error) error {
	if errors.Is(cause, errKilled) {
		return cause
	}
	state := store.StateFailed
	if errors.Is(cause, notes.ErrConflict) {
		state = store.StateConflict
	}
	return errors.Join(writeProblem(op, cause), v.store.Fail(ctx, op, state, cause), disk.undo(ctx))
}

// unrecorded says that the files are in place and the store or the history
// could not take that in.
func (v *Vault) unrecorded(op *store.Operation, err error) error {
	if errors.Is(err, errKilled) {
		return err
	}
	v.opt.Log.Error("a change is on disk and could not be recorded; it will be tried again", "kind", op.Kind, "note", op.Files[0].Place(), "err", err)
	return &notes.Error{Op: op.Kind, Path: notes.Nfc(op.Files[0].Place()), Err: notes.ErrUnavailable, Detail: "the change is on disk, but could not be recorded yet (is the disk with notesd's state full?)",
		Hint: "Do not repeat it; read the note to see what it says now."}
}

// complete records an operation whose files are in place. Its temp files, which
// say how far it came, go last.
func (v *Vault) complete(ctx context.Context, root *os.Root, op *store.Operation, disk *placer, replaced map[int64]store.Version) (notes.Written, error) {
	if err := v.absorb(ctx, root, op); err != nil {
		return notes.Written{}, err
	}
	if err := v.step("absorbed"); err != nil {
		return notes.Written{}, err
	}
	written := op.Written()
	var err error
	if written.Revision, err = v.store.Finish(ctx, op, replaced, written); err != nil {
		return notes.Written{}, err
	}
	written.Seq = v.store.HeadSeq.Load()
	if err := v.step("finished"); err != nil {
		return written, err
	}
	if err := disk.discard(ctx); errors.Is(err, errKilled) {
		return written, err
	} else if err != nil {
		v.opt.Log.Warn("a temp file could not be removed yet", "note", op.Files[0].Place(), "err", err)
	}
	return written, nil
}

// step is where tests make the program fail.
func (v *Vault) step(name string) error {
	if v.failpoint == nil {
		return nil
	}
	return v.failpoint(name)
}

// replaced returns the versions that the store has of the operation's notes.
func (v *Vault) replaced(ctx context.Context, op *store.Operation) (map[int64]store.Version, error) {
	var ids []int64
	for _, f := range op.Files {
		if f.Note != 0 {
			ids = append(ids, f.Note)
		}
	}
	return v.store.StoredVersions(ctx, ids)
}

// absorb makes the store equal to what the operation has put on disk.
func (v *Vault) absorb(ctx context.Context, root *os.Root, op *store.Operation) error {
	var paths []string
	for _, f := range op.Files {
		for _, p := range []string{f.OldPath, f.NewPath} {
			if p != "" {
				paths = append(paths, p)
			}
		}
	}
	rows, err := v.store.Rows(ctx, paths)
	if err != nil {
		return err
	}
	b := &batch{vault: v, root: root, current: rows}
	inFolder := op.Files[0].Folder
	for _, f := range op.Files {
		switch {
		case f.State != store.StateDone:
		case f.Folder:
			if err := v.absorbFolder(ctx, b, op); err != nil {
				return err
			}
		case inFolder && notes.Under(f.NewPath, op.Files[0].NewPath):
			// came with the folder
		case !f.IsNote():
			v.queue.add([]string{f.NewDisk})
		default:
			v.absorbFile(b, f)
		}
	}
	if len(b.again) > 0 {
		v.queue.add(b.again)
	}
	return v.commitEntries(ctx, b.entries, b.touches, op.Author, false)
}

func (v *Vault) absorbFile(b *batch, f store.FileChange) {
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
		v.queue.add([]string{f.NewDisk}) // the symlink's target may be a note as well
	}
	if known {
		p.row = &old
	} else if r, ok := b.current[f.NewPath]; ok {
		p.row = &r
	}
	p.hashedAt = v.opt.Now().UnixNano()
	_ = v.absorbAs(b, &p, notes.Hash(f.New), func() ([]byte, error) { return f.New, nil })
}

// absorbAs takes in a file with the hash that the operation left it with. When
// somebody has changed it since, the store gets that text all the same, and the
// next look what came after it: history keeps both.
func (v *Vault) absorbAs(b *batch, p *prepared, hash string, text func() ([]byte, error)) error {
	if err := v.readFile(b.root, p); err == nil && p.skip == "" && p.hash == hash {
		b.add(p)
		return nil
	}
	data, err := text()
	if err != nil {
		return err
	}
	v.queue.add([]string{p.DiskPath})
	p.Stat, p.hashedAt, p.skip, p.note = fsid.Stat{}, 0, "", notes.Parse(p.Path, data, v.opt.Now())
	b.enter(p)
	return nil
}

// absorbFolder takes every note that the store has in the old folder to the
// new one.
func (v *Vault) absorbFolder(ctx context.Context, b *batch, op *store.Operation) error {
	f := &op.Files[0]
	relinked := map[string][]byte{}
	for _, other := range op.Files[1:] {
		if other.State == store.StateDone {
			relinked[other.NewPath] = other.New
		}
	}
	for _, r := range b.current {
		if !notes.Under(r.Path, f.OldPath) {
			continue
		}
		p := prepared{row: &r, hashedAt: v.opt.Now().UnixNano(), File: store.File{
			Path: f.NewPath + strings.TrimPrefix(r.Path, f.OldPath), DiskPath: f.NewDisk + strings.TrimPrefix(r.DiskPath, f.OldDisk)}}
		hash := r.Hash
		text, changed := relinked[p.Path]
		if changed {
			hash = notes.Hash(text)
		}
		err := v.absorbAs(b, &p, hash, func() ([]byte, error) {
			if changed {
				return text, nil
			}
			note, err := v.store.LoadNote(ctx, r.Id)
			if err != nil {
				return nil, err
			}
			return []byte(note.Content), nil
		})
		if err != nil {
			return err
		}
	}
	v.queue.add([]string{f.OldDisk, f.NewDisk}) // attachments, and what the store did not know yet
	return nil
}

// conflict says that a file is not what it was when the change was computed.
func conflict(op, notePath string, was, is []byte) error {
	return &notes.Error{Op: op, Path: notePath, Err: notes.ErrConflict, Detail: "the note was changed in the meantime; nothing was written",
		Hint: "Read the note again and repeat the change on what it says now.", Hash: notes.Hash(is), Diff: store.ShortDiff(was, is, notePath)}
}

// errHeld: another program does not let the file be replaced.
var errHeld = errors.New("held by another program")

// writeProblem puts what the system said into words that help, without an
// outside path.
func writeProblem(op *store.Operation, err error) error {
	var own *notes.Error
	if errors.As(err, &own) || errors.Is(err, errKilled) {
		return err
	}
	e := &notes.Error{Op: op.Kind, Path: op.Files[0].NewPath, Err: notes.ErrUnavailable, Hint: "Nothing was changed."}
	if e.Path == "" {
		e.Path = op.Files[0].OldPath
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		e.Err, e.Detail, e.Hint = notes.ErrExists, "a file with this name is there already", "Choose another name, or edit that note."
	case isFull(err):
		e.Detail, e.Hint = "the disk is full", "Nothing was changed. Free some space and try again."
	case errors.Is(err, errHeld) || atomicfile.IsHeldElsewhere(err):
		e.Err, e.Detail, e.Hint = notes.ErrConflict, "another program holds a lock on the file", "Nothing was changed. Close it there and try again."
	case atomicfile.IsReadOnlyDisk(err):
		e.Err, e.Detail = notes.ErrReadOnly, "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		e.Err, e.Detail = notes.ErrForbidden, "the system does not permit writing there"
	case errors.Is(err, errTooLarge):
		e.Err, e.Detail = notes.ErrTooLarge, "the file is larger than a note may be"
	case errors.Is(err, errNotRegular):
		e.Err, e.Detail = notes.ErrConflict, "the note is not a regular file any more"
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		e.Err, e.Detail, e.Hint = notes.ErrConflict, "the file or its folder was removed in the meantime", "Read the folder again."
	default:
		return fmt.Errorf("%s %s: %w", op.Kind, notes.Quote(e.Path), err)
	}
	return e
}

// Repeated reports whether the request was carried out already, so that sending
// it again only brings its answer: nobody has to be asked for it. What a crash
// has interrupted is finished first.
func (v *Vault) Repeated(ctx context.Context, requestKey string) (bool, error) {
	if requestKey == "" {
		return false, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.recoverOnce(ctx); err != nil {
		return false, err
	}
	return store.Answered(ctx, v.store.History().Reader(), requestKey, nil)
}
