package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"notesd/migrations"
)

// SetAside renames a damaged database together with its -wal and -shm files, so that a
// new one can be created at the path, and returns the new path. It deletes no data,
// because the user may be able to recover more of it by other means. If a process was killed
// in SetAside, another call renames the remaining files.
func SetAside(path string, now time.Time) (string, error) {
	aside := path + ".damaged-" + now.UTC().Format("20060102T150405.000")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	removeStamp(path)
	return aside, nil
}

// Salvage creates a database at path with every readable row of the damaged one. Its tables
// are those of the version that wrote the damaged file; [Open] migrates them. A damaged page
// ends a scan, so Salvage scans each table from both ends. It then runs statements in the new
// database. It returns the number of rows copied and a summary of the loss.
func Salvage(ctx context.Context, damaged, path string, schema Schema, statements ...string) (saved int, lost string, err error) {
	for _, left := range []string{path, path + "-wal", path + "-shm"} { // by an interrupted start
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, "", err
		}
	}
	old, err := connect(damaged, schema)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = old.disconnect() }() // only read
	version, err := migrations.Version(ctx, old.read, schema)
	if err != nil { // nothing can be read
		version = schema.Version()
	}
	db, err := connect(path, schema)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, db.disconnect()) }()
	if err := migrations.Apply(ctx, db.write, schema, version); err != nil {
		return 0, "", err
	}
	tables, err := db.tables(ctx)
	if err != nil {
		return 0, "", err
	}
	var broken []string
	for _, table := range tables {
		n, whole, err := db.salvageTable(ctx, old.read, table)
		if err != nil {
			return 0, "", err
		}
		saved += n
		if !whole {
			broken = append(broken, table)
		}
	}
	for _, statement := range statements {
		if _, err := db.write.ExecContext(ctx, statement); err != nil {
			return 0, "", err
		}
	}
	if broken == nil {
		return saved, "every row could be read", nil
	}
	return saved, "rows are missing from " + strings.Join(broken, ", "), nil
}

// tables lists the tables in order of creation, so that a table comes after those it
// refers to.
func (db *DB) tables(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db.write, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`)
}

func (db *DB) salvageTable(ctx context.Context, old *sql.DB, table string) (saved int, whole bool, err error) {
	columns, err := Column[string](ctx, db.write, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return 0, false, err
	}
	keys, err := Column[string](ctx, db.write, `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, table)
	if err != nil {
		return 0, false, err
	}
	names := `"` + strings.Join(columns, `", "`) + `"`
	for _, direction := range []string{"", " DESC"} {
		order := `"` + strings.Join(keys, `"`+direction+`, "`) + `"` + direction
		n, whole, err := db.copyRows(ctx, old, table, names, len(columns), fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY %s`, names, table, order))
		saved += n
		if whole || err != nil {
			return saved, whole, err
		}
	}
	return saved, false, nil
}

// copyRows copies rows up to the first one that cannot be read, and reports whether it
// copied all. It skips rows that exist already and rows whose parent row was lost. The error
// is one of writing.
func (db *DB) copyRows(ctx context.Context, old *sql.DB, table, names string, columns int, query string) (saved int, whole bool, err error) {
	rows, err := old.QueryContext(ctx, query)
	if err != nil {
		return 0, false, nil
	}
	defer func() { _ = rows.Close() }() // Err reports the error
	insert := fmt.Sprintf(`INSERT OR IGNORE INTO "%s" (%s) VALUES (?%s)`, table, names, strings.Repeat(", ?", columns-1))
	values, pointers := make([]any, columns), make([]any, columns)
	for i := range values {
		pointers[i] = &values[i]
	}
	err = db.Write(ctx, func(tx *sql.Tx) error {
		for rows.Next() && rows.Scan(pointers...) == nil {
			result, err := tx.ExecContext(ctx, insert, values...)
			switch {
			case err == nil:
				n, _ := result.RowsAffected() // SQLite never returns an error here
				saved += int(n)
			case codeOf(err) != sqlite3.SQLITE_CONSTRAINT:
				return err
			}
		}
		return nil // commit the copied rows
	})
	return saved, rows.Err() == nil, err
}
