package mcp

import (
	"context"
	"fmt"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

var createTable = define(Tool{
	Name:        "create_table",
	Title:       "Create a vector table",
	Description: "Make a table for vectors of your own. Use it before add_vector.",
	Effect:      Adds,
	Tables:      true,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"table_name": {"type": "string"},
			"dimension": {"type": "integer"},
			"metric": {"type": "string", "enum": ["cosine", "dot", "l2"]}
		},
		"required": ["table_name", "dimension"]
	}`),
	output: tableSchema,
}, runCreateTable)

type createTableArgs struct {
	TableName string `json:"table_name"`
	Dimension int    `json:"dimension"`
	Metric    string `json:"metric"`
}

func runCreateTable(ctx context.Context, in *invocation, a createTableArgs) (Outcome, error) {
	info, err := in.Tables.Create(ctx, table.CreateTableRequest{
		Name: a.TableName, Dimension: a.Dimension, Metric: table.Metric(a.Metric), RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, err
	}
	text := fmt.Sprintf("Created the table %q: vectors of %d numbers, compared by %s. Fill it with add_vector.", phrase.OneLine(info.Name), info.Dimension, info.Metric)
	return Outcome{Structured: TableItemOf(info), Text: text}, nil
}
