package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/prompts"
	"notesd/search"
	"notesd/search/index"
	"notesd/vectors/table"
)

// realWorld is the core over a vault on disk with its store and index, wired as in cmd, and
// an SDK client.
type realWorld struct {
	root    string
	vault   *vault.Vault
	core    *Core
	session *sdk.ClientSession
	updated chan string // URIs of resources/updated
	listed  chan struct{}
}

// newRealTables is newRealWorld with vector tables.
func newRealTables(t testing.TB, files map[string]string) *realWorld {
	w := newRealWorld(t, files)
	tables := table.New(w.vault.Store().History(), t.TempDir(), nil, table.Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	o := w.core.opts
	o.Tables = tables
	w.core = New(o)
	w.session = w.client(t, Profile{Tools: []string{groupAll}}, nil)
	return w
}

func newRealWorld(t testing.TB, files map[string]string) *realWorld {
	return newRealWorldThat(t, files, nil)
}

// newRealWorldThat calls before, if not nil, before the vault is scanned.
func newRealWorldThat(t testing.TB, files map[string]string, before func(*realWorld)) *realWorld {
	return newRealWorldAt(t, files, nil, before)
}

// newRealWorldAt is newRealWorldThat with a clock.
func newRealWorldAt(t testing.TB, files map[string]string, now func() time.Time, before func(*realWorld)) *realWorld {
	ctx := t.Context()
	w := &realWorld{root: t.TempDir(), updated: make(chan string, 100), listed: make(chan struct{}, 100)}
	for p, text := range files {
		w.write(t, p, text)
	}
	state := t.TempDir()
	store, err := store.Open(ctx, state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w.vault, err = vault.New(ctx, store, w.root, vault.Options{Now: now, MaxNoteBytes: 1 << 20})
	require.NoError(t, err)
	index, err := index.Open(ctx, filepath.Join(state, "index"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, index.Close()) })
	w.vault.Follow(index)
	engine := search.NewEngine(store, index, nil, search.EngineOptions{})
	w.core = New(Options{
		Version: "test", Title: "Real", Vault: w.vault, History: w.vault.History(), Search: engine, Now: now,
		Subscriptions: store.Versions,
		Profile:       Profile{Settings: Settings{Prompts: prompts.New(prompts.Options{Notes: w.vault, Search: PromptSearch{Engine: engine}, Folder: "Prompts", Now: now})}},
	})
	head := store.Head()
	notifier := NewNotifier(w.core, notes.Position{Store: store.ID(), Seq: head})
	w.vault.Follow(notifier)
	w.background(t, notifier.Run)
	if before != nil {
		before(w)
	}
	w.background(t, w.vault.Run)
	require.Eventually(t, w.vault.Ready, time.Minute, time.Millisecond)
	w.session = w.client(t, Profile{Tools: []string{groupAll}}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { w.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			w.listed <- struct{}{}
		},
	})
	return w
}

// background runs a function until the test ends.
func (w *realWorld) background(t testing.TB, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

func (w *realWorld) client(t testing.TB, p Profile, o *sdk.ClientOptions) *sdk.ClientSession {
	server, client := net.Pipe()
	w.background(t, func(ctx context.Context) error { return w.core.ServeLines(ctx, server, server, p) })
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "2"}, o)
	session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: client, Writer: client}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// within calls a tool and checks that both forms of its result keep the limit, and that the
