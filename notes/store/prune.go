package store

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// keepChanges is the number of changes kept in the feed. A follower that is further
// behind is rebuilt.
const keepChanges = 200_000

// JournalAge is how long finished operations are kept, to answer repeated requests and
// to be undone.
const JournalAge = 30 * 24 * time.Hour

// Revisions that are never pruned: the newest of each note, and the newest with a text.
const (
	newestOnes  = `SELECT max(id) FROM revisions GROUP BY document UNION SELECT max(id) FROM revisions WHERE hash IS NOT NULL GROUP BY document`
	mayBePruned = `id NOT IN (` + newestOnes + `)`
)

// unused matches blobs that no revision and no pending operation references, nor any
// operation on a canvas or base. Undoing an operation needs its texts, and those of
// canvases and bases are referenced only by the journal.
const unused = `NOT EXISTS (SELECT 1 FROM revisions WHERE revisions.hash = blobs.hash)
	AND NOT EXISTS (SELECT 1 FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.old_hash = blobs.hash AND (o.state = 'pending' OR ` + notNote + `))
	AND NOT EXISTS (SELECT 1 FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.new_hash = blobs.hash AND (o.state = 'pending' OR ` + notNote + `))`

// notNote matches the canvases and bases among the files f of an operation.
const notNote = `f.link = '' AND (f.path LIKE '%.canvas' OR f.path LIKE '%.base')`

// freeable is a text referenced only by revisions that may be pruned.
type freeable struct {
	hash     []byte
	bytes    int64
	document int64 // of its newest revision
}

// Prune removes the revisions and texts beyond the limits, finished operations older
// than JournalAge, and the oldest part of the change feed. The caller must hold the
// vault's lock.
func (s *Store) Prune(ctx context.Context, limits notes.HistoryLimits) error {
	limits = limits.WithDefaults()
	err := s.history.Write(ctx, func(tx *sql.Tx) error {
		now := s.Now()
		for _, drop := range []struct {
			query string
			args  []any
		}{
			{`DELETE FROM operations WHERE state <> 'pending' AND started < ?`, []any{now.Add(-JournalAge).UnixNano()}},
			// The age of a revision counts from its replacement, until which it was the note's text.
			{`DELETE FROM revisions WHERE ` + mayBePruned + ` AND id IN (SELECT id FROM
				(SELECT id, lead(time) OVER (PARTITION BY document ORDER BY id) AS replaced FROM revisions) WHERE replaced < ?)`, []any{now.Add(-limits.Age).UnixNano()}},
			{`DELETE FROM revisions WHERE ` + mayBePruned + ` AND id IN (SELECT id FROM
				(SELECT id, row_number() OVER (PARTITION BY document ORDER BY id DESC) AS n FROM revisions) WHERE n > ?)`, []any{limits.Revisions}},
			{`DELETE FROM blobs WHERE ` + unused, nil},
		} {
			if err := execAll(ctx, tx, drop.query, drop.args...); err != nil {
				return err
			}
		}
		return pruneBytes(ctx, tx, limits.Bytes)
	})
	if err != nil {
		return err
	}
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `DELETE FROM changes WHERE seq <= ?`, int64(s.Head())-keepChanges)
	})
}

// pruneBytes drops texts, each with all its revisions, until the droppable ones fit the
// limit. Only the notes that take most of the space lose texts, oldest first.
func pruneBytes(ctx context.Context, tx *sql.Tx, limit int64) error {
	byDocument, sizes, err := freeableTexts(ctx, tx)
	if err != nil {
		return err
	}
	share := fairShare(sizes, limit)
	for document, texts := range byDocument {
		for _, text := range texts { // the oldest first
			if sizes[document] <= share {
				break
			}
			for _, query := range []string{`DELETE FROM revisions WHERE hash = ?`, `DELETE FROM blobs WHERE hash = ?`} {
				if err := execAll(ctx, tx, query, text.hash); err != nil {
					return err
				}
			}
			sizes[document] -= text.bytes
		}
	}
	return nil
}

// freeableTexts returns the freeable texts by document, oldest first, and their total
// size per document.
func freeableTexts(ctx context.Context, tx *sql.Tx) (byDocument map[int64][]freeable, sizes map[int64]int64, err error) {
	byDocument, sizes = map[int64][]freeable{}, map[int64]int64{}
	err = sqlite.ForEach(ctx, tx, `SELECT r.hash, length(b.data), r.document, max(r.id) FROM revisions r JOIN blobs b ON b.hash = r.hash
		WHERE r.hash NOT IN (SELECT hash FROM revisions WHERE hash IS NOT NULL AND id IN (`+newestOnes+`))
		AND NOT EXISTS (SELECT 1 FROM operations o JOIN operation_files f ON f.operation = o.id WHERE o.state = 'pending' AND r.hash IN (f.old_hash, f.new_hash))
		GROUP BY r.hash ORDER BY max(r.id)`, nil, func(rows *sql.Rows) error {
		var text freeable
		var newest int64
		err := rows.Scan(&text.hash, &text.bytes, &text.document, &newest)
		byDocument[text.document] = append(byDocument[text.document], text)
		sizes[text.document] += text.bytes
		return err
	})
	return byDocument, sizes, err
}

// fairShare returns the largest size per document that keeps the total within limit.
func fairShare(sizes map[int64]int64, limit int64) int64 {
	each := slices.Sorted(maps.Values(sizes))
	for i, size := range each {
		others := int64(len(each) - i)
		if size*others > limit {
			return limit / others
		}
		limit -= size
	}
	return math.MaxInt64 // the total is within the limit
}
