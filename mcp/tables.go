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

// announcedTables tell the core's notifier what is changed through them.
type announcedTables struct {
	Tables
	core *Core
}

// Create makes a table.
func (t announcedTables) Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error) {
	info, err := t.Tables.Create(ctx, r)
	t.changed(err, true)
	return info, err
}

// Drop removes a table.
func (t announcedTables) Drop(ctx context.Context, name, requestKey string) (table.Info, error) {
	info, err := t.Tables.Drop(ctx, name, requestKey)
	t.changed(err, true)
	return info, err
}

// Add adds rows.
func (t announcedTables) Add(ctx context.Context, r table.AddRequest) ([]string, error) {
	ids, err := t.Tables.Add(ctx, r)
	t.changed(err, false)
	return ids, err
}

// DeleteRows deletes rows.
func (t announcedTables) DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error) {
	n, err := t.Tables.DeleteRows(ctx, r)
	t.changed(err, false)
	return n, err
}

func (t announcedTables) changed(err error, list bool) {
	if err == nil {
		t.core.TablesChanged(list)
	}
}

func (in *invocation) tables() Tables { return in.session.core.opts.Tables }

// tableInput is the input of tools that take a table and nothing else.
var tableInput = mustSchema(`{"type": "object", "properties": {"table_name": {"type": "string"}}, "required": ["table_name"]}`)

type tableArgs struct {
	TableName string `json:"table_name"`
}

// A tableItem describes a table.
type tableItem struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Metric    string `json:"metric"`
	Rows      int    `json:"rows"`
}

func tableItemOf(i table.Info) tableItem {
	return tableItem{Name: i.Name, Dimension: i.Dimension, Metric: string(i.Metric), Rows: i.Rows}
}

// tableSchema describes a tableItem.
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
