package store

import (
	"context"
	"database/sql"
)

// statements are those of one transaction. Each is compiled once, which takes
// SQLite as long as a few runs: a first scan runs some a hundred thousand
// times. The transaction's end closes them.
type statements struct {
	ctx      context.Context
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
}

func newStatements(ctx context.Context, tx *sql.Tx) *statements {
	return &statements{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}}
}

func (s *statements) prepare(query string) (*sql.Stmt, error) {
	if stmt := s.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.tx.PrepareContext(s.ctx, query)
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

func (s *statements) exec(query string, args ...any) error {
	_, err := s.result(query, args...)
	return err
}

func (s *statements) result(query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(query) //nolint:sqlclosecheck // the transaction's end closes it
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(s.ctx, args...)
}

// row scans the one row that the query has into dest, or returns
// [sql.ErrNoRows].
func (s *statements) row(query string, args []any, dest ...any) error {
	stmt, err := s.prepare(query) //nolint:sqlclosecheck // the transaction's end closes it
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(s.ctx, args...).Scan(dest...)
}
