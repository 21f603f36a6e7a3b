package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"notesd/notes"
)

// LinkedFrom returns the other notes that link to the note.
func (s *Reader) LinkedFrom(ctx context.Context, note int64, scope notes.Scope) ([]string, error) {
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

// LinksTo returns the notes with a link whose last segment is one of the keys
// (see linkKey), and every file of the vault that a link can lead to, by key.
func (s *Store) LinksTo(ctx context.Context, keys []string) (from []string, targets map[string][]Target, err error) {
	targets = map[string][]Target{}
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		err := forEach(ctx, tx, `SELECT DISTINCT n.path FROM links l JOIN notes n ON n.id = l.note WHERE l.target_key IN (SELECT value FROM json_each(?))`,
			[]any{jsonArg(keys)}, func(rows *sql.Rows) error {
				var p string
				err := rows.Scan(&p)
				from = append(from, p)
				return err
			})
		if err != nil {
			return err
		}
		return forEach(ctx, tx, `SELECT name_key, id, path FROM notes UNION ALL SELECT name_key, 0, path FROM attachments ORDER BY 3`, nil, func(rows *sql.Rows) error {
			var k string
			var t Target
			err := rows.Scan(&k, &t.Id, &t.Path)
			targets[k] = append(targets[k], t)
			return err
		})
	})
	return from, targets, err
}

// AttachmentsUnder returns the paths of the attachments below the folder.
func (s *Store) AttachmentsUnder(ctx context.Context, folder string) ([]string, error) {
	var paths []string
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT path FROM attachments WHERE path > ?1 || '/' AND path < ?1 || '0' ORDER BY path`, []any{folder}, func(rows *sql.Rows) error {
			var p string
			err := rows.Scan(&p)
			paths = append(paths, p)
			return err
		})
	})
	return paths, err
}

// StaleLinks names the notes whose links a move since then could not rewrite,
// as somebody else changed the note in that moment, and that have a link to
// nowhere still.
func (s *Store) StaleLinks(ctx context.Context, since time.Time) ([]string, error) {
	moves := map[string]string{} // the note → what was moved
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT iif(f.link <> '', f.link, f.new_path), first.path FROM operations o
			JOIN operation_files f ON f.operation = o.id JOIN operation_files first ON first.operation = o.id AND first.ordinal = 0
			WHERE o.state = 'done' AND o.kind = 'move' AND o.started > ? AND f.state = 'conflict'`, []any{since.UnixNano()}, func(rows *sql.Rows) error {
			var note, moved string
			err := rows.Scan(&note, &moved)
			moves[notes.Nfc(note)] = notes.Nfc(moved)
			return err
		})
	})
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	var out []string
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT DISTINCT n.path FROM notes n JOIN links l ON l.note = n.id WHERE l.state = ? AND n.path IN (SELECT value FROM json_each(?)) ORDER BY n.path`,
			[]any{linkUnresolved, jsonArg(slices.Collect(maps.Keys(moves)))}, func(rows *sql.Rows) error {
				var note string
				err := rows.Scan(&note)
				out = append(out, fmt.Sprintf("%s has links that lead nowhere: it was changed in the moment when %s was moved, so its links were left as they were; correct them there", notes.Quote(note), notes.Quote(moves[note])))
				return err
			})
	})
	return out, err
}
