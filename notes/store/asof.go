package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"notesd/internal/sqlite"
)

// HistoryBegins returns when the first version was seen of which anything is
// known; the zero time when nothing is.
func (s *Versions) HistoryBegins(ctx context.Context) (time.Time, error) {
	var first int64
	for _, from := range []struct {
		db    *sqlite.DB
		query string
	}{{s.notes, `SELECT min(first_seen) FROM notes`}, {s.history, `SELECT min(time) FROM revisions`}} {
		var at sql.NullInt64
		if err := from.db.Reader().QueryRowContext(ctx, from.query).Scan(&at); err != nil {
			return time.Time{}, err
		}
		if at.Valid && (first == 0 || at.Int64 < first) {
			first = at.Int64
		}
	}
	if first == 0 {
		return time.Time{}, nil
	}
	return time.Unix(0, first), nil
}

// AsOf returns, by path, how to load the text that each note had at a moment.
func (s *Versions) AsOf(ctx context.Context, at int64) (map[string]func(context.Context) ([]byte, error), error) {
	texts := map[string]func(context.Context) ([]byte, error){}
	changedSince := map[string]bool{} // present notes whose text of that moment is history's business
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := forEach(ctx, tx, `SELECT r.path, r.hash FROM revisions r WHERE r.hash IS NOT NULL AND
			r.id = (SELECT id FROM revisions WHERE document = r.document AND time <= ? ORDER BY time DESC, id DESC LIMIT 1) ORDER BY r.time, r.id`, []any{at}, func(rows *sql.Rows) error {
			var p string
			var hash []byte
			err := rows.Scan(&p, &hash)
			texts[p] = func(ctx context.Context) ([]byte, error) { return s.Blob(ctx, hash) }
			return err
		})
		if err != nil {
			return err
		}
		return forEach(ctx, tx, `SELECT path FROM documents WHERE live = 1 AND EXISTS (SELECT 1 FROM revisions WHERE document = documents.id)`, nil, func(rows *sql.Rows) error {
			var p string
			err := rows.Scan(&p)
			changedSince[p] = true
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return texts, s.addUnchanged(ctx, at, texts, changedSince)
}

// addUnchanged adds what notes.db knows: the present version of each note, if
// it was there at that moment, also where history has older ones.
func (s *Versions) addUnchanged(ctx context.Context, at int64, texts map[string]func(context.Context) ([]byte, error), changed map[string]bool) error {
	return s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT id, path, first_seen, mtime FROM notes`, nil, func(rows *sql.Rows) error {
			var id, firstSeen, mtime int64
			var p string
			if err := rows.Scan(&id, &p, &firstSeen, &mtime); err != nil {
				return err
			}
			there := firstSeen <= at || !changed[p] && mtime <= at // first seen late, but not changed since
			if there {
				texts[p] = func(ctx context.Context) ([]byte, error) {
					note, err := s.LoadNote(ctx, id)
					if err != nil || note == nil {
						return nil, errors.Join(err, fs.ErrNotExist)
					}
					return []byte(note.Content), nil
				}
			}
			return nil
		})
	})
}

// Blob returns the text with this hash.
func (s *Versions) Blob(ctx context.Context, hash []byte) (text []byte, err error) {
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		text, err = loadBlob(ctx, tx, hash)
		return err
	})
	return text, err
}
