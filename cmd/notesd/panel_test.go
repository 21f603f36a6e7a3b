package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A chat is an MCP Apps host in a browser, with the program it launched.
type chat struct {
	*browser
	peer *peer
	view *browser           // the panel's sandbox; nil before show
	past map[target.ID]bool // sandboxes of all panels so far
}

// panelPolicy is the policy that the specification requires for pages that request no
// domains.
const panelPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

func (p place) chat(t *testing.T) *chat {
	t.Helper()
	program := findChromium(t)
	c := &chat{peer: p.launch(t, "mcp"), past: map[target.ID]bool{}}
	answer := c.peer.call("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "clientInfo": map[string]any{"name": "chat", "version": "1"},
		"capabilities": map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}}}},
	})
	require.Nil(t, answer.Error)
	c.peer.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /host", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/panel/host.html") })
	mux.HandleFunc("GET /favicon.ico", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /sandbox", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", panelPolicy)
		http.ServeFile(w, r, "testdata/panel/sandbox.html")
	})
	mux.HandleFunc("GET /panel", func(w http.ResponseWriter, _ *http.Request) {
		var page struct{ Contents []struct{ Text string } }
		c.peer.decode(<-c.peer.send("resources/read", map[string]any{"uri": "ui://notesd/panel"}), &page)
		_, _ = io.WriteString(w, page.Contents[0].Text)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Method string
			Params json.RawMessage
		}
		if assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked)) {
			assert.NoError(t, json.NewEncoder(w).Encode(<-c.peer.send(asked.Method, asked.Params)))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.browser = startBrowser(t, program, server.URL)
	c.open("/host")
	return c
}

// show calls a tool and waits until the panel shows its result.
func (c *chat) show(tool string, args map[string]any, until string) {
	c.t.Helper()
	data, err := json.Marshal(args)
	require.NoError(c.t, err)
	evaluate[int](c.browser, "show("+jsString(tool)+", "+string(data)+").catch((e) => faults.push(e.message)); 0")
	c.await("view?.state === 'initialized'")
	eventually(c.t, "the panel has a sandbox of its own", func() bool {
		targets, err := chromedp.Targets(c.ctx)
		require.NoError(c.t, err)
		at := slices.IndexFunc(targets, func(i *target.Info) bool {
			return i.Type == "iframe" && strings.HasSuffix(i.URL, "/sandbox") && !c.past[i.TargetID]
		})
		if at < 0 {
			return false
		}
		c.past[targets[at].TargetID] = true
		ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithTargetID(targets[at].TargetID))
		c.t.Cleanup(cancel)
		c.view = &browser{t: c.t, ctx: ctx, base: c.base}
		return true
	})
	c.sees(until)
}

// inPanel returns an expression evaluated on the panel's document.
func inPanel(expression string) string {
	return "(panel => " + expression + ")(document.querySelector('iframe').contentDocument)"
}

// sees waits until an expression about the panel's document is true. Meanwhile the
// sandbox's title is the panel's text, for await's error message.
func (c *chat) sees(expression string) {
	c.t.Helper()
	c.view.await(inPanel("panel !== null && ("+expression+")") + " || void (document.title = document.querySelector('iframe').contentDocument?.body.innerText)")
}

// press clicks the button with the given text.
func (c *chat) press(text string) {
	c.t.Helper()
	script := inPanel("(b => b && !b.disabled && (b.click(), true))([...panel.querySelectorAll('button')].find(b => b.innerText === " + jsString(text) + ")) ?? false")
	eventually(c.t, text+" is pressed", func() bool { return evaluate[bool](c.view, script) })
}

// alone shows a tool's result in a panel that is the whole page, without an embedding
// host.
func (c *chat) alone(tool string, args any) {
	c.t.Helper()
	answer := c.peer.call("tools/call", map[string]any{"name": tool, "arguments": args})
	c.open("/panel")
	evaluate[int](c.browser, "show("+string(answer.Result)+"); 0")
	c.await("document.querySelector('h1') !== null")
}

// TestPanelIsAccessible runs axe-core on the views of the panel, in light and dark mode.
func TestPanelIsAccessible(t *testing.T) {
	axe := loadAxe(t)
	c := newPlace(t, pageNotes).chat(t)
	c.inBothSchemes(func(scheme string) {
		for tool, args := range map[string]map[string]any{
			"search_notes": {"query": "rye"}, "note_links": {"note": "Starter"}, "related_notes": {"note": "Starter"},
			"edit_note": {"note": "Boat", "dry_run": true, "edits": []any{map[string]any{"op": "replace_text", "old": "Varnish", "new": "Paint"}}},
		} {
			c.alone(tool, args)
			c.assertAccessible(axe, tool+", "+scheme)
		}
	})
}

