package mcp

import (
	"context"
	"fmt"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

var deleteVectors = define(Tool{
	Name:        "delete_vectors",
	Title:       "Delete vectors",
	Description: "Delete rows of a vector table for good. Use it with ids or a filter.",
	Effect:      Changes,
	Tables:      true,
	Idempotent:  true,
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
