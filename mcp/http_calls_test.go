package mcp

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/mcp/transport"
)

// An httpClient is a client with access to the raw requests and responses.
type httpClient struct {
	t       *testing.T
	url     string
	session string
}

// newHTTPClient begins a session of 2025-11-25 with the capabilities, a JSON object.
func newHTTPClient(t *testing.T, url, capabilities string) *httpClient {
	c := &httpClient{t: t, url: url + "/mcp"}
	res := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}}`, nil)
	require.Contains(t, res.text(), `"serverInfo"`)
	c.session = res.header.Get(headerSession)
	require.NotEmpty(t, c.session)
	assert.Equal(t, http.StatusAccepted, c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).status)
	return c
}

func (c *httpClient) do(ctx context.Context, method, text string, header http.Header) *reply {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(text))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set(headerVersion, "2025-11-25")
	if c.session != "" {
		req.Header.Set(headerSession, c.session)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	maps.Copy(req.Header, header)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = res.Body.Close() })
	return &reply{c.t, res.StatusCode, res.Header, res.Body}
}

func (c *httpClient) post(text string) *reply {
	c.t.Helper()
	return c.do(c.t.Context(), http.MethodPost, text, nil)
}

// lives checks that the session is still served.
func (c *httpClient) lives() {
	c.t.Helper()
	assert.Contains(c.t, c.post(`{"jsonrpc":"2.0","id":"alive?","method":"ping"}`).text(), `"result":{}`)
}

// A reply is the response to a request, as it arrives.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	stream io.Reader
}

// text returns the complete reply.
func (r *reply) text() string {
	r.t.Helper()
	data, err := io.ReadAll(r.stream)
	require.NoError(r.t, err)
	return string(data)
}

// stall blocks the vault's reads until their contexts end, and reports when each begins and
// ends.
func stall(w *world) (began, ended chan struct{}) {
	began, ended = make(chan struct{}, 10), make(chan struct{}, 10)
	w.vault.read = func(ctx context.Context, ref string) error {
		if ref != "stalls" {
			return nil
		}
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	}
	return began, ended
}

const (
	stalls  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"stalls"}}}`
	reads7  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Plan.md"}}}`
	cancel7 = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
)

// When a call over HTTP is cancelled, it stops and its stream ends; its id is in use until
// then.
func TestHTTPCancelledCallStops(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, _ := serveHTTP(t, w, HTTPOptions{})
	began, ended := stall(w)
	c := newHTTPClient(t, url, `{}`)
	res := c.post(stalls)
	<-began
	assert.Contains(t, c.post(strings.Replace(reads7, "Plan.md", "Empty", 1)).text(), "duplicate in-flight request ID", "the id is taken")
	assert.Equal(t, http.StatusAccepted, c.post(cancel7).status)
	<-ended
	assert.Contains(t, res.text(), `"isError":true`)
	assert.Contains(t, c.post(reads7).text(), "Grow tomatoes", "the session goes on, the id is free")
	assert.Equal(t, http.StatusAccepted, c.post(cancel7).status, "too late is no harm")
}

// A deleted session ends at once, although its client has not answered requests and calls
// are in progress: the SDK would wait for both.
func TestHTTPDeleteDoesNotWait(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{Concurrent: 2, confirmWait: time.Hour}) // one for each call
	url, h := serveHTTP(t, w, HTTPOptions{})
	began, ended := stall(w)
	c := newHTTPClient(t, url, `{"elicitation":{}}`)
	asks := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_note","arguments":{"note":"Plan.md"}}}`)
	c.post(stalls)
	<-began
	events := bufio.NewReader(asks.stream)
	for line := ""; !strings.Contains(line, "elicitation/create"); {
		var err error
		line, err = events.ReadString('\n')
		require.NoError(t, err)
	}
	assert.Equal(t, http.StatusNoContent, c.do(t.Context(), http.MethodDelete, "", nil).status)
	<-ended
	require.Eventually(t, func() bool { return !h.has(c.session) }, time.Minute, time.Millisecond)
	assert.Equal(t, http.StatusNotFound, c.post(reads7).status)
}

// A client that has not sent its roots does not delay the end of its session.
func TestHTTPDeleteDoesNotWaitForRoots(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{rootsWait: time.Hour})
	url, _ := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{"roots":{}}`)
	assert.Equal(t, http.StatusNoContent, c.do(t.Context(), http.MethodDelete, "", nil).status)
}

// Close lets requests in progress finish, but only for a limited time.
func TestHTTP_CloseWaitsOnce(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{Line: transport.Limits{Grace: 50 * time.Millisecond}})
	url, h := serveHTTP(t, w, HTTPOptions{})
	began, ended := stall(w)
	c := newHTTPClient(t, url, `{}`)
	c.post(stalls)
	<-began
	h.Close()
	<-ended
	assert.Zero(t, w.core.Sessions())
}

// Close also waits for calls without a session, which would otherwise use a closed store.
func TestHTTP_CloseWaitsWithoutSession(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{Line: transport.Limits{Grace: 50 * time.Millisecond}})
	url, h := serveHTTP(t, w, HTTPOptions{})
	began, ended := stall(w)
	client := connectHTTP(t, &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}, "2026-07-28", nil)
	calls := make(chan error, 1)
	go func() {
		_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args{"note": "stalls"}})
		calls <- err
	}()
	<-began
	h.Close()
	assert.Len(t, ended, 1, "the call still runs")
	<-calls
	_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args{"note": "Plan.md"}})
	require.Error(t, err)
}

// A question to the user, which in 2026-07-28 is the response to a call, is not counted as a
// failed call.
func TestHTTPQuestionsAreNotObserved(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	var mu sync.Mutex
	var observed []error
	w.core.opts.Observe = func(_ string, _ time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		observed = append(observed, err)
	}
	url, _ := serveHTTP(t, w, HTTPOptions{})
	asked := false
	client := connectHTTP(t, &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}, "2026-07-28", &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked = true
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
	})
	call[tools.DeleteResult](t, client, "delete_note", args{"note": "Plan"})
	assert.True(t, asked)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []error{nil}, observed)
}
