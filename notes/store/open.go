package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Open opens the databases in dir, which must exist, and creates them if necessary. A
// damaged notes.db is set aside and replaced by an empty one, which the next reconcile
// fills. From a damaged history.db, every readable row is carried over first.
// [Store.Warnings] reports both.
func Open(ctx context.Context, dir string) (*Store, error) {
	s := &Store{Journal: &Journal{&Versions{Reader: &Reader{Now: time.Now}}}}
	s.Apps.Store(&map[string]App{})
	s.Daily.Store(new(string))
	s.setLogseq(nil)
	var err error
	// If both are of a newer version, the error names the one that cannot be rebuilt.
	if s.history, err = s.openOrReplace(ctx, filepath.Join(dir, HistoryFile), sqlite.HistorySchema); err != nil {
		return nil, err
	}
	if s.notes, err = s.openOrReplace(ctx, filepath.Join(dir, NotesFile), sqlite.NotesSchema); err != nil {
		_ = s.history.Close()
		return nil, err
	}
	err = s.load(ctx)
	dates := &notes.DateRules{} // the rules by which the stored dates were set
	if err == nil {
		err = s.Setting(ctx, datesSetting, dates)
	}
	dates.Compile()
	s.dates.Store(dates)
	var titles map[string]string
	if err == nil {
		err = s.Setting(ctx, logseqSetting, &titles)
	}
	s.setLogseq(titles)
	if err == nil {
		s.byID, err = s.notes.Reader().PrepareContext(ctx, selectNotes)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) openOrReplace(ctx context.Context, path string, schema sqlite.Schema) (*sqlite.DB, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) { // perhaps a start was killed in setAside
		if _, err := s.setAside(path); err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err == nil {
			s.warnings = append(s.warnings, filepath.Base(path)+" was damaged; a start that was killed set it aside and carried over the rows that could be read")
		}
	}
	db, err := sqlite.Open(ctx, path, schema)
	if err == nil || !sqlite.IsCorrupt(err) {
		return db, err
	}
	outcome := " and is rebuilt from the notes"
	if schema == sqlite.HistorySchema {
		saved, lost, err := sqlite.Salvage(ctx, path, path+salvaged, schema, "UPDATE "+failPending+" AND "+incomplete)
		if err != nil {
			return nil, err
		}
		outcome = fmt.Sprintf(", and %d of its rows were carried over (%s)", saved, lost)
	}
	aside, err := s.setAside(path)
	if err != nil {
		return nil, err
	}
	s.warnings = append(s.warnings, fmt.Sprintf("%s was damaged; it was set aside as %s%s", filepath.Base(path), filepath.Base(aside), outcome))
	return sqlite.Open(ctx, path, schema)
}

// salvaged is the suffix of the database that replaces a damaged one. It is complete before
// the damaged one is set aside.
const salvaged = ".salvaged"

// setAside sets the database aside and puts the salvaged one, if there is one, in its place.
func (s *Store) setAside(path string) (aside string, err error) {
	if aside, err = sqlite.SetAside(path, s.Now()); err != nil {
		return "", err
	}
	if err := os.Rename(path+salvaged, path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return aside, nil
}

// load reads the store's ID, creating it if necessary, and the head of its feed.
func (s *Store) load(ctx context.Context) error {
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?)`, rand.Text()); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT value FROM store WHERE key = 'id'`).Scan(&s.id); err != nil {
			return err
		}
		head, err := sequence(ctx, tx, "changes")
		s.head.Store(uint64(head))
		return err
	})
}

// HasMostOf reports whether this store contains most of the notes, compared by their
// bytes, of the store in another directory, which must not be in use. It returns false
// if that store cannot be read.
func (s *Store) HasMostOf(ctx context.Context, dir string) bool {
	conn, err := s.notes.Reader().Conn(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
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

// IsOf reports whether most of the notes, or of a random sample of many, are unchanged
// files of the folder.
func (s *Store) IsOf(ctx context.Context, folder string) (bool, error) {
	const sample = 1000 // a network disk may take a millisecond for each, and clients wait for the start
	rows, err := s.Rows(ctx, nil)
	unchanged, tried := 0, 0
	for _, r := range rows {
		if tried == sample {
			break
		}
		tried++
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(r.DiskPath))); err == nil && fsid.StatOf(info) == r.Stat {
			unchanged++
		}
	}
	return unchanged*2 > tried, err
}

// The databases of a state directory.
const (
	NotesFile   = "notes.db"
	HistoryFile = "history.db"
)
