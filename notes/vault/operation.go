package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
		return written, err
	}
	v.feed.run(context.WithoutCancel(ctx))
	return written, nil
}

func (v *Vault) changeLocked(ctx context.Context, c change, plan func(o *operation) error) (notes.Written, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var written notes.Written
	if err := v.recoverOnce(ctx); err != nil {
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
	disk := &placer{operation: o}
	defer disk.close()
	if err := disk.place(); err != nil && (disk.committed || errors.Is(err, notes.ErrOutcomeUnknown)) {
		o.v.recovered = false // the next write, or scan of everything, finishes it
		return notes.Written{}, o.undecided(err)
	} else if err != nil {
		return notes.Written{}, disk.abandon(err)
	}
	written, err := disk.complete(replaced)
	if err != nil {
		o.v.recovered = false // the next write, or scan of everything, finishes it first
		return written, o.unrecorded(err)
	}
	return written, nil
}

// abandon closes an operation that could not change a name. Its temp files go
// last: a program that opened the note while one of them had its name is still
// writing.
func (d *placer) abandon(cause error) error {
	if errors.Is(cause, errKilled) {
		return cause
	}
	state := store.StateFailed
	if errors.Is(cause, notes.ErrConflict) {
		state = store.StateConflict
	}
	return errors.Join(d.writeProblem(cause), d.v.store.Fail(d.ctx, d.Operation, state, cause), d.undo())
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
	written.Seq = d.v.store.HeadSeq.Load()
	if err := d.v.step("finished"); err != nil {
		return written, err
	}
	if err := d.discard(); errors.Is(err, errKilled) {
		return written, err
	} else if err != nil {
		d.v.opt.Log.Warn("a temp file could not be removed yet", "note", d.Files[0].Place(), "err", err)
	}
	return written, d.removeEmpty(d.clear)
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
			note, err := o.v.store.LoadNote(o.ctx, r.Id)
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

// mayWrite returns an error unless the operation may write at p.
func (o *operation) mayWrite(p string) error { return o.v.guard.checkWrite(o.Kind, p, o.scope) }

// checkNew returns an error unless a note may be created at p, whatever is there.
func (o *operation) checkNew(p string) error {
	if err := notes.CheckNewPath(p); err != nil {
		return err
	}
	if err := o.mayWrite(p); err != nil {
		return err
	}
	return checkPlace(o.root, "create", p)
}

// checkPlace refuses a new path that lies below a symlink to a folder, or
// below a file, or in none of the vault's several folders.
func checkPlace(root *disk.Root, op, p string) error {
	if folders := root.Folders(); len(folders) > 0 {
		folder, _, below := strings.Cut(p, "/")
		if !below || !slices.Contains(folders, folder) {
			return &notes.Error{Op: op, Path: p, Err: notes.ErrInvalid, Detail: "it is in none of the vault's folders, which are " + strings.Join(folders, ", "),
				Hint: fmt.Sprintf("Begin the path with one of them, such as %s.", notes.Quote(folders[0]+"/"+path.Base(p))), Candidates: folders}
		}
	}
	folder := root.SymlinkAbove(p)
	if folder == "" {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			info, err := root.Lstat(dir)
			switch {
			case err == nil && info.IsDir():
				return nil
			case err == nil:
				return &notes.Error{Op: op, Path: p, Err: notes.ErrInvalid, Detail: fmt.Sprintf("%s is a file and no folder", notes.Quote(dir)), Hint: "Name a folder, or one that does not exist yet."}
			}
		}
		return nil
	}
	return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: fmt.Sprintf("%s is a symlink to a folder, which is not followed", notes.Quote(folder)), Hint: "Name the folder that it leads to."}
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
	if err := v.recoverOnce(ctx); err != nil {
		return false, err
	}
	return store.Answered(ctx, v.store.History().Reader(), requestKey, nil)
}
