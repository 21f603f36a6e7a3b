package vault

import (
	"bytes"
	"context"
	"errors"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/internal/markdown/tasks"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Edit changes only the bytes that the edits name. A change by another
// program that comes between is an [*Error] with [ErrConflict], the note's present
// hash and a diff, and nothing is written. Appending to a periodic note that is
// not there creates it.
func (v *Vault) Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error) {
	if written, done, err := (&composer{v: v, ctx: ctx, scope: r.Scope}).begin(r); done {
		return written, err
	}
	if err := v.tellTasks(ctx, r); err != nil {
		return notes.Written{}, err
	}
	var draft editDraft
	plan := func(o *operation) error {
		f, err := o.openForChange(r.Note, r.ExpectedHash)
		if err != nil {
			return err
		}
		var renames []edit.HeadingRename
		if f.New, renames, err = draft.of(ctx, f, r.Edits); err != nil {
			return editProblem(f.OldPath, err)
		}
		o.Files = []store.FileChange{f}
		if err := o.followHeadings(renames); err != nil {
			return err
		}
		return v.guard.checkText("edit", string(o.Files[0].New))
	}
	asked := change{kind: "edit", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}
	written, err := v.change(ctx, asked, plan)
	for errors.Is(err, errDraft) {
		draft.make(ctx, r.Edits)
		if err := v.step("drafted"); err != nil {
			return notes.Written{}, err
		}
		written, err = v.change(ctx, asked, plan)
	}
	return written, err
}

// tellTasks adds to edits of tasks what the note does not say: the day, and how
// other notes of the vault write dates.
func (v *Vault) tellTasks(ctx context.Context, r notes.EditRequest) error {
	for i := range r.Edits {
		e := &r.Edits[i]
		if e.Op != edit.OpToggleTask {
			continue
		}
		e.Tasks.Today = v.opt.Now()
		for _, date := range []*string{&e.Due, &e.Scheduled} {
			if p, ok := v.store.Period(*date, e.Tasks.Today); ok && p.Unit == notes.Day {
				*date = p.Start.Format(time.DateOnly) // today, tomorrow
			}
		}
		note, err := v.store.Lookup(ctx, r.Note, r.Scope)
		if err != nil {
			return err
		}
		e.Tasks.Settings = v.store.AppOf(note.Path).Tasks
		if e.Tasks.Done, e.Tasks.Dates, err = v.store.TaskNotations(ctx); err != nil {
			return err
		}
	}
	return nil
}

// editDraft is what costly edits make of a note, computed while others have the
// vault's lock.
type editDraft struct {
	old, new []byte
	renames  []edit.HeadingRename
	err      error // of the edits
	made     int
}

const (
	// maxLockedEdits bounds what is computed under the vault's lock, in bytes
	// of the note times edits: a few milliseconds.
	maxLockedEdits = 256 << 10
	// maxDrafts bounds how often edits are computed again because the note has
	// changed meanwhile.
	maxDrafts = 3
)

// errDraft: the edits have to be computed without the lock first.
var errDraft = errors.New("costly edits of a note that has no draft")

// of returns what the edits make of the file, or errDraft.
func (d *editDraft) of(ctx context.Context, f store.FileChange, edits []notes.Edit) ([]byte, []edit.HeadingRename, error) {
	switch {
	case d.made > 0 && bytes.Equal(d.old, f.Old):
		return d.new, d.renames, d.err
	case len(f.Old)*len(edits) <= maxLockedEdits:
		return edit.ApplyRenaming(ctx, f.Old, edits)
	case d.made >= maxDrafts:
		return nil, nil, &notes.Error{Op: "edit", Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note changes faster than the edits can be computed", Hint: "Nothing was changed. Make fewer edits at once, or try again later.", Hash: notes.Hash(f.Old)}
	}
	d.old = f.Old
	return nil, nil, errDraft
}

func (d *editDraft) make(ctx context.Context, edits []notes.Edit) {
	d.new, d.renames, d.err = edit.ApplyRenaming(ctx, d.old, edits)
	d.made++
}

// openForChange reads the note that is to be changed, from disk, and checks
// that it may be.
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
	f, err := o.openNote(meta.Path, expectedHash)
	if err == nil && o.Kind != "delete" { // which removes the symlink and leaves its target
		err = o.checkTarget(f)
	}
	return f, err
}

// checkTarget refuses a symlink to a file that the caller may not write, and
// does not say which that is.
func (o *operation) checkTarget(f store.FileChange) error {
	if f.Link == "" || o.mayWrite(notes.Nfc(f.Source())) == nil {
		return nil
	}
	return &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrForbidden, Detail: "the note is a symlink to a file that this client may not write"}
}

