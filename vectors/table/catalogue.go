package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// Info describes a table.
type Info struct {
	Item
	Created time.Time `json:"created"`
	Dropped time.Time `json:"dropped,omitzero"` // zero while in use
}

// An Item is what tools say of a table.
type Item struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Metric    Metric `json:"metric"`
	Rows      int    `json:"rows"`
	// Model is the ID of the model that embeds texts for the table: the current one when the
	// table was created or, if it did not fit, when the first text was added. It does not
	// follow the model of the vault. It is "" if none is recorded.
	Model string `json:"model,omitempty"`
}

// RestorableUntil returns the time after which a dropped table is deleted.
func (i Info) RestorableUntil() time.Time { return i.Dropped.Add(keptDropped) }

// tableRow is a row of vector_tables.
type tableRow struct {
	Info
	id      int64
	created int64
	model   sql.NullString // NULL if the table was created before models were recorded
	source  string
}

const tableColumns = `id, name, dimension, metric, rows, created, coalesce(dropped, 0), model, model_source`

func scanTable(row interface{ Scan(...any) error }) (t tableRow, err error) {
	var dropped int64
	err = row.Scan(&t.id, &t.Name, &t.Dimension, &t.Metric, &t.Rows, &t.created, &dropped, &t.model, &t.source)
	t.Model = t.model.String
	t.Created = time.Unix(0, t.created).UTC()
	if dropped != 0 {
		t.Dropped = time.Unix(0, dropped).UTC()
	}
	return t, err
}

// CreateTableRequest describes a table to create. If RequestKey is set, a repeated
// request returns the table that the first one created.
type CreateTableRequest struct {
	Name       string
	Dimension  int    // 0: that of the current model, for texts
	Metric     Metric // "": cosine
	RequestKey string
}

// Create creates an empty table. It returns a [notes.Error] with notes.ErrInvalid
// or notes.ErrExists.
func (t *Tables) Create(ctx context.Context, r CreateTableRequest) (Info, error) {
	const op = "create table"
	name, err := tableName(op, r.Name)
	if err != nil {
		return Info{}, err
	}
	if r.Dimension == 0 {
		if r.Dimension, err = t.textDimension(op, name); err != nil {
			return Info{}, err
		}
	}
	if r.Dimension < 1 || r.Dimension > MaxDimension {
		return Info{}, invalid(op, name, "Pass how many numbers each vector has.", "the dimension must be from 1 to %d, not %d", MaxDimension, r.Dimension)
	}
	switch r.Metric {
	case "":
		r.Metric = Cosine
	case Cosine, Dot, L2:
	default:
		return Info{}, invalid(op, name, "Use cosine, dot or l2.", "there is no metric %q", r.Metric)
	}
	made := tableRow{Info: Info{Item: Item{Name: name, Dimension: r.Dimension, Metric: r.Metric}}}
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		if done, err := store.Answered(ctx, tx, r.RequestKey, &made.Info); done || err != nil {
			return err
		}
		old, err := scanTable(tx.QueryRowContext(ctx, `SELECT `+tableColumns+` FROM vector_tables WHERE name = ? AND dropped IS NULL`, name))
		switch {
		case err == nil:
			return &notes.Error{Op: op, Path: name, Err: notes.ErrExists,
				Detail: fmt.Sprintf("a table with this name exists already: dimension %d, metric %s, %d rows", old.Dimension, old.Metric, old.Rows),
				Hint:   "Use it, choose another name, or drop it first."}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		made.Created = t.opt.Now().UTC()
		source := ""
		if t.models != nil {
			if m, at := t.models.Current(); m != nil && m.Dim() == r.Dimension {
				made.Model, source = m.ID(), at
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO vector_tables (name, dimension, metric, created, model, model_source) VALUES (?, ?, ?, ?, ?, ?)`,
			name, r.Dimension, r.Metric, made.Created.UnixNano(), made.Model, source); err != nil {
			return err
		}
		return store.RecordAnswer(ctx, tx, r.RequestKey, "create_table", made.Created, made.Info)
	})
	return made.Info, unstored(op, name, err)
}

// List returns the tables in use, by name.
func (t *Tables) List(ctx context.Context) ([]Info, error) {
	return t.list(ctx, `dropped IS NULL ORDER BY name`)
}

// Dropped returns the tables that can be restored, the last dropped first.
func (t *Tables) Dropped(ctx context.Context) ([]Info, error) {
	return t.list(ctx, `dropped > ? ORDER BY dropped DESC`, t.expired())
}

// expired returns the time before which dropped tables can no longer be restored.
func (t *Tables) expired() int64 { return t.opt.Now().Add(-keptDropped).UnixNano() }

func (t *Tables) list(ctx context.Context, where string, args ...any) ([]Info, error) {
	var infos []Info
	err := sqlite.ForEach(ctx, t.db.Reader(), `SELECT `+tableColumns+` FROM vector_tables WHERE `+where, args, func(rows *sql.Rows) error {
		row, err := scanTable(rows)
		infos = append(infos, row.Info)
		return err
	})
	return infos, err
}

// Describe returns a table and the IDs of up to n of its newest rows.
func (t *Tables) Describe(ctx context.Context, name string, n int) (Info, []string, error) {
	row, err := t.find(ctx, "read table", name)
	if err != nil {
		return Info{}, nil, err
	}
	ids, err := sqlite.Column[string](ctx, t.db.Reader(), `SELECT id FROM vector_rows WHERE table_id = ? ORDER BY row DESC LIMIT ?`, row.id, n)
	return row.Info, ids, err
}

// find returns the table in use that has the name.
func (t *Tables) find(ctx context.Context, op, name string) (tableRow, error) {
	clean, err := tableName(op, name)
	if err != nil {
		return tableRow{}, err
	}
	row, err := scanTable(t.db.Reader().QueryRowContext(ctx, `SELECT `+tableColumns+` FROM vector_tables WHERE name = ? AND dropped IS NULL`, clean))
	if errors.Is(err, sql.ErrNoRows) {
		return tableRow{}, t.noTable(ctx, op, clean)
	}
	return row, err
}

// noTable returns the error for an unknown table, with the existing tables as
// candidates.
func (t *Tables) noTable(ctx context.Context, op, name string) error {
	const most = 10
	e := &notes.Error{Op: op, Path: name, Err: notes.ErrNotFound, Detail: "there is no such table"}
	infos, err := t.List(ctx)
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		e.Hint = "There are no tables yet: create one with create_table."
		return e
	}
	e.Hint = "List them with list_tables. Create it with create_table."
	for _, i := range infos[:min(len(infos), most)] {
		e.Candidates = append(e.Candidates, i.Name)
	}
	return e
}

// Drop drops a table, which can be restored for seven days. A request repeated with the same
// key returns the stored answer.
func (t *Tables) Drop(ctx context.Context, name, requestKey string) (Info, error) {
	t.write.Lock()
	defer t.write.Unlock()
	var answer Info
	if done, err := store.Answered(ctx, t.db.Reader(), requestKey, &answer); done || err != nil {
		return answer, err
	}
	row, err := t.find(ctx, "drop table", name)
	if err != nil {
		return Info{}, err
	}
	row.Dropped = t.opt.Now().UTC()
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE vector_tables SET dropped = ? WHERE id = ?`, row.Dropped.UnixNano(), row.id); err != nil {
			return err
		}
		return store.RecordAnswer(ctx, tx, requestKey, "drop_table", row.Dropped, row.Info)
	})
	if err != nil {
		return Info{}, err
	}
	if err := t.copies.forget(row.id); err != nil {
		t.opt.Log.Warn("remove a dropped table's cache", "err", err) // Purge tries again
	}
	return row.Info, nil
}

