package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

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

// The session ends a minute after the last request and event stream, and the next request
// opens another. Pages learn that they may have missed changes.
func TestVault_Unused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newVault()
		s := New(Options{Vault: "Notes", Dial: dialing(server)})
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		cookie := login(t, s, s.Link())
		sessionsAfter := func(d time.Duration) int {
			<-time.After(d)
			synctest.Wait()
			return len(slices.Collect(server.Sessions()))
		}
		stream := func() (end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil)
			r.AddCookie(cookie)
			r.Host = "127.0.0.1:8930"
			go s.ServeHTTP(httptest.NewRecorder(), r)
			return cancel
		}

		get(s, "GET", "/changes", cookie)
		assert.Equal(t, 1, sessionsAfter(59*time.Second))
		get(s, "GET", "/changes", cookie)
		assert.Equal(t, 1, sessionsAfter(59*time.Second))
		before, _ := s.events.changes()
		assert.Zero(t, sessionsAfter(time.Second))
		after, _ := s.events.changes()
		assert.Equal(t, before+1, after)

		endFirst, endSecond := stream(), stream()
		assert.Equal(t, 1, sessionsAfter(time.Hour))
		endFirst()
		assert.Equal(t, 1, sessionsAfter(time.Hour))
		endSecond()
		assert.Equal(t, 1, sessionsAfter(59*time.Second))
		endThird := stream()
		assert.Equal(t, 1, sessionsAfter(time.Hour))
		endThird()
		assert.Zero(t, sessionsAfter(time.Minute))
	})
}

// A page ends its wait for a vault that does not answer, says so, and tries again, whether the
// connection or a call hangs.
func TestVault_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newVault()
		sdk.AddTool(server, &sdk.Tool{Name: "list_notes"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
		hung, _ := net.Pipe()
		for _, dial := range []func(context.Context) (io.ReadWriteCloser, error){
			func(context.Context) (io.ReadWriteCloser, error) { return hung, nil },
			dialing(server),
		} {
			s := New(Options{Vault: "Notes", Dial: dial})
			cookie := login(t, s, s.Link())
			begun := time.Now()
			answer := get(s, "GET", "/", cookie)
			assert.Equal(t, answerWait, time.Since(begun))
			assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
			assert.Contains(t, answer.Body.String(), "The vault does not respond: there was no answer for 30 seconds")
			assert.Contains(t, answer.Body.String(), `data-refresh="5000"`)
			require.NoError(t, s.Close())
			synctest.Wait()
		}
		<-time.After(unusedFor)
	})
}
