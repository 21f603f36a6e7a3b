// Package migrations holds the numbered SQL files of notesd's two databases
// and the runner that brings a database to this program's version.
//
// A database's version is its user_version: the number of the last file
// applied. Each file runs in a transaction of its own, so a crash leaves the
// database at one version or the next. A shipped file never changes; a change
// of schema is a new file. A database newer than the program is refused and
// not touched.
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

//go:embed notes/*.sql history/*.sql
var files embed.FS

// Set names the migrations of one database.
type Set string

// The databases of a vault.
const (
	Notes   Set = "notes"   // derived from the files
	History Set = "history" // precious
)

// ErrNewer is returned for a database that a newer program has written.
var ErrNewer = errors.New("the database was written by a newer notesd; upgrade this one, or point --state elsewhere")

// Version returns the version that Apply brings a database of the set to.
func (s Set) Version() int { return len(s.scripts()) }

// Apply brings db to the set's version, or to version `to` when it is not 0
// (tests upgrade from every shipped version). It returns [ErrNewer] without
// touching a database that is ahead. db should hand out one connection.
func Apply(ctx context.Context, db *sql.DB, set Set, to int) error {
	scripts := set.scripts()
	if to == 0 {
		to = len(scripts)
	}
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return fmt.Errorf("read the version of the %s database: %w", set, err)
	}
	if have > len(scripts) {
		return fmt.Errorf("%s database has version %d, this program knows %d: %w", set, have, len(scripts), ErrNewer)
	}
	for v := have + 1; v <= to; v++ {
		if err := applyOne(ctx, db, scripts[v-1], v); err != nil {
			return fmt.Errorf("bring the %s database to version %d: %w", set, v, err)
		}
	}
	return nil
}

func applyOne(ctx context.Context, db *sql.DB, script string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(version)); err != nil {
		return err
	}
	return tx.Commit()
}

// scripts returns the files in order. A gap or a misnamed file is a mistake
// of ours that must not reach a user, hence the panic.
func (s Set) scripts() []string {
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
