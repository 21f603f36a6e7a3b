package notes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
)

// Restore brings a version back as a new revision: nothing of the history is
// lost by it, the restoring included. A deleted note comes back where it was.
func (v *Vault) Restore(ctx context.Context, r RestoreRequest) (Written, error) {
	if done, err := v.Repeated(ctx, r.RequestKey); err != nil {
		return Written{}, err
	} else if done {
		return v.change(ctx, r.RequestKey, nil) // only answers
	}
	notePath, err := v.historyPath(ctx, r.Note, r.Scope)
	if err != nil {
		return Written{}, err
	}
	text, err := v.store.revisionText(ctx, notePath, r.Revision, r.Scope)
	if err != nil {
		return Written{}, err
	}
	var preview *operation
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*operation, error) {
		f, err := v.restorable(ctx, root, notePath, r)
		if err != nil {
			return nil, err
		}
		f.new = text
		op := &operation{kind: "restore", author: r.Author, files: []fileChange{f}}
		if r.DryRun || f.oldPath != "" && bytes.Equal(f.old, f.new) {
			preview = op
			return nil, nil
		}
		return op, nil
	})
	if err != nil || preview == nil {
		return written, err
	}
	written = preview.written()
	if !r.DryRun { // the note has this text already
		written.Revision, err = v.store.newestRevision(ctx, notePath)
	}
	return written, err
}

// restorable opens the note, or its empty place.
func (v *Vault) restorable(ctx context.Context, root *os.Root, notePath string, r RestoreRequest) (fileChange, error) {
	rows, err := v.store.rows(ctx, []string{notePath})
	if err != nil {
		return fileChange{}, err
	}
	if err := v.checkWrite("restore", notePath, r.Scope); err != nil {
		return fileChange{}, err
	}
	if _, alive := rows[notePath]; alive {
		f, err := v.openNote(ctx, root, "restore", notePath, r.ExpectedHash)
		if err == nil {
			err = v.checkTarget("restore", f, r.Scope)
		}
		return f, err
	}
	if r.ExpectedHash != "" {
		return fileChange{}, &Error{Op: "restore", Path: notePath, Err: ErrConflict, Detail: "the note does not exist, so it cannot have the hash that expected_hash names", Hint: "Leave expected_hash out to bring the deleted note back."}
	}
	docs, err := v.store.documents(ctx, notePath)
	if err != nil {
		return fileChange{}, err
	}
	if len(docs) > 0 && r.Scope.CanRead(docs[0].path) && !slices.ContainsFunc(docs, func(d document) bool { return !d.live || d.path == notePath }) {
		moved := docs[0].path
		return fileChange{}, &Error{Op: "restore", Path: notePath, Err: ErrExists, Detail: fmt.Sprintf("the note was moved to %s", quote(moved)), Candidates: []string{moved},
			Hint: "Restore the revision there."}
	}
	return fileChange{newPath: notePath, newDisk: notePath}, checkPlace(root, "restore", notePath)
}
