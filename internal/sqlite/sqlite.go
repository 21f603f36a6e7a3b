// Package sqlite opens the SQLite databases of notesd: in WAL mode, with one
// writer connection whose transactions begin IMMEDIATE, and with a pool of
// read-only connections.
//
// All pragmas are in the data source name, because a pragma sent with Exec affects only
// the connection that runs it. A deferred transaction that reads and then writes fails
// with SQLITE_BUSY if another writer committed in between; an IMMEDIATE transaction waits
// for the other writer instead.
//
// A [DB] is safe for concurrent use. Write transactions run one at a time;
// readers see the last commit and never wait for the writer.
package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"notesd/migrations"
)

// readers is the size of the reader pool. Reads take microseconds; a few connections keep
// a long one from delaying the rest, and each costs a page cache.
const readers = 4

// Schema names the set of migrations of a database.
type Schema = migrations.Set

// The databases of a vault.
const (
	NotesSchema   = migrations.Notes   // derived from the files
	HistorySchema = migrations.History // cannot be rebuilt
	MirrorSchema  = migrations.Mirror  // derived from the files and the log
)

// ErrNewer is returned for a database written by a newer version of the program.
var ErrNewer = migrations.ErrNewer

// DB is one open database file.
type DB struct {
	path   string
	writer driver.Connector
	write  *sql.DB
	read   *sql.DB
	closed sync.Once
	err    error
}

// ErrCorrupt means that the file is not an intact database. Open returns it; for errors
// of statements use IsCorrupt.
var ErrCorrupt = errors.New("the database file is damaged")

// Open opens or creates the database at path and applies pending migrations. If the file
// was not closed by Close, Open first checks all of it and returns [ErrCorrupt] if it is
// damaged. It returns [ErrNewer] for a database of a newer version. A copy made by Backup may
// replace the file of a process that was killed.
func Open(ctx context.Context, path string, schema Schema) (*DB, error) {
	if isEmptied(path) {
		return nil, fmt.Errorf("%s: %w: it is empty", filepath.Base(path), ErrCorrupt)
	}
	if err := removeForeignLog(path); err != nil {
		return nil, err
	}
	db, err := connect(path, schema)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(ctx, schema); err != nil {
		_ = db.disconnect()
		if IsCorrupt(err) {
			err = fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrCorrupt, err)
		}
		return nil, err
	}
	return db, nil
}

// removeForeignLog removes a write-ahead log that does not belong to the database at path:
// one that a killed process left of a database over which a backup was copied. SQLite would
// apply it and damage the backup. The header of a database says whether it has such a log.
// That of a backup says no; connect changes it, durably, before SQLite creates the log.
func removeForeignLog(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // connect creates the file, or reports the error
	}
	defer func() { _ = f.Close() }() // only read

	// Two versions of the file format, for writing and for reading: 2 with a log, 1 without.
	versions := make([]byte, 2)
	if _, err := f.ReadAt(versions, 18); err != nil || !bytes.Equal(versions, []byte{1, 1}) {
		return nil
	}
	if err := os.Remove(path + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// connect opens or creates the database at path as it is.
func connect(path string, schema Schema) (*DB, error) {
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	writer, err := sqlite.NewConnector(dsn(path, schema, false))
	if err != nil {
		return nil, err
	}
	reader, err := sqlite.NewConnector(dsn(path, schema, true))
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, writer: writer, write: sql.OpenDB(writer), read: sql.OpenDB(reader)}
	db.write.SetMaxOpenConns(1)
	db.write.SetMaxIdleConns(1)
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	return db, nil
}

// disconnect closes the connections without recording that the file is intact.
func (db *DB) disconnect() error { return errors.Join(db.read.Close(), db.write.Close()) }

func (db *DB) prepare(ctx context.Context, schema Schema) error {
	if _, err := migrations.Version(ctx, db.write, schema); err != nil {
		return err // before the check, so that a newer database is never replaced
	}
	if !stampMatches(db.path) {
		if err := check(ctx, db.write); err != nil {
			return err
		}
	}
	if err := migrations.Apply(ctx, db.write, schema, 0); err != nil {
		return err // the stamp stays: it still matches a rejected database, and no longer one that was changed
	}
	removeStamp(db.path)
	return nil
}

// createPrivate creates the file with mode 0600 if it does not exist. SQLite would apply
// the umask, and its -wal and -shm files inherit the mode of the database.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn returns the data source name. Commits to a database that cannot be rebuilt reach the
// disk before they return (synchronous=FULL). In others, a power failure may lose the last
// commits, but never the consistency of the database.
func dsn(path string, schema Schema, readOnly bool) string {
	synchronous := "NORMAL"
	if schema == HistorySchema {
		synchronous = "FULL"
	}
	q := url.Values{}
	q.Add("_pragma", "busy_timeout(5000)")
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "synchronous("+synchronous+")")
	q.Add("_pragma", "foreign_keys(ON)")
	q.Add("_pragma", "temp_store(MEMORY)")
	q.Add("_pragma", "journal_size_limit(16777216)")
	if readOnly {
		q.Add("_pragma", "query_only(ON)")
		q.Add("_pragma", "cache_size(-1024)")
	} else {
		q.Add("_pragma", "cache_size(-8192)")
		q.Add("_txlock", "immediate")
	}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

// Write runs fn in a write transaction, and commits it if fn returns nil or rolls it back
// otherwise. Concurrent writes run one after another.
func (db *DB) Write(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return inTx(ctx, db.write, nil, fn)
}

