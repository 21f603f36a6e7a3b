package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/pgtest"
	"notesd/mcp"
	"notesd/notes"
	"notesd/notes/pglog"
)

func TestProfileOfSubject(t *testing.T) {
	reader := func(folder string) pglog.Grant { return pglog.Grant{Vault: "v", Folder: folder} }
	writer := func(folder string) pglog.Grant { return pglog.Grant{Vault: "v", Folder: folder, Writer: true} }
	for _, tc := range []struct {
		name        string
		grants      []pglog.Grant
		limits      mcp.Profile
		read, write []string
		readOnly    bool
	}{
		{name: "reader of all", grants: []pglog.Grant{reader("")}, write: []string{}, readOnly: true},
		{name: "writer of all", grants: []pglog.Grant{writer("")}},
		{name: "reader of all, writer of one", grants: []pglog.Grant{reader(""), writer("A")}, write: []string{"A"}},
		{name: "writer of all, reader of one", grants: []pglog.Grant{writer(""), reader("A")}},
		{name: "two folders", grants: []pglog.Grant{reader("A"), writer("A/B")}, read: []string{"A", "A/B"}, write: []string{"A/B"}},
		{name: "the node is read-only", grants: []pglog.Grant{writer("")}, limits: mcp.Profile{ReadOnly: true}, readOnly: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, ok := profileOfSubject(pglog.Subject{Name: "ann", Grants: append(tc.grants, pglog.Grant{Vault: "other", Writer: true})}, "v", tc.limits)
			require.True(t, ok)
			assert.Equal(t, mcp.Profile{Subject: "ann", Read: tc.read, Write: tc.write, ReadOnly: tc.readOnly}, p)
		})
	}
	_, ok := profileOfSubject(pglog.Subject{Grants: []pglog.Grant{writer("")}}, "other", mcp.Profile{})
	assert.False(t, ok)
}

func TestFoldersOfVaults(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "A", "a.", ".", "..", ".a", "con", "ä", "a b", "a%41", "%41", "-a", "a-z_c.d", strings.Repeat("ж", 50), strings.Repeat("ж", 49) + "x"} {
		folder := strings.ToLower(folderOf(name)) // as some file systems have it
		assert.Empty(t, seen[folder], "%q", name)
		seen[folder] = name
		assert.LessOrEqual(t, len(folder), 255)
		assert.NotRegexp(t, `^[.-]|[/\\]|\.$`, folder)
	}
	assert.Equal(t, "a-z_c.d", folderOf("a-z_c.d"))
}

// A testNode is a node without a daemon and with a fixed clock.
type testNode struct {
	*node
	*testing.T
	own   *Service
	clock struct {
		sync.Mutex
		now time.Time
	}
}

func newTestNode(t *testing.T, address string) *testNode {
	t.Helper()
	cfg := config.Default()
	cfg.State, cfg.Semantic.Provider, cfg.Store.Postgres = t.TempDir(), "off", config.Address(address)
	s := New(&cfg, &Logs{Logger: slog.New(slog.DiscardHandler)}, false)
	n, err := newNode(s)
	require.NoError(t, err)
	s.node.Store(n)
	tn := &testNode{node: n, T: t, own: s}
	tn.clock.now = time.Now()
	n.now = func() time.Time {
		tn.clock.Lock()
		defer tn.clock.Unlock()
		return tn.clock.now
	}
	t.Cleanup(func() { require.NoError(t, n.close()) })
	return tn
}

func (n *testNode) pass(d time.Duration) {
	n.clock.Lock()
	defer n.clock.Unlock()
	n.clock.now = n.clock.now.Add(d)
}

// grant creates a subject with write access to the vaults, and returns its token.
func (n *testNode) grant(name string, vaults ...string) string {
	n.Helper()
	token, err := n.db.AddSubject(n.Context(), name)
	require.NoError(n, err)
	for _, vault := range vaults {
		require.NoError(n, n.db.Grant(n.Context(), name, pglog.Grant{Vault: vault, Writer: true}, true))
	}
	return token
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// ask sends a message to a vault and returns the status and headers of the response.
func (n *testNode) ask(vault, token, session, message string) (int, http.Header) {
	n.Helper()
	r := httptest.NewRequestWithContext(n.Context(), http.MethodPost, "/v/"+vault+"/mcp", strings.NewReader(message))
	r.SetPathValue("vault", vault)
	for key, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
		if value != "" {
			r.Header.Set(key, value)
		}
	}
	w := httptest.NewRecorder()
	n.serve(w, r)
	_, err := io.Copy(io.Discard, w.Body)
	require.NoError(n, err)
	return w.Code, w.Header()
}

func (n *testNode) names() (names []string) {
	for _, v := range n.opened() {
		names = append(names, v.name)
	}
	return names
}