// end makes the host tear the panel down, and fails the test for every violation of the
// specification.
func (c *chat) end() {
	c.t.Helper()
	assert.Empty(c.t, evaluate[[]string](c.browser, "teardown().then(() => faults)"))
	c.clean()
}

// TestPanelSearch shows results in a chat, the passage of one, and the links of its note.
func TestPanelSearch(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Bakery.md": "# Bakery\n\n" + strings.Repeat("Flour, water and salt are all there is to it, and time.\n\n", 40) +
		"## Kneading\n\n" + strings.Repeat("Knead rye little.\n\n", 20) + "## Selling\n\n" + strings.Repeat("Early in the morning, at the door.\n\n", 40)}
	maps.Copy(files, pageNotes)
	files["Menu.md"] = "# Menu\n\nラーメンのスープを作る。Crème brûlée.\n"
	c := newPlace(t, files).chat(t)
	c.show("search_notes", map[string]any{"query": "スープ creme", "mode": "text"}, "panel.querySelector('li mark')")
	c.sees("[...panel.querySelectorAll('li mark')].map(m => m.innerText).join() === 'スープ,Crème'")
	c.end()
	c.show("search_notes", map[string]any{"query": "knead rye"}, "panel.querySelector('li mark')")
	c.sees("panel.querySelector('h1').innerText === '3 notes for knead rye'")
	c.press("Bakery")
	c.sees("[...panel.querySelectorAll('pre .lit')].some(line => line.innerText === 'Knead rye little.')")
	c.sees("[...panel.querySelectorAll('pre span:not(.lit)')].some(line => line.innerText !== '')")
	c.press("Bakery")
	c.sees("panel.querySelector('pre') === null")
	c.press("Rye Bread")
	c.sees("panel.querySelector('pre .lit') !== null")
	c.await("frame.clientHeight > 100 && seen.filter(m => m.method === 'ui/notifications/size-changed').length > 1 && frame.clientHeight === seen.findLast(m => m.method === 'ui/notifications/size-changed').params.height")
	c.press("Links of this note")
	c.sees("panel.querySelector('h1').innerText.startsWith('Rye Bread') && panel.querySelectorAll('svg text').length === 2")
	c.sees("panel.body.innerText.includes('Broken links') && panel.body.innerText.includes('Nowhere')")
	c.press("Starter")
	c.sees("panel.querySelector('h1').innerText.startsWith('Starter')")
	c.end()

	c.show("related_notes", map[string]any{"note": "Starter"}, "panel.querySelector('h1')?.innerText === '2 related notes'")
	c.end()
	c.show("note_links", map[string]any{"note": "Nothing"}, "panel.querySelector('.bad') !== null")
	c.end()
}

// TestPanelEdit applies the displayed edit if the user accepts it, does nothing if the
// user rejects it or the note has changed, and reports the outcome.
func TestPanelEdit(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	c := p.chat(t)
	boat := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(p.vault, "Boat.md"))
		require.NoError(t, err)
		return string(data)
	}
	propose := func(word string) {
		t.Helper()
		c.show("edit_note", map[string]any{"note": "Boat", "dry_run": true, "edits": []any{map[string]any{"op": "replace_text", "old": "Varnish", "new": word}}},
			"panel.querySelector('.add')?.innerText.startsWith('+"+word+"')")
	}
	propose("Paint")
	assert.Equal(t, pageNotes["Boat.md"], boat())
	c.press("Refuse")
	c.await("modelContext?.content[0].text.startsWith('The user refused')")
	c.end()

	propose("Paint")
	c.press("Apply")
	c.sees("panel.getElementById('status').innerText.startsWith('Applied: revision 2')")
	assert.Equal(t, "# Boat\n\nPaint the transom.\n", boat())
	c.await("modelContext.content[0].text.startsWith('The user applied')")
	c.sees("[...panel.querySelectorAll('button')].every(b => b.disabled)")
	c.end()

	require.NoError(t, os.WriteFile(filepath.Join(p.vault, "Boat.md"), []byte("# Boat\n\nVarnish the mast.\n"), 0o600))
	eventually(t, "the save is found", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "mast") })
	propose("Oil")
	p.save(t, "Boat.md", "# Boat\n\nVarnish the rudder.\n")
	c.press("Apply")
	c.sees("panel.querySelector('#status.bad')?.innerText.includes('does not match expected_hash')")
	assert.Equal(t, "# Boat\n\nVarnish the rudder.\n", boat())
	c.press("Show the edit of the note as it is now")
	c.sees("panel.querySelector('.add')?.innerText === '+Oil the rudder.'")
	c.press("Apply")
	c.sees("panel.getElementById('status').innerText.startsWith('Applied')")
	assert.Equal(t, "# Boat\n\nOil the rudder.\n", boat())
	c.end()
}
