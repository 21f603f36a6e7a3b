package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/sqlite"
)

// ExportAsOf writes the notes as they were at a moment into dir, which must
// be empty or not exist, and returns how many it wrote. A note is exported in
// the version that history, or the vault itself, has of that moment;
// attachments are not versioned and are left out. A moment in the future, or
// before history begins, is an [*Error] with [ErrInvalid].
func (v *Vault) ExportAsOf(ctx context.Context, at time.Time, dir string) (int, error) {
	if err := v.checkMoment(ctx, at); err != nil {
		return 0, err
	}
	if err := emptyFolder(dir); err != nil {
		return 0, err
	}
	texts, err := v.store.asOf(ctx, at.UnixNano())
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // every file was synced
	written := 0
	for notePath, load := range texts {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		text, err := load(ctx)
		if err != nil {
			return written, err
		}
		if err := writeExported(root, notePath, text); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// checkMoment refuses a moment of which nothing, or not everything, is known.
func (v *Vault) checkMoment(ctx context.Context, at time.Time) error {
	refused := &Error{Op: "export", Err: ErrInvalid}
	if at.After(v.opt.Now()) {
		refused.Detail, refused.Hint = fmt.Sprintf("%s is in the future", at.Local().Format(time.DateTime)), "Name a moment in the past."
		return refused
	}
	begin, err := v.store.historyBegins(ctx)
	if err != nil {
		return err
	}
	if begin.IsZero() {
		refused.Detail, refused.Hint = "there is no history yet", "It begins when notesd first reads the vault."
		return refused
	}
	if at.Before(begin) {
		since := begin.Local().Add(time.Second).Format(time.DateTime) // rounded up: a moment that can be asked for
		refused.Detail, refused.Hint = fmt.Sprintf("there is no history of %s: it begins at %s", at.Local().Format(time.DateTime), since), fmt.Sprintf("Name a moment from %s on.", since)
		return refused
	}
	return nil
}

// historyBegins returns when the first version was seen of which anything is
// known; the zero time when nothing is.
func (s *Store) historyBegins(ctx context.Context) (time.Time, error) {
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

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755) //nolint:gosec // the user's own folder, as open as a vault is
	case err != nil:
		return err
	case len(entries) > 0:
		return &Error{Op: "export", Path: filepath.Base(dir), Err: ErrExists, Detail: "the folder is not empty", Hint: "Name a folder that does not exist yet."}
	}
	return nil
}

func writeExported(root *os.Root, notePath string, text []byte) error {
	if err := root.MkdirAll(path.Dir(notePath), 0o755); err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(root, path.Dir(notePath))
	if err != nil {
		return err
	}
	temp := tempName()
	err = dir.Stage(temp, text, nil)
	if err == nil {
		err = dir.Publish(temp, path.Base(notePath))
	}
	return errors.Join(err, dir.Close())
}

// asOf returns, by path, how to load the text that each note had at a moment.
func (s *Store) asOf(ctx context.Context, at int64) (map[string]func(context.Context) ([]byte, error), error) {
	texts := map[string]func(context.Context) ([]byte, error){}
	changedSince := map[string]bool{} // present notes whose text of that moment is history's business
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := forEach(ctx, tx, `SELECT r.path, r.hash FROM revisions r WHERE r.hash IS NOT NULL AND
			r.id = (SELECT id FROM revisions WHERE document = r.document AND time <= ? ORDER BY time DESC, id DESC LIMIT 1) ORDER BY r.time, r.id`, []any{at}, func(rows *sql.Rows) error {
			var p string
			var hash []byte
			err := rows.Scan(&p, &hash)
			texts[p] = func(ctx context.Context) ([]byte, error) { return s.blob(ctx, hash) }
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
func (s *Store) addUnchanged(ctx context.Context, at int64, texts map[string]func(context.Context) ([]byte, error), changed map[string]bool) error {
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
					note, err := s.loadNote(ctx, id)
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

func (s *Store) blob(ctx context.Context, hash []byte) (text []byte, err error) {
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		text, err = loadBlob(ctx, tx, hash)
		return err
	})
	return text, err
}
