package main

import (
	"context"

	"notesd/vectors"
)

// lateTables are vector tables whose requests wait until they are open.
type lateTables struct{ *late[*vectors.Tables] }

func (l lateTables) Create(ctx context.Context, r vectors.CreateTableRequest) (vectors.TableInfo, error) {
	t, err := l.get(ctx)
	if err != nil {
		return vectors.TableInfo{}, err
	}
	return t.Create(ctx, r)
}

func (l lateTables) List(ctx context.Context) ([]vectors.TableInfo, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.List(ctx)
}

func (l lateTables) Describe(ctx context.Context, name string, ids int) (vectors.TableInfo, []string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return vectors.TableInfo{}, nil, err
	}
	return t.Describe(ctx, name, ids)
}

func (l lateTables) Drop(ctx context.Context, name string) (vectors.TableInfo, error) {
	t, err := l.get(ctx)
	if err != nil {
		return vectors.TableInfo{}, err
	}
	return t.Drop(ctx, name)
}

func (l lateTables) Add(ctx context.Context, r vectors.AddRequest) ([]string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Add(ctx, r)
}

func (l lateTables) Search(ctx context.Context, q vectors.TableQuery) ([]vectors.TableHit, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Search(ctx, q)
}

func (l lateTables) DeleteRows(ctx context.Context, r vectors.DeleteRowsRequest) (int, error) {
	t, err := l.get(ctx)
	if err != nil {
		return 0, err
	}
	return t.DeleteRows(ctx, r)
}
