package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"notesd/vectors"
)

var addVector = define(tool{
	name:        "add_vector",
	title:       "Add vectors",
	description: "Add one row, or many with rows, to a vector table: a vector, or text to embed. Use it to make things findable by search_vectors. A known id is replaced.",
	effect:      changes,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"table_name": {"type": "string"},
			"vector": {"type": "array", "items": {"type": "number"}},
			"text": {"type": "string"},
			"metadata": {"type": "object"},
			"id": {"type": "string"},
			"rows": {"type": "array", "items": {
				"type": "object",
				"properties": {
					"vector": {"type": "array", "items": {"type": "number"}},
					"text": {"type": "string"},
					"metadata": {"type": "object"},
					"id": {"type": "string"}
				}
			}}
		},
		"required": ["table_name"]
	}`),
	output: compactJSON(`{
		"type": "object",
		"properties": {
			"id": {"type": "string", "description": "of the row, when it was one"},
			"ids": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["ids"]
	}`),
}, runAddVector)

type vectorRow struct {
	Vector   []float64       `json:"vector"`
	Text     string          `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
	ID       string          `json:"id"`
}

func (r vectorRow) given() bool { return r.Vector != nil || r.Text != "" || r.ID != "" || r.Metadata != nil }

type addVectorArgs struct {
	TableName string `json:"table_name"`
	vectorRow
	Rows []vectorRow `json:"rows"`
}

type addVectorOutput struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids"`
}

func runAddVector(ctx context.Context, in *invocation, a addVectorArgs) (outcome, error) {
	tables, err := in.tables()
	if err != nil {
		return outcome{}, err
	}
	rows := a.Rows
	if a.given() {
		if len(rows) > 0 {
			return outcome{}, usagef("pass one row as vector, metadata and id, or many as rows, not both")
		}
		rows = []vectorRow{a.vectorRow}
	}
	r := vectors.AddRequest{Table: a.TableName, RequestKey: in.key}
	for _, row := range rows {
		r.Rows = append(r.Rows, vectors.NewRow{ID: row.ID, Vector: float32s(row.Vector), Text: row.Text, Metadata: row.Metadata})
	}
	ids, err := tables.Add(ctx, r)
	if err != nil {
		return outcome{}, err
	}
	out := addVectorOutput{IDs: ids}
	if len(ids) == 1 {
		out.ID = ids[0]
		return outcome{structured: out, text: fmt.Sprintf("Added 1 row, id %q", oneLine(ids[0]))}, nil
	}
	return outcome{structured: out, text: fmt.Sprintf("Added %d rows, ids %q to %q", len(ids), oneLine(ids[0]), oneLine(ids[len(ids)-1]))}, nil
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
