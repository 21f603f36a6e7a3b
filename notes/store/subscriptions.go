package store

import (
	"context"
	"database/sql"

	"notesd/internal/sqlite"
	"notesd/notes"
)

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
