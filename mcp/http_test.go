package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
	"notesd/prompts"
)

const testToken = "correct horse battery staple"

// serveHTTP serves a world over HTTP on a port of the loopback interface.
func serveHTTP(t *testing.T, w *world, o HTTPOptions) (url string, h *HTTP) {
	o.Token = testToken
	h, err := NewHTTP(w.core, o)
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.Zero(t, w.core.Sessions())
	})
	return "http://" + ln.Addr().String(), h
}

// withToken is a client's transport that adds the token.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testToken)
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, transport sdk.Transport, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	session, err := c.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// The SDK's clients, in each version and over each transport, can list, call and read, and
// are notified.
func TestHTTPClients(t *testing.T) {
	transports := map[string]func(url string) sdk.Transport{
		"streamable": func(url string) sdk.Transport {
			return &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}
		},
		"legacy": func(url string) sdk.Transport {
			return &sdk.SSEClientTransport{Endpoint: url + "/sse", HTTPClient: &http.Client{Transport: withToken{}}}
		},
	}
	for _, tc := range []struct{ transport, version string }{
		{"streamable", "2025-03-26"}, {"streamable", "2025-06-18"}, {"streamable", "2025-11-25"}, {"streamable", "2026-07-28"},
		{"legacy", "2024-11-05"},
	} {
		t.Run(tc.transport+" "+tc.version, func(t *testing.T) {
			w := newWorld(t, sampleVault, Limits{})
			w.core.SetProfile(Profile{Settings: Settings{Prompts: w.prompts(prompts.Options{Folder: "Prompts"})}})
			url, _ := serveHTTP(t, w, HTTPOptions{})
			session := w.core.newSession(Profile{}, !fixedTools)
			updated, listed, prompted := make(chan string, 10), make(chan bool, 10), make(chan bool, 10)
			s := connectHTTP(t, transports[tc.transport](url), tc.version, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
				ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
					listed <- true
				},
				PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { prompted <- true },
			})
			ctx := t.Context()
			assert.Equal(t, tc.version != "2026-07-28", s.InitializeResult().Capabilities.Tools.ListChanged, "without a session, the tools cannot change")
			offered, err := s.ListTools(ctx, nil)
			require.NoError(t, err)
			assert.Len(t, offered.Tools, len(session.toolbox().offered()))
			_, text := call[tools.ReadResult](t, s, "read_note", map[string]any{"note": "Plan.md"})
			assert.Contains(t, text, "Grow tomatoes")
			res, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: "note:///Empty.md"})
			require.NoError(t, err)
			assert.Len(t, res.Contents, 1)
			_, err = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: "note:///Gone.md"})
			require.ErrorContains(t, err, "Resource not found")

			require.NoError(t, s.Subscribe(ctx, &sdk.SubscribeParams{URI: "note:///Plan.md"}))
			require.Eventually(t, func() bool { return len(w.core.watchedURIs()) == 1 }, time.Minute, time.Millisecond)
			w.save(t, "Plan.md", "changed")
			assert.Equal(t, "note:///Plan.md", <-updated)
			w.save(t, "Prompts/more.md", "More of it.")
			assert.True(t, <-listed)
			assert.True(t, <-prompted)
			offers, err := s.ListPrompts(ctx, nil)
			require.NoError(t, err)
			assert.True(t, slices.ContainsFunc(offers.Prompts, func(p *sdk.Prompt) bool { return p.Name == "more" }))
		})
	}
}

// A client without the token asks for the metadata of an authorization server, and must not take
// the answer of the page for one.
func TestHTTP_NoAuthorizationServer(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	h, err := NewHTTP(w.core, HTTPOptions{Token: testToken, Page: http.RedirectHandler("/login", http.StatusFound)})
	require.NoError(t, err)
	defer h.Close()
	for path, want := range map[string]int{"/": http.StatusFound, "/.well-known/oauth-protected-resource/mcp": http.StatusNotFound} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
		assert.Equal(t, want, answer.Code, path)
	}
}

