package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"notesd/internal/atomicfile"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// writeRequest holds the parameters common to all writes.
type writeRequest struct {
	kind   string // see [store.Operation]
	author notes.Author
	key    string // RequestKey
	scope  notes.Scope
	dryRun bool
	replan bool  // if another program saves a file in between, or removes one of many, plan again
	placed bool  // the change is already in the shared log
	partOf int64 // the number of the change that it is part of; 0 if it is one of its own

	caughtUp bool // set by change: the store has the notes that were on disk when it was called
}

// operation is one write, made with the vault's lock held. It is planned from the current
// files, or read from the journal, and then performed.
type operation struct {
	*store.Operation
	v             *Vault
	ctx           context.Context
	root          *disk.Root
	scope         notes.Scope
	caughtUp      bool                   // the store has all notes
	parsed        map[string]*notes.Note // the notes that it writes, by path
	together      int                    // so many of its first files are notes that move, all or none
	removeIfEmpty []string               // folders to be removed afterwards if they are empty, outermost first: in an undo, those that the change made
}

// change runs one operation under the vault's lock. It returns the stored answer if the
// request was already handled; otherwise it performs what plan computes from the current
// files, and feeds the result to the followers. plan may be called several times. A dry run,
// and a change that leaves the file as it is, write nothing and return what performing would
// have returned. An operation on all notes waits for the first scan of the vault, and finds
// notes that were saved just before.
func (v *Vault) change(ctx context.Context, r writeRequest, plan func(o *operation) error) (notes.Written, error) {
	written, err := v.changeOnce(ctx, r, plan)
	patience, missing := v.opt.scanPatience, errors.Is(err, notes.ErrNotFound)
	if missing { // it may have been saved meanwhile
		patience = 0
	}
	if missing || errors.Is(err, errScanning) {
		if unreported := v.reconcileUnreported(ctx, patience); unreported == nil {
			r.caughtUp = true
			written, err = v.changeOnce(ctx, r, plan)
		} else if !missing {
			err = unreported
		}
	}
	var behind *behindError
	for try := 0; try < maxCatchUps && errors.As(err, &behind); try++ {
		if err := v.opt.Shared.CatchUp(ctx, behind.paths); err != nil {
			return written, err
		}
		written, err = v.changeOnce(ctx, r, plan)
	}
	isOld := func() bool { // a removed file may be in the store still; a change of that note alone fails
		return errors.Is(err, errSavedSince) || r.caughtUp && errors.Is(err, errRemovedSince) && v.reconcileUnreported(ctx, 0) == nil
	}
	for try := 0; r.replan && try < maxReplans && isOld(); try++ {
		written, err = v.changeOnce(ctx, r, plan)
	}
	if err != nil {
		return written, writeProblem(r.kind, "", err)
	}
	v.feeder.run(context.WithoutCancel(ctx))
	return written, nil
}

// maxReplans bounds how often a change is planned again because another program saved or
// removed one of its files.
const maxReplans = 3

// answered returns the stored answer if the request was already carried out. Requests that are
// completed before change is called, for example with the note that "today" names, call it
// first: once the vault or the day has changed, completing one again may fail.
func (v *Vault) answered(ctx context.Context, r writeRequest) (written notes.Written, done bool, err error) {
	done, err = v.lookUpAnswer(ctx, r.key, &written)
	return written, done || err != nil, err
}

