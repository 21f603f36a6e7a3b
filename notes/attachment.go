package notes

import (
	"context"
	"database/sql"
	"path"
	"strings"
)

// attachmentPath reduces ref to a path that may name an attachment.
func attachmentPath(ref string) (name string, err error) {
	if IsURI(ref) {
		name, err = ParseURI(ref)
	} else {
		name, err = CleanPath(strings.TrimPrefix(ref, "./"))
	}
	if err == nil && IsNoteName(name) {
		err = &Error{Op: "read", Path: name, Err: ErrInvalid, Detail: "this is a note, not an attachment", Hint: "Read it with read_note."}
	}
	return name, err
}

func noAttachment(name string, others []string) error {
	e := &Error{Op: "read", Path: name, Err: ErrNotFound, Detail: "there is no such attachment that a note links to",
		Hint: "note_links shows the attachments that a note links to.", Candidates: others}
	if len(others) > 0 {
		e.Hint = "Perhaps one of these is meant."
	}
	return e
}

// linkedAttachment returns the attachment of this path, in any case, that a
// note within the scope links to; without one, a zero found and the paths of
// those that have the same file name.
func (s *Store) linkedAttachment(ctx context.Context, name string, scope Scope) (file found, others []string, err error) {
	where, args := filterSQL(Filter{Scope: scope.Read})
	args = append([]any{key(path.Base(name))}, args...)
	var folded found
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM attachments a WHERE a.name_key = ? AND EXISTS
			(SELECT 1 FROM links l JOIN notes n ON n.id = l.note WHERE l.attachment = a.id AND `+where+`) ORDER BY a.path`, args, func(rows *sql.Rows) error {
			var f found
			err := rows.Scan(&f.path, &f.diskPath)
			switch {
			case err != nil || !scope.CanRead(f.path):
			case f.path == name:
				file = f
			case key(f.path) == key(name):
				folded = f
			case len(others) < maxCandidates:
				others = append(others, f.path)
			}
			return err
		})
	})
	if file.path == "" {
		file = folded
	}
	return file, others, err
}

func (s *Store) hasAttachment(ctx context.Context, name string) (known bool, err error) {
	err = s.notes.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM attachments WHERE path = ?)`, name).Scan(&known)
	return known, err
}

// attachmentsOf returns the attachments that a note links to, each once, in
// the order of the first links.
func (s *Store) attachmentsOf(ctx context.Context, note int64) ([]found, error) {
	var files []found
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM links l JOIN attachments a ON a.id = l.attachment
			WHERE l.note = ? GROUP BY a.id ORDER BY min(l.ordinal)`, []any{note}, func(rows *sql.Rows) error {
			var f found
			err := rows.Scan(&f.path, &f.diskPath)
			files = append(files, f)
			return err
		})
	})
	return files, err
}
