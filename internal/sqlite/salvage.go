package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// SetAside renames a damaged database together with its -wal and -shm files, so that a
// new one can be created at the path, and returns the new path. It deletes no data,
// because the user may be able to recover more of it by other means.
func SetAside(path string, now time.Time) (string, error) {
	aside := path + ".damaged-" + now.UTC().Format("20060102T150405.000")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	removeStamp(path)
	return aside, nil
}

// Salvage copies every readable row of the damaged file into the tables with the same
// names. A damaged page ends a scan, so Salvage scans each table from both ends. It
// returns the number of rows copied and a summary of the loss.
func (db *DB) Salvage(ctx context.Context, from string) (saved int, lost string) {
	connector, err := sqlite.NewConnector(dsn(from, HistorySchema, true))
	if err != nil {
		return 0, "all: " + err.Error()
	}
	old := sql.OpenDB(connector)
	defer func() { _ = old.Close() }() // nothing was written to it
	old.SetMaxOpenConns(1)
	tables, err := db.tables(ctx)
	if err != nil {
		return 0, "all: " + err.Error()
	}
	var broken []string
	for _, table := range tables {
		n, whole := db.salvageTable(ctx, old, table)
		saved += n
		if !whole {
			broken = append(broken, table)
		}
	}
	if broken == nil {
		return saved, "every row could be read"
	}
	return saved, "rows are missing from " + strings.Join(broken, ", ")
}

// tables lists the tables in order of creation, so that a table comes after those it
// refers to.
func (db *DB) tables(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db.write, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`)
}

func (db *DB) salvageTable(ctx context.Context, old *sql.DB, table string) (saved int, whole bool) {
	columns, err := Column[string](ctx, db.write, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil || len(columns) == 0 {
		return 0, false
	}
	names := `"` + strings.Join(columns, `", "`) + `"`
	keys, err := Column[string](ctx, db.write, `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, table)
	if err != nil || len(keys) == 0 {
		return 0, false
	}
	for _, direction := range []string{"", " DESC"} {
		order := `"` + strings.Join(keys, `"`+direction+`, "`) + `"` + direction
		n, err := db.copyRows(ctx, old, table, names, len(columns), fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY %s`, names, table, order))
		saved += n
		if err == nil {
			return saved, true
		}
	}
	return saved, false
}

// copyRows copies rows up to the first one that cannot be read. It skips rows that exist
// already and rows whose parent row was lost.
func (db *DB) copyRows(ctx context.Context, old *sql.DB, table, names string, columns int, query string) (int, error) {
	rows, err := old.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }() // Err reports the error
	insert := fmt.Sprintf(`INSERT OR IGNORE INTO "%s" (%s) VALUES (?%s)`, table, names, strings.Repeat(", ?", columns-1))
	values, pointers := make([]any, columns), make([]any, columns)
	for i := range values {
		pointers[i] = &values[i]
	}
	saved := 0
	err = db.Write(ctx, func(tx *sql.Tx) error {
		for rows.Next() {
			if err := rows.Scan(pointers...); err != nil {
				return nil // commit the copied rows; Err reports the error
			}
			if result, err := tx.ExecContext(ctx, insert, values...); err == nil {
				n, _ := result.RowsAffected() // SQLite never returns an error here
				saved += int(n)
			}
		}
		return nil
	})
	return saved, errors.Join(err, rows.Err())
}