// Read runs fn in a read transaction, in which it sees a single snapshot.
func (db *DB) Read(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return inTx(ctx, db.read, &sql.TxOptions{ReadOnly: true}, fn)
}

// Reader returns the reader pool, for single statements.
func (db *DB) Reader() *sql.DB { return db.read }

// Path returns the database file's path.
func (db *DB) Path() string { return db.path }

// A Querier is a database or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ErrEnough is returned by the callback of [ForEach] to skip the remaining rows.
var ErrEnough = errors.New("enough rows")

// ForEach calls fn with each row of a query's result until fn returns an error. It
// returns that error, or nil for [ErrEnough].
func ForEach(ctx context.Context, q Querier, query string, args []any, fn func(rows *sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return ofContext(ctx, err)
	}
	defer func() { _ = rows.Close() }() // Err reports the error
	for rows.Next() {
		if err := fn(rows); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return ofContext(ctx, rows.Err())
}

// All returns the rows of a query's result, or nil if there are none. Each row is scanned
// into the fields of a T that columns returns.
func All[T any](ctx context.Context, q Querier, columns func(row *T) []any, query string, args ...any) ([]T, error) {
	var all []T
	err := ForEach(ctx, q, query, args, func(rows *sql.Rows) error {
		var row T
		err := rows.Scan(columns(&row)...)
		all = append(all, row)
		return err
	})
	return all, err
}

// Column returns the values of a query's only column, or nil if there are none.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return All(ctx, q, func(value *T) []any { return []any{value} }, query, args...)
}

// First returns the only column of a query's first row, or the zero value if there are no
// rows.
func First[T any](ctx context.Context, q Querier, query string, args ...any) (first T, err error) {
	err = ForEach(ctx, q, query, args, func(rows *sql.Rows) error { return cmp.Or(rows.Scan(&first), ErrEnough) })
	return first, err
}

// Map returns the result of a query with two columns as a map from the first to the
// second.
func Map[K comparable, V any](ctx context.Context, q Querier, query string, args ...any) (map[K]V, error) {
	values := map[K]V{}
	err := ForEach(ctx, q, query, args, func(rows *sql.Rows) error {
		var key K
		var value V
		err := rows.Scan(&key, &value)
		values[key] = value
		return err
	})
	return values, err
}

func inTx(ctx context.Context, pool *sql.DB, opt *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	if err = fn(tx); err == nil {
		err = tx.Commit()
	}
	return ofContext(ctx, err)
}

// ofContext wraps an error that occurs after ctx is cancelled in that of ctx.
// database/sql then rolls back in the background, and concurrent calls fail with
// "transaction has already been committed" or "statement is closed".
func ofContext(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// Close waits for running transactions, checkpoints the write-ahead log and
// records that the file is intact. Further calls return the same error.
func (db *DB) Close() error {
	db.closed.Do(func() {
		readErr := db.read.Close()
		_, checkpointErr := db.write.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		db.err = errors.Join(readErr, checkpointErr, db.write.Close())
		if db.err == nil {
			db.err = writeStamp(db.path)
		}
	})
	return db.err
}

// IsCorrupt reports whether err means that a database file is damaged.
func IsCorrupt(err error) bool {
	if errors.Is(err, ErrCorrupt) {
		return true
	}
	switch codeOf(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return true
	}
	return false
}

// IsFull reports whether err means that the disk is full. It does not detect an exceeded
// quota, which SQLite reports as an I/O error. That the -shm file cannot grow is one too, but
// has no other likely cause than a full disk.
func IsFull(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return codeOf(err) == sqlite3.SQLITE_FULL || ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// codeOf returns the primary result code of an error of SQLite, 0 for another.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the low byte
	}
	return 0
}

// Trouble returns what SQLite says of an error that has its cause in the file, the disk or
// the system, and "" for any other.
func Trouble(err error) string {
	switch codeOf(err) {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e, _ := errors.AsType[*sqlite.Error](err)
		return e.Error()
	}
	return ""
}

// Erase is [DB.Write] for data of which no trace may stay on the disk: what fn deletes, and
// what was deleted before, is also gone from the file's free pages and from the write-ahead
// log. If it returns an error, fn can be repeated. Readers of an older state delay it.
func (db *DB) Erase(ctx context.Context, fn func(tx *sql.Tx) error) error {
	if _, err := db.write.ExecContext(ctx, "VACUUM"); err != nil { // may lack the space for a copy of the file
		return err
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
			return err
		}
		return fn(tx)
	})
	_, offErr := db.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA secure_delete = OFF")
	for busy := true; busy && err == nil; {
		var pages, moved int
		err = db.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	}
	return errors.Join(ofContext(ctx, err), offErr)
}

// Backup writes a consistent copy of the database, which may be in use, to a new file at
// path. It then runs statements with the copy attached as the schema "copy". Other writes
// need not wait for it.
func (db *DB) Backup(ctx context.Context, path string, statements ...string) error {
	pool := sql.OpenDB(db.writer)
	defer func() { _ = pool.Close() }() // each statement has committed
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil || len(statements) == 0 {
		return err
	}
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS copy", path); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// List returns a list of numbers or strings as the argument of SQLite's json_each, so
// that one statement works for any length.
func List[T any](list []T) string {
	if list == nil {
		return "[]"
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // numbers and strings always marshal
	}
	return string(text)
}
