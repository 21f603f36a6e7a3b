package mcp

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes/store"
	"notesd/vectors/table"
)

// newTableWorld serves vector tables over a real database.
func newTableWorld(t *testing.T, p Profile) *sdk.ClientSession {
	t.Helper()
	state := t.TempDir()
	store, err := store.Open(t.Context(), state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	tables := table.New(store.History(), filepath.Join(state, "vectors"), nil, table.Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	return tableClient(t, New(Options{Version: "test", Vault: newWorld(t, nil, Limits{}).vault, Tables: tables}), p)
}

func tableClient(t *testing.T, core *Core, p Profile) *sdk.ClientSession {
	t.Helper()
	server, client := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- core.ServeLines(ctx, server, server, p) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).
		Connect(t.Context(), &sdk.IOTransport{Reader: client, Writer: client}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		<-done
	})
	return session
}

// refused calls a tool that must fail, and returns what it says.
func refused(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	require.True(t, res.IsError)
	return res.Content[0].(*sdk.TextContent).Text
}

type args = map[string]any

func TestVectorTableTools(t *testing.T) {
	s := newTableWorld(t, Profile{})
	made, _ := call[table.Item](t, s, "create_table", args{"name": "Colours", "dimensions": "3", "metric": "L2"})
	assert.Equal(t, table.Item{Name: "Colours", Dimension: 3, Metric: "l2"}, made)

	one, _ := call[tools.AddVectorResult](t, s, "add_vector", args{"table": "Colours", "embedding": "[1, 0, 0]", "id": "red", "metadata": `{"warm": true}`})
	assert.Equal(t, "red", one.ID)
	many, _ := call[tools.AddVectorResult](t, s, "add_vector", args{"table_name": "Colours", "rows": []any{
		args{"vector": []any{0, 0, 1}, "id": "blue", "metadata": args{"warm": false}},
		args{"embedding": []any{"1", "0.9", 0}, "metadata": args{"warm": true, "name": "yellow"}},
	}})
	require.Len(t, many.IDs, 2)
	assert.Equal(t, "blue", many.IDs[0])

	found, text := call[tools.SearchVectorsResult](t, s, "search_vectors", args{"table_name": "Colours", "vector": []any{0.9, 0, 0}, "top_k": 2})
	require.Len(t, found.Results, 2)
	assert.Equal(t, "red", found.Results[0].ID)
	assert.InDelta(t, -0.1, found.Results[0].Score, 1e-6)
	assert.Contains(t, text, `{"warm":true}`)
	found, _ = call[tools.SearchVectorsResult](t, s, "search_vectors", args{"table_name": "Colours", "query_vector": []any{0.9, 0, 0}, "where": args{"warm": false}})
	require.Len(t, found.Results, 1)
	assert.Equal(t, "blue", found.Results[0].ID)

	list, _ := call[tools.ListTablesResult](t, s, "list_tables", nil)
	assert.Equal(t, []table.Item{{Name: "Colours", Dimension: 3, Metric: "l2", Rows: 3}}, list.Tables)

	none, text := call[tools.SearchVectorsResult](t, s, "search_vectors", args{"table_name": "Colours", "query_vector": []any{1, 0, 0}, "filter": args{"colour": "yellow"}})
	assert.Empty(t, none.Results)
	assert.Contains(t, text, "no row passes the filter; without it, the nearest has the keys: warm")
	gone, _ := call[tools.DeleteVectorsResult](t, s, "delete_vectors", args{"table_name": "Colours", "filter": args{"name": "yellow"}})
	assert.Equal(t, 1, gone.Deleted)
	gone, _ = call[tools.DeleteVectorsResult](t, s, "delete_vectors", args{"table_name": "Colours", "id": "red, green"})
	assert.Equal(t, 1, gone.Deleted)

	dropped, _ := call[tools.DropTableResult](t, s, "drop_table", args{"table": "Colours"})
	assert.Equal(t, 1, dropped.Rows)
	list, _ = call[tools.ListTablesResult](t, s, "list_tables", nil)
	assert.Empty(t, list.Tables)
}

