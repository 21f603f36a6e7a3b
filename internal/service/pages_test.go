package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/notestest"
	"notesd/internal/service"
	"notesd/internal/web"
)

// site is the web page of a vault served by this process, an admitted browser and an
// assistant.
type site struct {
	*testing.T
	dir     string
	page    *web.Server
	cookie  *http.Cookie
	session *sdk.ClientSession
}

// newSite serves a vault with these notes until the test ends.
func newSite(t *testing.T, notes map[string]string, readOnly bool) *site {
	t.Helper()
	cfg := config.Default()
	cfg.Vault.ReadOnly = readOnly
	return newSiteOf(t, notes, cfg)
}

func newSiteOf(t *testing.T, notes map[string]string, cfg config.Config) *site {
	t.Helper()
	dir := t.TempDir()
	cfg.Vault.Path, cfg.State, cfg.Semantic.Provider = filepath.Join(dir, "vault"), filepath.Join(dir, "state"), "off"
	require.NoError(t, os.Mkdir(cfg.Vault.Path, 0o700))
	notestest.Write(t, cfg.Vault.Path, notes)
	require.NoError(t, service.MakePrivate(cfg.State))
	s := service.New(&cfg, service.DiscardLogs(), !service.Watching)

	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, func(ctx context.Context) error {
			close(started)
			<-ctx.Done()
			return nil
		})
	}()
	select {
	case <-started:
	case err := <-ended:
		require.NoError(t, err)
	}
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		conns := make(chan net.Conn, 1)
		go func() {
			_ = s.Converse(ctx, func(ctx context.Context, conn net.Conn) error {
				conns <- conn
				<-ctx.Done()
				return conn.Close()
			})
		}()
		return <-conns, nil
	}
	page := web.New(web.Options{Dial: dial, Vault: "Notes", Version: "test", Mode: cfg.Search.Mode, ReadOnly: cfg.Vault.ReadOnly})
	conn, err := dial(ctx)
	require.NoError(t, err)
	client := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.IOTransport{Reader: conn, Writer: conn}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, page.Close())
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			assert.NoError(t, err)
		}
	})
	w := &site{T: t, dir: cfg.Vault.Path, page: page, session: session}
	require.Eventually(t, func() bool {
		return !strings.Contains(fmt.Sprint(w.call("search_notes", map[string]any{"query": "rye"})["notes"]), "index")
	}, time.Minute, 10*time.Millisecond, "the index has every note")
	answer := w.do("GET", page.Link(), nil)
	w.cookie, err = http.ParseSetCookie(answer.Header().Get("Set-Cookie"))
	require.NoError(t, err)
	return w
}

func (w *site) do(method, target string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.Context(), method, target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8930"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if w.cookie != nil {
		r.AddCookie(w.cookie)
	}
	answer := httptest.NewRecorder()
	w.page.ServeHTTP(answer, r)
	return answer
}

var (
	markup = regexp.MustCompile(`(?s)<head>.*?</head>|<[^>]*>`)
	space  = regexp.MustCompile(`\s+`)
)

// read returns the visible text of a page, and its source with character references
// resolved.
func (w *site) read(target string, status int) (text, source string) {
	w.Helper()
	answer := w.do("GET", target, nil)
	require.Equal(w, status, answer.Code, "%s: %s", target, answer.Body)
	source = html.UnescapeString(answer.Body.String())
	return strings.TrimSpace(space.ReplaceAllString(markup.ReplaceAllString(source, " "), " ")), source
}

// call calls a tool as the assistant.
func (w *site) call(tool string, args map[string]any) map[string]any {
	w.Helper()
	res, err := w.session.CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(w, err)
	require.False(w, res.IsError, "%s: %v", tool, res.Content)
	out, _ := res.StructuredContent.(map[string]any)
	return out
}

func (w *site) file(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	require.NoError(w, err)
	return string(text)
}

// save writes a note as another program does, and reads it, so that the vault has its text.
func (w *site) save(note, text string) {
	w.Helper()
	notestest.Write(w.T, w.dir, map[string]string{note: text})
	w.call("read_note", map[string]any{"note": note})
}

var siteNotes = map[string]string{
	"Recipes/Rye Bread.md":  "---\ntags: [bread]\nserves: 4\n---\n# Rye Bread\n\nAll rye, no kneading.\n\n## Oven\n\nBake for an hour. #hot\n\nSee [[Starter]] and [[Nowhere]].\n\n![[crust.svg]] ![[Costs.pdf]]\n",
	"Starter.md":            "# Starter\n\nFeed the rye. Used in [[Rye Bread#Oven]].\n",
	"Übung & mehr/100 %.md": "Notes on <script>alert(1)</script> and rye.\n",
	"crust.svg":             `<svg xmlns="http://www.w3.org/2000/svg"/>`,
	"Costs.pdf":             "%PDF-1.4",
}

