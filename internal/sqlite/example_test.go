package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"notesd/internal/sqlite"
)

// Open applies the migrations of the schema. Writes are transactions; single reads use
// the reader pool.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "sqlite")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"), sqlite.HistorySchema)
	if err != nil {
		panic(err)
	}
	err = db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO documents (path, live) VALUES ('a.md', 1)`)
		return err
	})
	if err != nil {
		panic(err)
	}
	var n int
	if err := db.Reader().QueryRowContext(ctx, `SELECT count(*) FROM documents`).Scan(&n); err != nil {
		panic(err)
	}
	fmt.Println(n, "document")
	if err := db.Close(); err != nil {
		panic(err)
	}
	// Output: 1 document
}