// TestVaultsOpenAndClose checks that vaults are opened on request and closed when idle,
// and that a session continues in a reopened vault.
func TestVaultsOpenAndClose(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	token := n.grant("ann", "a", "b", "c")
	begin := func(vault string) (session string) {
		t.Helper()
		status, header := n.ask(vault, token, "", initialize)
		require.Equal(t, http.StatusOK, status)
		return header.Get("Mcp-Session-Id")
	}
	first := begin("a")
	n.pass(vaultIdle / 2)
	begin("b")
	assert.Equal(t, []string{"a", "b"}, n.names())
	n.pass(vaultIdle / 2)
	closed := n.opened()[0].closed
	n.check(t.Context())
	assert.Equal(t, []string{"b"}, n.names())
	<-closed
	status, _ := n.ask("a", token, first, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	assert.Equal(t, http.StatusOK, status, "the session goes on")

	n.most = 2
	n.pass(time.Second)
	begin("c")
	assert.Equal(t, []string{"a", "c"}, n.names(), "b was not used for longest")
	_, releaseA, err := n.use("a")
	require.NoError(t, err)
	_, releaseC, err := n.use("c")
	require.NoError(t, err)
	status, header := n.ask("b", token, "", initialize)
	assert.Equal(t, http.StatusServiceUnavailable, status, "all are in use")
	assert.NotEmpty(t, header.Get("Retry-After"))
	n.pass(vaultIdle)
	n.check(t.Context())
	assert.Equal(t, []string{"a", "c"}, n.names(), "what is in use is not closed")
	releaseA()
	releaseC()
	begin("b")
	require.NoError(t, n.close())
	status, _ = n.ask("b", token, "", initialize)
	assert.Equal(t, http.StatusServiceUnavailable, status)
}

// The status of a node has the warnings of the vaults that it serves.
func TestNode_Warnings(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	token := n.grant("ann", "a")
	n.ask("a", token, "", initialize)
	v := n.opened()[0].service
	for _, name := range []string{"Plan.md", "Plan (conflict 2026-11-22 101500 ann@desk).md"} {
		require.NoError(t, os.WriteFile(filepath.Join(v.cfg.Vault.Path, name), []byte("text of "+name), 0o600))
	}
	require.NoError(t, v.vault.Reconcile(t.Context()))
	report, err := n.own.status(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Warnings, 1)
	assert.Contains(t, report.Warnings[0], "vault a: conflict copies of notes")
}

// A node is idle once the calls of its subjects have ended for a while.
func TestNode_Idle(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	token := n.grant("ann", "a", "b")
	for _, vault := range []string{"a", "b"} {
		_, header := n.ask(vault, token, "", initialize)
		assert.True(t, n.own.idle(time.Hour), "no vault was called")
		if vault == "b" {
			n.ask(vault, token, header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_notes","arguments":{}}}`)
		}
	}
	assert.False(t, n.own.idle(time.Hour))
	assert.True(t, n.own.idle(0))
}

// stream opens a session's stream of notifications.
func (n *testNode) stream(vault, token, session string) io.Reader {
	n.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v/{vault}/mcp", n.serve)
	server := httptest.NewServer(mux)
	n.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(n.Context(), http.MethodGet, server.URL+"/v/"+vault+"/mcp", nil)
	require.NoError(n, err)
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {session}}
	res, err := http.DefaultClient.Do(r)
	require.NoError(n, err)
	n.Cleanup(func() { require.NoError(n, res.Body.Close()) })
	require.Equal(n, http.StatusOK, res.StatusCode)
	return res.Body
}

// A stream that was opened with a token ends when the token is renewed, even if its subject
// uses the new one.
func TestNode_RenewedTokenEndsStreams(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	old := n.grant("ann", "a")
	_, header := n.ask("a", old, "", initialize)
	stream := n.stream("a", old, header.Get("Mcp-Session-Id"))
	token, err := n.db.RenewToken(t.Context(), "ann")
	require.NoError(t, err)
	status, _ := n.ask("a", token, "", initialize)
	require.Equal(t, http.StatusOK, status)
	n.check(t.Context())
	_, err = io.Copy(io.Discard, stream)
	require.NoError(t, err)
	status, _ = n.ask("a", old, "", initialize)
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = n.ask("a", token, "", initialize)
	assert.Equal(t, http.StatusOK, status)
}

func TestNode_SubscriptionsOutliveIt(t *testing.T) {
	address := pgtest.New(t).URL()
	n := newTestNode(t, address)
	token := n.grant("ann", "a")
	_, header := n.ask("a", token, "", initialize)
	session := header.Get("Mcp-Session-Id")
	n.ask("a", token, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	n.ask("a", token, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"create_note","arguments":{"path":"A.md","content":"one"}}}`)
	status, _ := n.ask("a", token, session, `{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"note:///A.md"}}`)
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, n.close())

	n = newTestNode(t, address)
	stream := bufio.NewScanner(n.stream("a", token, session))
	updated := func() bool {
		for stream.Scan() {
			if strings.Contains(stream.Text(), `"params":{"uri":"note:///A.md"}`) {
				return true
			}
		}
		return false
	}
	require.True(t, updated(), "the note may have changed while the node was away")
	n.ask("a", token, session, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"edit_note","arguments":{"note":"A.md","edits":[{"op":"append","content":"two"}]}}}`)
	require.True(t, updated())
}

