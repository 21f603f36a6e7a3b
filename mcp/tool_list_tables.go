package mcp

import (
	"context"
	"fmt"
	"strings"

	"notesd/internal/phrase"
)

var listTables = define(Tool{
	Name:        "list_tables",
	Title:       "List vector tables",
	Description: "All vector tables. Use it to find a table_name.",
	Effect:      Reads,
	Tables:      true,
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

type ListTablesResult struct {
	Tables []TableItem `json:"tables"`
	Total  int         `json:"total"`
	Notes  []string    `json:"notes,omitempty"`
}

func runListTables(ctx context.Context, in *invocation, _ struct{}) (Outcome, error) {
	infos, err := in.Tables.List(ctx)
	if err != nil {
		return Outcome{}, err
	}
	result, _ := fit(in.Limits.ResultBytes-in.reserve(), len(infos), func(n int) Outcome {
		out := ListTablesResult{Tables: []TableItem{}, Total: len(infos)}
		var b strings.Builder
		b.WriteString(phrase.Count(len(infos), "vector table"))
		for _, info := range infos[:n] {
			fmt.Fprintf(&b, "\n- %s: %s, dimension %d, %s", phrase.OneLine(info.Name), phrase.Count(info.Rows, "row"), info.Dimension, info.Metric)
			out.Tables = append(out.Tables, TableItemOf(info))
		}
		if n < len(infos) {
			fmt.Fprintf(&b, "\n… and %d more", len(infos)-n)
		}
		return Outcome{Structured: out, Text: b.String()}
	})
	return result, nil
}

func (o ListTablesResult) withRemarks(remarks ...string) any {
	o.Notes = append(o.Notes, remarks...)
	return o
}