// structured one has the remark on the ignored argument.
func within[T any](t *testing.T, w *realWorld, limit int, tool string, args map[string]any) T {
	t.Helper()
	args["curious"] = true
	res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	text := res.Content[0].(*sdk.TextContent).Text
	require.False(t, res.IsError, text)
	data, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(text), limit, "%s: text", tool)
	assert.LessOrEqual(t, len(data), limit, "%s: structuredContent", tool)
	assert.Contains(t, text, `ignored the unknown argument "curious"`)
	assert.Contains(t, string(data), `ignored the unknown argument \"curious\"`, tool)
	var out T
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func (w *realWorld) write(t testing.TB, p, text string) {
	file := filepath.Join(w.root, filepath.FromSlash(p))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// call calls a tool that must succeed, and checks its result against the published schema.
func call[T any](t testing.TB, s *sdk.ClientSession, tool string, args map[string]any) (out T, text string) {
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	text = res.Content[0].(*sdk.TextContent).Text
	require.False(t, res.IsError, text)
	data, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	if t, ok := t.(*testing.T); ok {
		checkOutput(t, tools.Find(tool), out)
	}
	return out, text
}

var realVault = map[string]string{
	"Garden/Tomatoes.md": "---\ntags: [garden]\nstatus: open\n---\n# Tomatoes\n\nPlant them in May. See [[Snails]].\n",
	"Garden/Snails.md":   "# Snails\n\nThey eat all of it, every plant. [[Nowhere]]\n",
	"Über.md":            "Etwas über #Käse\n",
	"Empty.md":           "",
}

func TestRealVault(t *testing.T) {
	w := newRealWorld(t, realVault)
	s := w.session

	found, _ := call[tools.SearchResult](t, s, "search_notes", map[string]any{"query": "tomato plants", "explain": true})
	require.NotEmpty(t, found.Results)
	assert.Equal(t, "Garden/Tomatoes.md", found.Results[0].Path)
	assert.Equal(t, 1, found.Results[0].Why.TextRank)

	read, _ := call[tools.ReadResult](t, s, "read_note", map[string]any{"note": "Tomatoes"})
	assert.Equal(t, realVault["Garden/Tomatoes.md"], read.Content)
	assert.Equal(t, "open", read.FrontMatter["status"])

	list, _ := call[tools.ListResult](t, s, "list_notes", map[string]any{"where": map[string]any{"status": "open"}})
	assert.Equal(t, 1, list.Total)

	links, _ := call[tools.LinksResult](t, s, "note_links", map[string]any{"note": "Snails"})
	require.Len(t, links.Backlinks, 1)
	assert.Equal(t, "Garden/Tomatoes.md", links.Backlinks[0].Path)
	require.Len(t, links.Unresolved, 1)

	related, _ := call[tools.RelatedResult](t, s, "related_notes", map[string]any{"note": "Tomatoes"})
	require.NotEmpty(t, related.Related)
	assert.Equal(t, "Garden/Snails.md", related.Related[0].Path)

	related, _ = call[tools.RelatedResult](t, s, "related_notes", map[string]any{"text": "all snails and every tomato"})
	require.Len(t, related.Related, 2)
	assert.Equal(t, []string{"shares the word snails"}, related.Related[0].Reasons)
	related, _ = call[tools.RelatedResult](t, s, "related_notes", map[string]any{"text": "every cucumber, all of them"})
	assert.Empty(t, related.Related)

	overview, text := call[tools.Overview](t, s, "vault_overview", nil)
	assert.Equal(t, 4, overview.Notes)
	assert.Contains(t, text, "4 notes in 2 folders")

	gathered, _ := call[tools.GatherResult](t, s, "gather_context", map[string]any{"query": "who eats tomatoes"})
	assert.NotEmpty(t, gathered.Passages)
}

// Links to missing headings, blocks and notes are reported from both ends.
func TestRealBrokenAnchors(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "[[B#Shoping]] [[B#^x]] [[Gone#Plan]]\n", "B.md": "# Shopping\n"})
	links, text := call[tools.LinksResult](t, w.session, "note_links", map[string]any{"note": "A"})
	unresolved, err := json.Marshal(links.Unresolved)
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"target": "B", "line": 1, "missing": "anchor", "path": "B.md", "anchor": "Shoping", "near": ["Shopping"]},
		{"target": "B", "line": 1, "missing": "anchor", "path": "B.md", "anchor": "^x"},
		{"target": "Gone", "line": 1, "missing": "note", "anchor": "Plan"}
	]`, string(unresolved))
	assert.Contains(t, text, "?? B#Shoping, line 1 (B.md has no #Shoping; near: Shopping)")
	assert.Contains(t, text, "?? B#^x, line 1 (B.md has no #^x)")
	assert.Contains(t, text, "?? Gone#Plan, line 1\n")

	links, text = call[tools.LinksResult](t, w.session, "note_links", map[string]any{"note": "B"})
	require.Len(t, links.Backlinks, 2)
	assert.Equal(t, "#Shoping", links.Backlinks[0].Missing)
	assert.Contains(t, text, "(broken: no #^x)")

	list, _ := call[tools.ListResult](t, w.session, "list_notes", map[string]any{"broken_links": true})
	assert.Equal(t, 1, list.Total)
}

// Text written through a tool is found by the next search, and every change to a note can be
// undone.
func TestRealWrites(t *testing.T) {
	w := newRealWorld(t, realVault)
	s := w.session

	created, _ := call[tools.CreateResult](t, s, "create_note", map[string]any{"title": "Beans: a/b?", "content": "Climbing kind.", "tags": "garden"})
	found, _ := call[tools.SearchResult](t, s, "search_notes", map[string]any{"query": "climbing"})
	require.NotEmpty(t, found.Results)
	assert.Equal(t, created.Path, found.Results[0].Path)
	onDisk, err := os.ReadFile(filepath.Join(w.root, created.Path))
	require.NoError(t, err)
	assert.Contains(t, string(onDisk), "Climbing kind.")

	edited, _ := call[tools.WriteResult](t, s, "edit_note", map[string]any{
		"note": created.URI, "expected_hash": created.Hash,
		"edits": []any{map[string]any{"op": "replace_text", "old": "Climbing", "new": "Dwarf"}, map[string]any{"op": "set_front_matter", "key": "tags", "value": nil}},
	})
	assert.Contains(t, edited.Diff, "+Dwarf kind.")

	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: map[string]any{
		"note": created.URI, "expected_hash": created.Hash, "edits": []any{map[string]any{"op": "append", "content": "x"}},
	}})
	require.NoError(t, err)
	require.True(t, res.IsError)
	assert.Contains(t, res.Content[0].(*sdk.TextContent).Text, "hash now: "+notes.ShortHash(edited.Hash)+"\n")

	moved, _ := call[tools.MoveResult](t, s, "move_note", map[string]any{"note": "Snails", "to": "Pests/Slugs.md"})
	assert.Equal(t, []string{"Garden/Tomatoes.md"}, moved.Relinked)

	deleted, _ := call[tools.DeleteResult](t, s, "delete_note", map[string]any{"note": created.Path})
	_, err = os.Stat(filepath.Join(w.root, created.Path))
	require.ErrorIs(t, err, os.ErrNotExist)

	history, _ := call[tools.HistoryResult](t, s, "note_history", map[string]any{"note": created.Path})
	operations := make([]string, len(history.Revisions))
	for i, r := range history.Revisions {
		operations[i] = r.Operation
		assert.Equal(t, "tester 2", r.Author)
	}
	assert.Equal(t, []string{"delete", "edit", "create"}, operations)
	assert.Equal(t, deleted.Revision, history.Revisions[0].Revision)

	restored, _ := call[tools.WriteResult](t, s, "restore_note", map[string]any{"note": created.Path, "revision": history.Revisions[1].Revision})
	assert.Equal(t, edited.Hash, restored.Hash)
}

// A note saved in an editor is announced to the clients that watch it, and the list of
// notes to all.
func TestRealNotifications(t *testing.T) {
	w := newRealWorld(t, realVault)
	ctx := t.Context()
	require.NoError(t, w.session.Subscribe(ctx, &sdk.SubscribeParams{URI: "note:///%C3%9Cber.md"}))
	require.NoError(t, w.session.Subscribe(ctx, &sdk.SubscribeParams{URI: "notes://tags/garden"}))
	w.write(t, "Über.md", "etwas anderes\n")
	w.vault.Changed([]string{"Über.md"})
	assert.Equal(t, "note:///%C3%9Cber.md", <-w.updated)
	res, err := w.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "note:///%C3%9Cber.md"})
	require.NoError(t, err)
	assert.Equal(t, "etwas anderes\n", res.Contents[0].Text)

	w.write(t, "Garden/Peas.md", "#garden\n")
	w.vault.Changed([]string{"Garden/Peas.md"})
	assert.Equal(t, "notes://tags/garden", <-w.updated)
	<-w.listed
	res, err = w.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "notes://tags/garden"})
	require.NoError(t, err)
	assert.Contains(t, res.Contents[0].Text, "(note:///Garden/Peas.md)")
}

// All notes can be listed page by page, each read byte for byte.
func TestRealResources(t *testing.T) {
	files := map[string]string{}
	for i := range 1203 {
		files[fmt.Sprintf("Folder %d/Nöte %d.md", i%7, i)] = fmt.Sprintf("note\r\n%d\x01\n", i)
	}
	w := newRealWorld(t, files)
	var uris []string
	for r, err := range w.session.Resources(t.Context(), nil) {
		require.NoError(t, err)
		uris = append(uris, r.URI)
	}
	listed, distinct := len(uris), len(slices.Compact(slices.Sorted(slices.Values(uris)))) // the lists are too long to be printed
	assert.Equal(t, len(files)+len(fixedResources), listed)
	assert.Equal(t, listed, distinct, "a note was listed twice")
	for _, uri := range uris[len(fixedResources) : len(fixedResources)+20] {
		res, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err)
		p, err := notes.ParseURI(uri)
		require.NoError(t, err)
		assert.Equal(t, files[p], res.Contents[0].Text)
	}
}

// A client that can ask its user is asked before deletions.
func TestRealDeletionAsks(t *testing.T) {
	w := newRealWorld(t, realVault)
	answer := make(chan string, 1)
	asked := make(chan string, 1)
	s := w.client(t, Profile{}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params.Message
			return &sdk.ElicitResult{Action: <-answer}, nil
		},
	})
	answer <- "decline"
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_note", Arguments: map[string]any{"note": "Empty"}})
	require.NoError(t, err)
	require.True(t, res.IsError)
	assert.Contains(t, <-asked, `Delete the note "Empty.md"?`)
	assert.Contains(t, res.Content[0].(*sdk.TextContent).Text, "the user did not agree")
	answer <- "accept"
	deleted, _ := call[tools.DeleteResult](t, s, "delete_note", map[string]any{"note": "Empty"})
	assert.Equal(t, "Empty.md", deleted.Path)

	links := w.client(t, Profile{}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}},
	}})
	deleted, _ = call[tools.DeleteResult](t, links, "delete_note", map[string]any{"note": "Über"})
	assert.Equal(t, "Über.md", deleted.Path, "a client that only opens addresses cannot ask")
}

// Scopes apply to tools, resources, prompts and completions.
func TestRealScope(t *testing.T) {
	w := newRealWorld(t, realVault)
	s := w.client(t, Profile{Read: []string{"Garden"}}, nil)
	list, _ := call[tools.ListResult](t, s, "list_notes", nil)
	assert.Equal(t, 2, list.Total)
	found, _ := call[tools.SearchResult](t, s, "search_notes", map[string]any{"query": "Käse"})
	assert.Empty(t, found.Results)
	for _, args := range []map[string]any{{"note": "Über"}, {"note": "note:///%C3%9Cber.md"}, {"note": "../" + filepath.Base(w.root) + "/Über.md"}} {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args})
		require.NoError(t, err)
		assert.True(t, res.IsError)
	}
	_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///%C3%9Cber.md"})
	require.ErrorContains(t, err, "not found")
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_note", Arguments: map[string]any{"title": "Out", "content": "x"}})
	require.NoError(t, err)
	assert.True(t, res.IsError)
	prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_notes"})
	require.NoError(t, err)
	assert.Len(t, prompt.Messages, 2+2)
	values, err := s.Complete(t.Context(), &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: noteTemplate.URITemplate},
		Argument: sdk.CompleteParamsArgument{Name: "path"},
	})
	require.NoError(t, err)
	for _, v := range values.Completion.Values {
		assert.True(t, strings.HasPrefix(v, "Garden/"), v)
	}
}

// The user's prompts are in the first list, even of a vault that has not been scanned;
// their searches support operators and do not find the prompts themselves.
func TestRealPrompts(t *testing.T) {
	files := map[string]string{
		"Prompts/week.md":     "---\narguments: [topic]\n---\nBoats: {{search \"tag:boat after:2026-02-01\"}} {{search topic}}",
		"Prompts/broken.md":   "---\ndescription: [\n---\nTell me of boats.",
		"Daily/2026-02-16.md": "Sanded the #boat.",
		"Daily/2026-01-16.md": "Bought a #boat.",
		"Rye.md":              "boats after rye, tag:boat",
	}
	w := newRealWorldThat(t, files, func(w *realWorld) {
		list, err := w.client(t, Profile{}, nil).ListPrompts(t.Context(), nil)
		require.NoError(t, err)
		var names []string
		for _, p := range list.Prompts {
			names = append(names, p.Name)
		}
		assert.Subset(t, names, []string{"week", "broken"})
	})
	get := func(name string, args map[string]string) (uris []string) {
		res, err := w.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
		require.NoError(t, err)
		for _, m := range res.Messages {
			if r, ok := m.Content.(*sdk.EmbeddedResource); ok {
				uri, _, _ := strings.Cut(r.Resource.URI, "?rev=")
				uris = append(uris, uri)
			}
		}
		return uris
	}
	assert.Equal(t, []string{"note:///Daily/2026-02-16.md"}, get("week", nil))
	assert.Equal(t, []string{"note:///Daily/2026-02-16.md", "note:///Rye.md"}, get("week", map[string]string{"topic": "rye"}))
	assert.Equal(t, []string{"note:///Daily/2026-02-16.md"}, get("daily_review", map[string]string{"date": "2026-02-16"}))
	assert.NotContains(t, get("summarize_notes", nil), "note:///Prompts/week.md")
	assert.Len(t, get("summarize_notes", map[string]string{"folder": "Prompts"}), 2)

	overview, text := call[tools.Overview](t, w.session, "vault_overview", nil)
	require.Len(t, overview.Warnings, 1)
	assert.Contains(t, overview.Warnings[0], `the prompt "Prompts/broken.md": its front matter is broken`)
	assert.Contains(t, text, overview.Warnings[0])

	_, err := w.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_note", Arguments: map[string]string{"note": "Rye", "heading": "Oats"}})
	require.ErrorContains(t, err, `there is no heading "Oats"`)
}

// Both forms of every result keep the limit on results, and what they omit can be
// requested. Some hosts show a model only the structured form, in which the URIs of Chinese
// names take up most.
func TestRealResultsKeepTheirLimit(t *testing.T) {
	const limit = 4000
	files := map[string]string{
		"Long.md":    strings.Repeat("\"<quoted>\" \\ & more\n", 2000),
		"Heavy.md":   "---\nnote: " + strings.Repeat("x", 10_000) + "\n---\n" + strings.Repeat("text\n", 500),
		"OneLine.md": strings.Repeat("\"é", 9000),
	}
	hub := "# 枢纽\n"
	for i := range 120 {
		name := fmt.Sprintf("数字花园/第%03d章 关于园艺的笔记", i)
		files[name+".md"] = fmt.Sprintf("种植番茄 #标签%d\n\n[[枢纽]] [[没有%d]]\n", i, i)
		hub += "[[" + name + "]] and [[" + name + "]]\n"
	}
	files["枢纽.md"] = hub
	w := newRealWorld(t, files)
	w.session = w.client(t, Profile{Tools: []string{groupAll}, Settings: Settings{ResultBytes: limit}}, nil)

	seen := map[string]bool{}
	for args := (map[string]any{"limit": 500, "sort": "path"}); ; {
		page := within[tools.ListResult](t, w, limit, "list_notes", args)
		for _, n := range page.Notes {
			assert.False(t, seen[n.Path], n.Path)
			seen[n.Path] = true
		}
		if args["cursor"] = page.Next; page.Next == "" {
			break
		}
	}
	assert.Len(t, seen, len(files))

	seen = map[string]bool{}
	for args := (map[string]any{"limit": 50, "query": "种植番茄"}); ; {
		page := within[tools.SearchResult](t, w, limit, "search_notes", args)
		require.NotEmpty(t, page.Results)
		for _, r := range page.Results {
			assert.False(t, seen[r.Path], r.Path)
			seen[r.Path] = true
		}
		assert.Equal(t, page.Truncated, page.Next != "")
		if args["cursor"] = page.Next; page.Next == "" {
			break
		}
	}
	assert.Len(t, seen, 120)

	overview := within[tools.Overview](t, w, limit, "vault_overview", map[string]any{})
	assert.Equal(t, len(files), overview.Notes)
	assert.NotEmpty(t, overview.Recent)
	links := within[tools.LinksResult](t, w, limit, "note_links", map[string]any{"note": "枢纽"})
	assert.True(t, links.Truncated)
	assert.NotEmpty(t, within[tools.RelatedResult](t, w, limit, "related_notes", map[string]any{"note": "枢纽", "limit": 49}).Related)
	gathered := within[tools.GatherResult](t, w, limit, "gather_context", map[string]any{"query": "种植番茄"})
	assert.NotEmpty(t, gathered.Passages)
	assert.Positive(t, gathered.LeftOut)

	for _, name := range []string{"Long.md", "Heavy.md"} {
		var got strings.Builder
		for args := (map[string]any{"note": name}); ; {
			part := within[tools.ReadResult](t, w, limit, "read_note", args)
			require.NotEmpty(t, part.Content)
			got.WriteString(part.Content)
			if args["lines"] = part.NextLines; part.NextLines == "" {
				break
			}
		}
		if name == "Long.md" {
			assert.Equal(t, files[name], got.String())
		}
	}
	one := within[tools.ReadResult](t, w, limit, "read_note", map[string]any{"note": "OneLine.md"})
	assert.True(t, strings.HasPrefix(files["OneLine.md"], one.Content))
	assert.Greater(t, len(one.Content), limit/3)
	assert.Contains(t, strings.Join(one.Notes, "\n"), "line 1 is cut")
	within[tools.HistoryResult](t, w, limit, "note_history", map[string]any{"note": "枢纽"})
}

// Both forms of every reading tool's result mention an ignored argument, once.
func TestRealRemarksOnArguments(t *testing.T) {
	w := newRealTables(t, map[string]string{"A.md": "# A\n\n- [ ] sow #garden\n", "B.md": "one\ntwo\n"})
	call[tools.WriteResult](t, w.session, "edit_note", map[string]any{"note": "B", "edits": []any{map[string]any{"op": "append", "content": "three"}}})
	versions, _ := call[tools.HistoryResult](t, w.session, "note_history", map[string]any{"note": "B"})
	require.Len(t, versions.Revisions, 2)
	call[table.Item](t, w.session, "create_table", map[string]any{"table_name": "t", "dimension": 2})
	call[tools.AddVectorResult](t, w.session, "add_vector", map[string]any{"table_name": "t", "vector": []float64{1, 0}})
	calls := map[string][]map[string]any{
		"search_notes":   {{"query": "sow"}, {"query": "nothing at all"}, {"query": "sow", "as_of": "0s"}},
		"read_note":      {{"note": "A"}, {"note": "B", "outline": true}, {"notes": []string{"A", "B"}}, {"note": "B", "revision": versions.Revisions[1].Revision}},
		"list_notes":     {{}, {"folder": "None"}},
		"list_tasks":     {{}, {"folder": "None"}},
		"note_links":     {{"note": "A"}},
		"related_notes":  {{"note": "A"}},
		"gather_context": {{"query": "sow"}},
		"vault_overview": {{}, {"list": "tags"}},
		"note_history":   {{"note": "B"}, {"since": "1s"}, {"note": "B", "diff": []int64{versions.Revisions[0].Revision, versions.Revisions[1].Revision}}},
		"check_quotes":   {{"quotes": []any{map[string]any{"anchor": "B.md", "quote": "one"}}}},
		"search_vectors": {{"table_name": "t", "query_vector": []float64{1, 0}}},
		"list_tables":    {{}},
	}
	for _, tool := range tools.All() {
		if tool.Writes() {
			continue
		}
		assert.NotEmpty(t, calls[tool.Name], tool.Name)
		for _, args := range calls[tool.Name] {
			data, err := json.Marshal(within[map[string]any](t, w, 20_000, tool.Name, args))
			require.NoError(t, err)
			assert.Equal(t, 1, strings.Count(string(data), `\"curious\"`), "%s: %s", tool.Name, data)
		}
	}
}

