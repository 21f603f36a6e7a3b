package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/notestest"
)

// subject is a client of a team's node with a token.
type subject struct {
	*testing.T
	token string
}

func (s subject) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens a session in a vault of the node at the origin.
func (s subject) connect(origin, vault string) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	return client.Connect(s.Context(), &sdk.StreamableClientTransport{Endpoint: origin + "/v/" + vault + "/mcp", HTTPClient: &http.Client{Transport: s}, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
}

func (s subject) session(origin, vault string) *sdk.ClientSession {
	s.Helper()
	session, err := s.connect(origin, vault)
	require.NoError(s, err)
	s.Cleanup(func() { _ = session.Close() })
	return session
}

// tool calls a tool and returns its text, and whether it failed.
func (s subject) tool(session *sdk.ClientSession, name string, args map[string]any) (string, bool) {
	s.Helper()
	res, err := session.CallTool(s.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	require.NoError(s, err, "%s %v", name, args)
	return res.Content[0].(*sdk.TextContent).Text, res.IsError
}

// origin returns the origin at which the place's daemon serves HTTP.
func (p place) origin(t *testing.T) string {
	t.Helper()
	return strings.TrimSuffix(p.report(t).Daemon.HTTP, "/mcp")
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// TestVaultsOfATeam uses two vaults on two nodes as several subjects, within their
// grants.
func TestVaultsOfATeam(t *testing.T) {
	t.Parallel()
	places := team(t, map[string]string{"Own.md": "own\n"}, nil)
	a, b := places[0], places[1]
	add := func(name string) subject {
		return subject{t, strings.TrimSpace(a.run(t, "team", "add", name))}
	}
	ann, bob := add("ann"), add("bob")
	a.run(t, "team", "grant", "--new", "ann", "research", "writer")
	a.run(t, "team", "grant", "--new", "ann", "Sales", "reader")
	out, err := a.command("team", "grant", "bob", "research/Plans", "reader").CombinedOutput()
	require.NoError(t, err)
	assert.Contains(t, string(out), `the vault research has no files in "Plans" yet`)
	assert.Equal(t, "ann  reader of Sales, writer of research\nbob  reader of research/Plans\n", a.run(t, "team", "list"))
	out, err = a.command("team", "grant", "bob", "reserch", "reader").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "no vault with that name")
	assert.Contains(t, string(out), "research")

	a.serve(t, "--http", "127.0.0.1:0")
	b.serve(t, "--http", "127.0.0.1:0")
	first, second := a.origin(t), b.origin(t)

	writing := ann.session(first, "research")
	text, failed := ann.tool(writing, "create_note", map[string]any{"path": "Plans/One.md", "content": "the first plan"})
	require.False(t, failed, text)
	_, failed = ann.tool(writing, "create_note", map[string]any{"path": "Salaries.md", "content": "hidden numbers"})
	require.False(t, failed)

	reading := bob.session(second, "research")
	eventually(t, "the other node has the note", func() bool { // a request waits only for a limited time
		text, failed = bob.tool(reading, "read_note", map[string]any{"note": "One"})
		return !failed
	})
	assert.Contains(t, text, "the first plan")
	text, _ = bob.tool(reading, "note_history", map[string]any{"note": "One"})
	assert.Contains(t, text, "by ann,", "the author, on another node")
	text, failed = bob.tool(reading, "read_note", map[string]any{"note": "Salaries"})
	assert.True(t, failed)
	assert.Contains(t, text, "no such note")
	tools, err := reading.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range tools.Tools {
		assert.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		assert.NotContains(t, tool.Name, "table")
	}
	text, failed = ann.tool(ann.session(second, "Sales"), "search_notes", map[string]any{"query": "plan"})
	assert.False(t, failed)
	assert.NotContains(t, text, "first plan", "of another vault")

	// A vault without a grant looks like one that does not exist.
	status, none := get(t, first+"/v/nothing/mcp", bob.token)
	assert.Equal(t, http.StatusNotFound, status)
	status, other := get(t, first+"/v/Sales/mcp", bob.token)
	assert.Equal(t, http.StatusNotFound, status)
	assert.Equal(t, none, other)
	for _, token := range []string{"", "guessed", strings.TrimSpace(readFile(t, filepath.Join(a.state, "http-token")))} {
		status, _ = get(t, first+"/v/research/mcp", token)
		assert.Equal(t, http.StatusUnauthorized, status)
	}
	status, _ = get(t, strings.TrimSuffix(first, "/")+"/mcp", ann.token)
	assert.Equal(t, http.StatusUnauthorized, status, "a subject's token is none of the owner")

	// Changed grants and revoked tokens take effect in open sessions.
	a.run(t, "team", "grant", "bob", "research", "reader")
	eventually(t, "bob may read all", func() bool {
		_, failed := bob.tool(reading, "read_note", map[string]any{"note": "Salaries"})
		return !failed
	})
	a.run(t, "team", "ungrant", "bob", "research")
	eventually(t, "bob may not read all", func() bool {
		_, failed := bob.tool(reading, "read_note", map[string]any{"note": "Salaries"})
		return failed
	})
	a.run(t, "team", "revoke", "bob")
	eventually(t, "bob is refused", func() bool {
		_, err := reading.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_notes", Arguments: map[string]any{}})
		return err != nil
	})
	eventually(t, "the other node refuses bob too", func() bool {
		status, _ := get(t, first+"/v/research/mcp", bob.token)
		return status == http.StatusUnauthorized
	})
	old := ann.token
	ann.token = strings.TrimSpace(a.run(t, "team", "renew", "ann"))
	ann.session(first, "research")
	eventually(t, "the old token is void", func() bool {
		status, _ := get(t, first+"/v/research/mcp", old)
		return status == http.StatusUnauthorized
	})

	// Only the owner may read metrics; readiness is public.
	status, _ = get(t, first+"/metrics", "")
	assert.Equal(t, http.StatusUnauthorized, status)
	status, text = get(t, first+"/metrics", strings.TrimSpace(readFile(t, filepath.Join(a.state, "http-token"))))
	require.Equal(t, http.StatusOK, status)
	for _, line := range []string{`notesd_tool_calls_total{tool="create_note",result="ok"} 2`, `notesd_feed_lag_versions{vault="research"} 0`, `notesd_notes{vault="research"} 2`, `notesd_log_up 1`} {
		assert.Contains(t, text, line+"\n")
	}
	status, text = get(t, first+"/readyz", "")
	assert.Equal(t, http.StatusOK, status, text)
	assert.DirExists(t, filepath.Join(a.state, "vaults", "research", "notes", "Plans"))
	assert.DirExists(t, filepath.Join(b.state, "vaults", "%53ales"))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// balancer sends requests to the first node that is ready, like a proxy with /readyz as
// its health check.
type balancer []string

func (nodes balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, origin := range nodes {
		if !ready(r.Context(), origin) {
			continue
		}
		target, _ := url.Parse(origin)
		proxy := &httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) { pr.SetURL(target) }, FlushInterval: -1}
		proxy.ServeHTTP(w, r)
		return
	}
	http.Error(w, "no node is ready", http.StatusBadGateway)
}

// serveBalancer starts a balancer for the nodes and returns its origin.
func serveBalancer(t *testing.T, nodes []string) string {
	front := httptest.NewServer(balancer(nodes))
	t.Cleanup(front.Close)
	return front.URL
}

// serveCaddy starts Caddy for the nodes, configured as in the example, and returns its
// origin.
func serveCaddy(t *testing.T, nodes []string) string {
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("SKIPPED: Caddy is not installed (apt-get install caddy)")
	}
	file := readFile(t, filepath.Join(notestest.Root(t), "examples", "team", "Caddyfile"))
	for i, origin := range nodes {
		file = strings.ReplaceAll(file, fmt.Sprintf("node%d:8931", i+1), strings.TrimPrefix(origin, "http://"))
	}
	free := httptest.NewUnstartedServer(nil)
	origin := "http://" + free.Listener.Addr().String()
	free.Close()
	dir := notestest.Vault(t, map[string]string{"Caddyfile": "{\n\tadmin off\n}\n" + file})
	front := exec.Command(caddy, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	front.Env = append(os.Environ(), "NOTES_HOST="+origin, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	require.NoError(t, front.Start())
	t.Cleanup(func() { _ = front.Process.Kill(); _ = front.Wait() })
	eventually(t, "a node is reached through Caddy", func() bool {
		res, err := http.Get(origin + "/v/nothing/mcp")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusUnauthorized
	})
	return origin
}

// ready reports whether a node is ready.
func ready(ctx context.Context, origin string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// nodePair serves a vault from two nodes behind a proxy.
type nodePair struct {
	*testing.T
	places  []place
	origins []string
	running [2]*exec.Cmd
	front   string  // origin of the proxy
	ann     subject // has write access
}

func newNodePair(t *testing.T, front func(t *testing.T, nodes []string) string) *nodePair {
	t.Helper()
	n := &nodePair{T: t, places: team(t, nil, nil)}
	n.ann = subject{t, strings.TrimSpace(n.places[0].run(t, "team", "add", "ann"))}
	n.places[0].run(t, "team", "grant", "--new", "ann", "research", "writer")
	for i, p := range n.places {
		n.running[i] = p.serve(t, "--http", ownAddress())
		n.origins = append(n.origins, p.origin(t))
		eventually(t, "the node is ready", func() bool { return ready(t.Context(), n.origins[i]) })
	}
	n.front = front(t, n.origins)
	return n
}

// restart stops a node, runs work while it shuts down, and starts it again.
func (n *nodePair) restart(i int, work func()) {
	n.Helper()
	isReady := func() bool { return ready(n.Context(), n.origins[i]) }
	require.NoError(n, terminate(n.running[i].Process.Pid))
	eventually(n, "the node is not ready", func() bool { return !isReady() })
	work()
	assert.Equal(n, 0, ended(n, n.running[i]))
	n.running[i] = n.places[i].serve(n, "--http", strings.TrimPrefix(n.origins[i], "http://"))
	eventually(n, "the node is ready", isReady)
}

// TestRollingRestart restarts both nodes that a client uses: no call fails, and the
// session continues on the other node.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]func(*testing.T, []string) string{"any proxy": serveBalancer, "Caddy": serveCaddy} {
		t.Run(name, func(t *testing.T) { restartBoth(t, newNodePair(t, front)) })
	}
}

func restartBoth(t *testing.T, n *nodePair) {
	ann := n.ann
	session := ann.session(n.front, "research")

	const calls = 10
	write := func(from int) {
		for n := range calls {
			text, failed := ann.tool(session, "create_note", map[string]any{"path": fmt.Sprintf("%d.md", from+n), "content": "text"})
			require.False(t, failed, text)
		}
	}
	write(0)
	n.restart(0, func() { write(calls) })
	n.restart(1, func() { write(2 * calls) })
	var list struct{ Total int }
	eventually(t, "all are there", func() bool {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_notes", Arguments: map[string]any{"limit": 1}})
		require.NoError(t, err)
		data, err := json.Marshal(res.StructuredContent)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &list))
		return list.Total >= 3*calls
	})
	assert.Equal(t, 3*calls, list.Total, "none twice")
}

