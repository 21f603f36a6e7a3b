package vault

import (
	"context"
	"fmt"
	"slices"

	"notesd/notes"
	"notesd/notes/store"
)

// Restore brings a version back as a new revision: nothing of the history is
// lost by it, the restoring included. A deleted note comes back where it was.
//
// With r.Change it undoes a change in every note, folder, canvas and base that the
// change was made in, as one operation, which can be undone in turn. What was changed
// since stays as it is and is listed in Written.Conflicts; when that is all of it,
// or the note that was moved, the error is [notes.ErrConflict].
func (h *History) Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error) {
	asked := change{kind: "restore", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}
	if done, err := h.vault.Repeated(ctx, r.RequestKey); err != nil {
		return notes.Written{}, err
	} else if done {
		return h.vault.change(ctx, asked, nil) // only answers
	}
	if r.Change != 0 {
		return h.vault.change(ctx, asked, func(o *operation) error { return o.planUndo(r.Change) })
	}
	notePath, err := h.path(ctx, r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	text, err := h.store.RevisionText(ctx, "restore", notePath, r.Revision, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	written, err := h.vault.change(ctx, asked, func(o *operation) error {
		f, err := o.restorable(notePath, r)
		f.New = text
		o.Files = []store.FileChange{f}
		return err
	})
	if err == nil && !r.DryRun && written.Revision == 0 { // the note has this text already
		written.Revision, err = h.store.NewestRevision(ctx, notePath)
	}
	return written, err
}

// restorable opens the note, or its empty place.
func (o *operation) restorable(notePath string, r notes.RestoreRequest) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	if err := o.mayWrite(notePath); err != nil {
		return store.FileChange{}, err
	}
	if _, alive := rows[notePath]; alive {
		f, err := o.openNote(notePath, r.ExpectedHash)
		if err == nil {
			err = o.checkTarget(f)
		}
		return f, err
	}
	if r.ExpectedHash != "" {
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrConflict, Detail: "the note does not exist, so it cannot have the hash that expected_hash names", Hint: "Leave expected_hash out to bring the deleted note back."}
	}
	docs, err := o.v.store.Documents(o.ctx, notePath)
	if err != nil {
		return store.FileChange{}, err
	}
	if len(docs) > 0 && o.scope.CanRead(docs[0].Path) && !slices.ContainsFunc(docs, func(d store.Document) bool { return !d.Live || d.Path == notePath }) {
		moved := docs[0].Path
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrExists, Detail: fmt.Sprintf("the note was moved to %s", notes.Quote(moved)), Candidates: []string{moved},
			Hint: "Restore the revision there."}
	}
	return store.FileChange{NewPath: notePath, NewDisk: notePath}, checkPlace(o.root, "restore", notePath)
}

// Delete removes a note's file. Restore brings it back.
func (v *Vault) Delete(ctx context.Context, r notes.DeleteRequest) (notes.Deletion, error) {
	written, err := v.change(ctx, change{kind: "delete", author: r.Author, key: r.RequestKey, scope: r.Scope}, func(o *operation) error {
		f, err := o.openForChange(r.Note, r.ExpectedHash)
		if err != nil {
			return err
		}
		if o.LinkedFrom, err = v.store.LinkedFrom(ctx, f.Note, r.Scope); err != nil {
			return err
		}
		if f.Link != "" { // the symlink is the note; its target stays
			f.OldDisk, f.Link = f.Link, ""
		}
		f.NewPath, f.NewDisk = "", ""
		o.Files = []store.FileChange{f}
		return nil
	})
	return notes.Deletion{Written: written, LinkedFrom: written.LinkedFrom}, err
}
