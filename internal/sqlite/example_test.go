package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"notesd/internal/sqlite"
)

// A database is opened with the migrations of its schema. Writes are
// transactions; single reads use the pool of readers.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "sqlite")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"), sqlite.Options{Schema: sqlite.HistorySchema, Durable: true})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO documents (path, live) VALUES ('a.md', 1)`)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	var n int
	if err := db.Reader().QueryRowContext(ctx, `SELECT count(*) FROM documents`).Scan(&n); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "document")
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 1 document
}