// Restore restores the table of that name that was dropped last. It returns a
// [notes.Error] with notes.ErrNotFound, or with notes.ErrExists if another table has
// the name.
func (t *Tables) Restore(ctx context.Context, name string) (Info, error) {
	const op = "restore table"
	clean, err := tableName(op, name)
	if err != nil {
		return Info{}, err
	}
	var row tableRow
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		row, err = scanTable(tx.QueryRowContext(ctx, `SELECT `+tableColumns+` FROM vector_tables
			WHERE name = ? AND dropped > ? ORDER BY dropped DESC LIMIT 1`, clean, t.expired()))
		if errors.Is(err, sql.ErrNoRows) {
			return &notes.Error{Op: op, Path: clean, Err: notes.ErrNotFound, Detail: "no table of that name was dropped in the last seven days",
				Hint: "List the tables that are in use with list_tables."}
		}
		if err != nil {
			return err
		}
		var used bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM vector_tables WHERE name = ? AND dropped IS NULL)`, clean).Scan(&used); err != nil {
			return err
		}
		if used {
			return &notes.Error{Op: op, Path: clean, Err: notes.ErrExists, Detail: "another table has the name now", Hint: "Drop that one first; it can then be restored too."}
		}
		_, err = tx.ExecContext(ctx, `UPDATE vector_tables SET dropped = NULL WHERE id = ?`, row.id)
		return err
	})
	row.Dropped = time.Time{}
	return row.Info, err
}

// Purge deletes the tables that were dropped more than seven days ago, in
// transactions of a thousand rows, so that other writers are not blocked for long. A table
// whose cache cannot be deleted is kept, since its cache would never be deleted without it.
func (t *Tables) Purge(ctx context.Context) error {
	ids, err := sqlite.Column[int64](ctx, t.db.Reader(), `SELECT id FROM vector_tables WHERE dropped <= ? ORDER BY id`, t.expired())
	errs := []error{err}
	for _, id := range ids {
		errs = append(errs, t.purge(ctx, id))
	}
	return errors.Join(errs...)
}

func (t *Tables) purge(ctx context.Context, id int64) error {
	if err := t.copies.forget(id); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = t.purgeSome(ctx, id); err != nil {
			return err
		}
	}
	t.opt.Log.Info("removed a vector table that was dropped a week ago", "table", id)
	return nil
}

func (t *Tables) purgeSome(ctx context.Context, id int64) (more bool, err error) {
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM vector_rows WHERE row IN (SELECT row FROM vector_rows WHERE table_id = ? LIMIT 1000)`, id)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if more = n > 0; more || err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM vector_tables WHERE id = ?`, id)
		return err
	})
	return more, err
}