func (o *operation) openNote(notePath, expectedHash string) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	r := rows[notePath]
	f := store.FileChange{Note: r.Id, OldPath: notePath, NewPath: notePath}
	if f.OldDisk, err = o.root.Resolve(r.DiskPath); errors.Is(err, disk.ErrLeadsOut) {
		return f, &notes.Error{Op: "write", Path: notePath, Err: notes.ErrForbidden, Detail: "it is " + err.Error()}
	} else if err != nil {
		return f, err
	}
	if f.NewDisk = f.OldDisk; f.OldDisk != r.DiskPath {
		f.Link = r.DiskPath
	}
	if f.Old, err = o.readSettled(f.OldDisk, r.Stat.Size); err != nil {
		o.v.queue.add([]string{r.DiskPath})
		return f, writeProblem(o.Kind, f.NewPath, err)
	}
	if expectedHash != "" && expectedHash != notes.Hash(f.Old) {
		return f, o.expectedConflict(f, expectedHash)
	}
	return f, checkReplaceable(o.root, o.Kind, f)
}

// settleFor is how long a file is waited for that has just become shorter, and
// settleEvery how often it is looked at.
const (
	settleFor   = 100 * time.Millisecond
	settleEvery = 5 * time.Millisecond
)

// readSettled reads a file that is to be changed. A program that saves in place
// empties the file first: one that a moment ago became shorter than the store
// knows it is read again, for a while.
func (o *operation) readSettled(diskPath string, known int64) ([]byte, error) {
	for waited := time.Duration(0); ; waited += settleEvery {
		data, st, err := readOnce(o.root, diskPath, o.v.opt.MaxNoteBytes)
		age := o.v.opt.Now().Sub(time.Unix(0, max(st.Mtime, st.Ctime)))
		if err != nil || st.Size >= known || age < 0 || age >= settleFor || waited >= settleFor {
			return data, err
		}
		<-time.After(settleEvery)
	}
}

// expectedConflict says that the note is not the one that the caller read,
// with what has changed since when history knows that version.
func (o *operation) expectedConflict(f store.FileChange, expectedHash string) error {
	was, err := o.v.store.TextByHash(o.ctx, expectedHash)
	if err != nil {
		return err
	}
	e := &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note is not the one that expected_hash names",
		Hint: "Read the note again and repeat the change on what it says now.", Hash: notes.Hash(f.Old)}
	if was != nil {
		e.Diff = store.ShortDiff(was, f.Old, f.OldPath)
	}
	return e
}

// checkReplaceable refuses a file that replacing would part from other names,
// or that another program holds a lock on.
func checkReplaceable(root *disk.Root, op string, f store.FileChange) error {
	file, err := openRegular(root, f.OldDisk)
	if err != nil {
		return writeProblem(op, f.NewPath, err)
	}
	defer func() { _ = file.Close() }() // only read from
	names, err := fsid.HardLinks(file)
	if err != nil {
		return err
	}
	switch {
	case names > 1:
		return &notes.Error{Op: op, Path: f.OldPath, Err: notes.ErrForbidden, Detail: "the file has another name (a hard link), which would keep the old text",
			Hint: "Make it a file of its own, or edit it with a program that writes in place."}
	case fsid.Locked(file):
		return writeProblem(op, f.NewPath, errHeld)
	}
	return nil
}

// editProblem turns the parser's words into the domain's.
func editProblem(notePath string, err error) error {
	var own *notes.Error
	if errors.Is(err, errDraft) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &own) {
		return err
	}
	e := &notes.Error{Op: "edit", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed.", Candidates: notes.SectionCandidates(err)}
	var match *edit.MatchError
	var section *markdown.SectionError
	var failed *edit.EditError
	switch {
	case errors.As(err, &failed) && failed.Op != edit.OpAppend && failed.Op != edit.OpPrepend:
	case errors.As(err, &section) && errors.Is(err, markdown.ErrMissing):
		e.Hint = "Nothing was changed. Name one of its headings, or pass create_heading true to make this one at the end of the note."
		return e
	}
	switch {
	case errors.Is(err, tasks.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Pass the line of the one that is meant, beside its text."
	case errors.Is(err, tasks.ErrMissing):
		e.Hint = "Nothing was changed. list_tasks shows the tasks with their texts."
	case errors.Is(err, markdown.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Name the section by its whole path, such as \"Plan > Risks\"."
	case errors.As(err, &match) && match.Found > 0:
		e.Hint = "Nothing was changed. Give more of the surrounding text in old, or the number of matches in count."
	case errors.As(err, &match):
		e.Hint = "Nothing was changed. Read the note and copy the text exactly."
	}
	return e
}
