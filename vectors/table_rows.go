package vectors

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"notesd/notes"
)

// NewRow is a row to be added. Of Vector and Text, which is embedded if the
// dimensions are the same, it has one.
type NewRow struct {
	ID       string // "": one is made; one that exists is replaced
	Vector   []float32
	Text     string
	Metadata json.RawMessage // a JSON object; nil: an empty one
}

// AddRequest adds rows to a table. RequestKey, when not empty, makes the ids
// of rows without one the same whenever the request is repeated.
type AddRequest struct {
	Table      string
	Rows       []NewRow // up to MaxRowsPerCall
	RequestKey string
}

const opAdd = "add to table"

// storedRow is a row as it goes into the database.
type storedRow struct {
	id, metadata string
	vector       []float32
	made         bool // the id is new for sure
}

// Add adds all the rows, or none, and returns their ids in the rows' order.
func (t *Tables) Add(ctx context.Context, r AddRequest) ([]string, error) {
	info, err := t.find(ctx, opAdd, r.Table)
	if err != nil {
		return nil, err
	}
	rows, err := t.checkRows(ctx, info.TableInfo, r)
	if err != nil {
		return nil, err
	}
	t.write.Lock()
	defer t.write.Unlock()
	removed, added, err := t.store(ctx, info, rows)
	if err != nil {
		return nil, err
	}
	t.tell(info.id, removed, added)
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.id
	}
	return ids, nil
}

// tell keeps the searchable copy current, if there is one.
func (t *Tables) tell(table int64, removed []int64, added []newRow) {
	if c := t.loadedCopy(table); c != nil {
		if err := c.change(removed, added); err != nil {
			t.opt.Log.Warn("a vector table's cache could not follow and will be made again", "table", table, "err", err)
		}
	}
}

func (t *Tables) checkRows(ctx context.Context, info TableInfo, r AddRequest) ([]storedRow, error) {
	switch n := len(r.Rows); {
	case n == 0:
		return nil, invalid(opAdd, info.Name, "Pass a vector, or rows that each have one.", "there is nothing to add")
	case n > MaxRowsPerCall:
		return nil, invalid(opAdd, info.Name, "Add them in several calls.", "%d rows in one call, and %d are allowed", n, MaxRowsPerCall)
	}
	seen := make(map[string]int, len(r.Rows))
	rows := make([]storedRow, len(r.Rows))
	for i, row := range r.Rows {
		which := "the row"
		if len(r.Rows) > 1 {
			which = fmt.Sprintf("row %d of %d", i+1, len(r.Rows))
		}
		var err error
		if rows[i], err = t.checkRow(ctx, info, which, row); err != nil {
			return nil, err
		}
		if row.ID == "" {
			rows[i].id, rows[i].made = mintID(r.RequestKey, i), r.RequestKey == ""
		} else if before, ok := seen[row.ID]; ok {
			return nil, invalid(opAdd, info.Name, "Give each row an id of its own.", "rows %d and %d have the same id", before+1, i+1)
		}
		seen[row.ID] = i
	}
	return rows, nil
}

func (t *Tables) checkRow(ctx context.Context, info TableInfo, which string, row NewRow) (stored storedRow, err error) {
	stored.id, stored.vector = row.ID, row.Vector
	if err := checkID(opAdd, info.Name, which, row.ID); err != nil {
		return stored, err
	}
	if stored.metadata, err = checkMetadata(opAdd, info.Name, which, row.Metadata); err != nil {
		return stored, err
	}
	switch {
	case row.Text != "" && len(row.Vector) > 0:
		return stored, invalid(opAdd, info.Name, "Pass one of the two.", "%s has both a vector and a text", which)
	case row.Text != "":
		if stored.vector, err = t.embed(ctx, opAdd, info, row.Text); err != nil {
			return stored, err
		}
	}
	return stored, checkVector(opAdd, info, which, stored.vector)
}