// Each of these requests is rejected, and the server continues.
func TestHTTPRefusals(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{Line: transport.Limits{MessageBytes: 5000}})
	base, _ := serveHTTP(t, w, HTTPOptions{Origins: []string{"https://app.example"}, Hosts: []string{"notes.example"}})
	bystander := newHTTPClient(t, base, `{}`)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	modern := func(method, rest string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}` + rest + `}}`
	}
	for _, tc := range []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
		says                     string
	}{
		{"health needs no token", "GET", "/healthz", "", map[string]string{"Authorization": ""}, 200, `"ok"`},
		{"all in order", "POST", "/mcp", initialize, nil, 200, `"serverInfo"`},
		{"no token", "POST", "/mcp", ping, map[string]string{"Authorization": ""}, 401, "bearer token"},
		{"wrong token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer wrong"}, 401, "bearer token"},
		{"truncated token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer " + testToken[:len(testToken)-1]}, 401, "bearer token"},
		{"token and more", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer " + testToken + "x"}, 401, "bearer token"},
		{"empty token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer "}, 401, "bearer token"},
		{"half a token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer " + testToken[:5]}, 401, "bearer token"},
		{"another scheme", "POST", "/mcp", ping, map[string]string{"Authorization": "Basic " + testToken}, 401, "bearer token"},
		{"no token for SSE", "GET", "/sse", "", map[string]string{"Authorization": ""}, 401, "bearer token"},
		{"no token for messages", "POST", "/sse?sessionid=x", ping, map[string]string{"Authorization": ""}, 401, "bearer token"},
		{"foreign host", "POST", "/mcp", ping, map[string]string{"Host": "evil.example"}, 403, "evil.example"},
		{"health by a name that only a proxy knows", "GET", "/healthz", "", map[string]string{"Host": "evil.example"}, 200, `"ok"`},
		{"health for a foreign page", "GET", "/healthz", "", map[string]string{"Origin": "https://evil.example"}, 403, "evil.example"},
		{"a name that begins like ours", "POST", "/mcp", ping, map[string]string{"Host": "localhost.evil.example"}, 403, "not allowed"},
		{"allowed host", "POST", "/mcp", initialize, map[string]string{"Host": "notes.example:8443"}, 200, "serverInfo"},
		{"host of an allowed origin", "POST", "/mcp", initialize, map[string]string{"Host": "app.example"}, 200, "serverInfo"},
		{"IPv6 loopback", "POST", "/mcp", initialize, map[string]string{"Host": "[::1]:80"}, 200, "serverInfo"},
		{"foreign origin", "POST", "/mcp", ping, map[string]string{"Origin": "https://evil.example"}, 403, "not allowed"},
		{"no origin at all", "POST", "/mcp", ping, map[string]string{"Origin": "null"}, 403, "not allowed"},
		{"allowed origin", "POST", "/mcp", initialize, map[string]string{"Origin": "https://app.example"}, 200, "serverInfo"},
		{"preflight", "OPTIONS", "/mcp", "", map[string]string{"Origin": "https://app.example", "Authorization": ""}, 204, ""},
		{"foreign preflight", "OPTIONS", "/mcp", "", map[string]string{"Origin": "https://evil.example"}, 403, ""},
		{"oversized body", "POST", "/mcp", `{"x":"` + strings.Repeat("x", 6000) + `"}`, nil, 413, "5000 bytes"},
		{"oversized headers", "POST", "/mcp", ping, map[string]string{"X-Long": strings.Repeat("x", 80<<10)}, 431, ""},
		{"huge JSON", "POST", "/mcp", "[" + strings.Repeat("0,", 1<<20) + "0]", nil, 413, "5000 bytes"},
		{"garbage", "POST", "/mcp", "garbage", nil, 400, "-32700"},
		{"nothing", "POST", "/mcp", "", nil, 400, "-32700"},
		{"half UTF-8 in a string", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + "\xf0\x9f\x8e" + `"}}`, nil, 400, "UTF-8"},
		{"half UTF-8", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"` + "\xc3" + `"}`, nil, 400, "UTF-8"},
		{"deep JSON", "POST", "/mcp", strings.Repeat("[", 1000), nil, 400, "levels deep"},
		{"null id", "POST", "/mcp", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, "-32600"},
		{"truncated JSON", "POST", "/mcp", ping[:20], nil, 400, "-32700"},
		{"an object as id", "POST", "/mcp", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400, "-32600"},
		{"a huge id", "POST", "/mcp", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, nil, 400, "-32600"},
		{"fractional id", "POST", "/mcp", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, 400, "-32600"},
		{"no session", "POST", "/mcp", ping, nil, 400, "send initialize first, and then the header Mcp-Session-Id"},
		{"unknown session", "POST", "/mcp", ping, map[string]string{"Mcp-Session-Id": "nope"}, 404, "session not found"},
		{"unknown legacy session", "POST", "/sse?sessionid=nope", ping, nil, 404, "session not found"},
		{"oversized legacy body", "POST", "/sse?sessionid=nope", `{"x":"` + strings.Repeat("x", 6000) + `"}`, nil, 413, "5000 bytes"},
		{"unknown path", "GET", "/other", "", nil, 404, ""},
		{"unknown method of HTTP", "PUT", "/mcp", ping, nil, 405, ""},
		{"wrong content type", "POST", "/mcp", initialize, map[string]string{"Content-Type": "text/plain"}, 415, ""},
		{"a batch", "POST", "/mcp", "[" + ping + "]", map[string]string{"Mcp-Protocol-Version": "2025-06-18"}, 400, "batches exist"},
		{"modern", "POST", "/mcp", modern("server/discover", ""), map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}, 200, "supportedVersions"},
		{"modern without its header", "POST", "/mcp", modern("tools/list", ""), nil, 400, "header"},
		{"modern with another header", "POST", "/mcp", modern("tools/list", ""), map[string]string{"Mcp-Protocol-Version": "2025-11-25"}, 400, "does not match"},
		{"modern with a wrong method header", "POST", "/mcp", modern("tools/list", ""), map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}, 400, "Mcp-Method"},
		{"unknown version", "POST", "/mcp", strings.ReplaceAll(modern("tools/list", ""), "2026-07-28", "2099-01-01"), map[string]string{"Mcp-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"}, 400, "-32022"},
		{"unknown method", "POST", "/mcp", modern("no/such", ""), map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "no/such"}, 404, "-32601"},
		{"modern GET", "GET", "/mcp", "", map[string]string{"Mcp-Protocol-Version": "2026-07-28"}, 405, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, base+tc.path, strings.NewReader(tc.body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+testToken)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			for k, v := range tc.header {
				req.Header.Set(k, v)
				if k == "Host" {
					req.Host = v
				}
				if v == "" {
					req.Header.Del(k)
				}
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			assert.Equal(t, tc.status, res.StatusCode, string(body))
			assert.Contains(t, string(body), tc.says)
			bystander.lives()
		})
	}
}

// The same within a session, which continues after each.
func TestHTTPRefusalsWithinASession(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{Line: transport.Limits{MessageBytes: 5000}})
	base, _ := serveHTTP(t, w, HTTPOptions{})
	began, _ := stall(w)
	c := newHTTPClient(t, base, `{}`)
	for _, tc := range []struct {
		name, body string
		header     http.Header
		status     int
		says       string
	}{
		{"missing token", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.Header{"Authorization": {""}}, 401, "bearer token"},
		{"wrong token", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.Header{"Authorization": {"Bearer wrong"}}, 401, "bearer token"},
		{"foreign origin", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.Header{"Origin": {"http://evil.example"}}, 403, "not allowed"},
		{"another version", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.Header{headerVersion: {"1999-01-01"}}, 400, "version"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, nil, 400, "no/such"},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no/such"}`, nil, 400, "no/such"},
		{"garbage", "garbage", nil, 400, "-32700"},
		{"deep JSON", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}}`, nil, 400, "levels deep"},
		{"huge JSON", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 6000) + `"}}`, nil, 413, "5000 bytes"},
		{"half UTF-8", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + "\xc3" + `"}}`, nil, 400, "UTF-8"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, "must be a string or an integer"},
		{"fractional id", `{"jsonrpc":"2.0","id":0.5,"method":"ping"}`, nil, 400, "must be a string or an integer"},
		{"second initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil, 200, "has begun already"},
		{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, nil, 202, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := c.do(t.Context(), http.MethodPost, tc.body, tc.header)
			assert.Equal(t, tc.status, res.status)
			assert.Contains(t, res.text(), tc.says)
			c.lives()
		})
	}
	t.Run("reused id", func(t *testing.T) {
		c.post(stalls)
		<-began
		res := c.post(reads7)
		assert.Equal(t, http.StatusBadRequest, res.status)
		assert.Contains(t, res.text(), "duplicate in-flight request ID 7")
		c.lives()
		c.post(cancel7)
	})
	require.Equal(t, http.StatusNoContent, c.do(t.Context(), http.MethodDelete, "", nil).status)
}

