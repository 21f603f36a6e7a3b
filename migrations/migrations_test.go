package migrations

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

func openFile(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.db"))
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func schema(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.Query(`SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL`)
	require.NoError(t, err)
	defer func() { assert.NoError(t, rows.Close()) }()
	out := map[string]string{}
	for rows.Next() {
		var name, text string
		require.NoError(t, rows.Scan(&name, &text))
		out[name] = text
	}
	require.NoError(t, rows.Err())
	return out
}

func TestApply_EveryVersion(t *testing.T) {
	ctx := context.Background()
	for _, set := range []Set{Notes, History} {
		fresh := openFile(t)
		require.NoError(t, Apply(ctx, fresh, set, 0))
		for from := range set.Version() + 1 {
			t.Run(string(set)+" from "+strconv.Itoa(from), func(t *testing.T) {
				db := openFile(t)
				if from > 0 {
					require.NoError(t, Apply(ctx, db, set, from))
				}
				require.NoError(t, Apply(ctx, db, set, 0))
				require.NoError(t, Apply(ctx, db, set, 0), "and again, which does nothing")
				assert.Equal(t, schema(t, fresh), schema(t, db))
				var version int
				require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&version))
				assert.Equal(t, set.Version(), version)
			})
		}
	}
}

func TestTablesAreStrict(t *testing.T) {
	for _, set := range []Set{Notes, History} {
		db := openFile(t)
		require.NoError(t, Apply(context.Background(), db, set, 0))
		var lax int
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'`).Scan(&lax))
		assert.Zero(t, lax, "a table without STRICT takes any type")
	}
}

func TestApply_NewerDatabase(t *testing.T) {
	ctx := context.Background()
	db := openFile(t)
	_, err := db.Exec("CREATE TABLE theirs (x); PRAGMA user_version = 1000")
	require.NoError(t, err)
	err = Apply(ctx, db, Notes, 0)
	require.ErrorIs(t, err, ErrNewer)
	assert.ErrorContains(t, err, "it was written by a newer notesd; upgrade this one, or point --state elsewhere")
	assert.Equal(t, map[string]string{"theirs": "CREATE TABLE theirs (x)"}, schema(t, db))
}

func TestApply_FailedScript(t *testing.T) {
	ctx := context.Background()
	db := openFile(t)
	_, err := db.Exec("CREATE TABLE links (x)") // conflicts with a table in the middle of the first script
	require.NoError(t, err)
	require.Error(t, Apply(ctx, db, Notes, 0))
	assert.Len(t, schema(t, db), 1)
	var version int
	require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&version))
	assert.Zero(t, version)
}

// Links to aliases in folders that Logseq writes are resolved after the upgrade.
func TestApply_LogseqAliases(t *testing.T) {
	for titles, want := range map[string]int{`{"":"yyyy-MM-dd"}`: 1, `{}`: 0} {
		db := openFile(t)
		require.NoError(t, Apply(t.Context(), db, Notes, 10))
		_, err := db.Exec(`DELETE FROM store; INSERT INTO store (key, value) VALUES ('logseq_titles', ?)`, titles)
		require.NoError(t, err)
		require.NoError(t, Apply(t.Context(), db, Notes, 0))
		var stale int
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM store WHERE key = 'links_stale' AND value = 'true'`).Scan(&stale))
		assert.Equal(t, want, stale, titles)
	}
}

// Only notes that another version of the parser made are parsed again after the upgrade.
func TestApply_Parser(t *testing.T) {
	for settings, want := range map[string][]int{
		``:                                      {0, 0},
		`('parser', '9')`:                       {9, 9},
		`('parser', '9'), ('unparsed', '[]')`:   {9, 9},
		`('parser', '9'), ('unparsed', 'null')`: {9, 9},
		`('parser', '9'), ('unparsed', '["A.md","Gone.md"]')`: {0, 9},
	} {
		db := openFile(t)
		require.NoError(t, Apply(t.Context(), db, Notes, 11))
		_, err := db.Exec(`INSERT INTO notes (path, disk_path, path_key, name_key, title, title_key, hash, size, mtime, ctime, inode, hashed_at, date, created, first_seen, open_tasks, seq)
			SELECT value, value, value, value, value, value, x'00', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM json_each('["A.md","B.md"]')`)
		require.NoError(t, err)
		if settings != "" {
			_, err = db.Exec(`INSERT INTO store (key, value) VALUES ` + settings)
			require.NoError(t, err)
		}
		require.NoError(t, Apply(t.Context(), db, Notes, 12))
		var a, b, left int
		require.NoError(t, db.QueryRow(`SELECT (SELECT parser FROM notes WHERE path = 'A.md'), (SELECT parser FROM notes WHERE path = 'B.md'),
			(SELECT count(*) FROM store WHERE key IN ('parser', 'unparsed'))`).Scan(&a, &b, &left))
		assert.Equal(t, want, []int{a, b}, settings)
		assert.Zero(t, left, settings)
	}
}
