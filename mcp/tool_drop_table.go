package mcp

import (
	"context"
	"fmt"
	"time"
)

var dropTable = define(tool{
	name:        "drop_table",
	title:       "Drop a vector table",
	description: "Remove a vector table; restorable for seven days. Use it when done.",
	effect:      changes,
	tables:      true,
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

type dropTableOutput struct {
	Name            string `json:"name"`
	Rows            int    `json:"rows"`
	RestorableUntil string `json:"restorable_until"`
}

func runDropTable(ctx context.Context, in *invocation, a tableArgs) (outcome, error) {
	repeated, err := in.vault().Repeated(ctx, in.key)
	if err != nil {
		return outcome{}, err
	}
	if !repeated {
		info, _, err := in.tables().Describe(ctx, a.TableName, 0)
		if err != nil {
			return outcome{}, err
		}
		if err := in.confirm(ctx, fmt.Sprintf("Drop the vector table %q with its %s? It can be restored for seven days.", oneLine(info.Name), plural(info.Rows, "row"))); err != nil {
			return outcome{}, err
		}
	}
	info, err := in.tables().Drop(ctx, a.TableName, in.key)
	if err != nil {
		return outcome{}, err
	}
	name := oneLine(info.Name)
	until := info.RestorableUntil().Format(time.RFC3339)
	return outcome{
		structured: dropTableOutput{Name: info.Name, Rows: info.Rows, RestorableUntil: until},
		text:       fmt.Sprintf("Dropped the table %q with %s; `notesd tables restore %s` brings it back until %s.", name, plural(info.Rows, "row"), name, until),
	}, nil
}
