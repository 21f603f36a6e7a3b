package notes

import (
	"context"
	"database/sql"
	"os"
)

// DeleteRequest asks for a note to be deleted. Its text stays in history.
type DeleteRequest struct {
	Note         string
	ExpectedHash string
	Scope        Scope
	Author       Author
	RequestKey   string
}

// Deletion is what was deleted and what that leaves behind.
type Deletion struct {
	Written
	LinkedFrom []string // notes with links that lead nowhere now
}

// Delete removes a note's file. Restore brings it back.
func (v *Vault) Delete(ctx context.Context, r DeleteRequest) (Deletion, error) {
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*operation, error) {
		f, err := v.openForChange(ctx, root, "delete", r.Note, r.ExpectedHash, r.Scope)
		if err != nil {
			return nil, err
		}
		linkedFrom, err := v.store.linkedFrom(ctx, f.note, r.Scope)
		if err != nil {
			return nil, err
		}
		if f.link != "" { // the symlink is the note; its target stays
			f.oldDisk, f.link = f.link, ""
		}
		f.newPath, f.newDisk = "", ""
		return &operation{kind: "delete", author: r.Author, files: []fileChange{f}, linkedFrom: linkedFrom}, nil
	})
	return Deletion{Written: written, LinkedFrom: written.LinkedFrom}, err
}

// linkedFrom returns the other notes that link to the note.
func (s *Store) linkedFrom(ctx context.Context, note int64, scope Scope) ([]string, error) {
	paths := []string{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT DISTINCT n.path FROM links l JOIN notes n ON n.id = l.note WHERE l.resolved = ?1 AND l.note <> ?1 ORDER BY n.path`, []any{note}, func(rows *sql.Rows) error {
			var p string
			err := rows.Scan(&p)
			if scope.CanRead(p) {
				paths = append(paths, p)
			}
			return err
		})
	})
	return paths, err
}