// Clients that open connections and send their requests byte by byte are disconnected, and
// do not prevent others from being served.
func TestHTTPSlowLoris(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	// Even on a busy machine, another client takes less time than this.
	base, _ := serveHTTP(t, w, HTTPOptions{headerRead: 5 * time.Second, bodyRead: 5 * time.Second})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nAuthorization: Bearer " + testToken + "\r\n\r\n{"
	for name, sent := range map[string]string{"nothing": "", "half the headers": head[:40], "half the body": head, "half the body, wrong token": strings.Replace(head, testToken, "wrong", 1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bystander := newHTTPClient(t, base, `{}`)
			var conns []net.Conn
			for range 50 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
				require.NoError(t, err)
				t.Cleanup(func() { _ = conn.Close() })
				_, err = io.WriteString(conn, sent)
				require.NoError(t, err)
				conns = append(conns, conn)
			}
			bystander.lives()
			for _, conn := range conns {
				_, err := io.Copy(io.Discard, conn) // until the server has closed the connection
				if err != nil {
					require.ErrorContains(t, err, "reset")
				}
			}
			bystander.lives()
		})
	}
}

// A client that sends its request slowly and one that never reads its response are
// disconnected.
func TestHTTPSlowClients(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "![[Big.pdf]]", "Big.pdf": strings.Repeat("x", notes.MaxAttachmentBytes)}, Limits{})
	h, err := NewHTTP(w.core, HTTPOptions{Token: testToken, bodyRead: 100 * time.Millisecond, stall: 100 * time.Millisecond})
	require.NoError(t, err)
	var served atomic.Int32 // completed requests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer served.Add(1)
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer h.Close()
	address := server.Listener.Addr().String()

	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", testToken)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equal(t, http.StatusRequestTimeout, res.StatusCode)

	conn, err = net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(256<<10)) // so that the kernel cannot buffer all of it
	body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note:///Big.pdf","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: note:///Big.pdf\r\nContent-Length: %d\r\n\r\n%s", testToken, len(body), body)
	require.NoError(t, err)
	// The server has given up when no request is in progress.
	require.Eventually(t, func() bool { return served.Load() == 2 }, time.Minute, 10*time.Millisecond)
	got, _ := io.Copy(io.Discard, conn)
	assert.Less(t, got, int64(16<<20))
}

