package table

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
	"notesd/notes/store"
)

// NewRow is a row to add. Either Vector or Text must be set. Text is embedded by the
// model of the table; see [Info].
type NewRow struct {
	ID       string // "": generated; an existing row with the ID is replaced
	Vector   []float32
	Text     string
	Metadata json.RawMessage // a JSON object; nil: {}
}

// AddRequest adds rows to a table. If RequestKey is set, the generated IDs are
// derived from it, and a repeated request changes nothing and returns the IDs again.
type AddRequest struct {
	Table      string
	Rows       []NewRow // up to MaxRowsPerCall
	RequestKey string
}

const opAdd = "add to table"

// storedRow is a row to write to the database.
type storedRow struct {
	id, metadata string
	vector       []float32
}

func idsOf(rows []storedRow) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.id
	}
	return ids
}

// Add adds all rows or none, and returns their IDs in the order of the request.
func (t *Tables) Add(ctx context.Context, r AddRequest) ([]string, error) {
	if done, err := store.Answered(ctx, t.db.Reader(), r.RequestKey, nil); done || err != nil {
		return r.ids(), err
	}
	info, err := t.find(ctx, opAdd, r.Table)
	if err != nil {
		return nil, err
	}
	model, err := t.modelForRows(info, r.Rows)
	if err != nil {
		return nil, err
	}
	rows, err := checkRows(ctx, model, info.Info, r)
	if err != nil {
		return nil, err
	}
	t.write.Lock()
	defer t.write.Unlock()
	replaced := t.replaced(info.id)
	defer func() { replaced.Add(replaced.Load() % 2) }()
	removed, added, err := t.store(ctx, info, model, rows, r.RequestKey)
	if err != nil {
		return nil, unstored(opAdd, info.Name, err)
	}
	t.copies.update(info.id, removed, added)
	return idsOf(rows), nil
}

// ids returns the IDs of the rows of a request with a key.
func (r AddRequest) ids() []string {
	ids := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		if ids[i] = row.ID; row.ID == "" {
			ids[i] = mintID(r.RequestKey, i)
		}
	}
	return ids
}

// modelForRows returns the model for rows with texts.
func (t *Tables) modelForRows(info tableRow, rows []NewRow) (sourced, error) {
	for _, r := range rows {
		if r.Text != "" && len(r.Vector) == 0 {
			return t.modelFor(opAdd, info)
		}
	}
	return sourced{}, nil
}

func checkRows(ctx context.Context, model sourced, info Info, r AddRequest) ([]storedRow, error) {
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
		if rows[i], err = checkRow(ctx, model, info, which, row); err != nil {
			return nil, err
		}
		if row.ID == "" {
			rows[i].id = mintID(r.RequestKey, i)
		} else if before, ok := seen[row.ID]; ok {
			return nil, invalid(opAdd, info.Name, "Give each row an id of its own.", "rows %d and %d have the same id", before+1, i+1)
		}
		seen[row.ID] = i
	}
	return rows, nil
}

func checkRow(ctx context.Context, model sourced, info Info, which string, row NewRow) (stored storedRow, err error) {
	stored.id, stored.vector = row.ID, row.Vector
	if err := checkID(info.Name, which, row.ID); err != nil {
		return stored, err
	}
	if stored.metadata, err = checkMetadata(info.Name, which, row.Metadata); err != nil {
		return stored, err
	}
	switch {
	case row.Text != "" && len(row.Vector) > 0:
		return stored, invalid(opAdd, info.Name, "Pass one of the two.", "%s has both a vector and a text", which)
	case row.Text != "":
		if stored.vector, err = model.embed(ctx, opAdd, info, row.Text); err != nil {
			return stored, err
		}
	}
	return stored, checkVector(opAdd, info, which, stored.vector)
}

// mintID returns a unique ID: 96 random bits or, with a request key, 96 bits of a
// hash of the key and the index of the row.
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

// store writes rows in one transaction and returns the rows removed and added. The
// caller must hold write. If a model embedded texts, it becomes the table's.
func (t *Tables) store(ctx context.Context, found tableRow, model sourced, rows []storedRow, requestKey string) (removed []int64, added []newRow, err error) {
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		if done, err := store.Answered(ctx, tx, requestKey, nil); done || err != nil { // since Add looked
			return err
		}
		info, err := scanTable(tx.QueryRowContext(ctx, `SELECT `+tableColumns+` FROM vector_tables WHERE id = ? AND dropped IS NULL`, found.id))
		if errors.Is(err, sql.ErrNoRows) { // dropped since find
			return &notes.Error{Op: opAdd, Path: found.Name, Err: notes.ErrNotFound, Detail: "the table was dropped", Hint: "List the tables with list_tables."}
		}
		if err != nil {
			return err
		}
		if model.Model != nil {
			if err := model.record(ctx, tx, info); err != nil {
				return err
			}
		}
		if removed, err = deleteIDs(ctx, tx, info.id, idsOf(rows)); err != nil {
			return err
		}
		if len(removed) > 0 {
			t.replaced(info.id).Add(1)
		}
		n := info.Rows - len(removed) + len(rows)
		if err := checkSize(info.Info, n); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE vector_tables SET rows = ? WHERE id = ?`, n, info.id); err != nil {
			return err
		}
		if added, err = t.insert(ctx, tx, info.id, rows); err != nil {
			return err
		}
		return store.RecordAnswer(ctx, tx, requestKey, "add_vector", t.opt.Now(), len(rows))
	})
	return removed, added, err
}

// checkSize returns an error if the table cannot hold this number of rows.
func checkSize(info Info, rows int) error {
	most := int(min(MaxTableRows, MaxTableNumbers/int64(info.Dimension)))
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
