package mcp

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
)

// subjectsNode serves a vault like one of several nodes; the map contains the profiles of
// the subjects.
type subjectsNode struct {
	handler  *HTTP
	subjects map[string]Profile
}

// countingStore counts the calls of Subscribe.
type countingStore struct {
	SubscriptionStore
	subscribed atomic.Int64
}

func (s *countingStore) Subscribe(ctx context.Context, session, uri string) error {
	s.subscribed.Add(1)
	return s.SubscriptionStore.Subscribe(ctx, session, uri)
}

func newSubjectsNode(t *testing.T, core *Core, subjects map[string]Profile) *subjectsNode {
	h := NewSubjectHTTP(core)
	t.Cleanup(h.Close)
	return &subjectsNode{h, subjects}
}

func (n *subjectsNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	p, ok := n.subjects[name]
	if !ok {
		http.Error(w, "unknown", http.StatusUnauthorized)
		return
	}
	p.Subject = name
	n.handler.ServeMCP(w, r, p)
}

// asSubject is a client's transport that sends its subject to the current node.
type asSubject struct {
	name string
	node *atomic.Pointer[string] // its URL
}

func (a asSubject) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.name)
	url, err := r.URL.Parse(*a.node.Load())
	if err != nil {
		return nil, err
	}
	r.URL, r.Host = url, url.Host
	return http.DefaultTransport.RoundTrip(r)
}

func listen(t *testing.T, h http.Handler) *string {
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return &server.URL
}

func connectSubject(t *testing.T, name string, node *atomic.Pointer[string], o *sdk.ClientOptions) *sdk.ClientSession {
	return connectHTTP(t, &sdk.StreamableClientTransport{Endpoint: "http://team.example/v/t/mcp", HTTPClient: &http.Client{Transport: asSubject{name, node}}}, "2025-11-25", o)
}

func TestSubjectsWriteInTheirName(t *testing.T) {
	w := newRealWorld(t, realVault)
	var at atomic.Pointer[string]
	at.Store(listen(t, newSubjectsNode(t, w.core, map[string]Profile{"ann": {}})))
	ann := connectSubject(t, "ann", &at, nil)
	call[tools.CreateResult](t, ann, "create_note", args{"path": "New.md", "content": "new text"})
	history, text := call[tools.HistoryResult](t, ann, "note_history", args{"note": "New.md"})
	assert.Equal(t, "ann (tester 1)", history.Revisions[0].Author)
	assert.Contains(t, text, "ann (tester 1)")
	_, err := ann.ListResources(t.Context(), nil)
	require.NoError(t, err)
	clients := w.core.Clients()
	assert.Equal(t, "ann", clients[len(clients)-1].Subject)
}