// changeOnce takes the vault's lock, and plans and performs the operation once, unless the
// request was already handled.
func (v *Vault) changeOnce(ctx context.Context, r writeRequest, plan func(o *operation) error) (notes.Written, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var written notes.Written
	if err := v.interrupted.finishOnce(ctx); err != nil {
		return written, err
	}
	if done, err := store.Answered(ctx, v.store.History().Reader(), r.key, &written); done || err != nil {
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
	o := &operation{Operation: &store.Operation{Kind: r.kind, Author: r.author, RequestKey: r.key, PartOf: r.partOf, Shared: v.opt.Shared != nil && !r.placed}, v: v, ctx: ctx, root: root, scope: r.scope, caughtUp: r.caughtUp}
	if err := plan(o); err != nil {
		return written, v.mounts.explain(root, err)
	}
	if err := v.mounts.checkOperation(root, o.Operation); err != nil {
		return written, err
	}
	if !r.placed {
		if err := o.parse(); err != nil {
			return written, err
		}
	}
	if f := &o.Files[0]; r.dryRun || f.OldPath != "" && f.OldDisk == f.NewDisk && bytes.Equal(f.Old, f.New) {
		written = o.written()
		switch {
		case r.dryRun && r.kind == "edit":
			written.Whole = o.WholeDiff()
		case r.dryRun && r.kind == "restore":
			written.Diff = o.ShortDiffs()
		}
		return written, nil
	}
	return o.perform()
}

// parse parses the notes that the operation writes. It returns an error, before anything is
// written, if the parser panics.
func (o *operation) parse() error {
	o.parsed = make(map[string]*notes.Note, len(o.Files))
	for _, f := range o.Files {
		if f.Folder || !notes.IsNoteName(f.NewPath) {
			continue
		}
		note, skip := o.v.parse(f.NewPath, f.New)
		if skip != "" {
			return &notes.Error{Op: o.Kind, Path: f.NewPath, Err: notes.ErrInvalid, Detail: "notesd failed to parse the text, so nothing was written", Hint: "Write it in another way. The log says where the parser failed; please report it."}
		}
		o.parsed[f.NewPath] = note
	}
	return nil
}

// written returns the outcome of the operation, without its revision.
func (o *operation) written() notes.Written {
	w := o.Written()
	if note := o.parsed[w.Path]; note != nil {
		w.Title = note.Title
	}
	return w
}

// requireAll returns errScanning unless the store has all notes, also those that the watcher
// has not reported yet: a change of links or tags everywhere would miss them.
func (o *operation) requireAll() error {
	if !o.caughtUp {
		return errScanning
	}
	return nil
}

// openForChange looks up the note to be changed, checks that it may be, and reads it from
// disk.
func (o *operation) openForChange(ref, expectedHash string) (store.FileChange, error) {
	meta, err := o.v.store.Lookup(o.ctx, ref, o.scope)
	if err != nil {
		return store.FileChange{}, err
	}
	if err := o.v.store.CheckWhole(o.ctx, o.Kind, ref, meta, o.scope); err != nil {
		return store.FileChange{}, err
	}
	if err := o.mayWrite(meta.Path); err != nil {
		return store.FileChange{}, err
	}
	if o.Kind == "delete" { // removes the symlink, not its target
		return o.openNote(meta.Path, expectedHash)
	}
	return o.openTarget(meta.Path, expectedHash)
}

// openTarget opens a note for changes; if it is a symlink, the change is made to its
// target.
func (o *operation) openTarget(notePath, expectedHash string) (store.FileChange, error) {
	f, err := o.openNote(notePath, expectedHash)
	if err == nil {
		err = o.checkTarget(f)
	}
	return f, err
}

// checkTarget rejects a symlink to a file that the caller may not write, without revealing
// which file that is.
func (o *operation) checkTarget(f store.FileChange) error {
	if f.Link == "" || o.mayWrite(notes.Nfc(f.Source())) == nil {
		return nil
	}
	return &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrForbidden, Detail: "the note is a symlink to a file that this client may not write"}
}

// openNote reads a note that is to be replaced.
func (o *operation) openNote(notePath, expectedHash string) (store.FileChange, error) {
	f, err := o.readNote(notePath, expectedHash)
	if err == nil {
		err = o.checkReplaceable(f)
	}
	return f, err
}

