package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/markdown/tasks"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Store is the data about a vault, in two SQLite databases: notes.db, which is derived
// from the files, and history.db, which cannot be rebuilt. It is safe for concurrent
// use, but only package vault may write. Its own methods serve reconciling; [Reader]
// serves queries, [Versions] keeps the history, and [Journal] the operations.
type Store struct {
	*Journal
	dates    atomic.Pointer[notes.DateRules]
	statuses map[string]*tasks.Settings // the settings, by folder, applied by SetStatuses
	warnings []string                   // repairs made by Open
}

// Reader serves queries on the notes in notes.db.
type Reader struct {
	notes      *sqlite.DB
	id         string
	byID       *sql.Stmt        // selectNotes
	Now        func() time.Time // time.Now, unless package vault sets another clock
	searchable searchable
	head       atomic.Uint64
	Layout
}

// Versions accesses the revisions in history.db. Current versions are read from notes.db.
type Versions struct {
	*Reader
	history *sqlite.DB
}

// Journal records operations in history.db before they change files.
type Journal struct{ *Versions }

// sequence returns the highest key that the AUTOINCREMENT table has ever had.
func sequence(ctx context.Context, tx *sql.Tx, table string) (int64, error) {
	return sqlite.First[int64](ctx, tx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, table)
}

// bound returns a time to compare stored times with, which are nanoseconds since 1970 and
// thus in the years 1678 to 2261.
func bound(t time.Time) int64 {
	switch {
	case t.Year() < 1678:
		return math.MinInt64
	case t.Year() > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// ID identifies this store. A rebuilt store has a different ID.
func (s *Reader) ID() string { return s.id }

// Head returns the seq of the newest change.
func (s *Reader) Head() uint64 { return s.head.Load() }

// Warnings describes the repairs made when the store was opened.
func (s *Store) Warnings() []string { return s.warnings }

// Notes returns notes.db, which also contains the tables of package vectors.
func (s *Store) Notes() *sqlite.DB { return s.notes }

// History returns history.db, which also contains the users' vector tables.
func (s *Store) History() *sqlite.DB { return s.history }

// Backup copies history.db, which cannot be rebuilt, to a new database at path. A
// pending operation is marked as failed in the copy; otherwise, restoring the copy
// would carry it out a second time.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.history.Backup(ctx, path, "UPDATE copy."+failPending)
}

// Close checkpoints the logs of both databases into their files. It may be called more
// than once.
func (s *Store) Close() error { return errors.Join(s.notes.Close(), s.history.Close()) }

// Setting unmarshals a value of the store table into v. A missing value is not an
// error.
func (s *Reader) Setting(ctx context.Context, name string, v any) error {
	text, err := sqlite.First[string](ctx, s.notes.Reader(), `SELECT value FROM store WHERE key = ?`, name)
	if err != nil || text == "" {
		return err
	}
	return json.Unmarshal([]byte(text), v)
}

// SaveSetting stores a value, as JSON, under the name.
func (s *Store) SaveSetting(ctx context.Context, name string, v any) error {
	return s.notes.Write(ctx, func(tx *sql.Tx) error { return setSetting(ctx, tx, name, v) })
}

func setSetting(ctx context.Context, tx *sql.Tx, name string, v any) error {
	return execAll(ctx, tx, `INSERT INTO store (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, name, jsonText(v))
}

// Size returns the size of both databases on disk, in bytes.
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

// statements caches the prepared statements of one transaction. Compiling a statement
// takes SQLite as long as running it a few times, and a first scan runs some a hundred
// thousand times. They are closed when the transaction ends.
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

// insert runs the statement and returns the key of the inserted row.
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

// row scans the first row of the query into dest, or returns [sql.ErrNoRows].
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
		panic(err) // every value passed can be marshaled
	}
	return string(text)
}

// searchable caches the set of notes that are not excluded from searches, as of a change.
type searchable struct {
	mu    sync.Mutex
	rules *notes.Exclusions
	head  uint64
	set   *notes.IDSet
}

// Entry is one change of a batch that updates the store to match the disk.
type Entry struct {
	Kind     notes.ChangeKind
	ID       int64  // the note's row; 0 for Created
	Path     string // current path, or the last one (Deleted)
	OldPath  string // Moved, or Created where a note deleted by an earlier scan has reappeared
	DiskPath string
	Stat     fsid.Stat
	HashedAt int64       // ns
	Note     *notes.Note // nil for Deleted
	Reparsed bool        // Modified by another version of the parser only
}

// Touch is a file whose stat changed but whose bytes did not.
type Touch struct {
	ID       int64
	DiskPath string
	Stat     fsid.Stat
	HashedAt int64
}

// LinksStale is the setting that marks the links of the whole vault as needing
// resolution, which a large batch defers.
const LinksStale = "links_stale"
