package store

import (
	"context"
	"database/sql"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Feed reads the numbered changes of the store, which followers replay.
type Feed struct{ *Reader }

// Feed returns the store's feed.
func (s *Store) Feed() Feed { return Feed{s.Reader} }

// After returns up to limit changes after seq, oldest first, and whether the feed still
// reaches back that far.
func (f Feed) After(ctx context.Context, seq uint64, limit int) (changes []notes.Change, whole bool, err error) {
	err = f.notes.Read(ctx, func(tx *sql.Tx) error {
		oldest, err := sqlite.First[sql.NullInt64](ctx, tx, `SELECT min(seq) FROM changes`)
		if err != nil {
			return err
		}
		whole = seq == f.Head() || oldest.Valid && uint64(oldest.Int64) <= seq+1
		changes, err = sqlite.All(ctx, tx, func(c *notes.Change) []any {
			c.Loader = f.LoadNote
			return []any{&c.Seq, &c.Kind, &c.NoteID, &c.Path, &c.OldPath}
		}, `SELECT seq, kind, note, path, old_path FROM changes WHERE seq > ? ORDER BY seq LIMIT ?`, int64(seq), limit)
		return err
	})
	return changes, whole, err
}

// Snapshot returns up to limit notes whose last change is after seq and at most head,
// as Created changes in the order of those changes, for a follower that starts empty.
// Later changes are beyond head and reach the follower through the feed.
func (f Feed) Snapshot(ctx context.Context, seq, head uint64, limit int) ([]notes.Change, error) {
	return sqlite.All(ctx, f.notes.Reader(), func(c *notes.Change) []any {
		c.Kind, c.Loader = notes.Created, f.LoadNote
		return []any{&c.Seq, &c.NoteID, &c.Path}
	}, `SELECT seq, id, path FROM notes WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`, int64(seq), int64(head), limit)
}

// attachBytes is the limit for the size of the texts that Attach holds in memory.
const attachBytes = 16 << 20

// Attach loads the notes of replayed changes in one query, which takes a tenth of the
// time of loading them one by one. Notes beyond attachBytes are left to Change.Note.
func (f Feed) Attach(ctx context.Context, changes []notes.Change) error {
	return f.notes.Read(ctx, func(tx *sql.Tx) error {
		ids := make([]int64, len(changes))
		for i, c := range changes {
			ids[i] = c.NoteID
		}
		var fitting []int64
		total := int64(0)
		err := sqlite.ForEach(ctx, tx, `SELECT DISTINCT n.id, n.size FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value`, []any{sqlite.List(ids)}, func(rows *sql.Rows) error {
			var id, size int64
			err := rows.Scan(&id, &size)
			if total += size; total <= attachBytes {
				fitting = append(fitting, id)
			}
			return err
		})
		if err != nil {
			return err
		}
		found, err := loadNotes(ctx, tx.StmtContext(ctx, f.byID), fitting)
		for i := range changes {
			changes[i].Parsed = found[changes[i].NoteID]
		}
		return err
	})
}

// ChangedSinceMove returns the paths of the notes changed after the last move of a note, or of
// a folder's notes, between these paths. It returns those of all notes if the feed has no such
// move: it does not reach back that far, or the folder had no notes.
func (s *Reader) ChangedSinceMove(ctx context.Context, from, to string) ([]string, error) {
	return sqlite.Column[string](ctx, s.notes.Reader(), `SELECT path FROM notes WHERE seq > (SELECT coalesce(max(seq), 0) FROM changes WHERE kind = ?3 AND (old_path = ?1 AND path = ?2
		OR old_path > ?1 || '/' AND old_path < ?1 || '0' AND path > ?2 || '/' AND path < ?2 || '0'))`, from, to, string(notes.Moved))
}

// keepSubscribers is the number of sessions whose subscriptions [Store.Prune] keeps, those
// that subscribed last. It is several times the number of sessions over HTTP.
const keepSubscribers = 256

// Subscribe records that the client of a session has subscribed to a resource.
func (s *Versions) Subscribe(ctx context.Context, session, uri string) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `INSERT OR IGNORE INTO subscriptions (session, uri) VALUES (?, ?)`, session, uri)
	})
}

// Unsubscribe records that it has unsubscribed.
func (s *Versions) Unsubscribe(ctx context.Context, session, uri string) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `DELETE FROM subscriptions WHERE session = ? AND uri = ?`, session, uri)
	})
}

// Subscriptions returns the resources that the client of a session has subscribed to.
func (s *Versions) Subscriptions(ctx context.Context, session string) ([]string, error) {
	return sqlite.Column[string](ctx, s.history.Reader(), `SELECT uri FROM subscriptions WHERE session = ? ORDER BY id`, session)
}

func pruneSubscriptions(ctx context.Context, tx *sql.Tx) error {
	return execAll(ctx, tx, `DELETE FROM subscriptions WHERE session NOT IN
		(SELECT session FROM subscriptions GROUP BY session ORDER BY max(id) DESC LIMIT ?)`, keepSubscribers)
}

// forgetSubscriptions erases the subscriptions to the paths, which a client may have
// written in several forms.
func forgetSubscriptions(ctx context.Context, tx *sql.Tx, paths []string) error {
	uris, err := sqlite.Column[string](ctx, tx, `SELECT DISTINCT uri FROM subscriptions`)
	if err != nil {
		return err
	}
	return execAll(ctx, tx, `DELETE FROM subscriptions WHERE uri IN (SELECT value FROM json_each(?))`, sqlite.List(notes.URIsOf(paths, uris)))
}
