package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statelessVersion is the protocol version without sessions.
const statelessVersion = "2026-07-28"

// bearer adds the place's token to every request.
type bearer struct{ token string }

func (p place) bearer(t testing.TB) bearer {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(p.state, "http-token"))
	require.NoError(t, err)
	return bearer{strings.TrimSpace(string(token))}
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(req)
}

// A client of 2026-07-28 listens over HTTP and is notified of files saved by an editor.
func TestListenOverHTTP(t *testing.T) {
	p := newPlace(t, someNotes)
	p.serve(t, "--http", "127.0.0.1:0")
	updated := make(chan string, 100)
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint:   p.report(t).Daemon.HTTP,
		HTTPClient: &http.Client{Transport: p.bearer(t)},
	}, &sdk.ClientSessionOptions{ProtocolVersion: statelessVersion})
	require.NoError(t, err)
	require.Equal(t, statelessVersion, session.InitializeResult().ProtocolVersion)

	var listening sync.WaitGroup
	for _, uri := range []string{"note:///Bread.md", "note:///Boat/Rigging.md"} {
		listening.Go(func() { _ = session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}) }) // returns at the end of the stream
	}
	defer func() {
		assert.NoError(t, session.Close())
		listening.Wait()
	}()
	// The client does not know when its stream is established: save until it is notified.
	for _, path := range []string{"Bread.md", "Boat/Rigging.md"} {
		n := 0
		eventually(t, "the listener is notified of "+path, func() bool {
			n++
			p.save(t, path, strings.Repeat("x", n))
			for {
				select {
				case uri := <-updated:
					if uri == "note:///"+path {
						return true
					}
				case <-time.After(10 * testPoll):
					return false
				}
			}
		})
		read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///" + path})
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat("x", n), read.Contents[0].Text)
	}
}

// ownAddress is the address of a server that listens again at the same port later, which no
// other test takes meanwhile.
func ownAddress() string {
	if runtime.GOOS == "linux" {
		return "127.0.0.2:0"
	}
	return "127.0.0.1:0" // macOS has no other
}

// A client's session and its subscriptions outlive the daemon, even if that is killed.
func TestHTTPSessionContinues(t *testing.T) {
	t.Parallel()
	p := newPlace(t, someNotes)
	daemon := p.serve(t, "--http", ownAddress())
	endpoint := p.report(t).Daemon.HTTP
	updated := make(chan string, 100)
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint:   endpoint,
		HTTPClient: &http.Client{Transport: p.bearer(t)},
		MaxRetries: 100,
	}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	defer func() { assert.NoError(t, session.Close()) }()
	require.NoError(t, session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Bread.md"}))
	require.NoError(t, daemon.Process.Kill())
	ended(t, daemon)

	p.serve(t, "--http", strings.TrimSuffix(strings.TrimPrefix(endpoint, "http://"), "/mcp"))
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///Bread.md"})
	require.NoError(t, err)
	p.save(t, "Bread.md", read.Contents[0].Text+"more")
	select {
	case uri := <-updated: // of the save, or because the client's stream is open again
		assert.Equal(t, "note:///Bread.md", uri)
	case <-time.After(patience):
		require.FailNow(t, "the client is not notified")
	}
}

// listenParams returns the parameters of a subscriptions/listen for all the resources.
func listenParams(uris []string) map[string]any {
	return map[string]any{
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    statelessVersion,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		},
		"notifications": map[string]any{"resourceSubscriptions": uris},
	}
}

const acknowledged = "notifications/subscriptions/acknowledged"

// listen opens a subscriptions/listen on the client's pipes.
func (h *peer) listen(uris []string) {
	h.t.Helper()
	h.send("subscriptions/listen", listenParams(uris))
	h.awaitAcknowledged()
}

func (h *peer) awaitAcknowledged() {
	h.t.Helper()
	select {
	case m := <-h.others:
		require.Equal(h.t, acknowledged, m.Method)
	case <-time.After(patience):
		require.FailNow(h.t, "the listen is not acknowledged")
	}
}

// listenHTTP opens a subscriptions/listen over HTTP. Its messages arrive in the others of
// a peer without a process.
func (p place) listenHTTP(t testing.TB, uris []string) *peer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": listenParams(uris)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.report(t).Daemon.HTTP, bytes.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": statelessVersion, "Mcp-Method": "subscriptions/listen",
	} {
		req.Header.Set(name, value)
	}
	res, err := p.bearer(t).RoundTrip(req) //nolint:bodyclose // closed in the cleanup
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	h := &peer{t: t, others: make(chan message, 1000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var m message
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && assert.NoError(t, json.Unmarshal([]byte(data), &m)) {
				h.others <- m
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		<-ended
	})
	h.awaitAcknowledged()
	return h
}