// Proxies delay the events of a stream unless the server tells them not to, and close a
// stream that is silent.
func TestHTTPStreamsBehindProxies(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, _ := serveHTTP(t, w, HTTPOptions{silence: time.Millisecond})
	c := newHTTPClient(t, url, `{}`)
	res := c.do(t.Context(), http.MethodGet, "", nil)
	assert.Equal(t, "no", res.header.Get("X-Accel-Buffering"))
	lines := bufio.NewScanner(res.stream)
	for comments := 0; comments < 2; {
		require.True(t, lines.Scan())
		if lines.Text() == ":" {
			comments++
		}
	}
	c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}}`).text()
	w.save(t, "Plan.md", "changed")
	for lines.Text() != "event: message" {
		require.True(t, lines.Scan())
	}
	require.True(t, lines.Scan())
	assert.Contains(t, lines.Text(), "id: ", "no comment within an event")
	require.True(t, lines.Scan())
	assert.Contains(t, lines.Text(), "resources/updated")
	assert.LessOrEqual(t, HTTPOptions{}.withDefaults().silence, 20*time.Second, "docs/guarantees.md promises it")
}

// A client that opens another stream gets it, although the server does not know yet that the
// previous one has been lost, and with what it missed, even if it has received so much since
// that the missed events are no longer stored.
func TestHTTPNewestStreamHolds(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "![[Big.pdf]]", "Big.pdf": strings.Repeat("x", notes.MaxAttachmentBytes)}, Limits{})
	url, _ := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{}`)
	c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}}`).text()
	lost := c.do(t.Context(), http.MethodGet, "", nil)
	require.Equal(t, http.StatusOK, lost.status)
	w.save(t, "Plan.md", "changed ![[Big.pdf]]")
	updated := func() (id string) {
		t.Helper()
		for events := bufio.NewScanner(lost.stream); ; {
			require.True(t, events.Scan())
			if after, ok := strings.CutPrefix(events.Text(), "id: "); ok {
				id = after
			}
			if strings.Contains(events.Text(), "resources/updated") {
				return id
			}
		}
	}
	next := func(header http.Header) {
		t.Helper()
		res := c.do(t.Context(), http.MethodGet, "", header)
		require.Equal(t, http.StatusOK, res.status, "%v", header)
		lost.text() // ends
		lost = res
	}
	assert.Equal(t, "_0", updated())
	next(http.Header{headerLastEvent: {"_0"}})
	next(nil)
	updated()
	for range 2 {
		c.post(strings.Replace(reads7, `"tools/call","params":{"name":"read_note","arguments":{"note":"Plan.md"}}`, `"resources/read","params":{"uri":"note:///Big.pdf"}`, 1)).text()
	}
	next(nil)
	next(http.Header{headerLastEvent: {updated()}})
	updated()
}

// A client that asks for the rest of a response after its error, as some SDKs do, opens no stream.
func TestHTTPNothingLeftOfAResponse(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, _ := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{}`)
	failed := c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note:///Absent.md"}}`).text()
	ids := regexp.MustCompile(`(?m)^id: (.+)$`).FindAllStringSubmatch(failed, -1)
	require.NotEmpty(t, ids, failed)
	res := c.do(t.Context(), http.MethodGet, "", http.Header{headerLastEvent: {ids[0][1]}})
	assert.Contains(t, res.text(), "-32002", "the client has lost the error")
	res = c.do(t.Context(), http.MethodGet, "", http.Header{headerLastEvent: {ids[len(ids)-1][1]}})
	assert.Equal(t, http.StatusMethodNotAllowed, res.status, res.text())
	c.lives()
}