// TestAVaultThatCannotBeOpened puts a file in place of the vault's state directory.
func TestAVaultThatCannotBeOpened(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	token := n.grant("ann", "a")
	state := n.configOf("a").State
	require.NoError(t, os.MkdirAll(filepath.Dir(state), 0o700))
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	status, _ := n.ask("a", token, "", initialize)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	require.NoError(t, os.Remove(state))
	status, _ = n.ask("a", token, "", initialize)
	assert.Equal(t, http.StatusOK, status)
}

// TestTokens_ValidWithoutDatabase stops the database: known tokens remain valid for a
// while.
func TestTokens_ValidWithoutDatabase(t *testing.T) {
	s := pgtest.Start(t)
	n := newTestNode(t, s.URL())
	token := n.grant("ann", "a")
	known, _, err := n.access.subject(t.Context(), token)
	require.NoError(t, err)
	assert.Equal(t, "ann", known.Name)
	_, _, err = n.access.subject(t.Context(), "guessed")
	require.ErrorIs(t, err, errToken)

	s.Kill()
	require.Error(t, n.access.refresh(t.Context()))
	_, _, err = n.access.subject(t.Context(), token)
	require.NoError(t, err)
	_, ok := n.access.bounds("a", mcp.Profile{})("ann")
	assert.True(t, ok)
	n.pass(5*time.Minute + time.Second)
	_, _, err = n.access.subject(t.Context(), token)
	require.Error(t, err)
	require.NotErrorIs(t, err, errToken, "it may be a good one")
	_, ok = n.access.bounds("a", mcp.Profile{})("ann")
	assert.False(t, ok, "its sessions end")

	s.Run()
	_, _, err = n.access.subject(t.Context(), token)
	require.NoError(t, err)
	require.NoError(t, n.db.RemoveSubject(t.Context(), "ann"))
	require.NoError(t, n.access.refresh(t.Context()))
	_, _, err = n.access.subject(t.Context(), token)
	require.ErrorIs(t, err, errToken)
	n.grant("bob", "a")
	n.pass(accessKeep + time.Second)
	n.access.forget()
	assert.Empty(t, n.access.known)
}

// TestMetricsText checks that Prometheus can parse the metrics.
func TestMetricsText(t *testing.T) {
	m := newMetrics()
	for range 3 {
		m.observe("read_note", 7*time.Millisecond, nil)
	}
	m.observe("read_note", time.Minute, errors.New("x"))
	m.observe("edit_note", 5*time.Millisecond, fmt.Errorf("x: %w", notes.ErrConflict))
	x := &exposition{}
	x.family("notesd_notes", "gauge", "Notes.")
	x.sample("notesd_notes", 2, "vault", "")
	x.sample("notesd_notes", 1.5, "vault", "a \"b\" \\ \n c", "empty", "", "other", "o")
	m.write(x)
	own, _, _ := strings.Cut(x.String(), "# HELP notesd_tool_calls")
	assert.Equal(t, `# HELP notesd_notes Notes.
# TYPE notesd_notes gauge
notesd_notes 2
notesd_notes{vault="a \"b\" \\ \n c",other="o"} 1.5
`, own)
	for _, line := range []string{
		`notesd_tool_calls_total{tool="edit_note",result="conflict"} 1`,
		`notesd_tool_calls_total{tool="read_note",result="error"} 1`,
		`notesd_tool_duration_seconds_bucket{tool="edit_note",le="0.005"} 1`,
		`notesd_tool_duration_seconds_bucket{tool="read_note",le="0.005"} 0`,
		`notesd_tool_duration_seconds_bucket{tool="read_note",le="0.01"} 3`,
		`notesd_tool_duration_seconds_bucket{tool="read_note",le="10"} 3`,
		`notesd_tool_duration_seconds_bucket{tool="read_note",le="+Inf"} 4`,
		`notesd_tool_duration_seconds_count{tool="read_note"} 4`,
		`notesd_tool_duration_seconds_sum{tool="edit_note"} 0.005`,
	} {
		assert.Contains(t, x.String(), line+"\n")
	}
	checkExposition(t, x.String())
}