// TestTypeScriptClientMoves moves a client of the TypeScript SDK to another node.
func TestTypeScriptClientMoves(t *testing.T) {
	clients := filepath.Join(notestest.Root(t), ".ci", "clients")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(clients, "node_modules", "@modelcontextprotocol", "sdk")); err != nil || missing != nil {
		t.Skip("SKIPPED: Node, or the TypeScript SDK (npm ci in .ci/clients), is not installed")
	}
	n := newNodePair(t, serveBalancer)
	client := exec.Command(node, "moves.mjs")
	client.Dir, client.Env = clients, append(os.Environ(), "URL="+n.front+"/v/research/mcp", "TOKEN="+n.ann.token)
	var stderr quietBuffer
	client.Stderr = &stderr
	in, err := client.StdinPipe()
	require.NoError(t, err)
	out, err := client.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, client.Start())
	t.Cleanup(func() { _ = client.Process.Kill() })
	lines := bufio.NewScanner(out)
	write := func(path string) {
		t.Helper()
		_, err := io.WriteString(in, path+"\n")
		require.NoError(t, err)
		require.True(t, lines.Scan(), "%s", &stderr)
		assert.Equal(t, "made "+path, lines.Text())
	}
	write("1.md")
	n.restart(0, func() { write("2.md") })
	write("3.md")
	require.NoError(t, in.Close())
	require.NoError(t, client.Wait(), "%s", &stderr)
}

