package main

import (
	"encoding/json"
	"testing"

	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDroppedTableIsRestored(t *testing.T) {
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp", "--tools", "all")
	h.initialize()
	require.False(t, h.tool("create_table", map[string]any{"table_name": "mine", "dimension": 3}).IsError)
	require.False(t, h.tool("add_vector", map[string]any{"table_name": "mine", "vector": []any{1, 0, 0}}).IsError)
	require.False(t, h.tool("drop_table", map[string]any{"table_name": "mine"}).IsError)

	var listed struct{ Tables []service.TableLine }
	require.NoError(t, json.Unmarshal([]byte(p.run(t, "tables", "--json")), &listed))
	require.Len(t, listed.Tables, 1)
	assert.NotZero(t, listed.Tables[0].RestorableUntil)
	assert.Contains(t, p.run(t, "tables"), "can be restored until")

	assert.Equal(t, "mine is back, with 1 vector\n", p.run(t, "tables", "restore", "mine"))
	found := h.tool("search_vectors", map[string]any{"table_name": "mine", "query_vector": []any{1, 0, 0}})
	require.False(t, found.IsError)
	assert.Len(t, found.Structured["results"], 1)

	again := p.command("tables", "restore", "mine")
	_, err := again.Output()
	require.Error(t, err)
	assert.Equal(t, service.ExitNotFound, again.ProcessState.ExitCode())
}