// readNote reads a note and its place on disk.
func (o *operation) readNote(notePath, expectedHash string) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	r := rows[notePath]
	f := store.FileChange{Note: r.ID, OldPath: notePath, NewPath: notePath, OldDisk: r.DiskPath}
	if info, err := o.root.Lstat(r.DiskPath); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		real, ok := o.root.RealPath(r.DiskPath)
		if !ok {
			return f, &notes.Error{Op: "write", Path: notePath, Err: notes.ErrForbidden, Detail: "it is a symlink that is broken or leads out of the vault"}
		}
		f.OldDisk, f.Link = real, r.DiskPath
	}
	f.NewDisk = f.OldDisk
	if f.Old, err = o.readSettled(f.OldDisk, r.Stat.Size); err != nil {
		o.v.queue.Add(r.DiskPath)
		if errors.Is(err, fs.ErrNotExist) && isEvicted(o.root, f.OldDisk) {
			return f, &notes.Error{Op: o.Kind, Path: notePath, Err: notes.ErrUnavailable, Detail: skipEvicted, Hint: "Nothing was changed. Open the note on this machine, or choose Keep Downloaded for the vault's folder."}
		}
		return f, writeProblem(o.Kind, f.NewPath, err)
	}
	if expectedHash != "" && !matchesHash(f.Old, expectedHash) {
		return f, o.expectedConflict(f, expectedHash)
	}
	return f, nil
}

// checkReplaceable rejects a file that a tool may not replace.
func (o *operation) checkReplaceable(f store.FileChange) error {
	if info, err := o.root.Stat(f.OldDisk); err == nil && info.Mode().Perm()&0o222 == 0 { // exchanging names would succeed anyway
		return &notes.Error{Op: o.Kind, Path: f.NewPath, Err: notes.ErrForbidden, Detail: "the file is read-only", Hint: "Nothing was changed. The user can make the file writable."}
	}
	return o.checkExclusive(f)
}

// matchesHash reports whether data has the hash, which may be a [notes.ShortHash].
func matchesHash(data []byte, hash string) bool {
	full := notes.Hash(data)
	return len(hash) >= len(notes.ShortHash(full)) && strings.HasPrefix(full, hash)
}

// settleFor is how long to wait for a file that has just become shorter, and settleEvery
// how often it is read meanwhile.
const (
	settleFor   = 100 * time.Millisecond
	settleEvery = 5 * time.Millisecond
)

// readSettled reads a file that is to be changed. A program that saves in place truncates
// the file first, so a file that was recently modified and is shorter than the stored note
// is read again for a while. If it remains empty, that is a conflict for [emptiedFor].
func (o *operation) readSettled(diskPath string, known int64) ([]byte, error) {
	for waited := time.Duration(0); ; waited += settleEvery {
		data, st, err := disk.Read(o.root, diskPath, o.v.opt.MaxNoteBytes)
		now := o.v.opt.Now()
		age := sinceChange(st, now)
		switch {
		case err == nil && st.Size < known && age >= 0 && age < settleFor && waited < settleFor:
		case err == nil && justEmptied(st, known, now):
			return nil, &notes.Error{Op: o.Kind, Path: notes.Nfc(diskPath), Err: notes.ErrConflict, Detail: "the file was emptied a moment ago, as by a program that is saving it",
				Hint: "Nothing was changed. Read the note in a few seconds and try again."}
		default:
			return data, err
		}
		<-time.After(settleEvery)
	}
}

// expectedConflict returns the conflict with the version that the caller read, with a diff
// from that version if history has it.
func (o *operation) expectedConflict(f store.FileChange, expectedHash string) error {
	was, err := o.v.store.VersionText(o.ctx, f.OldPath, expectedHash)
	if err != nil {
		return err
	}
	e := &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note does not match expected_hash",
		Hint: "Read the note again and repeat the change on its current text.", Hash: notes.Hash(f.Old)}
	if was != nil {
		e.Diff = store.ShortDiff(was, f.Old, f.OldPath)
	}
	return e
}

