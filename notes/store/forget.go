package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Forget erases the deleted notes that ever had the path from both databases, including
// freed pages. If it fails, it can be repeated, because the versions, by which the notes
// are found, go last. The caller must hold the vault's lock.
func (s *Store) Forget(ctx context.Context, p string) (done notes.Forgotten, err error) {
	if done, err = s.Forgettable(ctx, p); err != nil {
		return done, err
	}
	if err := s.forgetDerived(ctx, done.Paths); err != nil {
		return done, fmt.Errorf("erase from %s: %w", NotesFile, err)
	}
	return done, s.forgetVersions(ctx, p, done.Paths)
}

// Forgettable returns what Forget would erase.
func (s *Store) Forgettable(ctx context.Context, p string) (found notes.Forgotten, err error) {
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		if found.Versions, err = sqlite.First[int](ctx, tx, `SELECT count(*) FROM revisions WHERE hash IS NOT NULL AND document IN (`+forgotten+`)`, p); err != nil {
			return err
		}
		found.Paths, err = sqlite.Column[string](ctx, tx, `SELECT path FROM documents WHERE id IN (`+forgotten+`)
			UNION SELECT path FROM revisions WHERE document IN (`+forgotten+`)
			UNION SELECT old_path FROM revisions WHERE document IN (`+forgotten+`) AND old_path <> ''`, p)
		return err
	})
	return found, err
}

func (s *Versions) forgetVersions(ctx context.Context, p string, paths []string) error {
	return s.history.Erase(ctx, func(tx *sql.Tx) error {
		if err := forgetOperations(ctx, tx, p, paths); err != nil {
			return err
		}
		if err := forgetSymlinks(ctx, tx, paths); err != nil {
			return err
		}
		if err := forgetSubscriptions(ctx, tx, paths); err != nil {
			return err
		}
		if err := execAll(ctx, tx, `DELETE FROM documents WHERE id IN (`+forgotten+`)`, p); err != nil { // its revisions are deleted by cascade
			return err
		}
		return execAll(ctx, tx, `DELETE FROM blobs WHERE `+unused)
	})
}

// forgetSymlinks removes the paths from the recorded symlinks. The versions of a
// symlink that pointed to one of them stay hidden from callers with a restricted scope:
// the target "" is in no folder.
func forgetSymlinks(ctx context.Context, tx *sql.Tx, paths []string) error {
	keys := make([]string, len(paths))
	for i, p := range paths {
		keys[i] = notes.Key(p)
	}
	if err := execAll(ctx, tx, `DELETE FROM symlinks WHERE path IN (SELECT value FROM json_each(?))`, sqlite.List(paths)); err != nil {
		return err
	}
	return execAll(ctx, tx, `UPDATE OR REPLACE symlinks SET target = '' WHERE target IN (SELECT value FROM json_each(?))`, sqlite.List(keys))
}

// forgetDerived erases the paths from notes.db, and the embeddings of passages and leads that
// are in no note.
func (s *Store) forgetDerived(ctx context.Context, paths []string) error {
	return s.notes.Erase(ctx, func(tx *sql.Tx) error {
		err := execAll(ctx, tx, `UPDATE changes SET path = '', old_path = '' WHERE note NOT IN (SELECT id FROM notes) AND note IN
			(SELECT c.note FROM changes c JOIN json_each(?) j ON j.value IN (c.path, c.old_path))`, sqlite.List(paths)) // keep the seq, which followers rely on
		if err != nil {
			return err
		}
		var leads []string
		err = sqlite.ForEach(ctx, tx, `SELECT a.hash, b.hash FROM chunks a JOIN chunks b ON b.note = a.note AND b.ordinal = 1 WHERE a.ordinal = 0`, nil, func(rows *sql.Rows) error {
			var first, second []byte
			err := rows.Scan(&first, &second)
			leads = append(leads, hex.EncodeToString(notes.LeadHash(first, second)))
			return err
		})
		if err != nil {
			return err
		}
		return execAll(ctx, tx, `DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM chunks) AND hash NOT IN (SELECT unhex(value) FROM json_each(?))`, sqlite.List(leads))
	})
}

// forgotten selects the documents of the deleted notes that ever had the path.
const forgotten = `SELECT id FROM documents WHERE live = 0 AND id IN (` + everHad + `)`

// forgetOperations removes the journal entries of the notes. A note may have had other
// paths, and some file systems use another Unicode form, so entries are found by the texts
// that no other note has had, by the paths of the files that had those texts, and by the
// notes' paths.
func forgetOperations(ctx context.Context, tx *sql.Tx, p string, paths []string) error {
	const texts = `SELECT hash FROM revisions r WHERE hash IS NOT NULL AND document IN (` + forgotten + `)
		AND NOT EXISTS (SELECT 1 FROM revisions WHERE hash = r.hash AND document NOT IN (` + forgotten + `))`
	disk, err := sqlite.Column[string](ctx, tx, `SELECT path FROM operation_files UNION SELECT new_path FROM operation_files UNION SELECT link FROM operation_files`)
	if err != nil {
		return err
	}
	disk = slices.DeleteFunc(disk, func(name string) bool { return !slices.Contains(paths, notes.Nfc(name)) })
	linked, err := sqlite.Column[string](ctx, tx, `SELECT path FROM operation_files WHERE old_hash IN (`+texts+`) UNION
		SELECT new_path FROM operation_files WHERE new_hash IN (`+texts+`)`, p)
	if err != nil {
		return err
	}
	named := sqlite.List(slices.DeleteFunc(append(disk, linked...), func(name string) bool { return name == "" }))
	quoted := make([]string, len(paths)) // as they appear in the stored answers
	for i, path := range paths {
		quoted[i] = jsonText(path)
	}
	return execAll(ctx, tx, `DELETE FROM operations WHERE state <> 'pending' AND (id IN (SELECT operation FROM operation_files
		WHERE old_hash IN (`+texts+`) OR new_hash IN (`+texts+`)
		OR path IN (SELECT value FROM json_each(?2)) OR new_path IN (SELECT value FROM json_each(?2)) OR link IN (SELECT value FROM json_each(?2)))
		OR EXISTS (SELECT 1 FROM json_each(?3) j WHERE instr(result, j.value)))`, p, named, sqlite.List(quoted))
}
