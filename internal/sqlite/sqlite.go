// Package sqlite opens a SQLite database file the one way that notesd uses it:
// WAL, one writer connection whose transactions begin IMMEDIATE, and a pool of
// readers that cannot write.
//
// Every pragma is in the data source name, because one sent by Exec reaches
// only the connection that happens to run it. A deferred transaction that
// reads and then writes fails with SQLITE_BUSY when another writer got in
// between; IMMEDIATE ones wait their turn instead.
//
// A [DB] is safe for concurrent use. Write transactions run one at a time;
// readers see the last commit and never wait for the writer.
package sqlite

import (
	"context"
	"database/sql"
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

// readers bounds the reader pool. Reads take microseconds; a few connections
// keep a long one from delaying the rest, and each costs a page cache.
const readers = 4

// Schema names the tables that a database has.
type Schema = migrations.Set

// The databases of a vault.
const (
	NotesSchema   = migrations.Notes   // derived from the files
	HistorySchema = migrations.History // precious
)

// ErrNewer is returned for a database that a newer program has written.
var ErrNewer = migrations.ErrNewer

// Options say how a database is kept.
type Options struct {
	Schema Schema
	// Durable makes every commit reach the disk before it returns
	// (synchronous=FULL). Without it a power cut may lose the last commits,
	// never the database's consistency.
	Durable bool
}

// DB is one open database file.
type DB struct {
	path   string
	write  *sql.DB
	read   *sql.DB
	closed sync.Once
	err    error
}

// ErrCorrupt is returned when the file is not a sound database: by Open after
// an unclean stop, and by IsCorrupt's callers.
var ErrCorrupt = errors.New("the database file is damaged")

// Open opens or creates the database at path and brings it to the version of
// its migrations. A file that was not closed in order by Close is checked for
// damage first, and refused with [ErrCorrupt].
func Open(ctx context.Context, path string, opt Options) (*DB, error) {
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	writer, err := sqlite.NewConnector(dsn(path, opt, false))
	if err != nil {
		return nil, err
	}
	reader, err := sqlite.NewConnector(dsn(path, opt, true))
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, write: sql.OpenDB(writer), read: sql.OpenDB(reader)}
	db.write.SetMaxOpenConns(1)
	db.write.SetMaxIdleConns(1)
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	if err := db.prepare(ctx, opt); err != nil {
		_ = db.write.Close()
		_ = db.read.Close()
		if IsCorrupt(err) {
			err = fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrCorrupt, err)
		}
		return nil, err
	}
	return db, nil
}

func (db *DB) prepare(ctx context.Context, opt Options) error {
	if !stampMatches(db.path) {
		if err := check(ctx, db.write); err != nil {
			return err
		}
	}
	removeStamp(db.path)
	return migrations.Apply(ctx, db.write, opt.Schema, 0)
}

// createPrivate makes sure that the file exists with mode 0600 before SQLite,
// which would obey the umask, creates it and its companions.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func dsn(path string, opt Options, readOnly bool) string {
	synchronous := "NORMAL"
	if opt.Durable {
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

// Write runs fn in a write transaction, commits when fn returns nil, and
// rolls back otherwise. Writes wait for one another.
func (db *DB) Write(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return inTx(ctx, db.write, nil, fn)
}

// Read runs fn in a read transaction: everything that fn reads is of one
// moment.
func (db *DB) Read(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return inTx(ctx, db.read, &sql.TxOptions{ReadOnly: true}, fn)
}

// Reader returns the reader pool, for single statements.
func (db *DB) Reader() *sql.DB { return db.read }

// Path returns the database file's path.
func (db *DB) Path() string { return db.path }

func inTx(ctx context.Context, pool *sql.DB, opt *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Close waits for running transactions, folds the log into the file, and
// records that the file was left in order. It may be called again.
func (db *DB) Close() error {
	db.closed.Do(func() {
		readErr := db.read.Close()
		_, foldErr := db.write.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		db.err = errors.Join(readErr, foldErr, db.write.Close())
		if db.err == nil {
			db.err = writeStamp(db.path)
		}
	})
	return db.err
}

// IsCorrupt reports whether err says that a database file is damaged.
func IsCorrupt(err error) bool {
	if errors.Is(err, ErrCorrupt) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the low byte is the primary result code
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return true
	}
	return false
}

// IsFull reports whether err says that the disk, or the user's quota, is full.
func IsFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

// Rewrite builds the file anew without its free pages, so that deleted rows
// are gone from the disk as well, and folds the log into it.
func (db *DB) Rewrite(ctx context.Context) error {
	if _, err := db.write.ExecContext(ctx, "VACUUM"); err != nil {
		return err
	}
	_, err := db.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// Backup writes a sound copy of the database to a new file at path, while the
// database is in use, and runs statements on it, which know it as "copy".
func (db *DB) Backup(ctx context.Context, path string, statements ...string) error {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil || len(statements) == 0 {
		return err
	}
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS copy", path); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err = conn.ExecContext(ctx, statement); err != nil {
			break
		}
	}
	_, detachErr := conn.ExecContext(context.WithoutCancel(ctx), "DETACH copy")
	return errors.Join(err, detachErr)
}