// addRewritten adds to the operation those of the notes that rewrite changes. refused returns
// the error for a note that the caller may not write, or one that cannot be changed and that
// the caller may not read. Its argument where names the note only if the caller may read it.
func (o *operation) addRewritten(paths []string, rewrite func(notePath string, text []byte) ([]byte, error), refused func(where, why string) error) error {
	also := o.addRewrittenNote(rewrite, refused)
	for _, p := range paths {
		if err := also(p); err != nil {
			return err
		}
	}
	return nil
}

// addRewrittenNote returns the function by which addRewritten adds one note.
func (o *operation) addRewrittenNote(rewrite func(notePath string, text []byte) ([]byte, error), refused func(where, why string) error) func(notePath string) error {
	files := map[string]bool{}
	for _, f := range o.Files {
		files[f.OldDisk] = true
	}
	return func(p string) error {
		where, hidden := notes.Quote(p), !o.scope.CanRead(p)
		if hidden {
			where = "a note that this client may not read"
		}
		failed := func(err error, why string) error {
			if hidden {
				return refused(where, why)
			}
			return err
		}
		f, err := o.readNote(p, "")
		if err != nil {
			return failed(err, "it cannot be opened")
		}
		if f.Link != "" { // a target that is a note is changed as that note; any other once, through its first symlink
			rows, err := o.v.store.Rows(o.ctx, []string{notes.Nfc(f.Source())})
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				return nil
			}
		}
		if files[f.OldDisk] {
			return nil
		}
		files[f.OldDisk] = true
		if f.New, err = rewrite(p, f.Old); err != nil {
			return failed(err, "they cannot be rewritten")
		}
		if bytes.Equal(f.Old, f.New) {
			return nil
		}
		if o.mayWrite(p) != nil || o.checkTarget(f) != nil {
			return refused(where, "that note may not be written")
		}
		if err := o.checkReplaceable(f); err != nil {
			return failed(err, "it cannot be replaced")
		}
		o.Files = append(o.Files, f)
		return nil
	}
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
	return o.checkFolderSpelling(p)
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

// abandon closes an operation that could not change a name. Its temp files are removed
// last, because a program that opened the note while one of them had its name may still be
// writing.
func (p *placer) abandon(cause error) error {
	if errors.Is(cause, errKilled) {
		return cause
	}
	if errors.Is(cause, atomicfile.ErrIncomplete) { // same state as after a crash; the next write finishes it
		return p.unfinished(cause, "the disk failed in the middle of a change; it is finished when the disk can be used",
			"the disk failed in the middle of the change", "The change will be finished when the disk is available again.")
	}
	if err := p.v.interrupted.fail(p.ctx, p.Operation, cause); err != nil {
		p.v.opt.Log.Error("the journal entry of a change that was not made could not be closed; it will be tried again", "kind", p.Kind, "note", p.Files[0].FinalDisk(), "err", err)
	}
	return errors.Join(p.writeProblem(cause), p.undo())
}

// complete records an operation whose files are in place. Its temp files, which show how
// far it got, are removed last.
func (p *placer) complete(replaced map[int64]store.Version) (notes.Written, error) {
	if err := p.updateStore(); err != nil {
		return notes.Written{}, err
	}
	if err := p.v.step("stored"); err != nil {
		return notes.Written{}, err
	}
	written := p.written()
	var err error
	if written.Revision, err = p.v.store.Finish(p.ctx, p.Operation, replaced, written); err != nil {
		return notes.Written{}, err
	}
	if err := p.v.step("finished"); err != nil {
		return written, err
	}
	if err := p.discard(); errors.Is(err, errKilled) {
		return written, err
	} else if err != nil {
		p.v.opt.Log.Warn("a temp file could not be removed yet", "note", p.Files[0].FinalDisk(), "err", err)
	}
	return written, cmp.Or(p.removeEmpty(p.removeIfEmpty), p.removeEmptied())
}

