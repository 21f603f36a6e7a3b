package pglog

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"notesd/notes"
)

// KindForget is the kind of a batch that makes nodes erase their versions of a note. Its first
// change names the note's last path, and the others name earlier ones, which other notes may
// have had too. The log has already erased them.
const KindForget = "forget"

// Forget erases every change of a deleted note, which ever had the paths and last had path, and
// the contents that are used nowhere else. It writes a batch of [KindForget] with the paths,
// and reports whether it erased anything. It returns [notes.ErrExists] if a file has the
// path. Of another path that a file has again, it erases the changes before that file. It keeps
// moves from or to other paths: they are of other notes, which a reader may still lack.
func (l *Log) Forget(ctx context.Context, id string, by notes.Author, path string, paths []string) (erased bool, err error) {
	err = l.locked(ctx, func(ctx context.Context, tx pgx.Tx, head uint64) error {
		if _, done, err := l.batch(ctx, tx, id); done || err != nil { // it is repeated because the response was lost
			erased = true
			return err
		}
		existing, err := readFiles(tx.Query(ctx, selectFiles+` AND f.path = ANY($2)`, l.vault, paths))
		if err != nil {
			return err
		}
		var taken []string
		for _, f := range existing {
			if f.Path == path {
				return &notes.Error{Op: "forget", Path: path, Err: notes.ErrExists, Detail: "the database has a file with this name again", Hint: "Delete it first; forgetting cannot be undone."}
			}
			taken = append(taken, f.Path)
		}
		// since has the batches in which the existing files got their names, or 0 if it was pruned.
		rows, _ := tx.Query(ctx, `WITH since AS (SELECT name, coalesce(max(f.seq), 0) AS seq FROM unnest($3::text[]) AS name
				LEFT JOIN feed f ON f.vault = $1 AND f.path = name AND f.old_path IS DISTINCT FROM f.path GROUP BY name),
			gone AS (DELETE FROM feed f WHERE vault = $1 AND coalesce(f.path, f.old_path) = ANY($2) AND coalesce(f.old_path, f.path) = ANY($2)
				AND (before IS NOT NULL OR after IS NOT NULL) -- not an earlier forgetting, of which readers need each path
				AND NOT EXISTS (SELECT FROM since WHERE name = f.path AND f.seq >= since.seq) RETURNING before, after)
			SELECT before FROM gone WHERE before IS NOT NULL UNION SELECT after FROM gone WHERE after IS NOT NULL`, l.vault, paths, append([]string{}, taken...)) // its error is in rows
		hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		erased = len(hashes) > 0
		if err := l.removeUnused(ctx, tx, hashes); err != nil {
			return err
		}
		free := append([]string{path}, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == path || slices.Contains(taken, p) })...)
		if err := l.forgetSubscriptions(ctx, tx, free); err != nil {
			return err
		}
		p := &plan{vault: l.vault}
		for _, path := range free {
			p.feed = append(p.feed, notes.FileChange{OldPath: path})
		}
		b := &pgx.Batch{}
		p.queueWrites(b, head+1, notes.Batch{ID: id, Kind: KindForget, Author: by})
		return tx.SendBatch(ctx, b).Close()
	})
	if err == nil {
		l.wake()
	}
	return erased, err
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
