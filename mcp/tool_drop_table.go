package mcp

import (
	"context"
	"fmt"
	"time"

	"notesd/internal/phrase"
)

var dropTable = define(Tool{
	Name:        "drop_table",
	Title:       "Drop a vector table",
	Description: "Remove a vector table; restorable for seven days. Use it when done.",
	Effect:      Changes,
	Tables:      true,
	input:       tableInput,
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"name": {"type": "string"},
			"rows": {"type": "integer", "description": "how many it had"},
			"restorable_until": {"type": "string"}
		},
		"required": ["name", "rows", "restorable_until"]
	}`),
}, runDropTable)

type DropTableResult struct {
	Name            string `json:"name"`
	Rows            int    `json:"rows"`
	RestorableUntil string `json:"restorable_until"`
}

func runDropTable(ctx context.Context, in *invocation, a tableArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	if !repeated {
		info, _, err := in.Tables.Describe(ctx, a.TableName, 0)
		if err != nil {
			return Outcome{}, err
		}
		if err := in.Confirm(ctx, fmt.Sprintf("Drop the vector table %q with its %s? It can be restored for seven days.", phrase.OneLine(info.Name), phrase.Count(info.Rows, "row"))); err != nil {
			return Outcome{}, err
		}
	}
	info, err := in.Tables.Drop(ctx, a.TableName, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	name := phrase.OneLine(info.Name)
	until := info.RestorableUntil().Format(time.RFC3339)
	return Outcome{
		Structured: DropTableResult{Name: info.Name, Rows: info.Rows, RestorableUntil: until},
		Text:       fmt.Sprintf("Dropped the table %q with %s; `notesd tables restore %s` brings it back until %s.", name, phrase.Count(info.Rows, "row"), name, until),
	}, nil
}