func TestPages_Search(t *testing.T) {
	w := newSite(t, siteNotes, false)
	text, source := w.read("/", 200)
	for _, part := range []string{"Newest notes", "Rye Bread", "Starter", "100 %"} {
		assert.Contains(t, text, part)
	}
	assert.Contains(t, source, `href="/n/%C3%9Cbung%20&%20mehr/100%20%25.md"`)

	text, source = w.read("/?q=kneading+rye", 200)
	assert.Contains(t, text, "3 notes")
	assert.Contains(t, source, "<mark>kneading</mark>")
	assert.Contains(t, source, "/n/Recipes/Rye%20Bread.md#L")
	text, _ = w.read("/?q=tag:bread&mode=text", 200)
	assert.Contains(t, text, "1 note ")
	text, _ = w.read("/?q=zeppelin", 200)
	assert.Contains(t, text, "0 notes")
	text, _ = w.read("/?q=rye&cursor=made-up", 200)
	assert.Contains(t, text, "The query cannot be read")
	text, _ = w.read("/?q=%3Cscript%3Ealert(1)%3C/script%3E", 200)
	assert.Contains(t, text, "100 %")
	assert.NotContains(t, w.do("GET", "/?q=%3Cscript%3Ealert(1)%3C/script%3E", nil).Body.String(), "<script>alert")
}

// A search with more hits than fit on a page continues on the next.
func TestPages_More(t *testing.T) {
	notes := map[string]string{}
	for i := range 45 {
		notes[fmt.Sprintf("Log/%02d.md", i)] = "the same words of a log\n"
	}
	w := newSite(t, notes, false)
	seen := map[string]bool{}
	next := "/?q=log"
	for page := 0; next != ""; page++ {
		require.Less(t, page, 4)
		text, source := w.read(next, 200)
		assert.Contains(t, text, "45 notes")
		for _, hit := range regexp.MustCompile(`class="hit" href="([^"#]*)`).FindAllStringSubmatch(source, -1) {
			assert.False(t, seen[hit[1]], "%s twice", hit[1])
			seen[hit[1]] = true
		}
		next = ""
		if more := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(source); more != nil {
			next = more[1]
		}
	}
	assert.Len(t, seen, 45)
}

// A search in the configured mode is marked, continued and explained in that mode.
func TestPages_Mode(t *testing.T) {
	notes := map[string]string{}
	for i := range 25 {
		notes[fmt.Sprintf("Log/%02d.md", i)] = "the same words of a log\n"
	}
	cfg := config.Default()
	cfg.Search.Mode = "text"
	w := newSiteOf(t, notes, cfg)
	text, source := w.read("/?q=log", 200)
	assert.Contains(t, text, "25 notes")
	assert.Contains(t, source, `mode=text" aria-current="true"`)
	assert.Regexp(t, `href="/why\?note=[^"]*&q=log&mode=text"`, source)
	more := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(source)
	require.NotNil(t, more)
	_, source = w.read(more[1], 200)
	assert.Equal(t, 5, strings.Count(source, `class="hit"`))

	_, source = w.read("/?q=log&mode=hybrid", 200)
	assert.Contains(t, source, `mode=hybrid" aria-current="true"`)
	assert.Regexp(t, `href="/why\?note=[^"]*&q=log&mode=hybrid"`, source)
	_, source = w.read("/why?note=Log/01.md&q=log", 200)
	assert.Contains(t, source, `href="/?q=log&mode=text"`)
}

func TestPages_Note(t *testing.T) {
	w := newSite(t, siteNotes, false)
	text, source := w.read("/n/Recipes/Rye%20Bread.md", 200)
	for _, part := range []string{"All rye, no kneading.", "#bread", "#hot", "serves 4", "Linked from Starter Feed the rye. Used in Rye Bread#Oven.", "Links to Starter", "Broken links Nowhere", "Outline"} {
		assert.Contains(t, text, part)
	}
	assert.NotContains(t, text, "tags: [bread]")
	assert.Contains(t, source, `src="/f/crust.svg"`)
	text, _ = w.read("/n/%C3%9Cbung%20&%20mehr/100%20%25.md", 200)
	assert.Contains(t, text, "and rye.")
	assert.NotContains(t, w.do("GET", "/n/%C3%9Cbung%20&%20mehr/100%20%25.md", nil).Body.String(), "<script>alert")

	text, _ = w.read("/n/Rye.md", 404)
	assert.Contains(t, text, "Rye Bread.md", "it names what may be meant")
	for outside, status := range map[string]int{"/n/..%2Fstate%2Fnotes.db": 400, "/n/%2Fetc%2Fpasswd": 400, "/f/..%2Fstate%2Fnotes.db": 400, "/n/.obsidian/app.json": 404, "/f/none.png": 404} {
		w.read(outside, status)
	}
}

