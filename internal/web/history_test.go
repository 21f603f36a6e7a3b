package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newVault returns a server without tools that accepts subscriptions.
func newVault() *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "vault"}, &sdk.ServerOptions{
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
}

// dialing returns a function that opens connections to a server.
func dialing(server *sdk.Server) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go func() { _ = server.Run(context.Background(), &sdk.IOTransport{Reader: theirs, Writer: theirs}) }() // ends with the pipe
		return ours, nil
	}
}

// TestHistory_OlderPage compares a version of the second page with the newest one, and
// restores it.
func TestHistory_OlderPage(t *testing.T) {
	server := newVault()
	listed := func(n int, hash string) map[string]any {
		return map[string]any{"revision": n, "hash": hash, "operation": "edit", "path": "a.md", "author": "ann", "time": "2026-03-01T12:00:00Z"}
	}
	type asked struct {
		Note   string `json:"note"`
		Cursor string `json:"cursor,omitempty"`
		Limit  int    `json:"limit"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "note_history"}, func(_ context.Context, _ *sdk.CallToolRequest, in asked) (*sdk.CallToolResult, map[string]any, error) {
		if in.Cursor != "" {
			return nil, map[string]any{"revisions": []any{listed(2, "second"), listed(1, "first")}}, nil
		}
		return nil, map[string]any{"revisions": []any{listed(3, "third")}, "next_cursor": "older"}, nil
	})
	s := New(Options{Vault: "Notes", Dial: dialing(server)})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	cookie := login(t, s, s.Link())

	first := get(s, "GET", "/history/a.md", cookie)
	require.Equal(t, http.StatusOK, first.Code, first.Body)
	assert.Contains(t, first.Body.String(), `name="hash" value="third"`)
	assert.NotContains(t, first.Body.String(), "Restore 3", "it is the newest")
	older := get(s, "GET", "/history/a.md?cursor=older", cookie).Body.String()
	assert.Contains(t, older, `name="hash" value="third"`)
	assert.Contains(t, older, "Restore 2")
	assert.Contains(t, older, "Restore 1")
	assert.Contains(t, older, `name="a" value="2" aria-label="from 2" checked`)
	assert.Contains(t, older, `name="b" value="3" aria-label="to 3" checked`)
	assert.NotContains(t, older, "Restore 3")
}
