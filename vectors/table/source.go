package table

import (
	"context"
	"database/sql"
)

// head, rowNumbers and vectors implement tableSource.

func (t *Tables) head(ctx context.Context, table int64) (n int, last int64, err error) {
	err = t.db.Reader().QueryRowContext(ctx, `SELECT rows, coalesce((SELECT max(row) FROM vector_rows WHERE table_id = vector_tables.id), 0)
		FROM vector_tables WHERE id = ?`, table).Scan(&n, &last)
	return n, last, err
}

func (t *Tables) rowNumbers(ctx context.Context, table int64) ([]int64, error) {
	return numbers(t.db.Reader().QueryContext(ctx, `SELECT row FROM vector_rows INDEXED BY vector_rows_table WHERE table_id = ? ORDER BY row`, table))
}

func (t *Tables) vectors(ctx context.Context, table, after int64, do func(row int64, v []float32) error) error {
	rows, err := t.db.Reader().QueryContext(ctx, `SELECT v.row, v.vector FROM vector_rows r INDEXED BY vector_rows_table
		CROSS JOIN vector_values v ON v.row = r.row WHERE r.table_id = ? AND r.row > ? ORDER BY r.row`, table, after)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err reports the error
	for rows.Next() {
		var row int64
		var data sql.RawBytes
		if err := rows.Scan(&row, &data); err != nil {
			return err
		}
		if err := do(row, unpackFloats(data)); err != nil {
			return err
		}
	}
	return rows.Err()
}
