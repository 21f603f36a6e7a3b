// Package migrations holds the numbered SQL files of notesd's databases and the runner
// that upgrades a SQLite database to this program's version. Those for PostgreSQL are run
// by package pglog.
//
// The version of a database is its user_version: the number of the last file applied.
// Each file runs in its own transaction, so a crash leaves the database at one version or
// the next. A released file must not change; a schema change needs a new file. Apply
// rejects a database that is newer than the program and leaves it unchanged.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed notes/*.sql history/*.sql mirror/*.sql postgres/*.sql
var files embed.FS

// Set names the migrations of one database.
type Set string

// The databases of a vault, and the database shared by several nodes.
const (
	Notes   Set = "notes"   // derived from the files
	History Set = "history" // cannot be rebuilt
	Mirror  Set = "mirror"  // the common state of a folder and a log

	Postgres Set = "postgres" // the log shared by nodes
)

// ErrNewer is returned for a database written by a newer version of the program.
var ErrNewer = errors.New("it was written by a newer notesd; upgrade this one")

// Version returns the latest version of the set.
func (s Set) Version() int { return len(s.Scripts()) }

// Version returns the version of db, or [ErrNewer] if it is later than the latest of the
// set.
func Version(ctx context.Context, db *sql.DB, set Set) (have int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return 0, fmt.Errorf("read the version of the %s database: %w", set, err)
	}
	if have > set.Version() {
		return have, fmt.Errorf("the %s database has version %d, this program knows %d: %w, or point --state elsewhere", set, have, set.Version(), ErrNewer)
	}
	return have, nil
}

// Apply migrates db to the latest version of the set or, if to is not 0, to that version,
// which tests use to upgrade from every released version. It returns [ErrNewer] for a
// database with a later version and leaves it unchanged. db should be limited to one
// connection.
func Apply(ctx context.Context, db *sql.DB, set Set, to int) error {
	scripts := set.Scripts()
	if to == 0 {
		to = len(scripts)
	}
	have, err := Version(ctx, db, set)
	if err != nil {
		return err
	}
	for v := have + 1; v <= to; v++ {
		if err := applyOne(ctx, db, scripts[v-1], v); err != nil {
			return fmt.Errorf("migrate the %s database to version %d: %w", set, v, err)
		}
	}
	return nil
}

func applyOne(ctx context.Context, db *sql.DB, script string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(version)); err != nil {
		return err
	}
	return tx.Commit()
}

// Scripts returns the files in order. It panics on a gap or a misnamed file, a
// programming error that every test detects.
func (s Set) Scripts() []string {
	names, err := fs.Glob(files, string(s)+"/*.sql")
	if err != nil {
		panic(err)
	}
	scripts := make([]string, 0, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			panic(fmt.Sprintf("migrations: %s should be number %04d", name, i+1))
		}
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		scripts = append(scripts, string(data))
	}
	return scripts
}
