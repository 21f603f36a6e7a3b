package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
)

var history = sqlite.HistorySchema

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, history)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func insert(ctx context.Context, db *sqlite.DB, paths ...string) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		for _, p := range paths {
			if _, err := tx.ExecContext(ctx, `INSERT INTO documents (path, live) VALUES (?, 1)`, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func count(t *testing.T, q interface {
	QueryRow(query string, args ...any) *sql.Row
}) (n int) {
	t.Helper()
	require.NoError(t, q.QueryRow(`SELECT count(*) FROM documents`).Scan(&n))
	return n
}

func TestRead_Snapshot(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, insert(t.Context(), db, "a"))
	require.NoError(t, db.Read(t.Context(), func(tx *sql.Tx) error {
		assert.Equal(t, 1, count(t, tx))
		require.NoError(t, insert(t.Context(), db, "b"))
		assert.Equal(t, 1, count(t, tx), "a commit during the transaction is invisible")
		_, err := tx.Exec(`DELETE FROM documents`)
		assert.Error(t, err)
		return nil
	}))
	assert.Equal(t, 2, count(t, db.Reader()))
}

func TestAll(t *testing.T) {
	ctx, db := t.Context(), open(t, filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, insert(ctx, db, "a", "b"))

	paths, err := sqlite.Column[string](ctx, db.Reader(), `SELECT path FROM documents WHERE path <> ? ORDER BY path DESC`, "c")
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, paths)
	none, err := sqlite.Column[string](ctx, db.Reader(), `SELECT path FROM documents WHERE path = 'c'`)
	require.NoError(t, err)
	assert.Nil(t, none)

	type document struct {
		path string
		live bool
	}
	columns := func(d *document) []any { return []any{&d.path, &d.live} }
	require.NoError(t, db.Read(ctx, func(tx *sql.Tx) error {
		all, err := sqlite.All(ctx, tx, columns, `SELECT path, live FROM documents ORDER BY path`)
		assert.Equal(t, []document{{"a", true}, {"b", true}}, all)
		return err
	}))

	_, err = sqlite.All(ctx, db.Reader(), columns, `SELECT path FROM documents`)
	require.ErrorContains(t, err, "expected 1 destination arguments in Scan, not 2")
	_, err = sqlite.Column[int](ctx, db.Reader(), `SELECT path FROM documents`)
	require.ErrorContains(t, err, "invalid syntax")
	_, err = sqlite.Column[int](ctx, db.Reader(), `SELECT other FROM documents`)
	require.ErrorContains(t, err, "no such column")

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = sqlite.Column[string](cancelled, db.Reader(), `SELECT path FROM documents`)
	require.ErrorIs(t, err, context.Canceled)
}

func TestWrite_CancelledContext(t *testing.T) {
	t.Run("before the rollback", func(t *testing.T) { writeCancelled(t, nil) })
	t.Run("after the rollback", func(t *testing.T) {
		writeCancelled(t, func(*sql.Stmt) error { return nil })
	})
	t.Run("prepared statement after the rollback", func(t *testing.T) {
		writeCancelled(t, func(s *sql.Stmt) error { _, err := s.Exec("b"); return err })
	})
}

// writeCancelled cancels a write. late, if not nil, runs after database/sql has rolled
// back the transaction, which it does in the background.
func writeCancelled(t *testing.T, late func(*sql.Stmt) error) {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, `INSERT INTO documents (path, live) VALUES (?, 1)`)
		require.NoError(t, err)
		_, err = insert.Exec("a")
		require.NoError(t, err)
		cancel()
		if late == nil {
			return nil
		}
		for !errors.Is(err, sql.ErrTxDone) {
			_, err = tx.Exec(`SELECT 1`)
		}
		return late(insert)
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, count(t, db.Reader()))
	require.NoError(t, insert(t.Context(), db, "b"), "the writer is usable afterwards")
}

func TestOpen_NewerDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sqlite.Open(t.Context(), path, history)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`PRAGMA user_version = 1000`)
		return err
	}))
	require.NoError(t, db.Close())
	before := notestest.Read(t, filepath.Dir(path))
	_, err = sqlite.Open(t.Context(), path, history)
	require.ErrorIs(t, err, sqlite.ErrNewer)
	assert.False(t, sqlite.IsCorrupt(err))
	assert.Equal(t, before, notestest.Read(t, filepath.Dir(path)), "what is refused is left as it was")
}

