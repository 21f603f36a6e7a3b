package vault

import (
	"context"
	"fmt"
	"path"
	"slices"

	"notesd/notes"
	"notesd/notes/store"
)

// Restore writes a version back as a new revision; no history is lost. A deleted note is
// restored at its former path, with its last text if r.Revision is 0.
//
// With r.Change it undoes that change in every note, folder, canvas and base, as one
// operation, which can itself be undone. Files changed since stay as they are and are
// listed in Written.Conflicts; if that is every file, or the note that was moved, the error
// is [notes.ErrConflict].
func (h *History) Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error) {
	request := writeRequest{kind: "restore", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}
	if written, done, err := h.vault.answered(ctx, request); done {
		return written, err
	}
	if r.Change != 0 {
		return h.vault.change(ctx, request, func(o *operation) error { return o.planUndo(r.Change) })
	}
	notePath, err := h.path(ctx, r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	if r.Revision == 0 {
		if r.Revision, err = h.lastOfDeleted(ctx, notePath, r.Scope); err != nil {
			return notes.Written{}, err
		}
	}
	text, err := h.store.RevisionText(ctx, "restore", notePath, r.Revision, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	written, err := h.vault.change(ctx, request, func(o *operation) error {
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

// lastOfDeleted returns the revision with the last text of the deleted note at the path.
func (h *History) lastOfDeleted(ctx context.Context, notePath string, scope notes.Scope) (int64, error) {
	rows, err := h.vault.store.Rows(ctx, []string{notePath})
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		if last, err := h.store.LastText(ctx, notePath); err != nil || last != 0 {
			return last, err
		}
		page, err := h.Revisions(ctx, notes.HistoryQuery{Note: notePath, Limit: 2, Scope: scope})
		if err != nil {
			return 0, err
		}
		for _, r := range page.Revisions {
			if r.Revision != 0 && r.Hash != "" {
				return r.Revision, nil
			}
		}
	}
	return 0, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrInvalid, Detail: "the note exists, and no revision to restore is given", Hint: "note_history lists its revisions, and the changes that can be undone."}
}

// restorable opens the note at the path or, if it was deleted, prepares to create it there.
func (o *operation) restorable(notePath string, r notes.RestoreRequest) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	if err := o.mayWrite(notePath); err != nil {
		return store.FileChange{}, err
	}
	if row, alive := rows[notePath]; alive {
		if err := o.v.store.CheckWhole(o.ctx, o.Kind, r.Note, notes.Meta{ID: row.ID, Path: notePath}, o.scope); err != nil {
			return store.FileChange{}, err
		}
		if r.ExpectedHash == "" && r.Seen != nil {
			r.ExpectedHash = r.Seen(notePath)
		}
		return o.openTarget(notePath, r.ExpectedHash)
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
	if notePath, err = o.respelled(notePath); err != nil {
		return store.FileChange{}, err
	}
	onDisk := newDisk(o.root, notePath)
	if _, err := o.root.Lstat(onDisk); err == nil {
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrExists, Detail: "a file with this name exists already", Hint: "Remove or rename it with another program, then restore the note again."}
	}
	return store.FileChange{NewPath: notePath, NewDisk: onDisk}, o.checkParents(notePath)
}

// respelled returns the former path of a deleted note with its folder as it is spelled now,
// unless the operation may not write there.
func (o *operation) respelled(p string) (string, error) {
	p = path.Join(o.spelled(path.Dir(p)), path.Base(p))
	return p, o.mayWrite(p)
}
