package pglog

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Subscribe records that the client of a session has subscribed to a resource.
func (l *Log) Subscribe(ctx context.Context, session, uri string) error {
	_, err := l.subscriptions(ctx, `INSERT INTO subscriptions (vault, session, uri) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING uri`, session, uri)
	return err
}

// Unsubscribe records that it has unsubscribed.
func (l *Log) Unsubscribe(ctx context.Context, session, uri string) error {
	_, err := l.subscriptions(ctx, `DELETE FROM subscriptions WHERE vault = $1 AND session = $2 AND uri = $3 RETURNING uri`, session, uri)
	return err
}

// Subscriptions returns the resources that the client of a session has subscribed to. They
// are kept for another thirty days: see [Log.Prune].
func (l *Log) Subscriptions(ctx context.Context, session string) ([]string, error) {
	return l.subscriptions(ctx, `UPDATE subscriptions SET used = now() WHERE vault = $1 AND session = $2 RETURNING uri`, session)
}

// subscriptions runs a statement and returns the URIs of the rows that it changed.
func (l *Log) subscriptions(ctx context.Context, statement string, args ...any) (uris []string, err error) {
	err = l.call(ctx, func(ctx context.Context) error {
		rows, _ := l.db.pool.Query(ctx, statement, append([]any{l.vault}, args...)...) // its error is in rows
		uris, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return uris, err
}