// A session is closed when its client has left, but not while it listens and calls nothing,
// as overnight. A client that comes back continues it: many do not begin another.
func TestHTTPIdleSessions(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{})
	listens, left := newHTTPClient(t, url, `{}`), newHTTPClient(t, url, `{}`)
	ctx, leave := context.WithCancel(t.Context())
	listens.do(ctx, http.MethodGet, "", nil)
	h.mu.Lock()
	h.o.idle = time.Nanosecond
	h.mu.Unlock()
	left.lives()
	gone := func(c *httpClient) {
		require.Eventually(t, func() bool { return !h.has(c.session) }, time.Minute, time.Millisecond)
		c.lives()
	}
	gone(left)
	listens.lives()
	leave()
	gone(listens)
	require.Eventually(t, func() bool { return h.Sessions() == 0 }, time.Minute, time.Millisecond, "continued sessions are closed too")
}

// A client's session continues after a restart of the daemon, with its subscriptions; its
// stream begins with what it may have missed. Many clients do not begin another session.
func TestHTTPSessionsContinueAfterARestart(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{}`)
	for _, call := range []struct{ method, uri string }{
		{"resources/subscribe", "note:///Plan.md"}, {"resources/subscribe", "notes://recent"}, {"resources/unsubscribe", "notes://recent"},
	} {
		assert.Contains(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"`+call.method+`","params":{"uri":"`+call.uri+`"}}`).text(), `"result":{}`)
	}
	_, after, _ := strings.Cut(c.post(reads7).text(), "id: ")
	response, _, _ := strings.Cut(after, "\n")
	require.Contains(t, response, "_", "the id of an event of a response")
	h.Close()
	assert.Equal(t, http.StatusServiceUnavailable, c.post(reads7).status, "while the server stops")

	url, h = serveHTTP(t, w, HTTPOptions{})
	c.url = url + "/mcp"
	res := c.do(t.Context(), http.MethodGet, "", http.Header{headerLastEvent: {"_7"}})
	require.Equal(t, http.StatusOK, res.status)
	events := bufio.NewScanner(res.stream)
	updated := func() {
		t.Helper()
		for !strings.Contains(events.Text(), `"params":{"uri":"note:///Plan.md"}`) {
			require.True(t, events.Scan())
			assert.NotContains(t, events.Text(), "notes://recent")
		}
		require.True(t, events.Scan())
	}
	updated()
	w.save(t, "Plan.md", "changed")
	updated()
	c.lives()
	assert.Equal(t, 1, h.Sessions())
	lost := c.do(t.Context(), http.MethodGet, "", http.Header{headerLastEvent: {response}}).text()
	assert.Contains(t, lost, `"id":7,"error":{"code":-32603,"message":"notesd was interrupted`, "the response is lost")
	_, after, _ = strings.Cut(lost, "id: ")
	last, _, _ := strings.Cut(after, "\n")
	assert.Equal(t, http.StatusMethodNotAllowed, c.do(t.Context(), http.MethodGet, "", http.Header{headerLastEvent: {last}}).status, "some SDKs ask for more after an error")
	assert.Equal(t, http.StatusNoContent, c.do(t.Context(), http.MethodDelete, "", nil).status)
	require.Eventually(t, func() bool { return h.Sessions() == 0 }, time.Minute, time.Millisecond)
	assert.Equal(t, http.StatusNotFound, c.post(reads7).status, "a deleted session does not continue")
}

