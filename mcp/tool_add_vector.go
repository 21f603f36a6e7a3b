package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

var addVector = define(Tool{
	Name:        "add_vector",
	Title:       "Add vectors",
	Description: "Add a row, or rows of the same fields, to a vector table: a vector, or text to embed. Use it to fill a table. A known id is replaced.",
	Effect:      Changes,
	Tables:      true,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"table_name": {"type": "string"},
			"vector": {"type": "array", "items": {"type": "number"}},
			"text": {"type": "string"},
			"metadata": {"type": "object"},
			"id": {"type": "string"},
			"rows": {"type": "array", "items": {"type": "object"}}
		},
		"required": ["table_name"]
	}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"id": {"type": "string", "description": "of the row, when it was one"},
			"ids": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["ids"]
	}`),
}, runAddVector)

// rowSchema is that of each of rows, which the tool's schema leaves out to be
// short: a row is what the tool takes for one.
var rowSchema = mustSchema(`{
	"type": "object",
	"properties": {
		"vector": {"type": "array", "items": {"type": "number"}},
		"text": {"type": "string"},
		"metadata": {"type": "object"},
		"id": {"type": "string"}
	}
}`)

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
	TableName string `json:"table_name"`
	vectorRow
	Rows []json.RawMessage `json:"rows"`
}

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