// The page of a note says which of its lists of links are incomplete.
func TestPages_NoteWithManyLinks(t *testing.T) {
	notes := map[string]string{"Hub.md": "[[Few]]\n", "Few.md": "few\n", "Index.md": ""}
	for i := range 150 {
		notes[fmt.Sprintf("Spokes/%03d.md", i)] = "to [[Hub]]\n"
	}
	for i := range 500 {
		notes["Index.md"] += fmt.Sprintf("- [[Spokes/%03d]] and [[No %d]]\n", i, i)
	}
	w := newSite(t, notes, false)
	const backlinks, own = "Only the first 100 are shown.", "Not all links of this note are listed here."
	text, _ := w.read("/n/Hub.md", 200)
	assert.Contains(t, text, backlinks)
	assert.NotContains(t, text, own)
	text, _ = w.read("/n/Index.md", 200)
	assert.NotContains(t, text, backlinks)
	assert.Contains(t, text, own)
	text, _ = w.read("/n/Few.md", 200)
	assert.Contains(t, text, "Linked from Hub")
	assert.NotContains(t, text, backlinks)
	assert.NotContains(t, text, own)
}

// Files other than pictures are downloaded, and pictures cannot run scripts.
func TestPages_File(t *testing.T) {
	w := newSite(t, siteNotes, false)
	for name, kind := range map[string]string{"crust.svg": "image/svg+xml", "Costs.pdf": "application/octet-stream"} {
		answer := w.do("GET", "/f/"+name, nil)
		require.Equal(t, 200, answer.Code, answer.Body)
		assert.Equal(t, siteNotes[name], answer.Body.String())
		assert.Equal(t, kind, answer.Header().Get("Content-Type"))
		assert.Contains(t, answer.Header().Get("Content-Security-Policy"), "sandbox")
		assert.Equal(t, kind == "application/octet-stream", strings.HasPrefix(answer.Header().Get("Content-Disposition"), "attachment"))
	}
}

func TestPages_History(t *testing.T) {
	w := newSite(t, siteNotes, false)
	before := w.file("Starter.md")
	w.call("edit_note", map[string]any{"note": "Starter.md", "edits": []any{map[string]any{"op": "append", "content": "Wait a day."}}})
	after := w.file("Starter.md")
	text, source := w.read("/history/Starter.md", 200)
	assert.Contains(t, text, "edited by assistant")
	revisions := regexp.MustCompile(`name="a" value="(\d+)"`).FindAllStringSubmatch(source, -1)
	require.Len(t, revisions, 2)
	hash := regexp.MustCompile(`name="hash" value="([^"]*)"`).FindStringSubmatch(source)
	require.NotNil(t, hash)
	newest, oldest := revisions[0][1], revisions[1][1]

	for _, way := range []string{"a=" + oldest + "&b=" + newest, "a=" + newest + "&b=" + oldest} {
		_, source = w.read("/history/Starter.md?"+way, 200)
		assert.Contains(t, source, `<span class="add">+Wait a day.`, way)
	}
	text, _ = w.read("/history/Starter.md?a="+oldest+"&b="+oldest, 200)
	assert.Contains(t, text, "They have the same text.")
	w.read("/history/None.md", 404)
	w.read("/history/Starter.md?a=1&b=99", 404)

	restore := func(revision, hash string) int {
		return w.do("POST", "/restore/Starter.md", url.Values{"revision": {revision}, "hash": {hash}}).Code
	}
	assert.Equal(t, http.StatusBadRequest, restore("none", hash[1]))
	assert.Equal(t, http.StatusConflict, restore(oldest, strings.Repeat("0", 64)), "the note has another text than the form was made for")
	assert.Equal(t, after, w.file("Starter.md"))
	assert.Equal(t, http.StatusSeeOther, restore(oldest, hash[1]))
	assert.Equal(t, before, w.file("Starter.md"))
}

