package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Forgotten is what Forget has erased.
type Forgotten struct {
	Paths    []string // every path that the notes ever had
	Versions int
	SetAside []string // the names of databases and indexes that had been set aside
}

// Forget removes every trace of a deleted note from the store: its versions,
// the journal entries that have one of its texts or names, its place in the
// feed, its embeddings, and damaged databases that were set aside, which may
// have all of that; and rewrites both databases, so that nothing of it is left
// in their free pages either. ref is the note's path, or a name that one deleted
// note has. All deleted notes that ever had the path are forgotten. A note that
// still exists is refused: the file would only be indexed again.
//
// Followers are built anew, for engines keep deleted words in their files for
// a while; that takes as long as a first index. Log files hold no note text.
func (v *Vault) Forget(ctx context.Context, ref string, scope Scope) (Forgotten, error) {
	if err := v.Reconcile(ctx); err != nil { // it may have been deleted a moment ago
		return Forgotten{}, err
	}
	p, err := v.forgettable(ctx, ref, scope)
	if err != nil {
		return Forgotten{}, err
	}
	if err := v.checkWrite("forget", p, scope); err != nil {
		return Forgotten{}, err
	}
	done, err := v.forgetStored(ctx, p)
	if err != nil {
		return done, err
	}
	was := v.progress.ready.Swap(false) // searches say so meanwhile
	defer v.progress.ready.Store(was)
	if err := v.feed.renew(ctx); err != nil {
		return done, err
	}
	done.SetAside, err = removeSetAside(filepath.Dir(v.store.history.Path()))
	return done, err
}

// forgettable returns the path of the deleted note that ref names.
func (v *Vault) forgettable(ctx context.Context, ref string, scope Scope) (string, error) {
	name, err := cleanRef(ref)
	if err != nil {
		return "", err
	}
	exists := func(p, detail string) error {
		return &Error{Op: "forget", Path: p, Err: ErrExists, Detail: detail, Hint: "Delete it first; forgetting cannot be undone."}
	}
	if IsNoteName(name) {
		rows, err := v.store.rows(ctx, []string{name})
		if err != nil {
			return "", err
		}
		if _, alive := rows[name]; alive {
			return "", exists(name, "the note still exists")
		}
		docs, err := v.store.documents(ctx, name)
		if err != nil {
			return "", err
		}
		dead := slices.DeleteFunc(slices.Clone(docs), func(d document) bool { return d.live })
		switch {
		case len(dead) > 0 && scope.CanRead(name):
			return name, nil
		case len(docs) > 0 && scope.CanRead(docs[0].path):
			return "", exists(docs[0].path, fmt.Sprintf("the note was moved to %s and still exists", quote(docs[0].path)))
		}
	}
	if meta, err := v.store.Lookup(ctx, ref, scope); err == nil {
		return "", exists(meta.Path, "the note still exists")
	} else if errors.Is(err, ErrAmbiguous) {
		return "", err
	}
	return v.store.deletedPath(ctx, name, scope,
		&Error{Op: "forget", Path: ref, Err: ErrNotFound, Detail: "there is no deleted note of this name in the history"})
}

func (v *Vault) forgetStored(ctx context.Context, p string) (Forgotten, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	done, err := v.store.forgetHistory(ctx, p)
	if err != nil {
		return done, err
	}
	return done, v.store.forgetDerived(ctx, done.Paths)
}

// forgotten selects the documents of the deleted notes that ever had the path.
const forgotten = `SELECT id FROM documents WHERE live = 0 AND id IN (` + everHad + `)`

func (s *Store) forgetHistory(ctx context.Context, p string) (done Forgotten, err error) {
	err = s.history.Write(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM revisions WHERE hash IS NOT NULL AND document IN (`+forgotten+`)`, p).Scan(&done.Versions); err != nil {
			return err
		}
		if done.Paths, err = selectStrings(ctx, tx, `SELECT path FROM documents WHERE id IN (`+forgotten+`)
			UNION SELECT path FROM revisions WHERE document IN (`+forgotten+`)
			UNION SELECT old_path FROM revisions WHERE document IN (`+forgotten+`) AND old_path <> ''`, p); err != nil {
			return err
		}
		if err := forgetOperations(ctx, tx, p, done.Paths); err != nil {
			return err
		}
		if err := execAll(ctx, tx, `DELETE FROM documents WHERE id IN (`+forgotten+`)`, p); err != nil { // its revisions go with it
			return err
		}
		return execAll(ctx, tx, `DELETE FROM blobs WHERE `+unused)
	})
	if err != nil {
		return done, err
	}
	return done, s.history.Rewrite(ctx)
}

// forgetOperations removes the journal entries of the notes. Those of a note
// that a symlink led to have another path, and some file systems spell paths in
// another Unicode form; so entries are found by the texts, and by the paths of
// the files that had these.
func forgetOperations(ctx context.Context, tx *sql.Tx, p string, paths []string) error {
	const texts = `SELECT hash FROM revisions WHERE hash IS NOT NULL AND document IN (` + forgotten + `)`
	disk, err := selectStrings(ctx, tx, `SELECT path FROM operation_files UNION SELECT new_path FROM operation_files`)
	if err != nil {
		return err
	}
	disk = slices.DeleteFunc(disk, func(name string) bool { return !slices.Contains(paths, nfc(name)) })
	linked, err := selectStrings(ctx, tx, `SELECT path FROM operation_files WHERE old_hash IN (`+texts+`) UNION
		SELECT new_path FROM operation_files WHERE new_hash IN (`+texts+`)`, p)
	if err != nil {
		return err
	}
	named := jsonArg(slices.DeleteFunc(append(disk, linked...), func(name string) bool { return name == "" }))
	quoted := make([]string, len(paths)) // as the answer to a folder move, or to another change, has them
	for i, path := range paths {
		quoted[i] = jsonText(path)
	}
	return execAll(ctx, tx, `DELETE FROM operations WHERE state <> 'pending' AND (id IN (SELECT operation FROM operation_files
		WHERE old_hash IN (`+texts+`) OR new_hash IN (`+texts+`)
		OR path IN (SELECT value FROM json_each(?2)) OR new_path IN (SELECT value FROM json_each(?2)))
		OR EXISTS (SELECT 1 FROM json_each(?3) j WHERE instr(result, j.value)))`, p, named, jsonArg(quoted))
}

func selectStrings(ctx context.Context, tx *sql.Tx, query string, args ...any) (out []string, err error) {
	err = forEach(ctx, tx, query, args, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

func (s *Store) forgetDerived(ctx context.Context, paths []string) error {
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{
			`UPDATE changes SET path = '', old_path = '' WHERE note NOT IN (SELECT id FROM notes) AND note IN
				(SELECT c.note FROM changes c JOIN json_each(?1) j ON j.value IN (c.path, c.old_path))`, // the seq stays: followers count on it
			`DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM chunks) AND ?1 = ?1`,
		} {
			if err := execAll(ctx, tx, query, jsonArg(paths)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.notes.Rewrite(ctx); err != nil {
		return fmt.Errorf("rewrite %s: %w", notesFile, err)
	}
	return nil
}

// setAsideNames match what the store, the search index and "notesd adopt" set
// aside.
var setAsideNames = regexp.MustCompile(`\.(damaged|corrupt|replaced)-\d{8}T\d{6}\.\d{3}(-wal|-shm)?$`)

// removeSetAside removes databases and indexes that were set aside from the
// state folder.
func removeSetAside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var removed []string
	for _, e := range entries {
		if !setAsideNames.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return removed, err
		}
		removed = append(removed, e.Name())
	}
	return removed, nil
}