var sampleLine = regexp.MustCompile(`^([a-z_]+?)(?:_bucket|_sum|_count)?(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (\S+)$`)

// checkExposition checks the grammar of the text format: a family's samples follow its
// type without interruption, and no series appears twice.
func checkExposition(t *testing.T, text string) {
	t.Helper()
	families, series, now := map[string]bool{}, map[string]bool{}, ""
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if fields := strings.Fields(line); fields[0] == "#" {
			if fields[1] == "TYPE" {
				now = fields[2]
				assert.False(t, families[now], line)
				families[now] = true
			}
			continue
		}
		parts := sampleLine.FindStringSubmatch(line)
		require.NotNil(t, parts, line)
		assert.Equal(t, now, parts[1], line)
		name := line[:strings.LastIndexByte(line, ' ')]
		assert.False(t, series[name], line)
		series[name] = true
	}
}

// TestReadiness queries a node while its database stops and starts again.
func TestReadiness(t *testing.T) {
	server := pgtest.Start(t)
	cfg := config.Default()
	cfg.State, cfg.Semantic.Provider, cfg.Store.Postgres = t.TempDir(), "off", config.Address(server.URL())
	cfg.Vault.Path = cfg.State + "/" + config.OwnFolder
	lock, err := lockState(t.Context(), &cfg)
	require.NoError(t, err)
	s := New(&cfg, &Logs{Logger: slog.New(slog.DiscardHandler)}, Watching)
	n, err := newNode(s)
	require.NoError(t, err)
	s.node.Store(n)
	defer func() { require.NoError(t, n.close()) }()
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		s.serveReady(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		return w.Code, w.Body.String()
	}
	status, text := ask()
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "being opened")
	require.NoError(t, s.RunLocked(t.Context(), lock, func(ctx context.Context) error {
		<-s.opened
		<-s.settled
		status, text := ask()
		assert.Equal(t, http.StatusOK, status, text)
		w := httptest.NewRecorder()
		s.serveMetrics(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
		checkExposition(t, w.Body.String())
		server.Kill()
		status, text = ask()
		assert.Equal(t, http.StatusServiceUnavailable, status)
		assert.Contains(t, text, "the database cannot be reached")
		server.Run()
		status, text = ask()
		assert.Equal(t, http.StatusOK, status, text)
		s.draining.Store(true)
		status, text = ask()
		assert.Equal(t, http.StatusServiceUnavailable, status)
		assert.Contains(t, text, "stopping")
		return nil
	}))
}

// TestReadiness_Shared checks that concurrent requests share one database query, and report a
// database that answers with an error unlike one that does not answer.
func TestReadiness_Shared(t *testing.T) {
	for err, reason := range map[error]string{errors.New("away"): "the database cannot be reached", pglog.ErrForeign: "the database refuses"} {
		synctest.Test(t, func(t *testing.T) {
			s, answer := &Service{}, make(chan []vaultState)
			go func() { _, _, _ = s.probing.Do("", func() (any, error) { return <-answer, nil }) }()
			synctest.Wait()
			w := httptest.NewRecorder()
			go s.serveReady(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			synctest.Wait()
			answer <- []vaultState{{open: true, err: err}}
			synctest.Wait()
			assert.Contains(t, w.Body.String(), reason)
		})
	}
}

// bearer adds a token to a client's requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAttachmentsOfOthers changes a picture on another node while a client watches it.
func TestAttachmentsOfOthers(t *testing.T) {
	n := newTestNode(t, pgtest.New(t).URL())
	token := n.grant("ann", "a")
	other := n.db.Log("a")
	commit := func(id string, changes ...notes.FileChange) {
		t.Helper()
		_, err := other.Commit(t.Context(), notes.Batch{ID: id, Kind: "edit", Author: notes.Author{Name: "bob"}, Changes: changes})
		require.NoError(t, err)
	}
	file := func(path, was, text string) notes.FileChange {
		c := notes.FileChange{Path: path, After: notes.Hash([]byte(text)), Data: []byte(text)}
		if was != "" {
			c.OldPath, c.Before = path, notes.Hash([]byte(was))
		}
		return c
	}
	commit("1", file("Plan.md", "", "![[Photo.png]]\n"), file("Photo.png", "", "one"))

	mux := http.NewServeMux()
	mux.HandleFunc("/v/{vault}/mcp", n.serve)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	updated := make(chan string, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "t"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL + "/v/a/mcp", HTTPClient: &http.Client{Transport: bearer(token)}}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	const photo = "note:///Photo.png"
	require.NoError(t, session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: photo}))
	commit("2", file("Photo.png", "one", "two"))
	assert.Equal(t, photo, <-updated)
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: photo})
	require.NoError(t, err)
	assert.Equal(t, "two", string(read.Contents[0].Blob))
}
