package table

import (
	"context"
	"database/sql"
	"errors"

	"notesd/internal/sqlite"
	"notesd/notes/store"
)

// deleteIDs deletes the rows with these ids and returns their row numbers.
func deleteIDs(ctx context.Context, tx *sql.Tx, table int64, ids []string) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return sqlite.Column[int64](ctx, tx, `DELETE FROM vector_rows WHERE table_id = ? AND id IN (SELECT value FROM json_each(?)) RETURNING row`, table, sqlite.List(ids))
}

// DeleteRowsRequest selects rows by their ids or by conditions on their metadata.
type DeleteRowsRequest struct {
	Table string
	IDs   []string
	Where map[string]any
	// RequestKey, if not empty, identifies the request: a repeated one returns the stored
	// answer.
	RequestKey string
}

// DeleteRows deletes rows and returns their number. Rows that match a filter are
// deleted in transactions of a thousand, so that an error or a crash may leave some
// of them; repeating the request deletes the rest.
func (t *Tables) DeleteRows(ctx context.Context, r DeleteRowsRequest) (int, error) {
	const op = "delete from table"
	t.deletion.Lock()
	defer t.deletion.Unlock()
	var deleted int
	if done, err := store.Answered(ctx, t.db.Reader(), r.RequestKey, &deleted); done || err != nil {
		return deleted, err
	}
	info, err := t.find(ctx, op, r.Table)
	if err != nil {
		return 0, err
	}
	filter, err := newTableFilter(r.Where, t.opt.Now())
	if err != nil {
		return 0, err
	}
	switch {
	case (len(r.IDs) == 0) == (filter == nil):
		return 0, invalid(op, info.Name, "Pass ids or a filter; drop_table removes all.", "what to delete is named by ids or by a filter, one of the two")
	case len(r.IDs) > MaxRowsPerCall:
		return 0, invalid(op, info.Name, "Delete them in several calls.", "%d ids in one call, and %d are allowed", len(r.IDs), MaxRowsPerCall)
	case filter == nil:
		return t.deleteSome(ctx, info.id, func(tx *sql.Tx) ([]int64, error) {
			rows, err := deleteIDs(ctx, tx, info.id, r.IDs)
			return rows, errors.Join(err, t.recordDeletion(ctx, tx, r.RequestKey, len(rows)))
		})
	}
	return t.deleteMatching(ctx, info.id, filter, r.RequestKey)
}

func (t *Tables) recordDeletion(ctx context.Context, tx *sql.Tx, requestKey string, rows int) error {
	return store.RecordAnswer(ctx, tx, requestKey, "delete_vectors", t.opt.Now(), rows)
}

func (t *Tables) deleteMatching(ctx context.Context, table int64, f *tableFilter, requestKey string) (int, error) {
	var rows []int64
	err := t.rows.metadata(ctx, table, func(row int64, metadata string) error {
		passes, err := f.matches(metadata)
		if passes {
			rows = append(rows, row)
		}
		return err
	})
	deleted := 0
	for last := false; !last && err == nil; {
		part := rows[:min(1000, len(rows))]
		rows = rows[len(part):]
		last = len(rows) == 0
		var n int
		n, err = t.deleteSome(ctx, table, func(tx *sql.Tx) ([]int64, error) {
			gone, err := sqlite.Column[int64](ctx, tx, `DELETE FROM vector_rows WHERE row IN (SELECT value FROM json_each(?)) RETURNING row`, sqlite.List(part))
			if err != nil || !last {
				return gone, err
			}
			return gone, t.recordDeletion(ctx, tx, requestKey, deleted+len(gone))
		})
		deleted += n
	}
	return deleted, err
}

// deleteSome runs a deletion in one transaction and updates the copy.
func (t *Tables) deleteSome(ctx context.Context, table int64, del func(tx *sql.Tx) ([]int64, error)) (int, error) {
	t.write.Lock()
	defer t.write.Unlock()
	var removed []int64
	err := t.db.Write(ctx, func(tx *sql.Tx) (err error) {
		if removed, err = del(tx); err != nil || len(removed) == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE vector_tables SET rows = rows - ? WHERE id = ?`, len(removed), table)
		return err
	})
	if err != nil {
		return 0, err
	}
	t.copies.update(table, removed, nil)
	return len(removed), nil
}
