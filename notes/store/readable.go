package store

import (
	"context"
	"database/sql"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// ReadableEver is [Reader.Readable] for the history of a path: the scope must include
// every file that a symlink at this path has pointed to, since its versions are those
// of that file.
func (s *Versions) ReadableEver(ctx context.Context, scope notes.Scope) (canRead func(p string) bool, err error) {
	now, err := s.Readable(ctx, scope)
	if err != nil || scope.Read == nil {
		return now, err
	}
	hidden := map[string]bool{}
	err = sqlite.ForEach(ctx, s.history.Reader(), `SELECT path, target FROM symlinks`, nil, func(rows *sql.Rows) error {
		var p, target string
		err := rows.Scan(&p, &target)
		hidden[p] = hidden[p] || !scope.CanRead(target)
		return err
	})
	return func(p string) bool { return !hidden[p] && now(p) }, err
}

// Readable returns a function that reports whether the scope may read the file at a
// path, which must not be a symlink to a file that the scope may not read.
func (s *Reader) Readable(ctx context.Context, scope notes.Scope) (canRead func(p string) bool, err error) {
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err = readable(ctx, tx, scope)
		return err
	})
	return canRead, err
}

// readable is [Reader.Readable] within a transaction.
func readable(ctx context.Context, tx *sql.Tx, scope notes.Scope) (canRead func(p string) bool, err error) {
	if scope.Read == nil {
		return scope.CanRead, nil
	}
	targets, err := sqlite.Map[string, string](ctx, tx, `SELECT j.key, j.value FROM store s, json_each(s.value) j WHERE s.key = ?`, symlinksSetting)
	return func(p string) bool {
		target, isLink := targets[p]
		return scope.CanRead(p) && (!isLink || scope.CanRead(target))
	}, err
}