// References from the results of searches and links can be read, and select only the part
// that they name.
func TestRealReferences(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Recipes/Rye Bread.md": "# Rye\n\n## Oven\nhot\n\n## Crumb\ndense\n", "C# 5.md": "five\n"})
	for ref, want := range map[string]string{
		"Recipes/Rye Bread.md:4-4":                 "hot\n",
		"rye bread#Crumb":                          "## Crumb\ndense\n",
		"[[Rye Bread#Rye#Oven|oven]]":              "## Oven\nhot\n\n",
		"note:///Recipes/Rye%20Bread.md?rev=1#L1":  "# Rye\n",
		filepath.Join(w.root, "Recipes/Rye Bread"): "# Rye\n\n## Oven\nhot\n\n## Crumb\ndense\n",
		"obsidian://open?file=Rye%20Bread%23Crumb": "## Crumb\ndense\n",
		"C# 5": "five\n",
	} {
		read, text := call[tools.ReadResult](t, w.session, "read_note", map[string]any{"note": ref})
		assert.Equal(t, want, read.Content, ref)
		assert.Contains(t, text, strings.TrimSpace(want))
	}
	read, _ := call[tools.ReadResult](t, w.session, "read_note", map[string]any{"note": "Rye Bread", "heading": "Oven", "lines": "4-7"})
	assert.Equal(t, "hot\n\n", read.Content)
	fails := func(args map[string]any, want string) {
		t.Helper()
		res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args})
		require.NoError(t, err)
		require.True(t, res.IsError)
		assert.Contains(t, res.Content[0].(*sdk.TextContent).Text, want)
	}
	fails(map[string]any{"note": "Rye Bread", "heading": "Oven", "lines": "6-7"}, `lines 6-7 lie outside of the section "Oven", which has the lines 3-5`)
	fails(map[string]any{"note": "[[Rye Bread#Nope]]"}, "- Rye > Crumb (line 6)")
	fails(map[string]any{"note": "Recipes/"}, `list_notes folder="Recipes"`)

	for uri, want := range map[string]string{
		"note:///Recipes/Rye%20Bread.md?rev=" + notes.ShortHash(read.Hash) + "#L3-L4": "## Oven\nhot\n",
		"note:///Recipes/Rye%20Bread.md#Crumb":                                        "## Crumb\ndense\n",
		"note:///C# 5.md":                                                             "five\n",
	} {
		res, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err, uri)
		assert.Equal(t, want, res.Contents[0].Text)
		assert.Equal(t, uri, res.Contents[0].URI)
	}
	_, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///Recipes/rye.md"})
	require.ErrorContains(t, err, "Did you mean one of these? Recipes/Rye Bread.md")
	_, err = w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///Recipes/Rye%20Bread.md#Nope"})
	require.ErrorContains(t, err, "Rye > Crumb (line 6)")
}