func TestOpen_UnusablePath(t *testing.T) {
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "missing", "x.db"), history)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = sqlite.Open(t.Context(), t.TempDir(), history)
	require.Error(t, err)
}

// The check of the whole file is skipped only after a regular Close. A page damaged
// without a change of size and mtime shows whether it ran.
func TestOpen_ChecksAfterUncleanStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sqlite.Open(t.Context(), path, history)
	require.NoError(t, err)
	for i := range 50 {
		require.NoError(t, insert(t.Context(), db, fmt.Sprint(strings.Repeat("long ", 40), i)))
	}
	require.NoError(t, db.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := len(data) - 4096; i < len(data); i++ {
		data[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	require.NoError(t, os.Chtimes(path, time.Time{}, info.ModTime()))
	db, err = sqlite.Open(t.Context(), path, history)
	require.NoError(t, err, "the stamp matches, so the file is not checked")
	require.NoError(t, db.Close())

	require.NoError(t, os.Remove(path+".closed"))
	_, err = sqlite.Open(t.Context(), path, history)
	require.ErrorIs(t, err, sqlite.ErrCorrupt)
}

func TestClose_Twice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sqlite.Open(t.Context(), path, history)
	require.NoError(t, err)
	require.NoError(t, insert(t.Context(), db, "a"))
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())
	assert.FileExists(t, path+".closed")
	assert.NoFileExists(t, path+"-wal", "the log is checkpointed")
	require.Error(t, insert(t.Context(), db, "b"))
}

// TestOpen_LogOfKilledProcess checks that the write-ahead log of a killed process is applied
// to its own database, but not to a backup that was copied over that.
func TestOpen_LogOfKilledProcess(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "x.db"), filepath.Join(dir, "backup.db")
	var paths []string
	for i := range 2000 {
		paths = append(paths, fmt.Sprintf("Notes/A note with a long name %d.md", i))
	}
	db := open(t, path)
	require.NoError(t, insert(t.Context(), db, paths[:1000]...))
	require.NoError(t, db.Backup(t.Context(), backup))
	require.NoError(t, insert(t.Context(), db, paths[1000:1999]...))
	require.NoError(t, db.Close())
	db = open(t, path)
	require.NoError(t, insert(t.Context(), db, paths[1999]))

	for replaced, want := range map[bool]int{false: 2000, true: 1000} {
		state := t.TempDir()
		killed := filepath.Join(state, "x.db")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			data, err := os.ReadFile(path + suffix)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(killed+suffix, data, 0o600))
		}
		if replaced {
			data, err := os.ReadFile(backup)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(killed, data, 0o600))
		}
		assert.Equal(t, want, count(t, open(t, killed).Reader()))
	}
}

// Erase leaves no deleted text on any page of the file or its log, although another
// connection is reading it.
func TestErase_RemovesDeletedText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	const secret, word = "a-secret-path-that-must-go", "deleted-before"
	earlier := strings.Repeat(word, 1000) // on pages of its own
	remove := func(p string) func(tx *sql.Tx) error {
		return func(tx *sql.Tx) error {
			_, err := tx.Exec(`DELETE FROM documents WHERE path = ?`, p)
			return err
		}
	}
	require.NoError(t, insert(t.Context(), db, secret, earlier, "kept"))
	require.NoError(t, db.Write(t.Context(), remove(earlier)))
	reader, err := db.Reader().BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow(`SELECT count(*) FROM documents`).Scan(&n))
	done := make(chan error, 1)
	go func() { done <- db.Erase(t.Context(), remove(secret)) }()
	require.Eventually(t, func() bool { return count(t, db.Reader()) == 1 }, 30*time.Second, time.Millisecond)
	require.NoError(t, reader.Rollback())
	require.NoError(t, <-done)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		assert.NotContains(t, string(data), secret, "%q", suffix)
		assert.NotContains(t, string(data), word, "%q", suffix)
	}
}

