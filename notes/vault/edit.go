package vault

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"notesd/internal/markdown/edit"
	"notesd/internal/markdown/tasks"
	"notesd/notes"
	"notesd/notes/store"
)

// Edit changes only the bytes that the edits name. If another program changes the note in
// between, edits that do not depend on the text that they replace, such as an append without
// ExpectedHash, are made to the new text. For others, and if the note changes several times,
// nothing is written, and the error is an [*notes.Error] with [notes.ErrConflict], the note's
// present hash and a diff. Appending to a periodic note that does not exist creates it.
func (v *Vault) Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error) {
	request := writeRequest{kind: "edit", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, partOf: r.PartOf, replan: r.ExpectedHash == "" && !slices.ContainsFunc(r.Edits, notes.Edit.ReplacesUnread)}
	if written, done, err := v.answered(ctx, request); done {
		return written, err
	}
	c := &composer{v: v, ctx: ctx, scope: r.Scope, partOf: r.PartOf}
	if written, done, err := c.begin(r); done {
		return written, err
	}
	if err := c.completeTasks(r); err != nil {
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
		if len(renames) > 0 {
			same := func(_ string, text []byte) []byte { return text }
			if err := o.followHeadings(map[string][]edit.HeadingRename{f.OldPath: renames}, nil, nil, namesNote(f.OldPath), same); err != nil {
				return err
			}
		}
		return v.opt.checkText("edit", string(o.Files[0].New))
	}
	written, err := v.change(ctx, request, plan)
	for errors.Is(err, errDraft) {
		draft.make(ctx, r.Edits)
		if err := v.step("drafted"); err != nil {
			return notes.Written{}, err
		}
		written, err = v.change(ctx, request, plan)
	}
	return written, err
}

// editDraft is the result of costly edits to a note, computed without holding the vault's
// lock.
type editDraft struct {
	old, new []byte
	renames  []edit.HeadingRename
	err      error // from the edits
	made     int
}

const (
	// maxLockedEdits bounds the edits computed under the vault's lock, in bytes of the note
	// times number of edits: a few milliseconds.
	maxLockedEdits = 256 << 10
	// maxDrafts bounds how often edits are recomputed because the note has changed.
	maxDrafts = 3
)

// errDraft means that the edits must first be computed without the lock.
var errDraft = errors.New("costly edits of a note that has no draft")

// of returns the result of the edits, or errDraft.
func (d *editDraft) of(ctx context.Context, f store.FileChange, edits []notes.Edit) ([]byte, []edit.HeadingRename, error) {
	switch {
	case d.made > 0 && bytes.Equal(d.old, f.Old):
		return d.new, d.renames, d.err
	case len(f.Old)*len(edits) <= maxLockedEdits:
		return edit.Apply(ctx, f.Old, edits)
	case d.made >= maxDrafts:
		return nil, nil, &notes.Error{Op: "edit", Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note changes faster than the edits can be computed", Hint: "Nothing was changed. Make fewer edits at once, or try again later.", Hash: notes.Hash(f.Old)}
	}
	d.old = f.Old
	return nil, nil, errDraft
}

func (d *editDraft) make(ctx context.Context, edits []notes.Edit) {
	d.new, d.renames, d.err = edit.Apply(ctx, d.old, edits)
	d.made++
}

// completeTasks adds to edits of tasks what the note itself does not contain: the current
// day, the settings of the Tasks plugin, and how other notes of the vault write dates.
func (c *composer) completeTasks(r notes.EditRequest) error {
	if !slices.ContainsFunc(r.Edits, togglesTask) {
		return nil
	}
	store := c.v.store
	note, err := store.Lookup(c.ctx, r.Note, r.Scope)
	if errors.Is(err, notes.ErrNotFound) && c.v.catchUp(c.ctx, 0) == nil {
		note, err = store.Lookup(c.ctx, r.Note, r.Scope)
	}
	if err != nil {
		return err
	}
	around := tasks.Options{Today: c.v.opt.Now(), Settings: store.AppOf(note.Path).Tasks}
	if around.Done, around.Dates, err = store.TaskNotations(c.ctx); err != nil {
		return err
	}
	for i := range r.Edits {
		e := &r.Edits[i]
		if !togglesTask(*e) {
			continue
		}
		e.Tasks = around
		for _, date := range []*string{&e.Due, &e.Scheduled} {
			if p, ok := store.DuePeriod(*date, around.Today); ok && p.Unit == notes.Day {
				*date = p.Start.Format(time.DateOnly) // tomorrow, friday
			}
		}
	}
	return nil
}

func togglesTask(e notes.Edit) bool { return e.Op == edit.OpToggleTask }

// begin creates the periodic note that an edit appends or prepends to, if it does not
// exist. done reports whether it handled the request.
func (c *composer) begin(r notes.EditRequest) (written notes.Written, done bool, err error) {
	for _, e := range r.Edits {
		if e.Op != edit.OpAppend && e.Op != edit.OpPrepend {
			return written, false, nil
		}
	}
	if _, ok := c.v.store.Period(r.Note, c.v.opt.Now()); !ok || r.ExpectedHash != "" {
		return written, false, nil
	}
	if _, err := c.v.Read(c.ctx, r.Note, c.scope); !errors.Is(err, notes.ErrNotFound) {
		return written, false, nil // the edit reports the error
	}
	create, err := c.fill(notes.CreateRequest{Title: r.Note, Scope: c.scope, Author: r.Author, RequestKey: r.RequestKey})
	if err != nil || create.Path == "" {
		return written, false, nil
	}
	text, _, err := edit.Apply(c.ctx, []byte(create.Content), r.Edits)
	if err != nil {
		return written, true, editProblem(create.Path, err)
	}
	create.Content = string(text)
	written, err = c.create(create, r.DryRun)
	return written, !errors.Is(err, notes.ErrExists), err // created by another program meanwhile; edit that
}
