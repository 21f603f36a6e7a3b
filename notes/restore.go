package notes

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
)

// RestoreRequest asks for an earlier version of a note.
type RestoreRequest struct {
	Note         string // also the path that a deleted note had
	Revision     int64  // from History
	ExpectedHash string
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

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

// revisionText returns the text of a revision of a note that has, or ever had,
// the path.
func (s *Store) revisionText(ctx context.Context, notePath string, revision int64, scope Scope) ([]byte, error) {
	var text []byte
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		var hash []byte
		var was string
		err := tx.QueryRowContext(ctx, `SELECT hash, path FROM revisions WHERE id = ?2 AND document IN (`+everHad+`)`, notePath, revision).Scan(&hash, &was)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && !scope.CanRead(was):
			return &Error{Op: "restore", Path: notePath, Err: ErrNotFound, Detail: fmt.Sprintf("the note has no revision %d", revision), Hint: "note_history lists its revisions."}
		case err != nil:
			return err
		case hash == nil:
			return &Error{Op: "restore", Path: notePath, Err: ErrInvalid, Detail: fmt.Sprintf("revision %d is the note's deletion", revision), Hint: "Restore the revision before it."}
		}
		text, err = loadBlob(ctx, tx, hash)
		return err
	})
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// newestRevision returns the number of the newest revision of the note at a
// path.
func (s *Store) newestRevision(ctx context.Context, notePath string) (n int64, err error) {
	err = s.history.Reader().QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM revisions WHERE document = (`+currentDocument+`)`, notePath).Scan(&n)
	return n, err
}

// textByHash returns a text that history knows, or nil.
func (s *Store) textByHash(ctx context.Context, hash string) ([]byte, error) {
	raw, err := hex.DecodeString(hash)
	if err != nil {
		return nil, &Error{Op: "compare", Err: ErrInvalid, Detail: "expected_hash is not a hash", Hint: "Pass the hash that read_note returned."}
	}
	var text []byte
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		text, err = loadBlob(ctx, tx, raw)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	})
	return text, err
}
