package notes

import (
	"context"
	"database/sql"
	"time"
)

// HistoryLimits bound what history keeps. A note's newest revision is always
// kept.
type HistoryLimits struct {
	Revisions int           // of one note; 0 is 200
	Age       time.Duration // 0 is ten years
	Bytes     int64         // of all texts, compressed; 0 is 1 GiB
}

func (l HistoryLimits) withDefaults() HistoryLimits {
	if l.Revisions == 0 {
		l.Revisions = 200
	}
	if l.Age == 0 {
		l.Age = 10 * 365 * 24 * time.Hour
	}
	if l.Bytes == 0 {
		l.Bytes = 1 << 30
	}
	return l
}

// keepChanges is how far back the change feed reaches. A follower that has
// been away for longer is built anew.
const keepChanges = 200_000

// journalAge is how long finished operations answer repeats of their request.
const journalAge = 30 * 24 * time.Hour

// Prune drops what the limits no longer let history keep, and the far end of
// the change feed.
func (v *Vault) Prune(ctx context.Context) error {
	limits := v.opt.History.withDefaults()
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.store.history.Write(ctx, func(tx *sql.Tx) error {
		now := v.opt.Now()
		newest := `id NOT IN (SELECT max(id) FROM revisions GROUP BY document)`
		if err := execAll(ctx, tx, `DELETE FROM revisions WHERE time < ? AND `+newest, now.Add(-limits.Age).UnixNano()); err != nil {
			return err
		}
		if err := execAll(ctx, tx, `DELETE FROM revisions WHERE id IN (SELECT id FROM
			(SELECT id, row_number() OVER (PARTITION BY document ORDER BY id DESC) AS n FROM revisions) WHERE n > ?)`, limits.Revisions); err != nil {
			return err
		}
		if err := execAll(ctx, tx, `DELETE FROM operations WHERE state <> 'pending' AND started < ?`, now.Add(-journalAge).UnixNano()); err != nil {
			return err
		}
		return pruneBytes(ctx, tx, limits.Bytes, newest)
	})
	if err != nil {
		return err
	}
	return v.store.notes.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `DELETE FROM changes WHERE seq <= ?`, int64(v.store.head.Load())-keepChanges)
	})
}

// pruneBytes drops the oldest revisions until the texts fit.
func pruneBytes(ctx context.Context, tx *sql.Tx, limit int64, newest string) error {
	for {
		if err := execAll(ctx, tx, `DELETE FROM blobs WHERE `+unused); err != nil {
			return err
		}
		var total int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(length(data)), 0) FROM blobs`).Scan(&total); err != nil || total <= limit {
			return err
		}
		result, err := tx.ExecContext(ctx, `DELETE FROM revisions WHERE id IN (SELECT id FROM revisions WHERE `+newest+` ORDER BY id LIMIT 100)`)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err // only newest revisions are left
		}
	}
}
