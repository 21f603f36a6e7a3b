package store

import (
	"context"
	"database/sql"
	"path"
	"strings"

	"notesd/notes"
)

// AttachmentPath reduces ref to a path that may name an attachment.
func AttachmentPath(ref string) (name string, err error) {
	if notes.IsURI(ref) {
		name, err = notes.ParseURI(ref)
	} else {
		name, err = notes.CleanPath(strings.TrimPrefix(ref, "./"))
	}
	if err == nil && notes.IsNoteName(name) {
		err = &notes.Error{Op: "read", Path: name, Err: notes.ErrInvalid, Detail: "this is a note, not an attachment", Hint: "Read it with read_note."}
	}
	return name, err
}

// NoAttachment is the error for a file that no note links to.
func NoAttachment(name string, others []string) error {
	e := &notes.Error{Op: "read", Path: name, Err: notes.ErrNotFound, Detail: "there is no such attachment that a note links to",
		Hint: "note_links shows the attachments that a note links to.", Candidates: others}
	if len(others) > 0 {
		e.Hint = "Perhaps one of these is meant."
	}
	return e
}

// LinkedAttachment returns the attachment of this path, in any case, that a
// note within the scope links to; without one, a zero found and the paths of
// those that have the same file name.
func (s *Reader) LinkedAttachment(ctx context.Context, name string, scope notes.Scope) (file File, others []string, err error) {
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	args = append([]any{notes.Key(path.Base(name))}, args...)
	var folded File
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM attachments a WHERE a.name_key = ? AND EXISTS
			(SELECT 1 FROM links l JOIN notes n ON n.id = l.note WHERE l.attachment = a.id AND `+where+`) ORDER BY a.path`, args, func(rows *sql.Rows) error {
			var f File
			err := rows.Scan(&f.Path, &f.DiskPath)
			switch {
			case err != nil || !scope.CanRead(f.Path):
			case f.Path == name:
				file = f
			case notes.Key(f.Path) == notes.Key(name):
				folded = f
			case len(others) < maxCandidates:
				others = append(others, f.Path)
			}
			return err
		})
	})
	if file.Path == "" {
		file = folded
	}
	return file, others, err
}

// HasAttachment reports whether a note links to the file.
func (s *Store) HasAttachment(ctx context.Context, name string) (known bool, err error) {
	err = s.notes.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM attachments WHERE path = ?)`, name).Scan(&known)
	return known, err
}

// AttachmentsOf returns the attachments that a note links to, each once, in
// the order of the first links.
func (s *Reader) AttachmentsOf(ctx context.Context, note int64) ([]File, error) {
	var files []File
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM links l JOIN attachments a ON a.id = l.attachment
			WHERE l.note = ? GROUP BY a.id ORDER BY min(l.ordinal)`, []any{note}, func(rows *sql.Rows) error {
			var f File
			err := rows.Scan(&f.Path, &f.DiskPath)
			files = append(files, f)
			return err
		})
	})
	return files, err
}
