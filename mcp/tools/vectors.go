package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

var addVector = define(Tool{
	Name:        "add_vector",
	Title:       "Add vectors",
	Description: "Add a row, or rows of the same fields, to a vector table: a vector, or text to embed. Use it to fill a table. A known id is replaced.",
	Effect:      Changes,
	Tables:      true,
	output:      outputOf[AddVectorResult](),
}, runAddVector)

// rowSchema is the schema of each element of rows. The tool's schema omits it to stay
// short: an element has the same fields as the tool's own arguments for a single row.
var rowSchema = inputOf[vectorRow]()

type vectorRow struct {
	Vector   []float64       `json:"vector"`
	Text     string          `json:"text" doc:"not kept"`
	Metadata json.RawMessage `json:"metadata"`
	ID       string          `json:"id"`
}

func (r vectorRow) given() bool {
	return r.Vector != nil || r.Text != "" || r.ID != "" || r.Metadata != nil
}

// addVectorArgs are one row, in the embedded fields, or rows. Each of rows is decoded on its
// own, so that an error names the row.
type addVectorArgs struct {
	TableName string `json:"table_name" required:"true"`
	vectorRow
	Rows []json.RawMessage `json:"rows"`
}

// An AddVectorResult is the result of add_vector.
type AddVectorResult struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids"`

	Notes []string `json:"notes,omitempty"`
}

