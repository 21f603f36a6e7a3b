package vault

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"

	"notesd/notes"
	"notesd/notes/store"
)

// Restore brings a version back as a new revision: nothing of the history is
// lost by it, the restoring included. A deleted note comes back where it was.
func (v *Vault) Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error) {
	if done, err := v.Repeated(ctx, r.RequestKey); err != nil {
		return notes.Written{}, err
	} else if done {
		return v.change(ctx, r.RequestKey, nil) // only answers
	}
	notePath, err := v.historyPath(ctx, r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	text, err := v.store.RevisionText(ctx, notePath, r.Revision, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	var preview *store.Operation
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*store.Operation, error) {
		f, err := v.restorable(ctx, root, notePath, r)
		if err != nil {
			return nil, err
		}
		f.New = text
		op := &store.Operation{Kind: "restore", Author: r.Author, Files: []store.FileChange{f}}
		if r.DryRun || f.OldPath != "" && bytes.Equal(f.Old, f.New) {
			preview = op
			return nil, nil
		}
		return op, nil
	})
	if err != nil || preview == nil {
		return written, err
	}
	written = preview.Written()
	if !r.DryRun { // the note has this text already
		written.Revision, err = v.store.NewestRevision(ctx, notePath)
	}
	return written, err
}

// restorable opens the note, or its empty place.
func (v *Vault) restorable(ctx context.Context, root *os.Root, notePath string, r notes.RestoreRequest) (store.FileChange, error) {
	rows, err := v.store.Rows(ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	if err := v.checkWrite("restore", notePath, r.Scope); err != nil {
		return store.FileChange{}, err
	}
	if _, alive := rows[notePath]; alive {
		f, err := v.openNote(ctx, root, "restore", notePath, r.ExpectedHash)
		if err == nil {
			err = v.checkTarget("restore", f, r.Scope)
		}
		return f, err
	}
	if r.ExpectedHash != "" {
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrConflict, Detail: "the note does not exist, so it cannot have the hash that expected_hash names", Hint: "Leave expected_hash out to bring the deleted note back."}
	}
	docs, err := v.store.Documents(ctx, notePath)
	if err != nil {
		return store.FileChange{}, err
	}
	if len(docs) > 0 && r.Scope.CanRead(docs[0].Path) && !slices.ContainsFunc(docs, func(d store.Document) bool { return !d.Live || d.Path == notePath }) {
		moved := docs[0].Path
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrExists, Detail: fmt.Sprintf("the note was moved to %s", notes.Quote(moved)), Candidates: []string{moved},
			Hint: "Restore the revision there."}
	}
	return store.FileChange{NewPath: notePath, NewDisk: notePath}, checkPlace(root, "restore", notePath)
}
