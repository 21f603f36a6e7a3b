package main

import (
	"context"

	"notesd/vectors/table"
)

// lateTables are vector tables whose requests wait until they are open.
type lateTables struct{ *late[*table.Tables] }

func (l lateTables) Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, err
	}
	return t.Create(ctx, r)
}

func (l lateTables) List(ctx context.Context) ([]table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.List(ctx)
}

func (l lateTables) Describe(ctx context.Context, name string, ids int) (table.Info, []string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, nil, err
	}
	return t.Describe(ctx, name, ids)
}

func (l lateTables) Drop(ctx context.Context, name, requestKey string) (table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, err
	}
	return t.Drop(ctx, name, requestKey)
}

func (l lateTables) Add(ctx context.Context, r table.AddRequest) ([]string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Add(ctx, r)
}

func (l lateTables) Search(ctx context.Context, q table.Query) ([]table.Hit, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Search(ctx, q)
}

func (l lateTables) DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error) {
	t, err := l.get(ctx)
	if err != nil {
		return 0, err
	}
	return t.DeleteRows(ctx, r)
}