// TestErase_Fails checks that a failed Erase can be repeated.
func TestErase_Fails(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, insert(t.Context(), db, "a"))
	cause := errors.New("cause")
	require.ErrorIs(t, db.Erase(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM documents`)
		return errors.Join(err, cause)
	}), cause)
	assert.Equal(t, 1, count(t, db.Reader()))
}

func TestBackup_Statements(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "x.db"))
	require.NoError(t, insert(t.Context(), db, "a", "b"))
	first := filepath.Join(dir, "first.db")
	require.NoError(t, db.Backup(t.Context(), first, `DELETE FROM copy.documents WHERE path = 'a'`))
	assert.Equal(t, 1, count(t, open(t, first).Reader()))
	assert.Equal(t, 2, count(t, db.Reader()), "the statement changes the copy only")

	require.Error(t, db.Backup(t.Context(), first), "an existing file is not replaced")
	require.ErrorContains(t, db.Backup(t.Context(), filepath.Join(dir, "second.db"), `DELETE FROM copy.nothing`), "nothing")
	require.NoError(t, db.Backup(t.Context(), filepath.Join(dir, "third.db"), `DELETE FROM copy.documents`),
		"a failed statement leaves no attached database behind")
}

// TestBackup_DuringWrite checks that a backup neither waits for a write in progress, which it
// does not contain, nor delays it.
func TestBackup_DuringWrite(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, insert(t.Context(), db, "a"))
	path := filepath.Join(t.TempDir(), "copy.db")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, db.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO documents (path, live) VALUES ('b', 1)`); err != nil {
			return err
		}
		return db.Backup(ctx, path, `UPDATE copy.documents SET path = 'c'`)
	}))
	assert.Equal(t, 2, count(t, db.Reader()))
	assert.Equal(t, 1, count(t, open(t, path).Reader()))
}

func TestIsFull(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	err := db.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`PRAGMA max_page_count = 1`); err != nil { // SQLite raises it to the current size
			return err
		}
		for i := range 10_000 {
			if _, err := tx.Exec(`INSERT INTO documents (path, live) VALUES (?, 1)`, fmt.Sprint(strings.Repeat("long ", 100), i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.Error(t, err)
	assert.True(t, sqlite.IsFull(err), err)
	assert.False(t, sqlite.IsCorrupt(err))
	assert.Zero(t, count(t, db.Reader()))
	for _, other := range []error{nil, errors.New("full"), sqlite.ErrCorrupt} {
		assert.False(t, sqlite.IsFull(other))
	}
}

func TestTrouble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	err := db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`PRAGMA query_only = 1; INSERT INTO documents (path, live) VALUES ('a', 1)`)
		return err
	})
	assert.Contains(t, sqlite.Trouble(err), "readonly", "%v", err)
	_, err = db.Reader().Exec(`SELECT * FROM nothing`)
	require.Error(t, err)
	assert.Empty(t, sqlite.Trouble(err), "a mistake of the program says SQL")
	assert.Empty(t, sqlite.Trouble(nil))
}

func TestSetAside_Companions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	for _, suffix := range []string{"", "-wal", "-shm", ".closed"} {
		require.NoError(t, os.WriteFile(path+suffix, []byte("x"), 0o600))
	}
	aside, err := sqlite.SetAside(path, time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC))
	require.NoError(t, err)
	assert.Equal(t, path+".damaged-20260102T030405.006", aside)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.Name(), "x.db.damaged-20260102T030405.006"))
	}
	assert.Equal(t, []string{"", "-shm", "-wal"}, names)

	require.NoError(t, os.WriteFile(path+"-wal", []byte("x"), 0o600))
	aside, err = sqlite.SetAside(path, time.Now())
	require.NoError(t, err)
	assert.NoFileExists(t, aside)
	assert.FileExists(t, aside+"-wal", "a killed process had renamed only the database")
	assert.NoFileExists(t, path+"-wal")
}

func TestSalvage_NoDatabase(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, bytes.Repeat([]byte("no database "), 1000), 0o600))
	saved, lost, err := sqlite.Salvage(t.Context(), garbage, filepath.Join(dir, "x.db"), history)
	require.NoError(t, err)
	assert.Zero(t, saved)
	assert.Contains(t, lost, "documents")
}
