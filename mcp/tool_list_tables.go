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
			"total": {"type": "integer"},
			"notes": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["tables", "total"]
	}`),
}, runListTables)

type listTablesOutput struct {
	Tables []tableItem `json:"tables"`
	Total  int         `json:"total"`
	Notes  []string    `json:"notes,omitempty"`
}

func runListTables(ctx context.Context, in *invocation, _ struct{}) (outcome, error) {
	infos, err := in.tables().List(ctx)
	if err != nil {
		return outcome{}, err
	}
	result, _ := fit(in.limit-in.reserve(), len(infos), func(n int) outcome {
		out := listTablesOutput{Tables: []tableItem{}, Total: len(infos)}
		var b strings.Builder
		b.WriteString(plural(len(infos), "vector table"))
		for _, info := range infos[:n] {
			fmt.Fprintf(&b, "\n- %s: %s, dimension %d, %s", oneLine(info.Name), plural(info.Rows, "row"), info.Dimension, info.Metric)
			out.Tables = append(out.Tables, tableItemOf(info))
		}
		if n < len(infos) {
			fmt.Fprintf(&b, "\n… and %d more", len(infos)-n)
		}
		return outcome{structured: out, text: b.String()}
	})
	return result, nil
}

func (o listTablesOutput) withRemarks(remarks ...string) any {
	o.Notes = append(o.Notes, remarks...)
	return o
}
