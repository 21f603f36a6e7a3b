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

// pruneStep is the number of rows removed in one transaction, for which writers wait.
const pruneStep = 1000

// kept matches the revisions r that are never pruned: the newest text of each note, and
// what follows it.
const kept = `r.id >= coalesce((SELECT max(id) FROM revisions WHERE document = r.document AND hash IS NOT NULL), 0)`

// unused matches blobs that no revision and no pending operation references, nor any
// operation on a canvas or base. Undoing an operation needs its texts, and those of
// canvases and bases are referenced only by the journal.
const unused = `NOT EXISTS (SELECT 1 FROM revisions WHERE revisions.hash = blobs.hash)
	AND NOT EXISTS (SELECT 1 FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.old_hash = blobs.hash AND (o.state = 'pending' OR ` + notNote + `))
	AND NOT EXISTS (SELECT 1 FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.new_hash = blobs.hash AND (o.state = 'pending' OR ` + notNote + `))`

// notNote matches the canvases and bases among the files f of an operation.
const notNote = `f.link = '' AND ` + isCanvas

// Prune removes the revisions and texts beyond the limits, finished operations older
// than JournalAge, the subscriptions of old sessions, and the oldest part of the change
// feed. A history may have a million revisions, so what to remove is selected while others
// write, and then removed in steps.
func (s *Store) Prune(ctx context.Context, limits notes.HistoryLimits) error {
	limits = limits.WithDefaults()
	now, err := s.confirmedTime(ctx)
	if err != nil {
		return err
	}
	old, err := sqlite.Column[int64](ctx, s.history.Reader(), `SELECT id FROM operations WHERE state <> 'pending' AND started < ?`, now.Add(-JournalAge).UnixNano())
	if err != nil {
		return err
	}
	if err := s.remove(ctx, operationRows, old); err != nil {
		return err
	}
	beyond, err := sqlite.Column[int64](ctx, s.history.Reader(), beyondLimits, now.Add(-limits.Age).UnixNano(), limits.Revisions, now.UnixNano())
	if err != nil {
		return err
	}
	if err := s.remove(ctx, revisionRows, beyond); err != nil {
		return err
	}
	if beyond, err = s.beyondBytes(ctx, limits.Bytes); err != nil {
		return err
	}
	if err := s.remove(ctx, revisionRows, beyond); err != nil {
		return err
	}
	if err := s.history.Write(ctx, func(tx *sql.Tx) error { return pruneSubscriptions(ctx, tx) }); err != nil {
		return err
	}
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `DELETE FROM changes WHERE seq <= ?`, int64(s.Head())-keepChanges)
	})
}

// confirmedTime returns the time from which ages are counted: that of the newest revision
// at least a day old, if there is one. While the system's clock is ahead, which it may be by
// years, this is close to the true time.
func (s *Versions) confirmedTime(ctx context.Context) (time.Time, error) {
	now := s.Now()
	newest, err := sqlite.First[int64](ctx, s.history.Reader(), `SELECT coalesce(max(time), 0) FROM revisions WHERE time <= ?`, now.Add(-24*time.Hour).UnixNano())
	if err != nil || newest == 0 {
		return now, err
	}
	return time.Unix(0, newest), nil
}

// beyondLimits selects the revisions replaced before ?1, and those that ?2 revisions of
// their note follow; ?3 is the present time. The age of a revision counts from its
// replacement, until which it was the note's text. A replacement with an earlier time than
// one before it was made while the clock was behind, and its age is not known.
const beyondLimits = `SELECT r.id FROM revisions next JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = next.document AND id < next.id)
		WHERE next.time < ?1 AND next.id < coalesce((SELECT id FROM revisions WHERE +time BETWEEN ?1 AND ?3 ORDER BY id LIMIT 1), next.id + 1)
	UNION SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY document ORDER BY id DESC) AS n FROM revisions
		WHERE document IN (SELECT document FROM revisions GROUP BY document HAVING count(*) > ?2)) WHERE n > ?2`

// rows are rows of history to be removed by their ids, the JSON array ?, and the texts
// that they use, as hashes in hex.
type rows struct{ texts, remove string }