// TestTeamCommandsOfTheDocs runs the commands in the documentation.
func TestTeamCommandsOfTheDocs(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	for _, page := range []string{"team.md", "how-to/team-server.md"} {
		t.Run(page, func(t *testing.T) {
			p := team(t, nil)[0]
			ran := 0
			for line := range strings.Lines(readFile(t, filepath.Join(notestest.Root(t), "docs", page))) {
				if args := strings.Fields(line); len(args) > 2 && args[0] == "notesd" && args[1] == "team" {
					p.run(t, args[1:]...)
					ran++
				}
			}
			assert.Positive(t, ran)
			assert.Contains(t, p.run(t, "team", "list"), "ann  writer of research\n")
		})
	}
}

// TestComposeExample loads the settings and the command of the nodes in the example like
// the program.
func TestComposeExample(t *testing.T) {
	folder := filepath.Join(notestest.Root(t), "examples", "team")
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(readFile(t, filepath.Join(folder, "compose.yaml"))), &file))
	nodes := 0
	for name, s := range file.Services {
		if s.Image != "notesd" {
			continue
		}
		nodes++
		root := newApp(os.Stdin, os.Stdout, os.Stderr).rootCommand()
		cmd, args, err := root.Find(s.Command)
		require.NoError(t, err)
		require.NoError(t, cmd.ParseFlags(args))
		require.Equal(t, "serve", cmd.Name())
		var env []string
		for key, value := range s.Environment {
			value = os.Expand(value, func(variable string) string {
				return strings.TrimLeft(variable[strings.LastIndexAny(variable, ":")+1:], "-?")
			})
			env = append(env, key+"="+value)
		}
		loaded, err := config.Load(config.Sources{Env: env, Flags: cmd.Flags()})
		require.NoError(t, err, name)
		assert.Empty(t, loaded.Unknown)
		assert.True(t, loaded.Config.HasOwnFolder(), name)
		assert.Equal(t, "0.0.0.0:8931", loaded.Config.HTTP.Addr)
		assert.Contains(t, readFile(t, filepath.Join(folder, "Caddyfile")), name+":8931")
	}
	assert.Equal(t, 2, nodes)
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("SKIPPED: Caddy is not installed (apt-get install caddy); the Caddyfile is not checked")
	}
	check := exec.Command(caddy, "validate", "--adapter", "caddyfile", "--config", filepath.Join(folder, "Caddyfile"))
	check.Env = append(os.Environ(), "NOTES_HOST=notes.example.org", "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestNodeMemory opens vaults of 20 notes on a node and logs the memory used.
//
//	VAULTS=100 go test -run NodeMemory -v ./cmd/notesd
func TestNodeMemory(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	vaults := envInt(t, "VAULTS", 2)
	p := team(t, nil)[0]
	if os.Getenv("VAULTS") != "" { // tests use none otherwise
		p.env = append(p.env, "NOTESD_SEMANTIC_PROVIDER=builtin")
	}
	ann := subject{t, strings.TrimSpace(p.run(t, "team", "add", "ann"))}
	node := p.serve(t, "--http", "127.0.0.1:0")
	origin := p.origin(t)
	held := func() string {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", node.Process.Pid))
		if err != nil {
			return "not known on this system"
		}
		_, rest, _ := strings.Cut(string(data), "RssAnon:")
		anonymous, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		return anonymous
	}
	t.Logf("without: %s", held())
	for n := 1; n <= vaults; n++ {
		vault := fmt.Sprintf("vault%d", n)
		p.run(t, "team", "grant", "--new", "ann", vault, "writer")
		var session *sdk.ClientSession // open once the node has reloaded the grants
		eventually(t, "the grant holds", func() (ok bool) {
			var err error
			session, err = ann.connect(origin, vault)
			return err == nil
		})
		for note := range 20 {
			_, failed := ann.tool(session, "create_note", map[string]any{"path": fmt.Sprintf("%d.md", note), "content": strings.Repeat("some words of a note, ", 50)})
			require.False(t, failed)
		}
		_, failed := ann.tool(session, "search_notes", map[string]any{"query": "words"})
		require.False(t, failed)
		require.NoError(t, session.Close())
		if n == 1 || n == 10 || n == vaults {
			t.Logf("%d vaults: %s", n, held())
		}
	}
	status, text := get(t, origin+"/metrics", strings.TrimSpace(readFile(t, filepath.Join(p.state, "http-token"))))
	require.Equal(t, http.StatusOK, status)
	_, open, _ := strings.Cut(text, "\nnotesd_vaults_open ")
	open, _, _ = strings.Cut(open, "\n")
	t.Logf("open now, one of them the own: %s", open) // idle vaults may have been closed meanwhile
	assert.NotEmpty(t, open)
}
