package pglog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"notesd/notes"
)

// KindForget is the kind of a batch that makes nodes erase their versions of the files it
// names. The log has already erased them.
const KindForget = "forget"

// Forget erases every change of the paths and the contents that are used nowhere else,
// and writes a batch of [KindForget] with the paths. It returns [notes.ErrExists] if a
// file has one of the paths.
func (l *Log) Forget(ctx context.Context, id string, by notes.Author, paths []string) error {
	err := l.locked(ctx, func(ctx context.Context, tx pgx.Tx, head uint64) error {
		if _, done, err := l.batch(ctx, tx, id); done || err != nil { // it is repeated because the response was lost
			return err
		}
		existing, err := readFiles(tx.Query(ctx, selectFiles+` AND f.path = ANY($2)`, l.vault, paths))
		if err == nil && len(existing) > 0 {
			err = &notes.Error{Op: "forget", Path: existing[0].Path, Err: notes.ErrExists, Detail: "the database has a file with this name again", Hint: "Delete it first; forgetting cannot be undone."}
		}
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `WITH gone AS (DELETE FROM feed WHERE vault = $1 AND (path = ANY($2) OR old_path = ANY($2)) RETURNING before, after)
			SELECT before FROM gone WHERE before IS NOT NULL UNION SELECT after FROM gone WHERE after IS NOT NULL`, l.vault, paths) // its error is in rows
		hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		if err := l.removeUnused(ctx, tx, hashes); err != nil {
			return err
		}
		if err := l.forgetSubscriptions(ctx, tx, paths); err != nil {
			return err
		}
		p := &plan{vault: l.vault}
		for _, path := range paths {
			p.feed = append(p.feed, notes.FileChange{OldPath: path})
		}
		b := &pgx.Batch{}
		p.queueWrites(b, head+1, notes.Batch{ID: id, Kind: KindForget, Author: by})
		return tx.SendBatch(ctx, b).Close()
	})
	if err == nil {
		l.wake()
	}
	return err
}

// forgetSubscriptions erases the subscriptions to the paths, which a client may have written
// in several forms.
func (l *Log) forgetSubscriptions(ctx context.Context, tx pgx.Tx, paths []string) error {
	rows, _ := tx.Query(ctx, `SELECT DISTINCT uri FROM subscriptions WHERE vault = $1`, l.vault) // its error is in rows
	uris, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM subscriptions WHERE vault = $1 AND uri = ANY($2)`, l.vault, notes.URIsOf(paths, uris))
	return err
}