// mintID makes an id that nobody has: 96 random bits, or as many of a hash of
// the request and the row's place in it.
func mintID(requestKey string, i int) string {
	var b [12]byte
	if requestKey == "" {
		_, _ = rand.Read(b[:]) // never fails: see crypto/rand.Read
	} else {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", requestKey, i))
		copy(b[:], sum[:])
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// store writes rows in one transaction, and returns what it removed and added.
// The caller holds write.
func (t *Tables) store(ctx context.Context, found tableRow, rows []storedRow) (removed []int64, added []newRow, err error) {
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		info, err := scanTable(tx.QueryRowContext(ctx, `SELECT `+tableColumns+` FROM vector_tables WHERE id = ? AND dropped IS NULL`, found.id))
		if errors.Is(err, sql.ErrNoRows) { // dropped a moment ago
			return &notes.Error{Op: opAdd, Path: found.Name, Err: notes.ErrNotFound, Detail: "the table was dropped", Hint: "List the tables with list_tables."}
		}
		if err != nil {
			return err
		}
		var ids []string
		for _, r := range rows {
			if !r.made {
				ids = append(ids, r.id)
			}
		}
		if removed, err = deleteIDs(ctx, tx, info.id, ids); err != nil {
			return err
		}
		n := info.Rows - len(removed) + len(rows)
		if err := checkSize(info.TableInfo, n); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE vector_tables SET rows = ? WHERE id = ?`, n, info.id); err != nil {
			return err
		}
		added, err = t.insert(ctx, tx, info.id, rows)
		return err
	})
	return removed, added, err
}

// checkSize refuses what a table cannot hold.
func checkSize(info TableInfo, rows int) error {
	most := min(MaxTableRows, MaxTableNumbers/info.Dimension)
	if rows <= most {
		return nil
	}
	return &notes.Error{Op: opAdd, Path: info.Name, Err: notes.ErrTooLarge,
		Detail: fmt.Sprintf("it would have %d rows, and a table of dimension %d holds %d", rows, info.Dimension, most),
		Hint:   "Delete rows, or use another table."}
}

func (t *Tables) insert(ctx context.Context, tx *sql.Tx, table int64, rows []storedRow) ([]newRow, error) {
	var last int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'vector_rows'`).Scan(&last); err != nil {
		return nil, err
	}
	next := max(last+1, t.opt.Now().UnixNano())
	insertRow, err := tx.PrepareContext(ctx, `INSERT INTO vector_rows (row, table_id, id, metadata) VALUES (?, ?, ?, ?)`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = insertRow.Close() }() // the transaction's end closes it as well
	insertValues, err := tx.PrepareContext(ctx, `INSERT INTO vector_values (row, vector) VALUES (?, ?)`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = insertValues.Close() }()
	added := make([]newRow, len(rows))
	for i, r := range rows {
		row := next + int64(i)
		if _, err := insertRow.ExecContext(ctx, row, table, r.id, r.metadata); err != nil {
			return nil, err
		}
		if _, err := insertValues.ExecContext(ctx, row, packFloats(r.vector)); err != nil {
			return nil, err
		}
		added[i] = newRow{row, r.vector}
	}
	return added, nil
}

// deleteIDs deletes the rows that have these ids and returns their numbers.
func deleteIDs(ctx context.Context, tx *sql.Tx, table int64, ids []string) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return numbers(tx.QueryContext(ctx, `DELETE FROM vector_rows WHERE table_id = ? AND id IN (SELECT value FROM json_each(?)) RETURNING row`, table, string(list)))
}

// numbers reads a column of row numbers.
func numbers(rows *sql.Rows, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below tells
	var out []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// DeleteRowsRequest names rows by their ids or by conditions on their metadata.
type DeleteRowsRequest struct {
	Table string
	IDs   []string
	Where map[string]any
}

// DeleteRows deletes rows and returns how many there were. Those of a filter
// are deleted a thousand at a time: after an error or a crash some may be
// left, and the same request goes on.
func (t *Tables) DeleteRows(ctx context.Context, r DeleteRowsRequest) (int, error) {
	const op = "delete from table"
	info, err := t.find(ctx, op, r.Table)
	if err != nil {
		return 0, err
	}
	filter, err := newTableFilter(r.Where)
	if err != nil {
		return 0, err
	}
	switch {
	case (len(r.IDs) == 0) == (filter == nil):
		return 0, invalid(op, info.Name, "Pass ids or a filter; drop_table removes all.", "what to delete is named by ids or by a filter, one of the two")
	case len(r.IDs) > MaxRowsPerCall:
		return 0, invalid(op, info.Name, "Delete them in several calls.", "%d ids in one call, and %d are allowed", len(r.IDs), MaxRowsPerCall)
	case filter == nil:
		return t.deleteSome(ctx, info.id, func(tx *sql.Tx) ([]int64, error) { return deleteIDs(ctx, tx, info.id, r.IDs) })
	}
	return t.deleteMatching(ctx, info.id, filter)
}

func (t *Tables) deleteMatching(ctx context.Context, table int64, f *tableFilter) (int, error) {
	var rows []int64
	err := t.eachMetadata(ctx, table, func(row int64, metadata string) error {
		passes, err := f.matches(metadata)
		if passes {
			rows = append(rows, row)
		}
		return err
	})
	deleted := 0
	for len(rows) > 0 && err == nil {
		part := rows[:min(1000, len(rows))]
		rows = rows[len(part):]
		var n int
		n, err = t.deleteSome(ctx, table, func(tx *sql.Tx) ([]int64, error) {
			list, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			return numbers(tx.QueryContext(ctx, `DELETE FROM vector_rows WHERE row IN (SELECT value FROM json_each(?)) RETURNING row`, string(list)))
		})
		deleted += n
	}
	return deleted, err
}

// deleteSome runs a deletion in a transaction of its own.
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
	t.tell(table, removed, nil)
	return len(removed), nil
}

// head, rowNumbers and vectors make Tables the source of its copies.

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
	defer func() { _ = rows.Close() }() // Err below tells
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
