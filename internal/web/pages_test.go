package web

import (
	"context"
	"net/http"
	"sync"
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

// TestNote_Failure shows the failure with the notes that may be meant, although the other calls for
// the page failed before.
func TestNote_Failure(t *testing.T) {
	server := newVault()
	var others sync.WaitGroup
	others.Add(2)
	failure := func(f mcp.Failure) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{IsError: true, Meta: sdk.Meta{mcp.MetaFailure: f}}, nil, nil
	}
	sdk.AddTool(server, &sdk.Tool{Name: "note_links"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		defer others.Done()
		return failure(mcp.Failure{Code: "unavailable", Message: "not now"})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "read_note"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		others.Wait()
		return failure(mcp.Failure{Code: "not_found", Message: `find "note:///baot.md": there is no such note`, Candidates: []string{"boat.md"}})
	})
	s := New(Options{Vault: "Notes", Dial: dialing(server)})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	answer := get(s, "GET", "/n/baot.md", login(t, s, s.Link()))
	assert.Equal(t, http.StatusNotFound, answer.Code)
	assert.Contains(t, answer.Body.String(), "baot.md: there is no such note")
	assert.Contains(t, answer.Body.String(), `<a href="/n/boat.md">`)
}
