package mcp

import (
	"context"
	"fmt"
	"strings"
)

var listTables = define(tool{
	name:        "list_tables",
	title:       "List vector tables",
	description: "All vector tables. Use it to find a table_name.",
	effect:      reads,
	tables:      true,
	input:       mustSchema(`{"type": "object", "properties": {}}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"tables": {"type": "array", "items": {
				"type": "object",
				"properties": {
					"name": {"type": "string"},
					"dimension": {"type": "integer"},
					"metric": {"type": "string"},
					"rows": {"type": "integer"}
				}
			}},
			"total": {"type": "integer"}
		},
		"required": ["tables", "total"]
	}`),
}, runListTables)

type listTablesOutput struct {
	Tables []tableItem `json:"tables"`
	Total  int         `json:"total"`
}

func runListTables(ctx context.Context, in *invocation, _ struct{}) (outcome, error) {
	infos, err := in.tables().List(ctx)
	if err != nil {
		return outcome{}, err
	}
	out := listTablesOutput{Tables: []tableItem{}, Total: len(infos)}
	var b strings.Builder
	b.WriteString(plural(len(infos), "vector table"))
	for i, info := range infos {
		line := fmt.Sprintf("\n- %s: %s, dimension %d, %s", oneLine(info.Name), plural(info.Rows, "row"), info.Dimension, info.Metric)
		if b.Len()+len(line) > in.limit {
			fmt.Fprintf(&b, "\n… and %d more", len(infos)-i)
			break
		}
		b.WriteString(line)
		out.Tables = append(out.Tables, tableItemOf(info))
	}
	return outcome{structured: out, text: b.String()}, nil
}