// For a filter that can match nothing, the result says which part cannot match, and
// suggests similar values; a folder may be written as shells complete it.
func TestRealFiltersThatSelectNothing(t *testing.T) {
	w := newRealWorld(t, map[string]string{
		"Recipes/Bread/Rye.md": "---\nstatus: open\ntags: [baking/rye]\n---\nrye bread", "Work/Secret.md": "---\nsalary: 1\n---\n#raise",
	})
	for _, folder := range []string{"./Recipes/", "Recipes//Bread", "/recipes", "Recipes/", filepath.Join(w.root, "Recipes"), filepath.Join(w.root, "Recipes") + "/"} {
		list, _ := call[tools.ListResult](t, w.session, "list_notes", map[string]any{"folder": folder})
		assert.Equal(t, 1, list.Total, folder)
	}
	for want, args := range map[string]map[string]any{
		`there is no folder "Recipe" with notes; near: "Recipes"`:                            {"folder": "Recipe"},
		`there is no folder "Nope" with notes; there are: "Recipes", "Recipes/B`:             {"folder": "Nope"},
		`no note has the tag "bakin"; near: "baking/rye"`:                                    {"tags": []string{"bakin"}},
		`no note has the key "statsu" in its front matter or as key:: value; near: "status"`: {"where": map[string]any{"statsu": "open"}},
		`no note has the key "stat"`:                                                         {"where": map[string]any{"$or": []any{map[string]any{"stat": "open"}, map[string]any{"tags": "x"}}}},
		`no note has "status" "opne"; near: "open"`:                                          {"where": map[string]any{"status": "opne"}},
		`no note has "folder" "Recipe"; near: "Recipes/Bread"`:                               {"where": map[string]any{"folder": "Recipe"}},
		`"status" is compared with the whole list; {"status": {"in": […]}} matches an`:       {"where": map[string]any{"status": []any{"a", "b"}}},
	} {
		list, text := call[tools.ListResult](t, w.session, "list_notes", args)
		assert.Zero(t, list.Total)
		assert.Contains(t, strings.Join(list.Warnings, "\n"), want)
		assert.Contains(t, text, want)
		if args["where"] == nil {
			tasks, text := call[tools.TaskList](t, w.session, "list_tasks", args)
			assert.Contains(t, strings.Join(tasks.Warnings, "\n"), want)
			assert.Contains(t, text, want)
		}
	}
	found, text := call[tools.SearchResult](t, w.session, "search_notes", map[string]any{"query": "rye", "folder": "Rezepte"})
	require.Len(t, found.Notes, 1)
	assert.Contains(t, text, `there is no folder "Rezepte"`)
	found, _ = call[tools.SearchResult](t, w.session, "search_notes", map[string]any{"query": "rye tag:bakin path:Rec path:Nope"})
	assert.Contains(t, strings.Join(found.Notes, "\n"), `no note has the tag "bakin"; near: "baking/rye"`)
	assert.Contains(t, strings.Join(found.Notes, "\n"), `no note has a path that begins with "Nope"`)
	gathered, _ := call[tools.GatherResult](t, w.session, "gather_context", map[string]any{"query": "rye", "tags": "nope"})
	assert.Contains(t, strings.Join(gathered.Notes, "\n"), `no note has the tag "nope"`)

	bounded := w.client(t, Profile{Read: []string{"Recipes"}}, nil)
	for _, args := range []map[string]any{{"folder": "Secret"}, {"tags": "raise"}, {"where": map[string]any{"salary": 1}}} {
		list, text := call[tools.ListResult](t, bounded, "list_notes", args)
		require.Len(t, list.Warnings, 1)
		assert.NotContains(t, strings.ReplaceAll(text, "no note has the key \"salary\"", ""), "salary")
		assert.NotContains(t, text, "Work", "what lies outside of the scope is not told of")
	}
	list, _ := call[tools.ListResult](t, w.session, "list_notes", map[string]any{"folder": "Recipes", "where": map[string]any{"status": map[string]any{"ne": "open"}}})
	assert.Empty(t, list.Warnings, "nothing is wrong with it")
	list, text = call[tools.ListResult](t, w.session, "list_notes", map[string]any{"where": map[string]any{"file.name": "Rye"}, "fields": []string{"status", "tags", "rating"}})
	require.Len(t, list.Notes, 1)
	assert.Equal(t, map[string]any{"status": "open", "tags": []any{"baking/rye"}}, list.Notes[0].Fields)
	assert.Contains(t, text, `| status: open | tags: ["baking/rye"]`)
}

