package mcp

import (
	"context"

	"notesd/vectors/table"
)

// TableKeeper makes and removes tables of vectors, and says what there is.
type TableKeeper interface {
	Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error)
	List(ctx context.Context) ([]table.Info, error)
	Describe(ctx context.Context, name string, ids int) (table.Info, []string, error)
	Drop(ctx context.Context, name, requestKey string) (table.Info, error)
}

// TableRows fills tables of vectors and searches them.
type TableRows interface {
	Add(ctx context.Context, r table.AddRequest) ([]string, error)
	Search(ctx context.Context, q table.Query) ([]table.Hit, error)
	DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error)
}

// Tables is all that tools and resources ask of users' vectors;
// *vectors.Tables is one.
type Tables interface {
	TableKeeper
	TableRows
}

// tableInput is the input of tools that take a table and nothing else.
var tableInput = mustSchema(`{"type": "object", "properties": {"table_name": {"type": "string"}}, "required": ["table_name"]}`)

type tableArgs struct {
	TableName string `json:"table_name"`
}

// A TableItem describes a table.
type TableItem struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Metric    string `json:"metric"`
	Rows      int    `json:"rows"`
}

func TableItemOf(i table.Info) TableItem {
	return TableItem{Name: i.Name, Dimension: i.Dimension, Metric: string(i.Metric), Rows: i.Rows}
}

// tableSchema describes a TableItem.
var tableSchema = mustJSON(`{
	"type": "object",
	"properties": {
		"name": {"type": "string"},
		"dimension": {"type": "integer"},
		"metric": {"type": "string"},
		"rows": {"type": "integer"}
	},
	"required": ["name", "dimension", "metric", "rows"]
}`)