// TestPages_Undo undoes a move that changed two notes, a deletion, and edits, also by another
// program, but not edits after which the note changed.
func TestPages_Undo(t *testing.T) {
	w := newSite(t, siteNotes, false)
	form := func(note string) url.Values {
		_, source := w.read("/changes", 200)
		found := regexp.MustCompile(`action="/undo/` + regexp.QuoteMeta(note) + `"><input type="hidden" name="revision" value="(\d+)"><input type="hidden" name="change" value="(\d+)"><input type="hidden" name="hash" value="(\w*)">`).FindStringSubmatch(source)
		require.NotNil(t, found, source)
		return url.Values{"revision": {found[1]}, "change": {found[2]}, "hash": {found[3]}}
	}
	undo := func(note string, form url.Values) *httptest.ResponseRecorder {
		return w.do("POST", "/undo/"+note, form)
	}

	text := w.file("Recipes/Rye Bread.md")
	w.call("move_note", map[string]any{"note": "Starter.md", "to": "Recipes/Sourdough.md"})
	assert.Contains(t, w.file("Recipes/Rye Bread.md"), "[[Sourdough]]")
	assert.Equal(t, http.StatusSeeOther, undo("Recipes/Sourdough.md", form("Recipes/Sourdough.md")).Code)
	assert.Equal(t, text, w.file("Recipes/Rye Bread.md"))
	assert.Equal(t, siteNotes["Starter.md"], w.file("Starter.md"))

	w.call("delete_note", map[string]any{"note": "Starter.md"})
	assert.Equal(t, http.StatusSeeOther, undo("Starter.md", form("Starter.md")).Code)
	assert.Equal(t, siteNotes["Starter.md"], w.file("Starter.md"))

	edit := func(text string) {
		w.call("edit_note", map[string]any{"note": "Starter.md", "edits": []any{map[string]any{"op": "append", "content": text}}})
	}
	edit("first")
	stale := form("Starter.md")
	edit("second")
	refused := undo("Starter.md", stale)
	assert.Equal(t, http.StatusConflict, refused.Code)
	assert.Contains(t, refused.Body.String(), "The history shows what changed")
	assert.Contains(t, refused.Body.String(), `<a href="/history/Starter.md">`)
	assert.Contains(t, w.file("Starter.md"), "second")
	assert.Equal(t, http.StatusSeeOther, undo("Starter.md", form("Starter.md")).Code)
	assert.Contains(t, w.file("Starter.md"), "first")
	assert.NotContains(t, w.file("Starter.md"), "second")
	assert.Equal(t, http.StatusConflict, undo("Starter.md", url.Values{"revision": {"99"}}).Code)
	page, _ := w.read("/changes", 200)
	assert.Contains(t, page, "restored by")

	before := w.file("Starter.md")
	w.save("Starter.md", "By another program.")
	assert.Equal(t, http.StatusSeeOther, undo("Starter.md", form("Starter.md")).Code)
	assert.Equal(t, before, w.file("Starter.md"))
	w.save("Starter.md", "By another program, again.")
	stale = form("Starter.md")
	w.save("Starter.md", "And again.")
	assert.Equal(t, http.StatusConflict, undo("Starter.md", stale).Code)
	assert.Equal(t, "And again.", w.file("Starter.md"))
}

func TestPages_Others(t *testing.T) {
	w := newSite(t, siteNotes, false)
	var graph struct {
		Nodes []struct{ Path string }
		Links [][2]int
	}
	answer := w.do("GET", "/graph.json", nil)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &graph), answer.Body)
	assert.Len(t, graph.Nodes, 3)
	assert.Len(t, graph.Links, 2)
	w.read("/graph?note=Starter.md&depth=3", 200)

	text, _ := w.read("/why?note=Starter.md&q=rye+feed", 200)
	assert.Contains(t, text, "Number 1 of 3: Starter")
	text, _ = w.read("/why?note=None.md&q=rye", 404)
	assert.Contains(t, text, "None")
	text, _ = w.read("/status", 200)
	for _, part := range []string{"3", "assistant", "notesd web"} {
		assert.Contains(t, text, part)
	}
	w.read("/no/such/page", 404)
	w.read("/f/None.png", 404)
	w.read("/history/Starter.md?cursor=none", 400)
	w.read("/why?note=Starter.md&q=", 400)
}

// A read-only page offers no forms, and the vault rejects them in any case.
func TestPages_ReadOnly(t *testing.T) {
	w := newSite(t, siteNotes, true)
	for _, path := range []string{"/changes", "/history/Starter.md"} {
		_, source := w.read(path, 200)
		assert.NotContains(t, source, "<button form=\"restore\"", path)
		assert.NotContains(t, source, "Undo", path)
	}
	answer := w.do("POST", "/restore/Starter.md", url.Values{"revision": {"1"}})
	assert.Equal(t, http.StatusForbidden, answer.Code)
	assert.Equal(t, siteNotes["Starter.md"], w.file("Starter.md"))
}
