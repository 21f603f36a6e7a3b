package table

import (
	"context"
	"database/sql"
	"fmt"

	"notesd/notes"
)

// Model embeds texts. ID changes if and only if the vectors change. Dim returns 0 until
// the dimension is known.
type Model interface {
	ID() string
	Dim() int
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Models opens the models of tables. A source names where a model is opened, for
// example a file.
type Models interface {
	// Current returns the model for tables that have none, and its source, or nil if it is not
	// chosen yet.
	Current() (m Model, source string)
	// Unrecorded returns the source of the model of tables that were created before models were
	// recorded.
	Unrecorded() string
	Open(source string) (Model, error)
}

// sourced is a model with its source.
type sourced struct {
	Model
	source string
}

// textDimension returns the dimension of a new table for texts.
func (t *Tables) textDimension(op, name string) (int, error) {
	if t.models == nil {
		return 0, invalid(op, name, "Pass how many numbers each vector has.", "without a dimension, a table is for texts, which cannot be embedded, because semantic search is off")
	}
	m, _ := t.models.Current()
	if m == nil {
		return 0, notChosen(op, name, "Try again. For vectors of your own, pass how many numbers each has.")
	}
	return m.Dim(), nil
}

// modelFor returns the model of the texts of a table: the recorded one, or the current
// one if none is recorded. Vectors of different models must not be compared.
func (t *Tables) modelFor(op string, row tableRow) (sourced, error) {
	if t.models == nil {
		return sourced{}, invalid(op, row.Name, "Pass a vector.", "text cannot be embedded, because semantic search is off")
	}
	if row.model.Valid && row.model.String == "" || !row.model.Valid && row.Rows == 0 {
		m, source := t.models.Current()
		if m == nil {
			return sourced{}, notChosen(op, row.Name, "Try again, or pass a vector.")
		}
		return sourced{m, source}, fits(op, row.Info, m.Dim())
	}
	if !row.model.Valid {
		row.source = t.models.Unrecorded()
	}
	m, err := t.models.Open(row.source)
	const add = "pass a vector, or create another table and add the texts to it."
	switch {
	case err != nil && !row.model.Valid:
		return sourced{}, &notes.Error{Op: op, Path: row.Name, Err: notes.ErrUnavailable, Detail: "the model of the table cannot be opened: " + err.Error(), Hint: "Pass a vector."}
	case err != nil:
		return sourced{}, &notes.Error{Op: op, Path: row.Name, Err: notes.ErrUnavailable,
			Detail: fmt.Sprintf("the texts of the table were embedded by %s, which cannot be opened: %v", row.model.String, err),
			Hint:   "Make that model available again, " + add}
	case row.model.Valid && m.ID() != row.model.String:
		return sourced{}, &notes.Error{Op: op, Path: row.Name, Err: notes.ErrUnavailable,
			Detail: fmt.Sprintf("the texts of the table were embedded by %s, and there is %s now, whose vectors are not comparable", row.model.String, m.ID()),
			Hint:   "Make the former model available again, " + add}
	}
	return sourced{m, row.source}, fits(op, row.Info, m.Dim())
}

func notChosen(op, name, hint string) error {
	return &notes.Error{Op: op, Path: name, Err: notes.ErrUnavailable, Detail: "the embedding model is not chosen before the vault's first scan is complete", Hint: hint}
}

// fits returns an error if the dimension of a model is known and differs from the table's.
func fits(op string, info Info, dim int) error {
	if dim == 0 || dim == info.Dimension {
		return nil
	}
	return invalid(op, info.Name, fmt.Sprintf("Pass a vector, or use a table of dimension %d.", dim),
		"text gives vectors of %d numbers, and the table takes %d", dim, info.Dimension)
}

// embed returns the vector of a text for a table.
func (m sourced) embed(ctx context.Context, op string, info Info, text string) ([]float32, error) {
	v, err := m.EmbedQuery(ctx, text)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &notes.Error{Op: op, Path: info.Name, Err: notes.ErrUnavailable, Detail: "the text cannot be embedded: " + err.Error(),
			Hint: "Pass a vector, or try again later."}
	}
	return v, fits(op, info, len(v)) // dim may have been unknown before
}

// record records the model of a table that has none. If another call has recorded
// another model since, it returns an error.
func (m sourced) record(ctx context.Context, tx *sql.Tx, now tableRow) error {
	switch now.model.String {
	case m.ID():
		return nil
	case "":
		_, err := tx.ExecContext(ctx, `UPDATE vector_tables SET model = ?, model_source = ? WHERE id = ?`, m.ID(), m.source, now.id)
		return err
	}
	return &notes.Error{Op: opAdd, Path: now.Name, Err: notes.ErrUnavailable,
		Detail: fmt.Sprintf("the table uses %s since this call began", now.model.String), Hint: "Send the call again."}
}