// A client whose daemon was killed asks for the rest of its responses and opens a stream, all
// at once. The stream begins when every subscription is restored, and names each.
func TestHTTPStreamBeginsWithAllSubscriptions(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{}`)
	var uris []string
	for i := range 30 {
		uri := fmt.Sprintf("notes://tags/t%d.", i)
		uris = append(uris, `{"uri":"`+uri+`"}`)
		assert.Contains(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`).text(), `"result":{}`)
	}
	h.Close()
	for range 5 {
		url, h = serveHTTP(t, w, HTTPOptions{})
		c.url = url + "/mcp"
		rest := make(chan int, 3)
		for i := range cap(rest) {
			lost := http.Header{headerLastEvent: {fmt.Sprintf("LOST%d_0", i)}}
			go func() { rest <- c.do(t.Context(), http.MethodGet, "", lost).status }()
		}
		stream := c.do(t.Context(), http.MethodGet, "", nil)
		for range cap(rest) {
			assert.Equal(t, http.StatusMethodNotAllowed, <-rest)
		}
		h.Close()
		text := stream.text()
		for _, uri := range uris {
			assert.Contains(t, text, uri)
		}
	}
}

// A client that comes back while the vault is being opened does not keep the server from
// stopping.
func TestHTTPCloseBeforeTheVaultIsOpen(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{})
	c := newHTTPClient(t, url, `{}`)
	h.Close()
	w.core.opts.Opened = make(chan struct{})
	url, h = serveHTTP(t, w, HTTPOptions{})
	c.url = url + "/mcp"
	status := make(chan int, 1)
	go func() { status <- c.do(t.Context(), http.MethodGet, "", nil).status }()
	require.Eventually(t, func() bool { return h.Sessions() == 1 }, time.Minute, time.Millisecond)
	closed := make(chan struct{})
	go func() { defer close(closed); h.Close() }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		require.FailNow(t, "it does not close")
	}
	assert.Equal(t, http.StatusServiceUnavailable, <-status)
}

