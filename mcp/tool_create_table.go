package mcp

import (
	"context"
	"fmt"

	"notesd/vectors/table"
)

var createTable = define(tool{
	name:        "create_table",
	title:       "Create a vector table",
	description: "Make a table for vectors of your own. Use it before add_vector.",
	effect:      adds,
	tables:      true,
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

func runCreateTable(ctx context.Context, in *invocation, a createTableArgs) (outcome, error) {
	info, err := in.tables().Create(ctx, table.CreateTableRequest{
		Name: a.TableName, Dimension: a.Dimension, Metric: table.Metric(a.Metric), RequestKey: in.key,
	})
	if err != nil {
		return outcome{}, err
	}
	text := fmt.Sprintf("Created the table %q: vectors of %d numbers, compared by %s. Fill it with add_vector.", oneLine(info.Name), info.Dimension, info.Metric)
	return outcome{structured: tableItemOf(info), text: text}, nil
}
