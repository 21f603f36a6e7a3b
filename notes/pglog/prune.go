package pglog

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"notesd/notes"
)

const (
	// pruneEvery is how often one of the vault's nodes prunes the log.
	pruneEvery = 6 * time.Hour
	// pruneStep is the number of batches whose changes are removed at a time; commits
	// wait meanwhile.
	pruneStep = 500
	// vectorsFor is how long a vector is kept that no node reports as in use.
	vectorsFor = 30 * 24 * time.Hour
	// subscriptionsFor is how long the subscriptions of a client are kept that does not listen.
	subscriptionsFor = 30 * 24 * time.Hour
)

// Prune removes the changes that exceed the age limit, or the size limit for contents
// that no current file has, together with those contents, and the vectors and subscriptions
// that have not been used for a month. Batches keep their rows, so that an older position is
// still recognised as one of this log: see [ErrPruned]. It is a no-op if a node has
// pruned within pruneEvery.
func (l *Log) Prune(ctx context.Context, limits notes.HistoryLimits) error {
	limits = limits.WithDefaults()
	var cut int64
	err := l.call(ctx, func(ctx context.Context) error {
		var newest int64
		err := l.db.pool.QueryRow(ctx, `UPDATE vaults SET pruned = now() WHERE id = $1 AND pruned < now() - make_interval(secs => $2) RETURNING seq`, l.vault, pruneEvery.Seconds()).Scan(&newest)
		if err != nil {
			return err
		}
		// This reads the whole feed, so it is another statement: the update locks the vault's row.
		return l.db.pool.QueryRow(ctx, `SELECT least($2 - 1, greatest(
				coalesce((SELECT max(seq) FROM batches WHERE vault = $1 AND at < now() - make_interval(secs => $3)), 0),
				coalesce((SELECT max(seq) FROM (
					SELECT f.seq, sum(length(b.data)) OVER (ORDER BY f.seq DESC) AS bytes FROM feed f JOIN blobs b ON b.vault = f.vault AND b.hash = f.before WHERE f.vault = $1
				) superseded WHERE bytes > $4), 0)))`, l.vault, newest, limits.Age.Seconds(), limits.Bytes).Scan(&cut)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	for more := err == nil; more; {
		if more, err = l.pruneStep(ctx, cut); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return l.call(ctx, func(ctx context.Context) error {
		b := &pgx.Batch{}
		b.Queue(`DELETE FROM vectors WHERE claimed < now() - make_interval(secs => $1)`, vectorsFor.Seconds())
		b.Queue(`DELETE FROM subscriptions WHERE used < now() - make_interval(secs => $1)`, subscriptionsFor.Seconds())
		return l.db.pool.SendBatch(ctx, b).Close()
	})
}

// pruneStep removes the changes of some batches up to cut, and reports whether there may
// be more.
func (l *Log) pruneStep(ctx context.Context, cut int64) (more bool, err error) {
	err = l.locked(ctx, func(ctx context.Context, tx pgx.Tx, _ uint64) error { // or a commit could use contents that are about to be removed
		var to int64
		err := tx.QueryRow(ctx, `UPDATE vaults SET kept = least($2, kept - 1 + $3) + 1 WHERE id = $1 AND kept <= $2 RETURNING kept - 1`, l.vault, cut, pruneStep).Scan(&to)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		more = to < cut
		rows, _ := tx.Query(ctx, `DELETE FROM feed WHERE vault = $1 AND seq <= $2 RETURNING coalesce(before, after)`, l.vault, to) // its error is in rows
		hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		return l.removeUnused(ctx, tx, hashes)
	})
	return more, err
}

// removeUnused removes the contents that no file and no change uses. It reads the feed once: a
// subquery that selects all its hashes is too large for work_mem and would be read once for
// each content, which took 48 s for 500 contents and 100 000 changes.
func (l *Log) removeUnused(ctx context.Context, tx pgx.Tx, hashes [][]byte) error {
	_, err := tx.Exec(ctx, `DELETE FROM blobs b WHERE vault = $1 AND hash = ANY($2)
		AND NOT EXISTS (SELECT FROM files f WHERE f.vault = b.vault AND f.hash = b.hash)
		AND hash NOT IN (SELECT before FROM feed JOIN unnest($2) AS hash ON before = hash WHERE vault = $1
			UNION SELECT after FROM feed JOIN unnest($2) AS hash ON after = hash WHERE vault = $1)`, l.vault, hashes)
	return err
}
