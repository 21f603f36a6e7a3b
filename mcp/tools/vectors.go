package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// rowSchema is that of each of rows, which the tool's schema leaves out to be
// short: a row is what the tool takes for one.
var rowSchema = inputOf[vectorRow]()

type vectorRow struct {
	Vector   []float64       `json:"vector"`
	Text     string          `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
	ID       string          `json:"id"`
}

func (r vectorRow) given() bool {
	return r.Vector != nil || r.Text != "" || r.ID != "" || r.Metadata != nil
}

type addVectorArgs struct {
	TableName string `json:"table_name" required:"true"`
	vectorRow
	Rows []json.RawMessage `json:"rows"`
}

// An AddVectorResult is the result of add_vector.
type AddVectorResult struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids"`
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
	if len(ids) == 1 {
		out.ID = ids[0]
		return Outcome{Structured: out, Text: fmt.Sprintf("Added 1 row, id %q", phrase.OneLine(ids[0]))}, nil
	}
	return Outcome{Structured: out, Text: fmt.Sprintf("Added %d rows, ids %q to %q", len(ids), phrase.OneLine(ids[0]), phrase.OneLine(ids[len(ids)-1]))}, nil
}

// all returns the rows of either form.
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

// float32s makes a number that is too large infinite, which the table refuses
// with the number's place.
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
	Effect:      Reads,
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

type vectorHit struct {
	ID       string          `json:"id"`
	Score    float64         `json:"score"`
	Metadata json.RawMessage `json:"metadata"`
}

// A SearchVectorsResult is the result of search_vectors.
type SearchVectorsResult struct {
	Results   []vectorHit `json:"results"`
	Truncated bool        `json:"truncated"`
	Notes     []string    `json:"notes,omitempty"`
}

func runSearchVectors(ctx context.Context, in *invocation, a searchVectorsArgs) (Outcome, error) {
	hits, err := in.Tables.Search(ctx, table.Query{
		Table: a.TableName, Vector: float32s(a.QueryVector), Text: a.QueryText, Limit: a.Limit, Where: a.Filter,
	})
	if err != nil {
		return Outcome{}, err
	}
	result, _ := fit(in.Limits.ResultBytes, len(hits), func(n int) Outcome {
		out := SearchVectorsResult{Results: []vectorHit{}, Truncated: n < len(hits), Notes: in.remarks()}
		var lines strings.Builder
		for _, h := range hits[:n] {
			fmt.Fprintf(&lines, "%.6g  %s  %s\n", h.Score, phrase.OneLine(h.ID), phrase.OneLine(string(h.Metadata)))
			out.Results = append(out.Results, vectorHit{ID: h.ID, Score: h.Score, Metadata: h.Metadata})
		}
		text := phrase.Count(len(out.Results), "row")
		if out.Truncated {
			out.Notes = in.remarks("the others do not fit; ask for fewer, or keep metadata short")
			text = fmt.Sprintf("%d of %d rows", n, len(hits))
		}
		if lines.Len() > 0 {
			text += ", the nearest first: score, id, metadata\n" + Fence("vectors", a.TableName, lines.String())
		}
		return Outcome{Structured: out, Text: text + remarkLines(out.Notes)}
	})
	return result, nil
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

func runDeleteVectors(ctx context.Context, in *invocation, a deleteVectorsArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	if len(a.Filter) > 0 && !repeated { // may mean more rows than the caller thinks
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