// Templates and files excluded in Obsidian are not found by searches, unless their folder
// is named; they can be read and listed.
func TestRealTemplatesAreAside(t *testing.T) {
	w := newRealWorld(t, map[string]string{
		".obsidian/templates.json":                       `{"folder": "Templates/"}`,
		".obsidian/plugins/templater-obsidian/data.json": `{"templates_folder": "Meta/Forms"}`,
		".obsidian/app.json":                             `{"userIgnoreFilters": ["Archive/", "/\\d{4} old/", "/(?<js>x/"]}`,
		"Templates/Recipe.md":                            "sourdough {{date}} #a", "Meta/Forms/B.md": "sourdough form", "archive/2020.md": "sourdough then",
		"Notes/2019 old.md": "sourdough before", "Bread.md": "sourdough #a", "Templates of mine.md": "sourdough mine",
	})
	search := func(args map[string]any) (paths []string) {
		found, _ := call[tools.SearchResult](t, w.session, "search_notes", args)
		for _, r := range found.Results {
			paths = append(paths, r.Path)
		}
		assert.Equal(t, len(paths), found.Total)
		return paths
	}
	assert.ElementsMatch(t, []string{"Bread.md", "Templates of mine.md"}, search(map[string]any{"query": "sourdough"}))
	assert.Equal(t, []string{"Bread.md"}, search(map[string]any{"query": "tag:a"}))
	assert.Equal(t, []string{"Templates/Recipe.md"}, search(map[string]any{"query": "sourdough path:Templates/"}))
	assert.Equal(t, []string{"archive/2020.md"}, search(map[string]any{"query": "sourdough", "folder": "Archive"}))
	assert.Equal(t, []string{"Notes/2019 old.md"}, search(map[string]any{"query": `sourdough path:"Notes/2019 old"`}))
	assert.Empty(t, search(map[string]any{"query": "sourdough", "folder": "Notes"}))
	list, _ := call[tools.ListResult](t, w.session, "list_notes", nil)
	assert.Equal(t, 6, list.Total)
	read, _ := call[tools.ReadResult](t, w.session, "read_note", map[string]any{"note": "Recipe"})
	assert.Equal(t, "Templates/Recipe.md", read.Path)

	w.write(t, "Bread.md", "rye")
	w.write(t, ".obsidian/templates.json", `{}`)
	require.NoError(t, w.vault.Reconcile(t.Context()))
	assert.ElementsMatch(t, []string{"Templates/Recipe.md", "Templates of mine.md"}, search(map[string]any{"query": "sourdough"}))
}