// Every tool, resource and completion gives the same response for a note that the subject
// may not see as for one that does not exist.
func TestPathsOutsideOfGrantsDoNotExist(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Mine/A.md": "# A\n\nmine, with [[Secret]] and [[Absent]] #shared\n", "Mine/To Secret.md": "[[Secret]]\n", "Mine/To Absent.md": "[[Absent]]\n", "Hidden/Secret.md": "# Secret\n\n## Part\n\nhidden words #hidden\n\n- [ ] task\n"})
	var at atomic.Pointer[string]
	at.Store(listen(t, newSubjectsNode(t, w.core, map[string]Profile{"ann": {Read: []string{"Mine"}, Write: []string{"Mine"}}})))
	ann := connectSubject(t, "ann", &at, nil)
	ctx := t.Context()
	same := func(what string, ask func(note string) string) {
		t.Helper()
		hidden, absent := ask("Secret"), ask("Absent")
		assert.Equal(t, strings.ReplaceAll(absent, "Absent", "Secret"), hidden, what)
		assert.NotContains(t, hidden, "hidden", what)
	}
	for tool, arguments := range map[string]func(note string) args{
		"read_note":     func(n string) args { return args{"note": "Hidden/" + n + ".md"} },
		"note_links":    func(n string) args { return args{"note": "Hidden/" + n + ".md"} },
		"related_notes": func(n string) args { return args{"note": "Hidden/" + n + ".md"} },
		"note_history":  func(n string) args { return args{"note": "Hidden/" + n + ".md"} },
		"restore_note":  func(n string) args { return args{"note": "Hidden/" + n + ".md", "revision": 1} },
		"edit_note": func(n string) args {
			return args{"note": "Hidden/" + n + ".md", "edits": []args{{"op": "append", "content": "x"}}}
		},
		"delete_note":  func(n string) args { return args{"note": "Hidden/" + n + ".md"} },
		"move_note":    func(n string) args { return args{"note": "Hidden/" + n + ".md", "to": "Mine/B.md"} },
		"create_note":  func(n string) args { return args{"path": "Hidden/" + n + ".md", "content": "x"} },
		"search_notes": func(n string) args { return args{"query": n, "mode": "text", "folder": "Hidden"} },
		"list_notes":   func(string) args { return args{"folder": "Hidden"} },
		"list_tasks":   func(string) args { return args{"folder": "Hidden"} },
		"check_quotes": func(n string) args {
			return args{"quotes": []args{{"anchor": "Hidden/" + n + ".md:5", "quote": "words"}}}
		},
		"rename_tag": func(n string) args { return args{"tag": n, "to": "shown"} },
	} {
		same(tool, func(note string) string {
			res, err := ann.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments(note)})
			if err != nil {
				return err.Error()
			}
			structured := fmt.Sprint(res.StructuredContent)
			return fmt.Sprint(res.IsError, res.Content[0].(*sdk.TextContent).Text, structured)
		})
	}
	for _, filter := range []args{{"broken_links": true}, {"orphans": true}} {
		same(fmt.Sprint(filter), func(note string) string {
			list, _ := call[tools.ListResult](t, ann, "list_notes", filter)
			return fmt.Sprint(slices.ContainsFunc(list.Notes, func(n tools.ListedNote) bool { return n.Path == "Mine/To "+note+".md" }))
		})
	}
	_, gathered := call[tools.GatherResult](t, ann, "gather_context", args{"query": "secret hidden words and tasks"})
	assert.NotContains(t, gathered, "Hidden")
	links, _ := call[tools.LinksResult](t, ann, "note_links", args{"note": "Mine/A.md"})
	assert.Empty(t, links.Outgoing)
	require.Len(t, links.Unresolved, 2)
	links.Unresolved[0].Target = "Absent"
	assert.Equal(t, links.Unresolved[1], links.Unresolved[0])
	same("resource", func(note string) string {
		_, err := ann.ReadResource(ctx, &sdk.ReadResourceParams{URI: "note:///Hidden/" + note + ".md"})
		return err.Error()
	})
	same("subscription", func(note string) string {
		return fmt.Sprint(ann.Subscribe(ctx, &sdk.SubscribeParams{URI: "note:///Hidden/" + note + ".md"}))
	})
	same("completion", func(note string) string {
		res, err := ann.Complete(ctx, &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "note:///{+path}"}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: note[:3]}})
		require.NoError(t, err)
		return fmt.Sprint(res.Completion.Values)
	})
	for _, uri := range []string{"notes://recent", "notes://overview", "notes://tags/hidden"} {
		res, err := ann.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err)
		assert.NotContains(t, strings.ReplaceAll(res.Contents[0].Text, "tagged #hidden", ""), "idden", uri)
	}
	list, err := ann.ListResources(ctx, nil)
	require.NoError(t, err)
	for _, r := range list.Resources {
		assert.NotContains(t, r.URI, "Hidden")
	}
	note, err := w.vault.Read(ctx, "Hidden/Secret.md", notes.Scope{})
	require.NoError(t, err)
	assert.Contains(t, note.Content, "hidden words", "nothing has changed it")
}

// The id of a session is of no use with another subject's token.
func TestASessionIsItsSubjects(t *testing.T) {
	w := newRealWorld(t, realVault)
	node := newSubjectsNode(t, w.core, map[string]Profile{"ann": {}, "bob": {Read: []string{"Cellar"}, ReadOnly: true}})
	var at atomic.Pointer[string]
	at.Store(listen(t, node))
	ann := connectSubject(t, "ann", &at, nil)
	id := ann.ID()
	require.NotEmpty(t, id)
	ask := func(method, name string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, *at.Load(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		require.NoError(t, err)
		for key, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", headerSession: id, "Authorization": "Bearer " + name} {
			req.Header.Set(key, value)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	assert.Equal(t, http.StatusNotFound, ask(http.MethodPost, "bob"))
	assert.Equal(t, http.StatusNotFound, ask(http.MethodGet, "bob"))
	assert.Equal(t, http.StatusNotFound, ask(http.MethodDelete, "bob"))
	assert.Equal(t, http.StatusOK, ask(http.MethodPost, "ann"))
	id = "made-up"
	assert.Equal(t, http.StatusNotFound, ask(http.MethodPost, "ann"))
	assert.Equal(t, 1, node.handler.Sessions())
}

// A client can move from one node to another, and back.
func TestSessionsContinueElsewhere(t *testing.T) {
	w := newRealWorld(t, realVault)
	subjects := map[string]Profile{"ann": {}}
	nodes := []*subjectsNode{newSubjectsNode(t, w.core, subjects), newSubjectsNode(t, w.core, subjects)}
	urls := []*string{listen(t, nodes[0]), listen(t, nodes[1])}
	var at atomic.Pointer[string]
	at.Store(urls[0])
	ann := connectSubject(t, "ann", &at, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}})
	for round := range 4 {
		at.Store(urls[round%2])
		path := fmt.Sprintf("Round %d.md", round)
		call[tools.CreateResult](t, ann, "create_note", args{"path": path, "content": "new text"})
		history, _ := call[tools.HistoryResult](t, ann, "note_history", args{"note": path})
		assert.Equal(t, "ann (tester 1)", history.Revisions[0].Author, "the client is known")
	}
	assert.Equal(t, 1, nodes[1].handler.Sessions(), "one continues there, and not one for each request")
	require.NoError(t, ann.Close())
	require.Eventually(t, func() bool { return nodes[1].handler.Sessions() == 0 }, time.Minute, time.Millisecond)
}

