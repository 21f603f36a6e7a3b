package table

import (
	"context"
	"database/sql"

	"notesd/internal/sqlite"
)

// rowReader reads the rows of tables.
type rowReader struct{ db *sqlite.DB }

// count returns the number of rows of a table up to a row, and the sum of the low 32 bits of
// their numbers.
func (r rowReader) count(ctx context.Context, table, upTo int64) (n int, sum int64, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT count(*), coalesce(sum(row & 0xFFFFFFFF), 0) FROM vector_rows INDEXED BY vector_rows_table WHERE table_id = ? AND row <= ?`, table, upTo).Scan(&n, &sum)
	return n, sum, err
}

// vectors calls do with the vectors of the rows after a row, in the order of row numbers.
func (r rowReader) vectors(ctx context.Context, table, after int64, do func(row int64, v []float32) error) error {
	const query = `SELECT v.row, v.vector FROM vector_rows r INDEXED BY vector_rows_table
		CROSS JOIN vector_values v ON v.row = r.row WHERE r.table_id = ? AND r.row > ? ORDER BY r.row`
	return sqlite.ForEach(ctx, r.db.Reader(), query, []any{table, after}, func(rows *sql.Rows) error {
		var row int64
		var data sql.RawBytes
		if err := rows.Scan(&row, &data); err != nil {
			return err
		}
		return do(row, unpackFloats(data))
	})
}

// metadata calls do with the metadata of each row of a table, in the order of row numbers.
func (r rowReader) metadata(ctx context.Context, table int64, do func(row int64, metadata string) error) error {
	return r.eachMetadata(ctx, do, `SELECT row, metadata FROM vector_rows INDEXED BY vector_rows_table WHERE table_id = ? ORDER BY row`, table)
}

// metadataOf calls do with the metadata of these rows.
func (r rowReader) metadataOf(ctx context.Context, rows []int64, do func(row int64, metadata string) error) error {
	return r.eachMetadata(ctx, do, `SELECT r.row, r.metadata FROM json_each(?) j CROSS JOIN vector_rows r ON r.row = j.value`, sqlite.List(rows))
}

func (r rowReader) eachMetadata(ctx context.Context, do func(row int64, metadata string) error, query string, args ...any) error {
	return sqlite.ForEach(ctx, r.db.Reader(), query, args, func(rows *sql.Rows) error {
		var row int64
		var metadata string
		if err := rows.Scan(&row, &metadata); err != nil {
			return err
		}
		return do(row, metadata)
	})
}

// vectorsOf calls do with the IDs and vectors of these rows.
func (r rowReader) vectorsOf(ctx context.Context, rows []int64, do func(row int64, id string, vector []float32)) error {
	const query = `SELECT r.row, r.id, v.vector FROM json_each(?) j
		CROSS JOIN vector_rows r ON r.row = j.value CROSS JOIN vector_values v ON v.row = j.value`
	return sqlite.ForEach(ctx, r.db.Reader(), query, []any{sqlite.List(rows)}, func(rows *sql.Rows) error {
		var row int64
		var id string
		var data sql.RawBytes
		if err := rows.Scan(&row, &id, &data); err != nil {
			return err
		}
		do(row, id, unpackFloats(data))
		return nil
	})
}