// If a note is about the question, two of its passages are gathered.
func TestGatherContextTopic(t *testing.T) {
	long := strings.Repeat(" It takes time and so on.", 60)
	w := newRealWorld(t, map[string]string{
		"Composting.md": "# Composting\n\nComposting in a small garden." + long + "\n\n## Worms\n\nComposting with worms." + long,
		"Garden.md":     "# Garden\n\nMore on composting elsewhere.\n",
	})
	gathered, _ := call[tools.GatherResult](t, w.session, "gather_context", map[string]any{"query": "composting"})
	var paths []string
	for _, p := range gathered.Passages {
		paths = append(paths, p.Path)
	}
	assert.Equal(t, []string{"Composting.md", "Composting.md", "Garden.md"}, paths)
	assert.NotEqual(t, gathered.Passages[0].LineStart, gathered.Passages[1].LineStart)
}

// An empty list of tasks mentions matching tasks with another status.
func TestTasksOfAnotherStatus(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "- [x] Paint the boat ✅ 2026-01-02\n- [ ] Buy paint\n"})
	for _, tt := range []struct {
		ask    args
		remark string
	}{
		{args{"text": "boat"}, "1 task with another status; status all lists them"},
		{args{"text": "buy", "status": "done"}, "1 task with another status; status all lists them"},
		{args{"text": "car"}, ""}, {args{"text": "car", "status": "all"}, ""}, {args{"text": "paint"}, ""},
	} {
		list, text := call[tools.TaskList](t, w.session, "list_tasks", tt.ask)
		assert.Equal(t, tt.remark, strings.Join(list.Warnings, "; "), tt.ask)
		assert.Contains(t, text, tt.remark)
	}
}

