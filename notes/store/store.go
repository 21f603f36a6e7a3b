package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
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
	HeadSeq    atomic.Uint64
	Layout
}

// Versions are the revisions and the journal of operations, in history.db. The
// present version of a note comes from notes.db.
type Versions struct {
	*Reader
	history *sqlite.DB
}

// Options are the outside things a store depends on.
type Options struct {
	Now func() time.Time // time.Now when nil
}

// The databases of a state directory.
const (
	NotesFile   = "notes.db"
	HistoryFile = "history.db"
)

// Open opens the databases in dir, which must exist, creating them at
// first. A damaged notes.db is set aside and an empty one begun, which the
// next reconcile fills; from a damaged history.db every row that can be read
// is carried over first. [Store.Warnings] reports either.
func Open(ctx context.Context, dir string, opt Options) (*Store, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Store{Versions: &Versions{Reader: &Reader{Now: opt.Now}}}
	s.Apps.Store(&map[string]App{})
	s.Daily.Store(new(string))
	s.logseq.Store(new([]string))
	var err error
	if s.notes, err = s.openOrReplace(ctx, filepath.Join(dir, NotesFile), sqlite.Options{Schema: sqlite.NotesSchema}); err != nil {
		return nil, err
	}
	if s.history, err = s.openOrReplace(ctx, filepath.Join(dir, HistoryFile), sqlite.Options{Schema: sqlite.HistorySchema, Durable: true}); err != nil {
		_ = s.notes.Close()
		return nil, err
	}
	err = s.load(ctx)
	dates := &notes.DateRules{} // those that the notes have their dates by
	if err == nil {
		err = s.Setting(ctx, datesSetting, dates)
	}
	dates.Compile()
	s.dates.Store(dates)
	if err == nil {
		err = s.Setting(ctx, logseqSetting, s.logseq.Load())
	}
	if err == nil {
		s.byID, err = s.notes.Reader().PrepareContext(ctx, selectNotes)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) openOrReplace(ctx context.Context, path string, opt sqlite.Options) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path, opt)
	if err == nil || !sqlite.IsCorrupt(err) {
		return db, err
	}
	aside, err := sqlite.SetAside(path, s.Now())
	if err != nil {
		return nil, err
	}
	if db, err = sqlite.Open(ctx, path, opt); err != nil {
		return nil, err
	}
	if opt.Schema == sqlite.NotesSchema {
		s.warnings = append(s.warnings, fmt.Sprintf("%s was damaged; it was set aside as %s and is rebuilt from the notes", NotesFile, filepath.Base(aside)))
		return db, nil
	}
	saved, lost := db.Salvage(ctx, aside)
	s.warnings = append(s.warnings, fmt.Sprintf("%s was damaged; it was set aside as %s, and %d of its rows were carried over (%s)", HistoryFile, filepath.Base(aside), saved, lost))
	return db, nil
}

// load reads, or mints, the store's id and the head of its feed.
func (s *Store) load(ctx context.Context) error {
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?)`, rand.Text()); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT value FROM store WHERE key = 'id'`).Scan(&s.id); err != nil {
			return err
		}
		HeadSeq, err := sequence(ctx, tx, "changes")
		s.HeadSeq.Store(uint64(HeadSeq))
		return err
	})
}

// sequence returns the highest key that the AUTOINCREMENT table ever had.
func sequence(ctx context.Context, tx *sql.Tx, table string) (int64, error) {
	return sqlite.First[int64](ctx, tx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, table)
}

// ID identifies this store. One that was rebuilt in its place has another.
func (s *Reader) ID() string { return s.id }

// Head returns the seq of the newest change.
func (s *Reader) Head(context.Context) (uint64, error) { return s.HeadSeq.Load(), nil }

// Warnings returns what had to be repaired when the store was opened.
func (s *Store) Warnings() []string { return s.warnings }

// Notes returns notes.db, which also has the tables of package vectors.
func (s *Store) Notes() *sqlite.DB { return s.notes }

// History returns history.db, which also has the users' tables of vectors.
func (s *Store) History() *sqlite.DB { return s.history }

// HasMostOf reports whether this store has most of the notes, by their bytes,
// that the store in another directory had, which must not be in use. One that
// cannot be read has none.
func (s *Store) HasMostOf(ctx context.Context, dir string) bool {
	conn, err := s.notes.Reader().Conn(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	other := "file:" + (&url.URL{Path: filepath.ToSlash(filepath.Join(dir, NotesFile))}).EscapedPath() + "?mode=ro"
	if _, err := conn.ExecContext(ctx, `ATTACH ? AS other`, other); err != nil {
		return false
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), `DETACH other`) }()
	var all, shared int
	err = conn.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(EXISTS (SELECT 1 FROM main.notes n WHERE n.hash = o.hash)), 0)
		FROM other.notes o WHERE o.size > 0`).Scan(&all, &shared)
	return err == nil && shared >= 3 && shared*2 > all
}

// IsOf reports whether most of the notes are files of the folder, unchanged.
func (s *Store) IsOf(ctx context.Context, folder string) (bool, error) {
	rows, err := s.Rows(ctx, nil)
	unchanged := 0
	for _, r := range rows {
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(r.DiskPath))); err == nil && fsid.StatOf(info) == r.Stat {
			unchanged++
		}
	}
	return unchanged*2 > len(rows), err
}

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
