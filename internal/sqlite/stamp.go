package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// A stamp file beside the database records the size and mtime of the database at a
// regular Close. If it matches at the next Open, the file has not changed since, and Open
// skips the check, which reads the whole file (0.3 s for 100 MB).

func stampPath(db string) string { return db + ".closed" }

func stampOf(db string) (string, error) {
	info, err := os.Stat(db)
	if err != nil {
		return "", err
	}
	if wal, err := os.Stat(db + "-wal"); err == nil && wal.Size() > 0 {
		return "", errors.New("the write-ahead log holds changes that were not checkpointed")
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
}

func stampMatches(db string) bool {
	want, err := stampOf(db)
	if err != nil {
		return false
	}
	have, err := os.ReadFile(stampPath(db))
	return err == nil && string(have) == want
}

// isEmptied reports whether a database that was closed is an empty file now. SQLite would
// take it for a new one.
func isEmptied(db string) bool {
	info, err := os.Stat(db)
	_, stampErr := os.Stat(stampPath(db))
	return err == nil && info.Size() == 0 && stampErr == nil
}

func writeStamp(db string) error {
	stamp, err := stampOf(db)
	if err != nil {
		return nil // without a stamp the next Open checks the file
	}
	return os.WriteFile(stampPath(db), []byte(stamp), 0o600)
}

func removeStamp(db string) { _ = os.Remove(stampPath(db)) } // a stamp that cannot be removed stops matching with the first write

// check reads the whole database and returns ErrCorrupt if it is damaged.
func check(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return nil
}