// Models pass new content as text, too. Text that is missing is not taken for none.
func TestEditWithContentAsText(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "# A\n\n## S\n\nold\n"})
	call[tools.WriteResult](t, w.session, "edit_note", args{"note": "A", "edits": []args{
		{"op": "replace_section", "heading": "S", "text": "new"}, {"op": "append", "text": "more"},
	}})
	data, err := os.ReadFile(filepath.Join(w.root, "A.md"))
	require.NoError(t, err)
	assert.Contains(t, string(data), "## S\n\nnew\n")
	assert.Contains(t, string(data), "more\n")
	assert.Contains(t, refused(t, w.session, "edit_note", args{"note": "A", "edits": []args{{"op": "replace_text", "old": "new", "text": "x"}}}), "new is missing")
}

// A task has its mark only if the status does not say it; the text always has it.
func TestMarksOfTasks(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "- [ ] one\n- [x] two\n- [-] three\n- [/] four\n"})
	list, text := call[tools.TaskList](t, w.session, "list_tasks", args{"status": "all", "sort": "path"})
	marks := map[string]string{}
	for _, task := range list.Tasks {
		marks[task.Text] = task.Mark
	}
	assert.Equal(t, map[string]string{"one": "", "two": "", "three": "-", "four": "/"}, marks)
	for _, line := range []string{"[ ] one", "[x] two", "[-] three", "[/] four"} {
		assert.Contains(t, text, line)
	}
}

