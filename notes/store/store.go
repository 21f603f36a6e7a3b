package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Store is what notesd knows of a vault, in two SQLite databases: notes.db,
// derived from the files, and history.db, which nothing can rebuild. It is
// safe for concurrent use; package vault makes every write. Its own methods
// serve the comparison with the disk; [Reader] answers callers and [Versions]
// keeps the journal and history.
type Store struct {
	*Versions
	dates    atomic.Pointer[notes.DateRules]
	warnings []string // what Open had to repair
}

// Reader answers questions about the notes as notes.db has them.
type Reader struct {
	notes      *sqlite.DB
	id         string
	byID       *sql.Stmt // selectNotes
	Now        func() time.Time
	searchable searchable
	head       atomic.Uint64
	Layout
}

// Versions are the revisions and the journal of operations, in history.db. The
// present version of a note comes from notes.db.
type Versions struct {
	*Reader
	history *sqlite.DB
}

// sequence returns the highest key that the AUTOINCREMENT table ever had.
func sequence(ctx context.Context, tx *sql.Tx, table string) (int64, error) {
	return sqlite.First[int64](ctx, tx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, table)
}

// ID identifies this store. One that was rebuilt in its place has another.
func (s *Reader) ID() string { return s.id }

// Head returns the seq of the newest change.
func (s *Reader) Head() uint64 { return s.head.Load() }

// Warnings returns what had to be repaired when the store was opened.
func (s *Store) Warnings() []string { return s.warnings }

// Notes returns notes.db, which also has the tables of package vectors.
func (s *Store) Notes() *sqlite.DB { return s.notes }

// History returns history.db, which also has the users' tables of vectors.
func (s *Store) History() *sqlite.DB { return s.history }

// Backup copies what the files cannot rebuild to a new database at path. An
// operation that is under way has failed in the copy: put back later, it would
// be carried out a second time.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.history.Backup(ctx, path, `UPDATE copy.operations SET state = 'failed', request_key = '' WHERE state = 'pending'`)
}

// Close folds both databases' logs into their files. It may be called again.
func (s *Store) Close() error { return errors.Join(s.notes.Close(), s.history.Close()) }

// Setting reads a value of the store table into v; absent is not an error.
func (s *Reader) Setting(ctx context.Context, name string, v any) error {
	text, err := sqlite.First[string](ctx, s.notes.Reader(), `SELECT value FROM store WHERE key = ?`, name)
	if err != nil || text == "" {
		return err
	}
	return json.Unmarshal([]byte(text), v)
}

// SaveSetting keeps a value, as JSON, under the name.
func (s *Store) SaveSetting(ctx context.Context, name string, v any) error {
	return s.notes.Write(ctx, func(tx *sql.Tx) error { return setSetting(ctx, tx, name, v) })
}

func setSetting(ctx context.Context, tx *sql.Tx, name string, v any) error {
	return execAll(ctx, tx, `INSERT INTO store (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, name, jsonText(v))
}

// Size returns the bytes on disk of both databases.
func (s *Store) Size() int64 {
	var n int64
	for _, db := range []*sqlite.DB{s.notes, s.history} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(db.Path() + suffix); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}

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
	_, err := s.insert(query, args...)
	return err
}

// insert returns the key of the row that the statement has inserted.
func (s *statements) insert(query string, args ...any) (int64, error) {
	stmt, err := s.prepare(query) //nolint:sqlclosecheck // the transaction's end closes it
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
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

// execAll runs a statement whose result is not needed.
func execAll(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	_, err := tx.ExecContext(ctx, query, args...)
	return err
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is passed always marshals
	}
	return string(text)
}

// searchable is the set of all notes that are not aside, as of a change.
type searchable struct {
	mu    sync.Mutex
	rules *notes.AsideRules
	head  uint64
	set   *notes.IDSet
}

// Entry is one step of a batch that makes the store equal to the disk.
type Entry struct {
	Kind     notes.ChangeKind
	ID       int64  // the row it is about; 0 for Created
	Path     string // where the note is, or was (Deleted)
	OldPath  string // Moved
	DiskPath string
	Stat     fsid.Stat
	HashedAt int64       // ns
	Note     *notes.Note // nil for Deleted
}

// Touch is a file whose bytes are known although its stat changed.
type Touch struct {
	ID       int64
	DiskPath string
	Stat     fsid.Stat
	HashedAt int64
}

// LinksStale is the setting that says that the links of the whole vault must be
// resolved again: a large batch leaves that to the end.
const LinksStale = "links_stale"
