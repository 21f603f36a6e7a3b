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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			aside, err := SetAside(path, time.Now())
			require.NoError(t, err)
			again := open(t, path)
			saved, lost := again.Salvage(context.Background(), aside)
			assert.Equal(t, saved, count(t, again), lost)
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
	fresh := open(t, filepath.Join(dir, "y.db"))
	saved, lost := fresh.Salvage(context.Background(), filepath.Join(dir, "x.db"))
	assert.Equal(t, 50, saved)
	assert.Contains(t, lost, "every row")
	assert.Equal(t, 50, count(t, fresh))
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
