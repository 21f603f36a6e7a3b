package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"notesd/internal/canvas"
	"notesd/internal/markdown"
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
	r.Edits = slices.Clone(r.Edits) // they are completed below
	request := writeRequest{kind: "edit", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, partOf: r.PartOf, replan: r.ExpectedHash == "" && !slices.ContainsFunc(r.Edits, notes.Edit.ReplacesUnread)}
	if written, done, err := v.answered(ctx, request); done {
		return written, err
	}
	c := &noteComposer{v: v, ctx: ctx, scope: r.Scope, partOf: r.PartOf}
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

// of returns the result of the edits, which it completes for the note, or errDraft.
func (d *editDraft) of(ctx context.Context, f store.FileChange, edits []notes.Edit) ([]byte, []edit.HeadingRename, error) {
	for i := range edits {
		edits[i].Notion = notes.FromNotion(f.OldPath)
	}
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
func (c *noteComposer) completeTasks(r notes.EditRequest) error {
	if !slices.ContainsFunc(r.Edits, togglesTask) {
		return nil
	}
	store := c.v.store
	note, err := store.Lookup(c.ctx, r.Note, r.Scope)
	if errors.Is(err, notes.ErrNotFound) && c.v.reconcileUnreported(c.ctx, 0) == nil {
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
func (c *noteComposer) begin(r notes.EditRequest) (written notes.Written, done bool, err error) {
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

// RenameTag renames a tag, and the tags nested in it, in all notes that the caller may
// read, as one operation. Links to headings that have the tag follow. Written.Path is the
// first of these notes by path; the others, and those with such links, are in Relinked. If a
// note may not be written, or cannot be changed as requested, RenameTag fails and nothing is
// changed. A note that another program changes concurrently is left alone and listed in
// Written.Conflicts. The cards of canvases change with the notes; bases that name the tag are
// listed in Written.Left.
func (v *Vault) RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error) {
	return v.change(ctx, writeRequest{kind: "rename_tag", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, replan: true}, func(o *operation) error {
		if err := o.mayWrite(""); errors.Is(err, notes.ErrReadOnly) {
			return err
		}
		if err := o.requireAll(); err != nil {
			return err
		}
		paths, err := v.store.Paths(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		err = o.addRewritten(paths, func(notePath string, text []byte) ([]byte, error) {
			out, err := retagged(text, r.Tag, r.To)
			if err != nil {
				return nil, &notes.Error{Op: "rename tag", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed in any note."}
			}
			return out, v.opt.checkText(o.Kind, string(out))
		}, func(where, _ string) error {
			return &notes.Error{Op: "rename tag", Err: notes.ErrForbidden, Detail: fmt.Sprintf("%s has the tag, and this client may not write it", where), Hint: "Nothing was changed in any note."}
		})
		if err == nil && len(o.Files) > 0 {
			err = o.followHeadings(o.renamedHeadings(), nil, nil, namesTag(r.Tag), func(name string, text []byte) []byte { return retaggedIn(name, text, r.Tag, r.To) })
		}
		if err != nil || len(o.Files) > 0 {
			return err
		}
		if len(paths) > 0 && strings.TrimPrefix(r.Tag, "#") == strings.TrimPrefix(r.To, "#") {
			return &notes.Error{Op: "rename tag", Err: notes.ErrInvalid, Detail: "the tag has this name already"}
		}
		why, err := v.store.WhyNothing(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		e := &notes.Error{Op: "rename tag", Err: notes.ErrNotFound, Detail: "no note has the tag " + notes.Quote(r.Tag), Hint: "vault_overview lists the tags."}
		if len(why) > 0 {
			e.Detail = why[0]
		}
		return e
	})
}

// retagged returns a text with a tag renamed, or unchanged if it lacks the tag.
func retagged(text []byte, tag, to string) ([]byte, error) {
	out, err := edit.RenameTag(text, tag, to)
	if errors.Is(err, markdown.ErrMissing) {
		return text, nil
	}
	return out, err
}

// retaggedIn returns the text of a canvas with a tag renamed in its cards, or nil if it
// cannot be updated, as a base: what its formulas do with the tag is not known.
func retaggedIn(name string, text []byte, tag, to string) []byte {
	if !isCanvas(name) {
		return nil
	}
	return canvas.Edit(name, text, func(_ string, card []byte) ([]byte, error) { return retagged(card, tag, to) },
		func(_, _, value string) (string, error) { return value, nil })
}

// namesTag matches texts that seem to have a tag, or one nested in it.
func namesTag(tag string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)["'#]` + regexp.QuoteMeta(notes.Nfc(strings.TrimPrefix(tag, "#"))) + `([^\pL\pN_-]|$)`)
}
