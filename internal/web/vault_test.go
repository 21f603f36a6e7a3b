package web

import (
	"context"
	"errors"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A note is subscribed once, again if that failed, and until maxWatched others are.
func TestVault_Watch(t *testing.T) {
	subscribed := map[string]int{}
	var dropped []string
	server := sdk.NewServer(&sdk.Implementation{Name: "vault"}, &sdk.ServerOptions{
		SubscribeHandler: func(_ context.Context, r *sdk.SubscribeRequest) error {
			if subscribed[r.Params.URI]++; r.Params.URI == "note:///a.md" && subscribed[r.Params.URI] == 1 {
				return errors.New("not now")
			}
			return nil
		},
		UnsubscribeHandler: func(_ context.Context, r *sdk.UnsubscribeRequest) error {
			dropped = append(dropped, r.Params.URI)
			return nil
		},
	})
	v := &vault{dial: dialing(server), changed: func() {}}
	t.Cleanup(func() { require.NoError(t, v.close()) })
	require.Error(t, v.watch(t.Context(), "note:///a.md"))
	for range 2 {
		require.NoError(t, v.watch(t.Context(), "note:///a.md"))
	}
	assert.Equal(t, map[string]int{"notes://recent": 1, "note:///a.md": 2}, subscribed)
	for i := range maxWatched {
		assert.Empty(t, dropped)
		require.NoError(t, v.watch(t.Context(), fmt.Sprintf("note:///%d.md", i)))
	}
	assert.Equal(t, []string{"note:///a.md"}, dropped)
}