// The number of sessions with clients that listen is limited; deleting one makes room.
func TestHTTPSessionsAreLimited(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{sessions: 2})
	transport := func() sdk.Transport {
		return &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}
	}
	first := connectHTTP(t, transport(), "2025-11-25", nil)
	connectHTTP(t, transport(), "2025-11-25", nil)
	require.Eventually(t, func() bool { return listening(h) == 2 }, time.Minute, time.Millisecond)
	_, err := sdk.NewClient(&sdk.Implementation{Name: "third"}, nil).Connect(t.Context(), transport(), &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.Error(t, err)
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return h.hasRoom("") }, time.Minute, time.Millisecond)
	connectHTTP(t, transport(), "2025-11-25", nil)
	require.Eventually(t, func() bool { return listening(h) == 2 }, time.Minute, time.Millisecond)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`))
	require.NoError(t, err)
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", headerVersion: "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		req.Header.Set(k, v)
	}
	res, err := withToken{}.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), "2 sessions and listens already")
}

func listening(h *HTTP) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		n += min(s.open, 1)
	}
	return n
}

// Clients that leave without closing their session, as scripts do, do not keep others out:
// the least recently used session is closed, unless its client listens.
func TestHTTPLeftSessionsGiveWay(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, h := serveHTTP(t, w, HTTPOptions{sessions: 3})
	begin := func(listens bool) *sdk.ClientSession {
		return connectHTTP(t, &sdk.StreamableClientTransport{
			Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}, DisableStandaloneSSE: !listens, MaxRetries: -1,
		}, "2025-11-25", nil)
	}
	listens := begin(true)
	quiet := func() { // requests may end after their response was received
		require.Eventually(t, func() bool { return listening(h) == 1 }, time.Minute, time.Millisecond)
	}
	used := begin(false)
	left := begin(false)
	_, err := used.ListTools(t.Context(), nil)
	require.NoError(t, err)
	quiet()
	third := begin(false)
	for _, s := range []*sdk.ClientSession{listens, third, used} {
		_, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
	}
	assert.Nil(t, h.find(left.ID()))
	for range 20 {
		quiet()
		begin(false)
	}
	_, err = listens.ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Nil(t, h.find(used.ID()))
	_, err = used.ListTools(t.Context(), nil)
	require.NoError(t, err, "a client that comes back continues its session")
	require.Eventually(t, func() bool { return h.Sessions() <= 3 }, time.Minute, time.Millisecond)
}

func TestHTTPNeedsAToken(t *testing.T) {
	_, err := NewHTTP(newWorld(t, nil, Limits{}).core, HTTPOptions{})
	require.Error(t, err)
}

// Close ends the streams that clients hold open, so that a server can stop.
func TestHTTPCloseEndsStreams(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	h, err := NewHTTP(w.core, HTTPOptions{Token: testToken})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/sse", nil)
	require.NoError(t, err)
	res, err := (&http.Client{Transport: withToken{}}).Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	first := make([]byte, 6)
	_, err = io.ReadFull(res.Body, first)
	require.NoError(t, err)
	assert.Equal(t, "event:", string(first))
	h.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	assert.Zero(t, w.core.Sessions())
}

// A client over HTTP whose roots leave it nothing to change is notified once that its tools
// have changed.
func TestHTTPToolsListChanged(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	url, _ := serveHTTP(t, w, HTTPOptions{Profile: Profile{Write: []string{"Home"}}})
	changed := make(chan struct{}, 10)
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
	})
	c.AddRoots(&sdk.Root{URI: "file:///home/ann/vault/Garden"})
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}},
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	<-changed
	tools, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, tools.Tools)
	for _, tool := range tools.Tools {
		assert.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	c.AddRoots(&sdk.Root{URI: "file:///home/ann/vault/Garden/Beds"}) // nothing new in this
	c.AddRoots(&sdk.Root{URI: "file:///home/ann/vault/Home"})
	<-changed
	tools, err = s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(tools.Tools, func(tool *sdk.Tool) bool { return tool.Name == "create_note" }))
	assert.Empty(t, changed)
}

// has reports whether the session with the id accepts requests.
func (h *HTTP) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(id) != nil
}

// Sessions returns the number of sessions, of all subjects and transports.
func (h *HTTP) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}