func runAddVector(ctx context.Context, in *invocation, a addVectorArgs) (Outcome, error) {
	rows, err := a.all()
	if err != nil {
		return Outcome{}, err
	}
	r := table.AddRequest{Table: a.TableName, RequestKey: in.RequestKey}
	for _, row := range rows {
		r.Rows = append(r.Rows, table.NewRow{ID: row.ID, Vector: float32s(row.Vector), Text: row.Text, Metadata: row.Metadata})
	}
	ids, err := in.Tables.Add(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	out := AddVectorResult{IDs: ids}
	if slices.ContainsFunc(rows, func(r vectorRow) bool { return len(r.Text) > len(r.Metadata) }) {
		out.Notes = []string{"the text is not kept: results show only id and metadata, which can hold it"}
	}
	text := fmt.Sprintf("Added %d rows, ids %q to %q", len(ids), phrase.OneLine(ids[0]), phrase.OneLine(ids[len(ids)-1]))
	if len(ids) == 1 {
		out.ID = ids[0]
		text = fmt.Sprintf("Added 1 row, id %q", phrase.OneLine(ids[0]))
	}
	return Outcome{Structured: out, Text: text + remarkLines(out.Notes)}, nil
}

// all returns the rows passed in either form.
func (a addVectorArgs) all() ([]vectorRow, error) {
	if a.given() && len(a.Rows) > 0 {
		return nil, usagef("pass one row as vector, metadata and id, or many as rows, not both")
	}
	if a.given() {
		return []vectorRow{a.vectorRow}, nil
	}
	rows := make([]vectorRow, len(a.Rows))
	for i, raw := range a.Rows {
		if _, err := decodeArgs(rowSchema(), raw, true, &rows[i]); err != nil {
			return nil, usagef("row %d of %d: %v", i+1, len(a.Rows), err)
		}
	}
	return rows, nil
}

// float32s converts a number that is too large to infinity, which the table rejects with
// the number's position.
func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

var searchVectors = define(Tool{
	Name:        "search_vectors",
	Title:       "Search a vector table",
	Description: "Rows of a vector table nearest to a vector or text. Use it on tables, not notes. Higher scores are nearer; l2 is negated.",
	Tables:      true,
	output:      outputOf[SearchVectorsResult](),
}, runSearchVectors)

type searchVectorsArgs struct {
	TableName   string         `json:"table_name" required:"true"`
	QueryVector []float64      `json:"query_vector"`
	QueryText   string         `json:"query_text"`
	Limit       int            `json:"limit" max:"100"`
	Filter      map[string]any `json:"filter" doc:"as where"`
}

// A SearchVectorsResult is the result of search_vectors.
type SearchVectorsResult struct {
	Results   []table.Hit `json:"results"`
	Truncated bool        `json:"truncated"`
	Notes     []string    `json:"notes,omitempty"`
}

// runSearchVectors shows fewer rows if their metadata, whose size is the user's choice, does
// not fit. There is no cursor; a remark says to ask for fewer rows. Metadata that would leave
// no space for anything else is omitted.
func runSearchVectors(ctx context.Context, in *invocation, a searchVectorsArgs) (Outcome, error) {
	hits, err := in.Tables.Search(ctx, table.Query{
		Table: a.TableName, Vector: float32s(a.QueryVector), Text: a.QueryText, Limit: a.Limit, Where: a.Filter,
	})
	if err != nil {
		return Outcome{}, err
	}
	var remarks []string
	if len(hits) == 0 && len(a.Filter) > 0 {
		remarks = in.unfiltered(ctx, a)
	}
	for i, h := range hits {
		if size := jsonSize(h.Metadata); 4*size > 3*in.Limits.ResultBytes {
			hits[i].Metadata = json.RawMessage("{}")
			remarks = append(remarks, fmt.Sprintf("the metadata of %q is too long to show (%d bytes); limits.result_bytes bounds results", h.ID, size))
		}
	}
	return fit(in.Limits.ResultBytes, len(hits), func(n int) Outcome {
		shown := remarks[:min(3, len(remarks))]
		out := SearchVectorsResult{Results: append([]table.Hit{}, hits[:n]...), Truncated: n < len(hits), Notes: in.remarks(shown...)}
		var lines strings.Builder
		for _, h := range hits[:n] {
			fmt.Fprintf(&lines, "%.6g  %s  %s\n", h.Score, phrase.OneLine(h.ID), phrase.OneLine(string(h.Metadata)))
		}
		text := phrase.Count(len(out.Results), "row")
		if out.Truncated {
			out.Notes = in.remarks(append(slices.Clip(shown), "the others do not fit; ask for fewer, or keep metadata short")...)
			text = fmt.Sprintf("%d of %s", n, phrase.Count(len(hits), "row"))
		}
		if lines.Len() > 0 {
			text += ", the nearest first: score, id, metadata\n" + phrase.Fence("vectors", a.TableName, lines.String())
		}
		return Outcome{Structured: out, Text: text + remarkLines(out.Notes)}
	}), nil
}

// unfiltered returns a remark with the keys of the nearest row, for a filter that no row passes: it
// may misspell one.
func (in *invocation) unfiltered(ctx context.Context, a searchVectorsArgs) []string {
	var metadata map[string]any
	hits, err := in.Tables.Search(ctx, table.Query{Table: a.TableName, Vector: float32s(a.QueryVector), Text: a.QueryText, Limit: 1})
	if err != nil || len(hits) == 0 || json.Unmarshal(hits[0].Metadata, &metadata) != nil || len(metadata) == 0 {
		return nil // the answer is complete without the remark
	}
	keys := phrase.OneLine(strings.Join(slices.Sorted(maps.Keys(metadata)), ", "))
	return []string{"no row passes the filter; without it, the nearest has the keys: " + phrase.Clip(keys, 200)}
}

var deleteVectors = define(Tool{
	Name:        "delete_vectors",
	Title:       "Delete vectors",
	Description: "Delete rows of a vector table for good. Use it with ids or a filter.",
	Effect:      Changes,
	Tables:      true,
	Idempotent:  true,
	output:      outputOf[DeleteVectorsResult](),
}, runDeleteVectors)

type deleteVectorsArgs struct {
	TableName string         `json:"table_name" required:"true"`
	IDs       []string       `json:"ids"`
	Filter    map[string]any `json:"filter"`
}

// A DeleteVectorsResult is the result of delete_vectors.
type DeleteVectorsResult struct {
	Deleted int `json:"deleted"`
}

// runDeleteVectors asks the user before it deletes rows selected by a filter, which may be
// more than was meant; rows named by their ids are not. Like delete_note, it does not ask
// again when a call is repeated.
func runDeleteVectors(ctx context.Context, in *invocation, a deleteVectorsArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	if len(a.Filter) > 0 && !repeated {
		question := fmt.Sprintf("Delete all rows of the vector table %q that a filter matches? This cannot be undone.", phrase.OneLine(a.TableName))
		if err := in.Confirm(ctx, question); err != nil {
			return Outcome{}, err
		}
	}
	n, err := in.Tables.DeleteRows(ctx, table.DeleteRowsRequest{Table: a.TableName, IDs: a.IDs, Where: a.Filter, RequestKey: in.RequestKey})
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Structured: DeleteVectorsResult{n}, Text: fmt.Sprintf("Deleted %s of %q", phrase.Count(n, "row"), phrase.OneLine(a.TableName))}, nil
}

