package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

type tableArgs struct {
	TableName string `json:"table_name" required:"true"`
}

// A TableItem describes a table.
type TableItem struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Metric    string `json:"metric"`
	Rows      int    `json:"rows"`
	Model     string `json:"model,omitempty"` // embeds its texts
}

// TableItemOf describes a table.
func TableItemOf(i table.Info) TableItem {
	return TableItem{Name: i.Name, Dimension: i.Dimension, Metric: string(i.Metric), Rows: i.Rows, Model: i.Model}
}

var createTable = define(Tool{
	Name:        "create_table",
	Title:       "Create a vector table",
	Description: "Make a table for vectors of your own. Use it before add_vector.",
	Effect:      Adds,
	Tables:      true,
	output:      outputOf[TableItem](),
}, runCreateTable)

type createTableArgs struct {
	TableName string `json:"table_name" required:"true"`
	Dimension int    `json:"dimension" required:"true"`
	Metric    string `json:"metric" enum:"cosine,dot,l2"`
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

var listTables = define(Tool{
	Name:        "list_tables",
	Title:       "List vector tables",
	Description: "All vector tables. Use it to find a table_name.",
	Effect:      Reads,
	Tables:      true,
	output:      outputOf[ListTablesResult](),
}, runListTables)

// A ListTablesResult is the result of list_tables.
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
	result, _ := fit(in.Limits.ResultBytes, len(infos), func(n int) Outcome {
		out := ListTablesResult{Tables: []TableItem{}, Total: len(infos), Notes: in.remarks()}
		var b strings.Builder
		b.WriteString(phrase.Count(len(infos), "vector table"))
		for _, info := range infos[:n] {
			fmt.Fprintf(&b, "\n- %s: %s, dimension %d, %s", phrase.OneLine(info.Name), phrase.Count(info.Rows, "row"), info.Dimension, info.Metric)
			if info.Model != "" {
				fmt.Fprintf(&b, ", texts by %s", phrase.OneLine(info.Model))
			}
			out.Tables = append(out.Tables, TableItemOf(info))
		}
		if n < len(infos) {
			fmt.Fprintf(&b, "\n… and %d more", len(infos)-n)
		}
		return Outcome{Structured: out, Text: b.String() + remarkLines(out.Notes)}
	})
	return result, nil
}

var dropTable = define(Tool{
	Name:        "drop_table",
	Title:       "Drop a vector table",
	Description: "Remove a vector table; restorable for seven days. Use it when done.",
	Effect:      Changes,
	Tables:      true,
	output:      outputOf[DropTableResult](),
}, runDropTable)

// A DropTableResult is the result of drop_table.
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