func TestVectorTableToolsSayWhatIsWrong(t *testing.T) {
	s := newTableWorld(t, Profile{})
	call[table.Item](t, s, "create_table", args{"table_name": "t", "dimension": 2})
	for _, c := range []struct {
		tool string
		args args
		want []string
	}{
		{"create_table", args{"table_name": "t", "dimension": 2}, []string{"a table with this name exists already", "dimension 2"}},
		{"create_table", args{"table_name": "a/b", "dimension": 2}, []string{"'/'", "letters"}},
		{"create_table", args{"table_name": "b", "dimension": 5000}, []string{"4096", "5000"}},
		{"create_table", args{"table_name": "b"}, []string{"semantic search is off", "how many numbers"}},
		{"create_table", args{"table_name": "b", "dimension": 2, "metric": "hamming"}, []string{"cosine, dot, l2"}},
		{"add_vector", args{"table_name": "t", "vector": []any{1}}, []string{"1 numbers", "takes 2"}},
		{"add_vector", args{"table_name": "t", "rows": []any{args{"vector": []any{1, 2}}, args{"vector": []any{1, 2, 3}}}}, []string{"row 2 of 2", "3 numbers", "takes 2"}},
		{"add_vector", args{"table_name": "t", "rows": []any{args{"vector": []any{1, "x"}}}}, []string{"row 1 of 1", "array"}},
		{"add_vector", args{"table_name": "t", "rows": []any{args{"vectr": []any{1, 2}}}}, []string{"did you mean \"vector\""}},
		{"add_vector", args{"table_name": "t", "vector": []any{1, 1e300}}, []string{"infinite", "position 2"}},
		{"add_vector", args{"table_name": "t", "vector": []any{0, 0}}, []string{"zeros"}},
		{"add_vector", args{"table_name": "t", "vector": []any{1, 2}, "rows": []any{args{"vector": []any{1, 2}}}}, []string{"not both"}},
		{"add_vector", args{"table_name": "t"}, []string{"nothing to add"}},
		{"add_vector", args{"table_name": "T", "vector": []any{1, 2}}, []string{"no such table", "list_tables", "- t"}},
		{"search_vectors", args{"table_name": "t"}, []string{"no query", "query_vector"}},
		{"search_vectors", args{"table_name": "t", "query_text": "x"}, []string{"semantic search is off"}},
		{"search_vectors", args{"table_name": "t", "query_vector": []any{1, 2}, "filter": args{"a": args{"like": "x"}}}, []string{"like", "exists"}},
		{"delete_vectors", args{"table_name": "t"}, []string{"ids or a filter", "drop_table"}},
		{"drop_table", args{"table_name": "u"}, []string{"no such table"}},
	} {
		text := refused(t, s, c.tool, c.args)
		for _, w := range c.want {
			assert.Contains(t, text, w, "%s %v", c.tool, c.args)
		}
		assert.NotContains(t, text, "internal error")
	}
}

// Results keep the session's limit whatever the metadata contains.
func TestSearchVectorsIsBounded(t *testing.T) {
	s := newTableWorld(t, Profile{})
	call[table.Item](t, s, "create_table", args{"table_name": "t", "dimension": 1})
	for range 8 {
		call[tools.AddVectorResult](t, s, "add_vector", args{"table_name": "t", "vector": []any{1}, "metadata": args{"text": strings.Repeat("long ", 2000)}})
	}
	found, text := call[tools.SearchVectorsResult](t, s, "search_vectors", args{"table_name": "t", "query_vector": []any{1}})
	assert.True(t, found.Truncated)
	assert.NotEmpty(t, found.Results)
	assert.Less(t, len(text), 21_000)
	assert.Contains(t, text, "of 8 rows")

	call[tools.AddVectorResult](t, s, "add_vector", args{"table_name": "t", "id": "large", "vector": []any{2}, "metadata": args{"text": strings.Repeat("x", 60_000)}})
	found, text = call[tools.SearchVectorsResult](t, s, "search_vectors", args{"table_name": "t", "query_vector": []any{1}, "filter": args{"text": args{"contains": "xx"}}})
	require.Len(t, found.Results, 1)
	assert.Equal(t, "large", found.Results[0].ID)
	assert.JSONEq(t, "{}", string(found.Results[0].Metadata))
	assert.Less(t, len(text), 1000)
	assert.Contains(t, text, `the metadata of "large" is too long to show (60011 bytes)`)
}

func TestVectorTablesInReadOnlySessions(t *testing.T) {
	names := func(s *sdk.ClientSession) []string {
		res, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var names []string
		for _, tool := range res.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	got := names(newTableWorld(t, Profile{ReadOnly: true}))
	assert.Subset(t, got, []string{"list_tables", "search_vectors"})
	for _, writes := range []string{"create_table", "add_vector", "delete_vectors", "drop_table"} {
		assert.NotContains(t, got, writes)
	}
	without := tableClient(t, newWorld(t, nil, Limits{}).core, Profile{})
	assert.False(t, slices.ContainsFunc(names(without), func(n string) bool { return tools.Find(n).Tables }), "no tables, no tools for them")
}

func TestVectorTableResource(t *testing.T) {
	s := newTableWorld(t, Profile{})
	call[table.Item](t, s, "create_table", args{"table_name": "Käse.1", "dimension": 1})
	call[tools.AddVectorResult](t, s, "add_vector", args{"table_name": "Käse.1", "vector": []any{1}, "id": "Brie"})
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(templates.ResourceTemplates, func(r *sdk.ResourceTemplate) bool { return r.URITemplate == "vectors:///{table}" }))
	list, err := s.ListResources(t.Context(), nil)
	require.NoError(t, err)
	at := slices.IndexFunc(list.Resources, func(r *sdk.Resource) bool { return r.Name == "Käse.1" })
	require.GreaterOrEqual(t, at, 0)
	for _, uri := range []string{list.Resources[at].URI, "vectors:///Käse.1", "VECTORS:///K%C3%A4se.1"} {
		res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err, uri)
		assert.Equal(t, uri, res.Contents[0].URI)
		assert.Equal(t, "application/json", res.Contents[0].MIMEType)
		assert.Contains(t, res.Contents[0].Text, `"sample_ids": [`+"\n    \"Brie\"")
	}
	completed, err := s.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "vectors:///{table}"}, Argument: sdk.CompleteParamsArgument{Name: "table", Value: "kä"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"Käse.1"}, completed.Completion.Values)
	_, err = s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "vectors:///nothing"})
	require.ErrorContains(t, err, "not found")
}
