package table

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// switching returns tables whose current model is m1, and their models, with which a test
// switches to m2.
func switching(t *testing.T) (*Tables, *tableModels) {
	models := &tableModels{current: "one", unrecorded: "one", models: map[string]*tableEmbedder{"one": {id: "m1", dim: 64}, "two": {id: "m2", dim: 64}}}
	dir := t.TempDir()
	tables := New(openHistory(t, dir), filepath.Join(dir, "cache"), models, Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	return tables, models
}

func addTexts(t *testing.T, tables *Tables, table string, texts ...string) {
	t.Helper()
	var rows []NewRow
	for _, text := range texts {
		rows = append(rows, NewRow{ID: text, Text: text})
	}
	_, err := tables.Add(t.Context(), AddRequest{Table: table, Rows: rows})
	require.NoError(t, err)
}

// requireNearest checks that a text finds itself; with vectors of another model, its score
// would be near 0.
func requireNearest(t *testing.T, tables *Tables, table, text string) {
	t.Helper()
	hits, err := tables.Search(t.Context(), Query{Table: table, Text: text, Limit: 1})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	assert.Equal(t, text, hits[0].ID)
	assert.InDelta(t, 1, hits[0].Score, 1e-5)
}

func modelOf(t *testing.T, tables *Tables, table string) string {
	t.Helper()
	info, _, err := tables.Describe(t.Context(), table, 0)
	require.NoError(t, err)
	return info.Model
}

func TestModel_StaysAfterSwitch(t *testing.T) {
	tables, models := switching(t)
	createTable(t, tables, "old", 64, Cosine)
	addTexts(t, tables, "old", "rye bread", "wooden boat")
	models.current = "two"
	createTable(t, tables, "new", 64, Cosine)
	addTexts(t, tables, "new", "rye bread", "wooden boat")
	addTexts(t, tables, "old", "high tide")
	for _, text := range []string{"rye bread", "wooden boat"} {
		requireNearest(t, tables, "old", text)
		requireNearest(t, tables, "new", text)
	}
	requireNearest(t, tables, "old", "high tide")
	assert.Equal(t, []string{"m1", "m2"}, []string{modelOf(t, tables, "old"), modelOf(t, tables, "new")})
}

// A model that is missing, or whose file now contains another one, is not replaced silently.
func TestModel_NotAvailable(t *testing.T) {
	tables, models := switching(t)
	createTable(t, tables, "t", 64, Cosine)
	addTexts(t, tables, "t", "rye bread")
	models.current = "two"
	refused := func(detail string) {
		t.Helper()
		var e *notes.Error
		_, err := tables.Search(t.Context(), Query{Table: "t", Text: "rye"})
		require.ErrorAs(t, err, &e)
		assert.Equal(t, detail, e.Detail)
		assert.Contains(t, e.Hint, "pass a vector, or create another table")
		require.ErrorIs(t, err, notes.ErrUnavailable)
		_, err = tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{Text: "boat"}}})
		require.ErrorAs(t, err, &e)
		assert.Equal(t, detail, e.Detail)
	}
	delete(models.models, "one")
	refused("the texts of the table were embedded by m1, which cannot be opened: no such file")
	models.models["one"] = &tableEmbedder{id: "m1b", dim: 64}
	refused("the texts of the table were embedded by m1, and there is m1b now, whose vectors are not comparable")
	info, err := tables.Search(t.Context(), Query{Table: "t", Vector: make64()})
	require.NoError(t, err)
	assert.Len(t, info, 1, "vectors still work")
}

func make64() []float32 {
	v := make([]float32, 64)
	v[0] = 1
	return v
}

// If no model fits a table at its creation, it uses that of its first text.
func TestModel_RecordedByFirstText(t *testing.T) {
	tables, models := switching(t)
	models.current = "" // not chosen yet
	createTable(t, tables, "t", 64, Cosine)
	createTable(t, tables, "small", 3, Cosine)
	_, err := tables.Search(t.Context(), Query{Table: "t", Text: "rye"})
	require.ErrorContains(t, err, "not chosen before the vault's first scan")
	assert.Empty(t, modelOf(t, tables, "t"))
	models.current = "two"
	_, err = tables.Search(t.Context(), Query{Table: "small", Text: "rye"})
	require.ErrorContains(t, err, "text gives vectors of 64 numbers, and the table takes 3")
	addTexts(t, tables, "t", "rye bread")
	models.current = "one"
	requireNearest(t, tables, "t", "rye bread")
	assert.Equal(t, "m2", modelOf(t, tables, "t"))
}

// forgetModels changes the tables to their state before models were recorded.
func forgetModels(t *testing.T, tables *Tables) {
	t.Helper()
	require.NoError(t, tables.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE vector_tables SET model = NULL, model_source = ''`)
		return err
	}))
}

// A table of a version that did not record models has the model of that version.
func TestModel_Unrecorded(t *testing.T) {
	tables, models := switching(t)
	createTable(t, tables, "t", 64, Cosine)
	createTable(t, tables, "empty", 64, Cosine)
	addTexts(t, tables, "t", "rye bread")
	forgetModels(t, tables)
	models.current = "two"
	requireNearest(t, tables, "t", "rye bread")
	assert.Empty(t, modelOf(t, tables, "t"), "a query records nothing")
	addTexts(t, tables, "t", "wooden boat")
	requireNearest(t, tables, "t", "wooden boat")
	requireNearest(t, tables, "t", "rye bread")
	addTexts(t, tables, "empty", "rye bread")
	assert.Equal(t, []string{"m1", "m2"}, []string{modelOf(t, tables, "t"), modelOf(t, tables, "empty")})
	forgetModels(t, tables)
	delete(models.models, "one")
	_, err := tables.Search(t.Context(), Query{Table: "t", Text: "rye"})
	require.ErrorContains(t, err, "the model of the table cannot be opened: no such file")
}

// Two calls that embed with different models cannot both write.
func TestModel_ChangedDuringCall(t *testing.T) {
	tables, models := switching(t)
	models.current = ""
	createTable(t, tables, "t", 64, Cosine)
	models.current = "one"
	row, err := tables.find(t.Context(), opAdd, "t")
	require.NoError(t, err)
	late, err := tables.modelFor(opAdd, row)
	require.NoError(t, err)
	models.current = "two"
	addTexts(t, tables, "t", "rye bread")
	_, _, err = tables.store(t.Context(), row, late, []storedRow{{id: "x", metadata: "{}", vector: make64()}}, "")
	require.ErrorContains(t, err, "the table uses m2 since this call began")
	info, _, err := tables.Describe(t.Context(), "t", 0)
	require.NoError(t, err)
	assert.Equal(t, 1, info.Rows)
}
