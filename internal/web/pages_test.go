package web

import (
	"context"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp"
)

// TestSearch_Failures calls only a query that cannot be read by that name.
func TestSearch_Failures(t *testing.T) {
	code := ""
	server := newVault()
	sdk.AddTool(server, &sdk.Tool{Name: "search_notes"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{IsError: true, Meta: sdk.Meta{mcp.MetaFailure: mcp.Failure{Code: code, Message: "made up"}}}, nil, nil
	})
	s := New(Options{Vault: "Notes", Dial: dialing(server)})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	cookie := login(t, s, s.Link())

	code = "timeout"
	answer := get(s, "GET", "/?q=rye", cookie)
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
	assert.Contains(t, answer.Body.String(), "made up")
	assert.NotContains(t, answer.Body.String(), "The query cannot be read")
	code = "invalid"
	answer = get(s, "GET", "/?q=rye&cursor=made-up", cookie)
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Contains(t, answer.Body.String(), "The query cannot be read")
}