// A subject's grants can be narrowed, widened and removed during a session.
func TestChangedGrants(t *testing.T) {
	w := newRealWorld(t, realVault)
	node := newSubjectsNode(t, w.core, map[string]Profile{"ann": {}})
	var at atomic.Pointer[string]
	at.Store(listen(t, node))
	ann := connectSubject(t, "ann", &at, nil)
	bound := func(p Profile, ok bool) {
		p.Subject = "ann"
		node.subjects = map[string]Profile{}
		if ok {
			node.subjects["ann"] = p
		}
		node.handler.Bound(func(string) (Profile, bool) { return p, ok })
	}
	call[tools.ReadResult](t, ann, "read_note", args{"note": "Garden/Tomatoes.md"})
	bound(Profile{Read: []string{"Cellar"}}, true)
	assert.Contains(t, refused(t, ann, "read_note", args{"note": "Garden/Tomatoes.md"}), "no such note")
	bound(Profile{}, true)
	call[tools.ReadResult](t, ann, "read_note", args{"note": "Garden/Tomatoes.md"})
	bound(Profile{}, true)
	assert.Positive(t, node.handler.Sessions(), "nothing has changed")
	bound(Profile{}, false)
	_, err := ann.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args{"note": "Garden/Tomatoes.md"}})
	require.Error(t, err)
	require.Eventually(t, func() bool { return node.handler.Sessions() == 0 }, time.Minute, time.Millisecond)
}

// No call is lost while sessions are being closed.
func TestCallsWhileGrantsChange(t *testing.T) {
	w := newRealWorld(t, realVault)
	node := newSubjectsNode(t, w.core, map[string]Profile{"ann": {}})
	var at atomic.Pointer[string]
	at.Store(listen(t, node))
	ann := connectSubject(t, "ann", &at, nil)
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				node.handler.Bound(func(string) (Profile, bool) { return Profile{Subject: "ann", ReadOnly: true}, true })
				runtime.Gosched()
			}
		}
	})
	for range 200 {
		call[tools.ReadResult](t, ann, "read_note", args{"note": "Garden/Tomatoes.md"})
	}
	close(stop)
	changing.Wait()
}

// Responses contain nothing by which a client would try to resume a call.
func TestAnInterruptedCallCannotBeResumed(t *testing.T) {
	w := newRealWorld(t, realVault)
	c := &httpClient{t: t, url: *listen(t, newSubjectsNode(t, w.core, map[string]Profile{testToken: {}}))}
	res := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	require.Equal(t, http.StatusOK, res.status)
	answer := res.text()
	assert.Contains(t, answer, "data: ")
	assert.NotContains(t, answer, "\nid: ")
}

