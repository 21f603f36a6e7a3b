package mcp

import (
	"context"
	"fmt"

	"notesd/vectors/table"
)

var deleteVectors = define(tool{
	name:        "delete_vectors",
	title:       "Delete vectors",
	description: "Delete rows of a vector table for good. Use it with ids or a filter.",
	effect:      changes,
	tables:      true,
	idempotent:  true,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"table_name": {"type": "string"},
			"ids": {"type": "array", "items": {"type": "string"}},
			"filter": {"type": "object"}
		},
		"required": ["table_name"]
	}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {"deleted": {"type": "integer"}},
		"required": ["deleted"]
	}`),
}, runDeleteVectors)

type deleteVectorsArgs struct {
	TableName string         `json:"table_name"`
	IDs       []string       `json:"ids"`
	Filter    map[string]any `json:"filter"`
}

type deleteVectorsOutput struct {
	Deleted int `json:"deleted"`
}

func runDeleteVectors(ctx context.Context, in *invocation, a deleteVectorsArgs) (outcome, error) {
	repeated, err := in.vault().Repeated(ctx, in.key)
	if err != nil {
		return outcome{}, err
	}
	if len(a.Filter) > 0 && !repeated { // may mean more rows than the caller thinks
		question := fmt.Sprintf("Delete all rows of the vector table %q that a filter matches? This cannot be undone.", oneLine(a.TableName))
		if err := in.confirm(ctx, question); err != nil {
			return outcome{}, err
		}
	}
	n, err := in.tables().DeleteRows(ctx, table.DeleteRowsRequest{Table: a.TableName, IDs: a.IDs, Where: a.Filter, RequestKey: in.key})
	if err != nil {
		return outcome{}, err
	}
	return outcome{structured: deleteVectorsOutput{n}, text: fmt.Sprintf("Deleted %s of %q", plural(n, "row"), oneLine(a.TableName))}, nil
}
