package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/migrations"
)

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, HistorySchema)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func put(t *testing.T, db *DB, key string) error {
	t.Helper()
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO documents (path, live) VALUES (?, 1)`, key)
		return err
	})
}

func count(t *testing.T, db *DB) (n int) {
	t.Helper()
	require.NoError(t, db.Reader().QueryRow(`SELECT count(*) FROM documents`).Scan(&n))
	return n
}

// Every pooled connection has the pragmas; one sent with Exec would affect only a single
// connection.
func TestOpen_Pragmas(t *testing.T) {
	ctx := context.Background()
	db := open(t, filepath.Join(t.TempDir(), "a b?.db"))
	var conns []*sql.Conn
	for range readers {
		c, err := db.Reader().Conn(ctx)
		require.NoError(t, err)
		conns = append(conns, c)
	}
	for _, c := range conns {
		var queryOnly, foreignKeys int
		var journal string
		require.NoError(t, c.QueryRowContext(ctx, "PRAGMA query_only").Scan(&queryOnly))
		require.NoError(t, c.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&foreignKeys))
		require.NoError(t, c.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal))
		assert.Equal(t, 1, queryOnly)
		assert.Equal(t, 1, foreignKeys)
		assert.Equal(t, "wal", journal)
		_, err := c.ExecContext(ctx, `DELETE FROM documents`)
		require.Error(t, err, "a reader cannot write")
		require.NoError(t, c.Close())
	}
	var synchronous int
	require.NoError(t, db.write.QueryRow("PRAGMA synchronous").Scan(&synchronous))
	assert.Equal(t, 2, synchronous, "FULL")
}

func TestWrite_Concurrent(t *testing.T) {
	ctx := context.Background()
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for j := range 10 {
				assert.NoError(t, db.Write(ctx, func(tx *sql.Tx) error {
					var n int // reading before writing fails with SQLITE_BUSY in a deferred transaction
					if err := tx.QueryRow(`SELECT count(*) FROM documents`).Scan(&n); err != nil {
						return err
					}
					_, err := tx.Exec(`INSERT INTO documents (path, live) VALUES (?, ?)`, fmt.Sprint(i, j), n)
					return err
				}))
			}
		})
	}
	wait.Wait()
	assert.Equal(t, 80, count(t, db))
	var distinct int
	require.NoError(t, db.Reader().QueryRow(`SELECT count(DISTINCT live) FROM documents`).Scan(&distinct))
	assert.Equal(t, 80, distinct, "each saw what those before it had written")
}

func TestWrite_Rollback(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	boom := errors.New("boom")
	require.ErrorIs(t, db.Write(context.Background(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO documents (path, live) VALUES ('a', 1)`); err != nil {
			return err
		}
		return boom
	}), boom)
	assert.Zero(t, count(t, db))
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	require.NoError(t, put(t, db, "a"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
	}
}

func TestDamageIsFoundAtTheNextStart(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"no database": func([]byte) []byte { return []byte("this is not a database, and long enough to be seen as none") },
		"a page of garbage": func(data []byte) []byte {
			for i := 4096; i < 8192; i++ {
				data[i] = 0xa5
			}
			return data
		},
		"cut short": func(data []byte) []byte { return data[:len(data)/2+17] },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			db := open(t, path)
			for i := range 500 {
				require.NoError(t, put(t, db, fmt.Sprint("a rather long name of a document, number ", i)))
			}
			require.NoError(t, db.Close())
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, damage(data), 0o600))
			_, err = Open(context.Background(), path, HistorySchema)
			require.ErrorIs(t, err, ErrCorrupt)
			assert.True(t, IsCorrupt(err))
			saved, lost, err := Salvage(t.Context(), path, path+".new", HistorySchema)
			require.NoError(t, err)
			assert.Equal(t, saved, count(t, open(t, path+".new")), lost)
		})
	}
}

func TestSalvageCopiesWhatCanBeRead(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "x.db"))
	for i := range 50 {
		require.NoError(t, put(t, db, fmt.Sprint(i)))
	}
	require.NoError(t, db.Close())
	saved, lost, err := Salvage(t.Context(), filepath.Join(dir, "x.db"), filepath.Join(dir, "y.db"), HistorySchema)
	require.NoError(t, err)
	assert.Equal(t, 50, saved)
	assert.Contains(t, lost, "every row")
	assert.Equal(t, 50, count(t, open(t, filepath.Join(dir, "y.db"))))
}

// A history can be damaged when a newer program first opens it.
func TestSalvage_EveryVersion(t *testing.T) {
	for version := 1; version <= HistorySchema.Version(); version++ {
		path := filepath.Join(t.TempDir(), "x.db")
		old, err := connect(path, HistorySchema)
		require.NoError(t, err)
		require.NoError(t, migrations.Apply(t.Context(), old.write, HistorySchema, version))
		require.NoError(t, put(t, old, "A.md"))
		_, err = old.write.Exec(`INSERT INTO revisions (document, time, author, author_version, operation, path, size, added, removed) VALUES (1, 2, 'outside', '', 'seen', 'A.md', 3, 4, 5);
			INSERT INTO operations (kind, client, client_version, started, state) VALUES ('edit', 'c', '', 6, 'pending');
			INSERT INTO operation_files (operation, ordinal, path, new_path, temp, state) VALUES (1, 0, 'A.md', 'A.md', 't', 'pending');
			INSERT INTO vector_tables (name, dimension, metric, created) VALUES ('t', 1, 'cosine', 7)`)
		require.NoError(t, err)
		require.NoError(t, old.disconnect())
		saved, lost, err := Salvage(t.Context(), path, path+".new", HistorySchema)
		require.NoError(t, err)
		assert.Equal(t, 5, saved, "version %d", version)
		assert.Equal(t, "every row could be read", lost)
		all, err := First[string](t.Context(), open(t, path+".new").Reader(), `SELECT concat_ws(' ', r.operation, r.passing, coalesce(r.change, '-'), o.request, f.link, coalesce(t.model, '-'))
			FROM revisions r, operations o, operation_files f, vector_tables t`)
		require.NoError(t, err)
		want := "found 0 -   -"
		if version >= 3 {
			want = "seen 0 -   -" // no program of that version wrote this word
		}
		assert.Equal(t, want, all, "version %d", version)
	}
}

func TestBackupWhileInUse(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "x.db"))
	require.NoError(t, put(t, db, "a"))
	require.NoError(t, db.Backup(context.Background(), filepath.Join(dir, "copy.db")))
	require.NoError(t, put(t, db, "b"))
	copied := open(t, filepath.Join(dir, "copy.db"))
	assert.Equal(t, 1, count(t, copied))
}