// One subject's sessions do not use up another's limit.
func TestSubjectsHaveTheirOwnLimits(t *testing.T) {
	w := newRealWorld(t, realVault)
	node := newSubjectsNode(t, w.core, map[string]Profile{"ann": {}, "bob": {}})
	node.handler.o.sessions = 2
	var at atomic.Pointer[string]
	at.Store(listen(t, node))
	connectSubject(t, "ann", &at, nil)
	connectSubject(t, "ann", &at, nil)
	_, err := sdk.NewClient(&sdk.Implementation{Name: "third"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://team.example/", HTTPClient: &http.Client{Transport: asSubject{"ann", &at}}}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.Error(t, err)
	connectSubject(t, "bob", &at, nil)
}

func TestSessionIDs_TooLong(t *testing.T) {
	for _, id := range []string{"", "x", "x.", "x.!", "x.e30", "x." + strings.Repeat("e", resumableBytes)} {
		_, ok := introductionOf(id)
		assert.False(t, ok, "%.20q", id)
	}
}

// The stream of a session can be opened again before the server has noticed that the first
// one is lost.
func TestTheNewestStreamHolds(t *testing.T) {
	w := newRealWorld(t, realVault)
	url := *listen(t, newSubjectsNode(t, w.core, map[string]Profile{testToken: {}}))
	c := &httpClient{t: t, url: url}
	res := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	require.Equal(t, http.StatusOK, res.status)
	c.session = res.header.Get(headerSession)
	for range 3 {
		assert.Equal(t, http.StatusOK, c.do(t.Context(), http.MethodGet, "", nil).status)
	}
}

// A client of a node that opens no stream cannot be notified, which is not worth a warning.
func TestNotificationsWithoutAStream(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	node := newSubjectsNode(t, w.core, map[string]Profile{testToken: {}})
	c := &httpClient{t: t, url: *listen(t, node)}
	res := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	c.session = res.header.Get(headerSession)
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Contains(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}}`).text(), `"result":{}`)
	node.handler.mu.Lock()
	var out *sdkOutlet
	for s := range node.handler.sessions {
		out = newSDKOutlet(s)
	}
	node.handler.mu.Unlock()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); out.run(ended) }()
	out.notify(methodUpdated, &sdk.ResourceUpdatedNotificationParams{URI: "note:///Plan.md"})
	require.Eventually(t, func() bool {
		out.mu.Lock()
		defer out.mu.Unlock()
		return len(out.uris) == 0
	}, time.Minute, time.Millisecond)
	close(ended)
	<-done
	assert.Empty(t, w.log.String())

	events := bufio.NewScanner(c.do(t.Context(), http.MethodGet, "", nil).stream)
	w.save(t, "Plan.md", "changed")
	for !strings.Contains(events.Text(), methodUpdated) {
		require.True(t, events.Scan())
	}
}

// A client that watches a note moves to another node, where its session continues, and back
// to the first, which still has its session. Both know what it subscribed to on either.
func TestSubscriptionsOfSessionsThatContinue(t *testing.T) {
	w := newRealWorld(t, realVault)
	subjects := map[string]Profile{testToken: {}}
	counted := &countingStore{SubscriptionStore: w.core.opts.Subscriptions}
	w.core.opts.Subscriptions = counted
	var urls []string
	for range 2 {
		urls = append(urls, *listen(t, newSubjectsNode(t, w.core, subjects)))
	}
	first, second := urls[0], urls[1]
	c := &httpClient{t: t, url: first}
	res := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	c.session = res.header.Get(headerSession)
	c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	res = c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Empty.md"}}`, nil)
	require.Contains(t, res.text(), `"result":{}`)
	const listChanged, updated = "data: {\"jsonrpc\":\"2.0\",\"method\":\"" + methodListChanged, `"params":{"uri":"note:///Empty.md"}`
	await := func(lines *bufio.Reader, want string) string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			if strings.Contains(line, want) {
				return strings.TrimSpace(line)
			}
		}
	}
	stream := bufio.NewReader(c.do(t.Context(), http.MethodGet, "", nil).stream)
	w.write(t, "Empty.md", "one")
	w.vault.Changed([]string{"Empty.md"})
	await(stream, updated)

	c.url = second
	stream = bufio.NewReader(c.do(t.Context(), http.MethodGet, "", nil).stream)
	await(stream, listChanged)
	await(stream, updated)
	assert.EqualValues(t, 1, counted.subscribed.Load(), "what is restored is not stored once more")
	w.write(t, "Empty.md", "two")
	w.vault.Changed([]string{"Empty.md"})
	await(stream, updated)
	for method, uri := range map[string]string{"resources/subscribe": "note:///Garden/Tomatoes.md", "resources/unsubscribe": "note:///Empty.md"} {
		res = c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"uri":"`+uri+`"}}`, nil)
		require.Contains(t, res.text(), `"result":{}`)
	}
	stored, err := counted.Subscriptions(t.Context(), resumedAs{testToken, c.session}.key())
	require.NoError(t, err)
	assert.Equal(t, []string{"note:///Garden/Tomatoes.md"}, stored)

	c.url = first
	stream = bufio.NewReader(c.do(t.Context(), http.MethodGet, "", nil).stream)
	id := strings.TrimPrefix(await(stream, "id: "), "id: ")
	await(stream, listChanged)
	await(stream, `"params":{"uri":"note:///Garden/Tomatoes.md"}`)
	w.write(t, "Garden/Tomatoes.md", "changed")
	w.vault.Changed([]string{"Garden/Tomatoes.md"})
	await(stream, `"params":{"uri":"note:///Garden/Tomatoes.md"}`)
	res = c.do(t.Context(), http.MethodGet, "", http.Header{"Last-Event-Id": {id}})
	require.Equal(t, http.StatusOK, res.status)
	assert.NotContains(t, await(bufio.NewReader(res.stream), "id: "), id)
}