type tableArgs struct {
	TableName string `json:"table_name" required:"true"`
}

var createTable = define(Tool{
	Name:        "create_table",
	Title:       "Create a vector table",
	Description: "Create a table for your own vectors, or without dimension for texts. Use it before add_vector.",
	Effect:      Adds,
	Tables:      true,
	output:      outputOf[table.Item](),
}, runCreateTable)

type createTableArgs struct {
	TableName string `json:"table_name" required:"true"`
	Dimension int    `json:"dimension"`
	Metric    string `json:"metric" enum:"cosine,dot,l2"`
}

func runCreateTable(ctx context.Context, in *invocation, a createTableArgs) (Outcome, error) {
	info, err := in.Tables.Create(ctx, table.CreateTableRequest{
		Name: a.TableName, Dimension: a.Dimension, Metric: table.Metric(a.Metric), RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, err
	}
	text := fmt.Sprintf("Created the table %q: vectors of %d numbers, compared by %s%s. Fill it with add_vector.", phrase.OneLine(info.Name), info.Dimension, info.Metric, textsBy(info))
	return Outcome{Structured: info.Item, Text: text}, nil
}

// textsBy names the model that embeds a table's texts, if there is one: it has the table's
// dimension.
func textsBy(info table.Info) string {
	if info.Model == "" {
		return ""
	}
	return ", texts by " + phrase.OneLine(info.Model)
}

var listTables = define(Tool{
	Name:        "list_tables",
	Title:       "List vector tables",
	Description: "All vector tables. Use it to find a table_name.",
	Tables:      true,
	output:      outputOf[ListTablesResult](),
}, runListTables)

// A ListTablesResult is the result of list_tables.
type ListTablesResult struct {
	Tables []table.Item `json:"tables"`
	Total  int          `json:"total"`
	Notes  []string     `json:"notes,omitempty"`
}

func runListTables(ctx context.Context, in *invocation, _ struct{}) (Outcome, error) {
	infos, err := in.Tables.List(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return fit(in.Limits.ResultBytes, len(infos), func(n int) Outcome {
		out := ListTablesResult{Tables: []table.Item{}, Total: len(infos), Notes: in.remarks()}
		var b strings.Builder
		b.WriteString(phrase.Count(len(infos), "vector table"))
		for _, info := range infos[:n] {
			fmt.Fprintf(&b, "\n- %s: %s, dimension %d, %s%s", phrase.OneLine(info.Name), phrase.Count(info.Rows, "row"), info.Dimension, info.Metric, textsBy(info))
			out.Tables = append(out.Tables, info.Item)
		}
		if n < len(infos) {
			fmt.Fprintf(&b, "\n… and %d more", len(infos)-n)
		}
		return Outcome{Structured: out, Text: b.String() + remarkLines(out.Notes)}
	}), nil
}

var dropTable = define(Tool{
	Name:        "drop_table",
	Title:       "Drop a vector table",
	Description: "Remove a vector table; restorable for seven days. Use it when done.",
	Effect:      Changes,
	Tables:      true,
	output:      outputOf[DropTableResult](),
}, runDropTable)

// A DropTableResult is the result of drop_table.
type DropTableResult struct {
	Name            string `json:"name"`
	Rows            int    `json:"rows"`
	RestorableUntil string `json:"restorable_until"`
}

func runDropTable(ctx context.Context, in *invocation, a tableArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	if !repeated {
		info, _, err := in.Tables.Describe(ctx, a.TableName, 0)
		if err != nil {
			return Outcome{}, err
		}
		if err := in.Confirm(ctx, fmt.Sprintf("Drop the vector table %q with its %s? It can be restored for seven days.", phrase.OneLine(info.Name), phrase.Count(info.Rows, "row"))); err != nil {
			return Outcome{}, err
		}
	}
	info, err := in.Tables.Drop(ctx, a.TableName, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	name := phrase.OneLine(info.Name)
	until := info.RestorableUntil().Format(time.RFC3339)
	return Outcome{
		Structured: DropTableResult{Name: info.Name, Rows: info.Rows, RestorableUntil: until},
		Text:       fmt.Sprintf("Dropped the table %q with %s; `notesd tables restore %s` brings it back until %s.", name, phrase.Count(info.Rows, "row"), name, until),
	}, nil
}