// replaced returns the stored versions of the operation's notes, before the change.
func (o *operation) replaced() (map[int64]store.Version, error) {
	var ids []int64
	for _, f := range o.Files {
		ids = append(ids, f.Note)
	}
	return o.v.store.StoredVersions(o.ctx, ids)
}

// updateStore updates the store to match what the operation has put on disk.
func (o *operation) updateStore() error {
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
			if err := errors.Join(o.v.store.Files().MoveFolder(o.ctx, f), o.addFolder(b)); err != nil {
				return err
			}
		case inFolder && notes.Under(f.NewPath, o.Files[0].NewPath):
			// addFolder includes it
		case !f.IsNote():
			o.v.queue.Add(f.NewDisk)
		default:
			o.addFile(b, f)
		}
	}
	return b.commit(o.ctx, o.Author, false)
}

// addFile adds to a batch what the operation has done to one file.
func (o *operation) addFile(b *batch, f store.FileChange) {
	old, known := b.current[f.OldPath]
	if f.NewPath == "" {
		if known {
			b.delete(old)
			if b.isBack(old) { // as a new note
				b.again = append(b.again, old.DiskPath)
			}
		}
		return
	}
	p := prepared{File: store.File{Path: f.NewPath, DiskPath: f.NewDisk}, parsed: o.parsed[f.NewPath]}
	if f.Link != "" {
		p.DiskPath, p.real = f.Link, f.NewDisk
		o.v.queue.Add(f.NewDisk) // the symlink's target may be a note as well
	}
	if known {
		p.row = &old
	} else if r, ok := b.current[f.NewPath]; ok {
		p.row = &r
	}
	_ = b.addPlaced(&p, notes.Hash(f.New), func() ([]byte, error) { return f.New, nil })
}

// addFolder moves every stored note from the old folder to the new one.
func (o *operation) addFolder(b *batch) error {
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
			hash, p.parsed = notes.Hash(text), o.parsed[p.Path]
		}
		err := b.addPlaced(&p, hash, func() ([]byte, error) {
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
	o.v.queue.Add(f.OldDisk, f.NewDisk) // files not yet stored
	return nil
}

func (o *operation) writeProblem(err error) error {
	f := o.Files[0]
	if f.OldPath != "" && isHeld(err) { // by its name so far, also if it was to be moved
		return writeProblem(o.Kind, f.OldPath, err)
	}
	return writeProblem(o.Kind, cmp.Or(f.NewPath, f.OldPath), err)
}

// unfinished leaves the rest of an operation that is, or may be, in the log or on disk to
// recovery, which runs before the next write or full scan. It logs the message happened,
// and returns the error for the request.
func (o *operation) unfinished(err error, happened, detail, hint string) error {
	o.v.interrupted.finished = false
	if errors.Is(err, errKilled) {
		return err
	}
	place := o.Files[0].FinalDisk()
	o.v.opt.Log.Error(happened, "kind", o.Kind, "note", place, "err", err)
	return &notes.Error{Op: o.Kind, Path: notes.Nfc(place), Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

// Repeated reports whether the request was already carried out, so that repeating it only
// returns the stored answer and needs no confirmation from the user. Operations interrupted
// by a crash are finished first.
func (v *Vault) Repeated(ctx context.Context, requestKey string) (repeated bool, err error) {
	return v.lookUpAnswer(ctx, requestKey, nil)
}

// lookUpAnswer is Repeated that also unmarshals the stored answer, unless answer is nil.
func (v *Vault) lookUpAnswer(ctx context.Context, requestKey string, answer any) (found bool, err error) {
	if requestKey == "" {
		return false, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err = v.interrupted.finishOnce(ctx); err == nil {
		found, err = store.Answered(ctx, v.store.History().Reader(), requestKey, answer)
	}
	if err != nil {
		err = writeProblem("write", "", err)
	}
	return found, err
}