var (
	revisionRows = rows{
		texts:  `SELECT hex(hash) FROM revisions WHERE hash IS NOT NULL AND id IN (SELECT value FROM json_each(?))`,
		remove: `DELETE FROM revisions AS r WHERE id IN (SELECT value FROM json_each(?)) AND NOT (` + kept + `)`,
	}
	operationRows = rows{
		texts: `SELECT coalesce(hex(old_hash), '') FROM operation_files WHERE operation IN (SELECT value FROM json_each(?1))
			UNION SELECT coalesce(hex(new_hash), '') FROM operation_files WHERE operation IN (SELECT value FROM json_each(?1))`,
		remove: `DELETE FROM operations WHERE id IN (SELECT value FROM json_each(?))`,
	}
)

// remove removes rows in steps, with the texts that nothing else uses.
func (s *Versions) remove(ctx context.Context, r rows, ids []int64) error {
	for step := range slices.Chunk(ids, pruneStep) {
		err := s.history.Write(ctx, func(tx *sql.Tx) error {
			hashes, err := sqlite.Column[string](ctx, tx, r.texts, sqlite.List(step))
			if err == nil {
				err = execAll(ctx, tx, r.remove, sqlite.List(step))
			}
			if err != nil {
				return err
			}
			return removeUnused(ctx, tx, hashes)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeUnused removes those of the texts, given by their hashes in hex, that nothing uses.
func removeUnused(ctx context.Context, tx *sql.Tx, hashes []string) error {
	return execAll(ctx, tx, `DELETE FROM blobs WHERE hash IN (SELECT unhex(value) FROM json_each(?)) AND `+unused, sqlite.List(hashes))
}

// beyondBytes selects revisions without which the texts that may be pruned fit the limit.
// Only the notes that take most of the space lose texts, oldest first, each with all its
// revisions.
func (s *Versions) beyondBytes(ctx context.Context, limit int64) (ids []int64, err error) {
	// A file within the limit has no more texts than that, and its size is known at once.
	used, err := sqlite.First[int64](ctx, s.history.Reader(), `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil || used <= limit {
		return nil, err
	}
	byDocument, sizes, err := s.freeableTexts(ctx)
	if err != nil {
		return nil, err
	}
	var hashes []string
	share := fairShare(sizes, limit)
	for document, texts := range byDocument {
		for _, text := range texts { // the oldest first
			if sizes[document] <= share {
				break
			}
			hashes = append(hashes, text.hash)
			sizes[document] -= text.bytes
		}
	}
	return sqlite.Column[int64](ctx, s.history.Reader(), `SELECT r.id FROM json_each(?) j JOIN revisions r ON r.hash = unhex(j.value)`, sqlite.List(hashes))
}

// freeable is a text of which all revisions may be pruned.
type freeable struct {
	hash  string // hex
	bytes int64
}

// freeableTexts returns the freeable texts by the document of their newest revision, oldest
// first, and their total size per document.
func (s *Versions) freeableTexts(ctx context.Context) (byDocument map[int64][]freeable, sizes map[int64]int64, err error) {
	byDocument, sizes = map[int64][]freeable{}, map[int64]int64{}
	err = sqlite.ForEach(ctx, s.history.Reader(), `SELECT hex(r.hash), length(b.data), r.document, max(r.id) FROM revisions r JOIN blobs b ON b.hash = r.hash
		WHERE r.hash NOT IN (SELECT r.hash FROM documents d JOIN revisions r ON r.document = d.id AND `+kept+` WHERE r.hash IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM operations o JOIN operation_files f ON f.operation = o.id WHERE o.state = 'pending' AND r.hash IN (f.old_hash, f.new_hash))
		GROUP BY r.hash ORDER BY max(r.id)`, nil, func(rows *sql.Rows) error {
		var text freeable
		var document, newest int64
		err := rows.Scan(&text.hash, &text.bytes, &document, &newest)
		byDocument[document] = append(byDocument[document], text)
		sizes[document] += text.bytes
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