// The passage of a note that consists of front matter only is its front matter. Otherwise the
// front matter is shown if the question asks for a field of it.
func TestGatherContextFrontMatter(t *testing.T) {
	const text = "---\ndirector:\n  - \"[[Ridley Scott]]\"\nyear: 1982\n---\n\n"
	w := newRealWorld(t, map[string]string{"Films/Blade Runner.md": text})
	gathered, _ := call[tools.GatherResult](t, w.session, "gather_context", args{"query": "who is the director of Blade Runner"})
	require.Len(t, gathered.Passages, 1)
	assert.Equal(t, strings.TrimSpace(text), gathered.Passages[0].Text)

	const person = "---\nphone: \"+49 171 2345678\"\n---\n# Ann Berg\n\nMy sister.\n\n## Met\n\nIn spring.\n"
	w = newRealWorld(t, map[string]string{"Ann Berg.md": person})
	gathered, _ = call[tools.GatherResult](t, w.session, "gather_context", args{"query": "phone number of Ann Berg"})
	require.Len(t, gathered.Passages, 1)
	assert.Equal(t, strings.TrimSpace(person), gathered.Passages[0].Text)
	checked, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": gathered.Passages[0].Anchor, "quote": "+49 171 2345678"}}})
	assert.Equal(t, "exact", checked.Results[0].Verdict)
	gathered, _ = call[tools.GatherResult](t, w.session, "gather_context", args{"query": "Ann Berg sister"})
	require.Len(t, gathered.Passages, 1)
	assert.Equal(t, 4, gathered.Passages[0].LineStart)

	w = newRealWorld(t, map[string]string{"Ann Berg.md": "---\nphone: \"+49 171 2345678\"\n---\n# Ann Berg\n\n" + strings.Repeat("My sister lives here. ", 400)})
	gathered, _ = call[tools.GatherResult](t, w.session, "gather_context", args{"query": "phone number of Ann Berg", "max_bytes": 3000})
	require.Len(t, gathered.Passages, 1)
	assert.Contains(t, gathered.Passages[0].Text, "+49 171 2345678", "although the passage is cut")
}

// A note related only by a link is shown with its title, whatever its extension.
func TestRelatedByALink(t *testing.T) {
	s := newRealWorld(t, map[string]string{"A.md": "---\ntitle: Alpha\n---\n[[B]] [[C]] ![[D.png]]\n", "B.md": "one\n", "C.markdown": "# Gamma\n", "D.png": "x"}).session
	for note, want := range map[string][]string{"A": {"B", "Gamma"}, "B": {"Alpha"}, "C": {"Alpha"}} {
		related, _ := call[tools.RelatedResult](t, s, "related_notes", args{"note": note})
		var titles []string
		for _, r := range related.Related {
			titles = append(titles, r.Title)
		}
		assert.Equal(t, want, titles, note)
	}
}

// The beginning of a note, with which related notes are found, ends with a whole word.
func TestRelatedNotesOfALongNote(t *testing.T) {
	w := newRealWorld(t, realVault)
	for padding := range len("tomatoes ") {
		p := fmt.Sprintf("Long %d.md", padding)
		w.write(t, p, strings.Repeat("x", padding)+strings.Repeat(" tomatoes", 200))
		related, _ := call[tools.RelatedResult](t, w.session, "related_notes", args{"note": p})
		assert.NotEmpty(t, related.Related)
		assert.NotContains(t, strings.Join(related.Notes, "\n"), "no note has", p)
	}
}

// A passage that is too long for the budget, as one long line may be, is cut around the
// part that answers the question, and not omitted in favour of passages that answer it less
// well.
func TestGatherContextCutsALongLine(t *testing.T) {
	filler := strings.Repeat("В городе строили дома и улицы. ", 400)
	w := newRealWorld(t, map[string]string{
		"Long.md":  "# Город\n\nначало\n\n" + filler + "Мост через реку открыли в мае. " + filler + "\n\nконец\n",
		"Short.md": "Мост.\n",
	})
	for _, budget := range []int{500, 1500, 0, 20_000} {
		a := args{"query": "когда открыли мост через реку"}
		if budget > 0 {
			a["max_bytes"] = budget
		}
		gathered, text := call[tools.GatherResult](t, w.session, "gather_context", a)
		require.NotEmpty(t, gathered.Passages, budget)
		p := gathered.Passages[0]
		assert.Equal(t, "Long.md", p.Path)
		assert.Contains(t, p.Text, "Мост через реку открыли в мае.")
		assert.True(t, strings.HasPrefix(p.Text, "В городе") || strings.HasPrefix(p.Text, "Мост"), "it begins with a sentence: %.40s", p.Text)
		assert.Equal(t, [2]int{5, 5}, [2]int{p.LineStart, p.LineEnd})
		assert.Contains(t, text, "the passage of Long.md is cut to fit")
		checked, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": p.Anchor, "quote": p.Text}}})
		assert.Equal(t, "exact", checked.Results[0].Verdict, budget)
	}
	var wide strings.Builder
	for range 200 {
		wide.WriteString(strings.Repeat("x", 30) + " ")
	}
	w = newRealWorld(t, map[string]string{strings.Repeat("ж", 60) + "/" + strings.Repeat("ж", 60) + ".md": "needle " + wide.String() + "\n"})
	_, text := call[tools.GatherResult](t, w.session, "gather_context", args{"query": "needle", "max_bytes": 500})
	assert.Contains(t, text, `No passage for "needle" fits`)
	assert.NotContains(t, text, "do not have the answer")
}
