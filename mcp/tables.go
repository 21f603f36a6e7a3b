package mcp

import (
	"context"

	"notesd/mcp/tools"
	"notesd/vectors/table"
)

// announcedTables tell the core's notifier what is changed through them.
type announcedTables struct {
	tools.Tables
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
