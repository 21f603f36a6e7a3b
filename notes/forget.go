package notes

import (
	"context"
	"database/sql"
	"fmt"
)

// Forget removes every trace of a deleted note from the store: its versions,
// its journal entries, its place in the feed, its embeddings; and rewrites
// both databases, so that nothing of it is left in their free pages either.
// It returns how many versions there were. A note that still exists is refused:
// the file would only be indexed again.
//
// Followers are built anew, for engines keep deleted words in their files for
// a while; that takes as long as a first index. Log files hold no note text.
func (v *Vault) Forget(ctx context.Context, ref string, scope Scope) (int, error) {
	if meta, err := v.store.Lookup(ctx, ref, scope); err == nil {
		return 0, &Error{Op: "forget", Path: meta.Path, Err: ErrExists, Detail: "the note still exists", Hint: "Delete it first; forgetting cannot be undone."}
	}
	p, err := v.store.deletedPath(ctx, ref)
	if err != nil {
		return 0, err
	}
	if p == "" || !scope.CanRead(p) {
		return 0, &Error{Op: "forget", Path: ref, Err: ErrNotFound, Detail: "there is no deleted note of this name in the history"}
	}
	if err := v.checkWrite("forget", p, scope); err != nil {
		return 0, err
	}
	versions, err := v.forgetStored(ctx, p)
	if err != nil {
		return versions, err
	}
	was := v.progress.ready.Swap(false) // searches say so meanwhile
	defer v.progress.ready.Store(was)
	return versions, v.feed.renew(ctx)
}

func (v *Vault) forgetStored(ctx context.Context, p string) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	versions, err := v.store.forgetHistory(ctx, p)
	if err != nil {
		return versions, err
	}
	return versions, v.store.forgetDerived(ctx, p)
}

// forgotten selects the documents of a deleted path.
const forgotten = `SELECT id FROM documents WHERE path = ?1 AND live = 0`

func (s *Store) forgetHistory(ctx context.Context, p string) (versions int, err error) {
	err = s.history.Write(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM revisions WHERE hash IS NOT NULL AND document IN (`+forgotten+`)`, p).Scan(&versions); err != nil {
			return err
		}
		for _, query := range []string{
			`DELETE FROM operations WHERE id IN (SELECT operation FROM operation_files WHERE path = ?1 OR new_path = ?1
				OR path IN (SELECT path FROM revisions WHERE document IN (` + forgotten + `)))`,
			`DELETE FROM documents WHERE id IN (` + forgotten + `)`, // its revisions go with it
			`DELETE FROM blobs WHERE ` + unused + ` AND ?1 = ?1`,
		} {
			if err := execAll(ctx, tx, query, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return versions, err
	}
	return versions, s.history.Rewrite(ctx)
}

// unused holds for blobs that no revision and no journal entry names.
const unused = `hash NOT IN (SELECT hash FROM revisions WHERE hash IS NOT NULL)
	AND hash NOT IN (SELECT old_hash FROM operation_files WHERE old_hash IS NOT NULL)
	AND hash NOT IN (SELECT new_hash FROM operation_files WHERE new_hash IS NOT NULL)`

func (s *Store) forgetDerived(ctx context.Context, p string) error {
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{
			`UPDATE changes SET path = '', old_path = '' WHERE path = ?1 OR old_path = ?1`, // the seq stays: followers count on it
			`DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM chunks) AND ?1 = ?1`,
		} {
			if err := execAll(ctx, tx, query, p); err != nil {
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
