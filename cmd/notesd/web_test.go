package main

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/service"
)

// A browser shows the page of a place. It records violations: errors logged by the page,
// and requests to other servers.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string // prefix of all permitted URLs

	mu       sync.Mutex
	complain []string
}

// findChromium returns the path of the browser, or skips the test.
func findChromium(t *testing.T) string {
	t.Helper()
	notestest.SkipInShort(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: no Chromium is installed")
	return ""
}

// browse runs "notesd web" on the place and opens its link.
func (p place) browse(t *testing.T, args ...string) *browser {
	t.Helper()
	program := findChromium(t)
	link, _ := p.web(t, args...)
	return openBrowserAt(t, program, link)
}

// web runs "notesd web" on the place until stop is called or the test ends.
func (p place) web(t *testing.T, args ...string) (link string, stop func()) {
	t.Helper()
	cmd := p.command(append([]string{"web"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		assert.NoError(t, cmd.Wait(), "notesd web ends with Ctrl-C")
	})
	t.Cleanup(stop)
	link, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(link), stop
}

// openBrowserAt opens a one-time link.
func openBrowserAt(t *testing.T, program, link string) *browser {
	t.Helper()
	base, _, ok := strings.Cut(link, "/login/")
	require.True(t, ok, link)
	b := startBrowser(t, program, base)
	b.navigate(link)
	b.await("location.pathname === '/' && document.readyState === 'complete'")
	return b
}

// startBrowser starts a browser for the pages of one server.
func startBrowser(t *testing.T, program, base string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("headless", "new"), chromedp.WSURLReadTimeout(patience))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, base: base}
	chromedp.ListenTarget(ctx, b.observe)
	b.run(network.Enable(), log.Enable())
	return b
}

func (b *browser) observe(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complain = append(b.complain, "exception: "+e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if strings.HasPrefix(e.Entry.Text, "Autofocus processing was blocked") {
			return // the test focused an element before the page was ready
		}
		b.complain = append(b.complain, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(strings.Replace(u, "//localhost:", "//127.0.0.1:", 1), b.base) && !strings.HasPrefix(u, "about:") {
			b.complain = append(b.complain, "request to "+u)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Run(b.ctx, actions...))
}

// navigate loads an address and reports whether the browser got there: an earlier click
// may have led it elsewhere. Unlike chromedp.Navigate, it does not wait for the page's
// events, which do not arrive if another page intervenes.
func (b *browser) navigate(address string) bool {
	b.t.Helper()
	var failed string
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		_, _, failed, _, err = page.Navigate(address).Do(ctx)
		return err
	}))
	require.True(b.t, failed == "" || failed == "net::ERR_ABORTED", "%s: %s", address, failed)
	return failed == ""
}

// open opens a page of the server and waits until it has loaded completely.
func (b *browser) open(path string) {
	b.t.Helper()
	arrived := "location.href === new URL(" + jsString(b.base+path) + ").href"
	eventually(b.t, path+" is open", func() bool {
		if !b.navigate(b.base + path) {
			return false
		}
		b.await("document.readyState === 'complete'")
		return evaluate[bool](b, arrived)
	})
}

// await waits until an expression is true on this page or the one being loaded. Until
// that page is complete the expression may throw.
func (b *browser) await(expression string) {
	b.t.Helper()
	held := false
	defer func() {
		if !held {
			b.t.Log("the page is:", b.text("title"), b.text("body"))
		}
	}()
	script := "(() => { try { return Boolean(" + expression + ") } catch { return false } })()"
	eventually(b.t, expression, func() bool { return evaluate[bool](b, script) })
	held = true
}

// click clicks an element where a user could: visible and not covered by another. It
// checks and clicks in one step, because a live update may replace the element in
// between.
func (b *browser) click(selector string) {
	b.t.Helper()
	script := `(() => {
		const e = document.querySelector(` + jsString(selector) + `)
		e?.scrollIntoView({block: 'center', behavior: 'instant'})
		const r = e?.getBoundingClientRect()
		if (!r || !e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))) return false
		e.click()
		return true
	})()`
	eventually(b.t, selector+" is clicked", func() bool { return evaluate[bool](b, script) })
}

// press sends keys to an element.
func (b *browser) press(selector, keys string) {
	b.t.Helper()
	b.await("(e => { e.focus(); return document.activeElement === e })(document.querySelector(" + jsString(selector) + "))")
	b.run(chromedp.KeyEvent(keys))
}

// evaluate returns the value of an expression, or of its promise, on this page or, if it
// is unloaded first, on the next one. A page being unloaded may reject, throw or return
// nothing.
func evaluate[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	var err error
	defer func() {
		if err != nil {
			b.t.Log(expression, "failed:", err)
		}
	}()
	eventually(b.t, "the page answers "+expression, func() bool {
		err = chromedp.Run(b.ctx, chromedp.Evaluate(expression, &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		require.NoError(b.t, b.ctx.Err(), expression)
		return err == nil
	})
	return value
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return evaluate[string](b, "document.querySelector("+jsString(selector)+")?.innerText ?? ''")
}

func jsString(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// clean fails the test for every violation of the page.
func (b *browser) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.complain)
}

var pageNotes = map[string]string{
	"Recipes/Rye Bread.md": "# Rye Bread\n\nAll rye, no kneading.\n\n## Oven\n\nBake for an hour.\n\n- [ ] buy flour\n\nSee [[Starter]] and [[Nowhere]].\n",
	"Starter.md":           "# Starter\n\nFeed it. Used in [[Rye Bread#Oven]].\n",
	"Boat.md":              "# Boat\n\nVarnish the transom.\n",
}

// TestPageSearch searches as the user types, opens a hit with the keyboard alone and
// highlights its lines.
func TestPageSearch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	b := p.browse(t)
	assert.Contains(t, b.text("main"), "Newest notes")
	b.press("input[type=search]", "rye")
	b.await("document.querySelector('a.hit')?.innerText === 'Rye Bread'")
	assert.Contains(t, b.text(".hits"), "words: rye")
	b.press("input[type=search]", kb.Escape)
	assert.Equal(t, "rye, without the focus", evaluate[string](b, "(e => e.value + (document.activeElement === e ? '' : ', without the focus'))(document.querySelector('input[type=search]'))"))
	b.await("/^\\d+ notes?$/.test(document.getElementById('the-news').textContent)")
	b.open("/?q=rye+-transom+path:Recipes/")
	assert.Contains(t, b.text("details summary"), "The query as it was read")
	assert.Equal(t, "Words|rye|Without|-transom|Filters|path:Recipes/", evaluate[string](b, "[...document.querySelectorAll('.read dt, .read code')].map(e => e.textContent).join('|')"))
	b.open("/")
	b.run(chromedp.SendKeys("input[type=search]", "rye"))
	b.await("document.querySelector('.snippet mark') !== null && location.search === '?q=rye'")
	assert.True(t, evaluate[bool](b, "document.querySelector('input[type=search]').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', isComposing: true, bubbles: true, cancelable: true}))"), "the input method moves among its candidates")
	b.press("input[type=search]", kb.ArrowDown+kb.Enter)
	b.await("location.pathname === '/n/Recipes/Rye%20Bread.md' && location.hash.startsWith('#L')")
	b.await("document.querySelectorAll('.lit').length > 0")

	b.open("/n/Recipes/Rye%20Bread.md#L5-L7")
	b.await("[...document.querySelectorAll('.lit')].map(e => e.innerText).join('|') === 'Oven|Bake for an hour.'")
	for fragment, want := range map[string]string{"#L8": "buy flour", "#L13": "See Starter and Nowhere."} { // a blank line, and one behind the end
		b.open("/n/Recipes/Rye%20Bread.md" + fragment)
		b.await("[...document.querySelectorAll('.lit')].map(e => e.innerText.trim()).join('|') === " + jsString(want))
	}
	assert.Contains(t, b.text("aside"), "Starter")
	assert.Contains(t, b.text("aside"), "Broken links\nNowhere")
	b.click("article a[href='/n/Starter.md']")
	b.await("document.title.startsWith('Starter')")
	b.click("article a[href='/n/Recipes/Rye%20Bread.md#oven']")
	b.await("location.hash === '#oven'")
	b.open("/?q=rye&mode=text")
	b.press("input[type=search]", kb.End+" oven")
	b.await("location.search === '?q=rye+oven&mode=text' && document.querySelector('.hit') !== null && document.querySelector('.modes [aria-current]').innerText === 'text'")
	b.open("/?q=kneaded")
	b.await("document.querySelector('.snippet mark').innerText === 'kneading'")
	b.open("/?q=%22no+such+phrase%22")
	assert.Contains(t, b.text("h1"), "0 notes")
	b.open("/n/Nowhere.md")
	assert.Contains(t, b.text("main"), "Nowhere.md")
	b.cleanBut(http.StatusNotFound)
}

// TestPageEmbeds shows the embeds of a note, nested to a maximum depth and without
// cycles, and missing ones.
func TestPageEmbeds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"Menu.md": "# Menu\n\n![[Rye#Oven]]\n\nFirst ![[Rye#^flour]] then\n\n![[Loop]]\n\n![[Gone]]\n\n![[Rye#Nope]]\n\n![[dot.svg|30]]\n\n![[One]]\n\n![[Plan#Log]]\n\n![[Plan#B#Log]]\n\n![[Plan#B#^id]]\n\n![[Plan#C# basics]]\n",
		"Rye.md":  "---\nx: hidden\n---\n# Rye\n\n## Oven\n\nBake with [[Oil]]. ![[dot.svg|20]]\n\n<script>window.ran = 1</script>\n\n## Shop\n\nBuy flour ^flour\n",
		"Oil.md":  "# Oil\n",
		"Plan.md": "## A\n### Log\nTar it.\n## B\n### Log\nRig it.\n\nSail it. ^id\n## C# basics\nSharp.\n",
		"Loop.md": "Round ![[Loop]] and ![[Menu]]\n",
		"One.md":  "one ![[Two]]\n", "Two.md": "two ![[Three]]\n", "Three.md": "three ![[Four]]\n", "Four.md": "four\n",
		"dot.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
	})
	b := p.browse(t)
	b.open("/n/Menu.md")
	b.await("document.querySelector('article').innerText.includes('Bake with Oil.')")
	text := b.text("article")
	for _, want := range []string{"Rye › Oven\n", "<script>window.ran = 1</script>", "Buy flour", "Round Loop and Menu", "This note embeds itself; it is not repeated.",
		"Gone is missing: there is no such note or file.", "Rye.md#Nope is missing: there is no such heading or block.", "three Four", "Embeds are shown to a depth of 3.",
		"Plan › Log\n\nLog\n\nTar it.", "Plan › B › Log\n\nLog\n\nRig it.", "Plan › ^id\n\nSail it.", "C# basics\n\nSharp."} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "hidden")
	assert.Equal(t, 2, strings.Count(text, "This note embeds itself"))
	assert.False(t, evaluate[bool](b, "window.ran === 1"))
	assert.Equal(t, "20,30", evaluate[string](b, "[...document.querySelectorAll('article img')].map(i => i.width).join()"))
	assert.Equal(t, "/f/dot.svg", evaluate[string](b, "[...document.querySelectorAll('aside a')].find(a => a.innerText === 'dot')?.getAttribute('href')"))
	assert.Empty(t, evaluate[[]string](b, "[...document.querySelectorAll('aside a')].filter(a => !a.innerText).map(a => a.href)"), "links without a name")
	assert.Empty(t, evaluate[[]string](b, "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)"), "ids that are there twice")
	b.click(".embed a[href='/n/Oil.md']")
	b.await("document.title.startsWith('Oil')")
	b.open("/n/Menu.md#L3")
	b.await("document.querySelector('.lit')?.classList.contains('embed')")
	p.save(t, "Rye.md", "## Oven\n\nSteam it.\n")
	b.await("document.querySelector('article').innerText.includes('Steam it.')")
	b.clean()
}

// cleanBut is clean, except for responses with the status.
func (b *browser) cleanBut(status int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.NotEmpty(b.t, b.complain)
	for _, c := range b.complain {
		assert.Contains(b.t, c, strconv.Itoa(status))
	}
}

// TestPageWithoutScripts searches, reads, compares and restores with scripts disabled.
func TestPageWithoutScripts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.run(t, "edit", "--replace", "transom", "--with", "rudder", "Boat")
	b := p.browse(t)
	b.run(emulation.SetScriptExecutionDisabled(true))
	shows := func(text string) {
		t.Helper()
		eventually(t, "the page shows "+text, func() bool { return strings.Contains(b.text("main"), text) })
	}
	b.open("/")
	b.press("input[type=search]", "rudder"+kb.Enter)
	shows("Varnish the rudder.")
	b.click(".modes a[href$='mode=text']")
	b.await("document.readyState === 'complete' && (window.arrived = location.search.includes('mode=text'))") // else Enter submits the old page
	b.press("input[type=search]", kb.Enter)
	b.await("!window.arrived && location.search === '?q=rudder&mode=text'")
	b.click("a.hit")
	shows("Boat.md")
	b.click("aside a[href^='/history/']")
	shows("Restore 1")
	b.click("button[form=compare]")
	shows("-Varnish the transom.")
	b.click("button[form=restore]")
	eventually(t, "the version is restored", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "transom") })
	b.open("/graph")
	shows("The links of each note are on its own page.")
	b.clean()
}

// TestPageOfSeveralFolders shows notes with the same name in two folders, the links and
// files of each, and a problem of one.
func TestPageOfSeveralFolders(t *testing.T) {
	t.Parallel()
	p := newFolders(t, map[string]string{
		"home/Plan.md": "plan of home, see [[Garden]] ![[dot.svg]]\n\n- [ ] water\n", "home/Garden.md": "tomatoes\n",
		"home/dot.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
		"work/Plan.md": "plan of work, see [[home/Garden]] and [[Garden]]\n",
	})
	b := p.browse(t)
	assert.Equal(t, "home, work", b.text("a.vault"))
	b.open("/?q=plan")
	b.await("[...document.querySelectorAll('.hits .where')].map(e => e.innerText).sort().join() === 'home/Plan.md:1-3,work/Plan.md:1-1'")
	b.open("/?q=plan+path:work/")
	b.await("[...document.querySelectorAll('.hits .where')].map(e => e.innerText).join() === 'work/Plan.md:1-1'")
	b.open("/n/work/Plan.md")
	assert.Contains(t, b.text("aside"), "Broken links\nGarden")
	b.click("article a[href='/n/home/Garden.md']")
	b.await("location.pathname === '/n/home/Garden.md' && document.querySelectorAll(`aside a[href^='/n/home/Plan.md'], aside a[href^='/n/work/Plan.md']`).length >= 2")
	b.open("/n/home/Plan.md")
	b.await("document.querySelector(`article img[src='/f/home/dot.svg']`)?.naturalWidth === 9")
	p.save(t, "work/Plan.md", "a new plan\n")
	b.open("/n/work/Plan.md")
	b.await("document.querySelector('article').innerText.includes('a new plan')")

	b.open("/status") // otherwise a page of the folder itself would be requested while it is unavailable
	require.NoError(t, os.Rename(filepath.Join(p.vault, "work"), filepath.Join(p.vault, "away")))
	b.await("[...document.querySelectorAll('.problem')].some(e => e.innerText.includes('the folder \"work\" does not exist'))")
	b.open("/?q=tomatoes")
	b.await("document.querySelector('a.hit')?.innerText === 'Garden'")
	b.clean()
}

// TestPageIsLive shows another program's save on the open page, keeps the scroll
// position, and recovers after the daemon was killed.
func TestPageIsLive(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	b := p.browse(t)
	b.open("/n/Boat.md")
	b.await("document.querySelector('article').innerText.includes('transom')")
	p.save(t, "Boat.md", "# Boat\n\nVarnish the rudder.\n")
	b.await("document.querySelector('article').innerText.includes('rudder')")
	require.NoError(t, os.Remove(filepath.Join(p.vault, "Boat.md")))
	b.await("document.querySelector('.problem').innerText === 'Boat.md: the note \"Boat.md\" was deleted' && document.querySelector('main a[href=\"/history/Boat.md\"]') !== null")
	assert.Contains(t, b.text("main"), "Its history brings it back.")
	p.save(t, "Boat.md", "# Boat\n\nVarnish the keel.\n")
	b.await("document.querySelector('article').innerText.includes('keel')")
	b.open("/")
	p.save(t, "New.md", "# Newcomer\n")
	b.await("document.querySelector('main').innerText.includes('Newcomer')")

	process, err := os.FindProcess(p.daemon(t).PID)
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	p.save(t, "Later.md", "# Latecomer\n")
	b.await("document.querySelector('main').innerText.includes('Latecomer')")

	b.open("/n/Old%20Boat.md")
	assert.Equal(t, "Old Boat.md: there is no such note", b.text(".problem"))
	b.click("main li a")
	b.await("document.querySelector('article').innerText.includes('keel')")
	b.cleanBut(http.StatusNotFound)
}

// TestPageSignedOut restarts the server, which does not know the browser's cookie: the page
// says so, and continues once the browser is signed in.
func TestPageSignedOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	program := findChromium(t)
	link, stop := p.web(t, "--addr", ownAddress())
	b := openBrowserAt(t, program, link)
	b.open("/n/Boat.md")
	stop()
	b.await("document.getElementById('the-connection').checkVisibility() && document.querySelector('article').innerText.includes('transom')")
	link, _ = p.web(t, "--addr", strings.TrimPrefix(b.base, "http://"))
	b.await("document.querySelector('main').innerText.includes('not signed in') && document.getElementById('the-connection').hidden")
	evaluate[bool](b, "fetch("+jsString(strings.TrimPrefix(link, b.base))+").then(r => r.ok)")
	b.await("document.querySelector('article').innerText.includes('transom')")
}

// TestPageHidden checks that a hidden page has no connection, of which a browser opens six
// to a server, and that it shows what has changed once it is visible.
func TestPageHidden(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	b := p.browse(t)
	var streams sync.Map // the open streams of events
	chromedp.ListenTarget(b.ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			// The stream of the page before ends without an event.
			if strings.HasSuffix(e.Request.URL, "/events") && strings.HasSuffix(e.DocumentURL, "/n/Boat.md") {
				streams.Store(e.RequestID, nil)
			}
		case *network.EventLoadingFailed:
			streams.Delete(e.RequestID)
		}
	})
	listens := func(want bool) {
		t.Helper()
		eventually(t, "the page listens: "+strconv.FormatBool(want), func() bool {
			found := false
			streams.Range(func(_, _ any) bool { found = true; return false })
			return found == want
		})
	}
	b.open("/n/Boat.md")
	listens(true)
	show := func(visible bool) {
		evaluate[int](b, "Object.defineProperty(document, 'hidden', {configurable: true, value: "+strconv.FormatBool(!visible)+"}); document.dispatchEvent(new Event('visibilitychange')); 0")
	}
	show(false)
	listens(false)
	p.save(t, "Boat.md", "# Boat\n\nVarnish the rudder.\n")
	eventually(t, "the save is found", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "rudder") })
	assert.Contains(t, b.text("article"), "transom")
	show(true)
	b.await("document.querySelector('article').innerText.includes('rudder')")
	listens(true)
	b.clean()
}

// TestPageKeeps updates the page while it is in use: what did not change keeps its
// position, focus, selection, open state, and a click in progress.
func TestPageKeeps(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.save(t, "Boat.md", "---\nlength: 7\n---\n# Boat\n\nVarnish the rudder.\n\nAnd [bake](Starter.md).\n")
	p.run(t, "edit", "--replace", "rudder", "--with", "mast", "Boat")
	p.run(t, "edit", "--replace", "mast", "--with", "keel", "Boat")
	b := p.browse(t)
	b.open("/n/Boat.md#L6")
	b.await("document.querySelector('.lit').innerText === 'Varnish the keel.'")
	b.click("aside details summary")
	b.await("(window.link = document.querySelector('article a')).getBoundingClientRect().height > 0")
	b.press("article a", "")
	at := evaluate[struct{ X, Y float64 }](b, "(({x, y, width, height}) => ({X: x + width / 2, Y: y + height / 2}))(link.getBoundingClientRect())")
	b.run(input.DispatchMouseEvent(input.MousePressed, at.X, at.Y).WithButton(input.Left).WithClickCount(1))
	p.save(t, "Boat.md", "---\nlength: 7\n---\n# Boat\n\nVarnish the boom.\n\nAnd [bake](Starter.md).\n\n- A new line.\n")
	b.await("document.querySelector('article').innerText.includes('A new line.') && document.querySelector('.lit').innerText === 'Varnish the boom.'")
	assert.True(t, evaluate[bool](b, "document.activeElement === link && document.querySelector('aside details').open"))
	b.run(input.DispatchMouseEvent(input.MouseReleased, at.X, at.Y).WithButton(input.Left).WithClickCount(1))
	b.await("location.pathname === '/n/Starter.md'")

	b.open("/history/Boat.md")
	b.click("input[name=a][value='1']")
	b.click("input[name=b][value='2']")
	b.await("(window.button = document.querySelector('button[value=\"2\"]')) !== null")
	p.save(t, "Boat.md", "# Boat\n\nSold.\n")
	b.await("document.querySelector('tbody td').innerText === '5'")
	assert.Equal(t, []string{"1", "2"}, evaluate[[]string](b, "['a', 'b'].map(name => document.querySelector(`[name=${name}]:checked`).value)"))
	assert.True(t, evaluate[bool](b, "button.isConnected"))
	b.clean()
}

// TestPageWaits says that notesd does not answer while a search waits for it.
func TestPageWaits(t *testing.T) {
	t.Parallel()
	b := newPlace(t, pageNotes).browse(t)
	b.run(fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*q=rye"}})) // holds the requests
	b.press("input[type=search]", "rye")
	b.await("document.getElementById('the-connection').checkVisibility()")
	b.run(fetch.Disable())
	b.await("document.querySelector('.hit') !== null && document.getElementById('the-connection').hidden")
	b.clean()
}

// TestPageHeadings follows a link to a heading and goes back without loading the page again.
func TestPageHeadings(t *testing.T) {
	t.Parallel()
	b := newPlace(t, map[string]string{
		"Long.md": "# Long\n\n## One\n\n" + strings.Repeat("Line.\n\n", 200) + "## Two\n\nThe end.\n",
		"Many.md": strings.Repeat("## Heading\n", 300),
	}).browse(t)
	b.open("/n/Many.md")
	assert.True(t, evaluate[bool](b, "document.querySelector('aside').offsetHeight < 2 * innerHeight"), "what is below the outline is near")
	b.open("/n/Long.md")
	b.await("window.loaded = true")
	b.click(".outline a[href='#two']")
	b.await("location.hash === '#two' && scrollY > 1000")
	evaluate[int](b, "(history.back(), 0)")
	b.await("location.hash === ''")
	b.press("input[type=search]", "end")
	b.await("document.querySelector('.hit') !== null")
	assert.True(t, evaluate[bool](b, "window.loaded === true"))
	evaluate[int](b, "(history.back(), 0)")
	b.await("document.querySelector('article') !== null && !window.loaded")
	b.clean()
}

// TestPageReturns goes back from a search to where it began in a note, and shows the best hits when
// the query changes.
func TestPageReturns(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"Long.md": "# Long\n\n" + strings.Repeat("Line.\n\n", 200)}
	for i := range 20 {
		notes["Hit "+strconv.Itoa(i)+".md"] = "Bread and flour.\n"
	}
	b := newPlace(t, notes).browse(t)
	b.open("/n/Long.md")
	b.await("(scrollTo(0, 3000), scrollY === 3000)")
	b.press("input[type=search]", "bread")
	b.await("document.querySelectorAll('.hit').length === 20")
	b.await("(scrollTo(0, 500), scrollY === 500)")
	b.press("input[type=search]", " flour")
	b.await("location.search === '?q=bread+flour' && document.title.startsWith('bread flour') && scrollY === 0")
	evaluate[int](b, "(history.back(), 0)")
	b.await("document.querySelector('article') !== null && document.readyState === 'complete' && scrollY === 3000")
	b.clean()
}

// TestPageLong lays out only what is on the screen of a long note, also after a link to a line.
func TestPageLong(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"Log.md": "# Log\n\n" + strings.Repeat("Some words of a day, which fill a line.\n\n- one\n- two\n\n", 6000)})
	b := p.browse(t)
	b.open("/n/Log.md#L20003")
	b.await("document.querySelector('.lit')?.getBoundingClientRect().top < innerHeight")
	assert.Equal(t, "20003-20003", evaluate[string](b, "document.querySelector('.lit').dataset.l"))
	assert.Less(t, evaluate[int](b, "[...document.querySelectorAll('article > * > :first-child')].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length"), 1000)

	// Going back and reloading return to the same line, although the height of what is above is
	// estimated again.
	b.open("/n/Log.md")
	evaluate[bool](b, "(async () => { for (let i = 0; i < 30; i++) { scrollBy(0, 1000); await new Promise(requestAnimationFrame) } return true })()")
	const top = "(e => e.dataset.l + ' ' + Math.round(e.getBoundingClientRect().top / 8))([...document.querySelectorAll('article > p')].find(e => e.getBoundingClientRect().top > 100))"
	before := evaluate[string](b, top)
	b.open("/status")
	evaluate[int](b, "(history.back(), 0)")
	b.await("document.readyState === 'complete' && document.title.startsWith('Log') && " + top + " === " + jsString(before))
	evaluate[int](b, "(window.again = true, location.reload(), 0)")
	b.await("!window.again && document.readyState === 'complete' && history.scrollRestoration === 'auto' && " + top + " === " + jsString(before))
	b.clean()
}

// TestPageGraph draws the graph of the vault and the one around a note.
func TestPageGraph(t *testing.T) {
	t.Parallel()
	b := newPlace(t, pageNotes).browse(t)
	b.open("/graph")
	b.await("document.getElementById('the-legend').innerText.startsWith('3 notes, 2 links')")
	// Read a copy: Chromium warns about repeated reads from a canvas on the screen.
	b.await("(() => { const c = document.querySelector('canvas'), o = new OffscreenCanvas(c.width, c.height).getContext('2d'); o.drawImage(c, 0, 0); return o.getImageData(0, 0, c.width, c.height).data.some(v => v > 0) })()")
	b.open("/graph?note=Starter.md&depth=1")
	b.await("document.getElementById('the-legend').innerText.startsWith('2 notes')")
	b.press("input[type=search]", "rye")
	b.await("document.querySelector('.hit') !== null")
	evaluate[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))") // the graph would be drawn
	b.clean()
}

// TestPageGraphShrinks removes the link of a graph of two notes while the pointer is on the
// left one, and then likewise on the right one.
func TestPageGraphShrinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"A.md": "[[B]]\n", "B.md": "b\n", "C.md": "[[D]]\n", "D.md": "d\n"})
	b := p.browse(t)
	for note, end := range map[string]string{"A.md": "0", "C.md": "-1"} {
		b.open("/graph?note=" + note + "&depth=1")
		b.await("document.getElementById('the-legend').innerText.startsWith('2 notes, 1 link') && performance.getEntriesByName('graph-rest').length > 0")
		require.True(t, evaluate[bool](b, `(() => {
			const canvas = document.querySelector('canvas'), box = canvas.getBoundingClientRect(), points = []
			const at = (clientX, clientY) => { canvas.dispatchEvent(new PointerEvent('pointermove', {clientX, clientY})); return canvas.style.cursor === 'pointer' }
			for (let y = box.top; y < box.bottom; y += 5) for (let x = box.left; x < box.right; x += 5) if (at(x, y)) points.push([x, y])
			return at(...points.sort(([x], [u]) => x - u).at(`+end+`))
		})()`))
		p.save(t, note, "no link\n")
		b.await("document.getElementById('the-legend').innerText.startsWith('1 note, 0 links')")
		evaluate[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))") // it is drawn
	}
	b.clean()
}

// TestPageHostile shows a vault that tries to run scripts and to contact other servers.
func TestPageHostile(t *testing.T) {
	t.Parallel()
	b := newPlace(t, map[string]string{
		"Big.md":                            "# Big\n\n" + strings.Repeat(strings.Repeat("word ", 10_000)+"\n\n", 100),
		"Evil <script>alert(1)</script>.md": "# <img src=x onerror=alert(1)>\n",
		"Evil.md": "---\ntitle: \"<script>alert(1)</script>\"\nx: \"<svg onload=alert(1)>\"\ntags: [\"<b>\"]\n---\n" +
			"<script>window.ran = 1</script>\n\n<img src=x onerror=\"window.ran=1\">\n\n[x](javascript:window.ran=1) ![p](https://evil.example/p.png)\n\n<iframe src=https://evil.example></iframe>\n\n" +
			"![[evil.svg]]\n\n<style>body{display:none}</style>\n\n## Connection\n",
		"evil.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="top.ran=1"><script>top.ran=1; fetch("https://evil.example")</script></svg>`,
	}).browse(t)
	for _, path := range []string{"/n/Evil.md", "/?q=evil+script", "/", "/n/Evil%20%3Cscript%3Ealert(1)%3C%2Fscript%3E.md", "/f/evil.svg", "/graph", "/?q=%3Cscript%3Ewindow.ran=1%3C/script%3E"} {
		b.open(path)
		assert.False(t, evaluate[bool](b, "window.ran === 1"), path)
	}
	b.open("/n/Big.md")
	b.await("document.querySelector('article .remark a[href=\"/f/Big.md\"]') !== null && document.querySelector('article').innerText.length < 4.5e6")
	b.open("/n/Evil.md")
	b.await("document.querySelector('article').innerText.includes('window.ran = 1')") // as text
	b.await("document.querySelector('#connection').checkVisibility()")                // a heading, not the element of the page
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complain {
		assert.NotContains(t, c, "request to", "nothing is asked of another server")
	}
}

// TestPageWhy explains a hit and a miss.
func TestPageWhy(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.configure(t, "[semantic]\nprovider = \"off\"\n[search]\nmode = \"text\"\n")
	b := p.browse(t)
	b.open("/?q=rye")
	assert.Equal(t, "text", b.text(".modes [aria-current]"))
	b.click("a[href^='/why']")
	b.await("document.querySelector('h1').innerText.startsWith('Number 1 of') && new URLSearchParams(location.search).get('mode') === 'text'")
	b.open("/why?note=Boat.md&q=rye+-transom")
	assert.Contains(t, b.text("main"), "-transom excludes this note")
	b.clean()
}

// TestPageStatus shows counts, warnings, and the connected clients with their settings.
func TestPageStatus(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.save(t, "Broken.md", "broken \xff\xfe\x00\n")
	p.launch(t, "mcp", "--read-only", "--tools", "search_notes").initialize()
	b := p.browse(t)
	b.open("/status")
	b.await("document.querySelector('main').innerText.includes('up to date')")
	assert.Contains(t, b.text("main"), "1 file skipped")
	assert.Regexp(t, `Skipped files\s+Broken\.md: .+`, b.text("main"))
	b.await("[...document.querySelectorAll('tbody tr')].some(row => /^test 1\\s.*\\sread-only, search_notes\\s/.test(row.innerText))")
	b.await("[...document.querySelectorAll('tbody tr')].some(row => row.innerText.startsWith('notesd web'))")
	b.clean()
}

// TestPageWarnings shows each problem with its remedy.
func TestPageWarnings(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.save(t, "Prompts/bad.md", "---\narguments: [\n---\nx\n")
	base, err := os.ReadFile(p.settingsFile())
	require.NoError(t, err)
	p.configure(t, string(base)+"\n[prompts]\nfolder = \"Prompts\"\n")
	b := p.browse(t)
	for _, w := range []struct {
		what string
		do   func()
		want []string // the problem and the remedy
	}{
		{"a prompt", func() {}, []string{"Prompts/bad.md", "its front matter is broken"}},
		{"a damaged file", func() {
			require.NoError(t, os.WriteFile(filepath.Join(p.state, "notes.db.damaged-20260101T000000.000"), nil, 0o600))
		}, []string{"was damaged and was set aside earlier", "delete it from " + p.state}},
		{"the configuration file", func() { p.configure(t, string(base)+"\n[vault\n") }, []string{"the configuration file has changed and is not used until it is corrected: ", p.settingsFile()}},
		{"the vault's folder", func() { require.NoError(t, os.Rename(p.vault, p.vault+"-away")) },
			[]string{"the vault cannot be used: ", "is its disk mounted?", "notesd resumes automatically when the folder is back."}},
	} {
		w.do()
		for _, want := range w.want {
			b.open("/status")
			b.await("[...document.querySelectorAll('.problem')].some(e => e.innerText.includes(" + jsString(want) + "))")
		}
	}
	require.NoError(t, os.Rename(p.vault+"-away", p.vault))
	b.await("![...document.querySelectorAll('.problem')].some(e => e.innerText.includes('mounted'))")
}

// TestWebAddress rejects addresses that other machines can reach or another program has.
func TestWebAddress(t *testing.T) {
	p := newPlace(t, nil)
	for _, addr := range []string{"0.0.0.0:0", "8080", "192.168.1.2:80"} {
		cmd := p.command("web", "--addr", addr)
		out, err := cmd.CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "not a loopback address")
	}
	_, err := os.Stat(filepath.Join(p.state, service.DaemonLog))
	assert.ErrorIs(t, err, os.ErrNotExist)
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close()) }()
	out, err := p.command("web", "--addr", other.Addr().String()).CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "Without --addr, a free port is used.")
}

// TestWebLog answers and ends if the log file cannot be opened.
func TestWebLog(t *testing.T) {
	p := newPlace(t, nil)
	file := filepath.Join(p.vault, "nodir", "x.log")
	cmd := p.command("web", "--no-open", "--log-file", file)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	link, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Timeout: patience}
	link, _, _ = strings.Cut(link, "\n")
	base, _, _ := strings.Cut(link, "login/")
	statuses := []int{}
	for _, address := range []string{link, base} {
		answer, err := client.Get(address)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		statuses = append(statuses, answer.StatusCode)
	}
	assert.Equal(t, []int{http.StatusOK, http.StatusServiceUnavailable}, statuses)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.Zero(t, ended(t, cmd), "notesd web ends with Ctrl-C")
	assert.Contains(t, problems.String(), file)
}

// loadAxe returns axe-core from the file in AXE.
func loadAxe(t *testing.T) string {
	t.Helper()
	file := os.Getenv("AXE")
	if file == "" {
		t.Skip("SKIPPED: AXE does not name axe.min.js")
	}
	axe, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(axe) + "; 0"
}

// inBothSchemes calls do in light and dark mode.
func (b *browser) inBothSchemes(do func(scheme string)) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
		do(scheme)
	}
}

// assertAccessible runs axe-core on the page.
func (b *browser) assertAccessible(axe, what string) {
	b.t.Helper()
	evaluate[int](b, axe)
	assert.Empty(b.t, evaluate[[]string](b,
		"axe.run().then(r => r.violations.map(v => v.impact + ' ' + v.id + ': ' + v.help + ' ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | ')))"), what)
}

// TestPageIsAccessible runs axe-core on every view, in light and dark mode.
func TestPageIsAccessible(t *testing.T) {
	axe := loadAxe(t)
	p := newPlace(t, pageNotes)
	p.save(t, "Wide.md", "# Wide\n\n| "+strings.Repeat("column | ", 40)+"\n|"+strings.Repeat("--|", 40)+"\n")
	b := p.browse(t)
	b.inBothSchemes(func(scheme string) {
		for _, path := range []string{"/", "/?q=rye", "/n/Recipes/Rye%20Bread.md#L5-L7", "/n/Wide.md", "/graph", "/status", "/changes", "/history/Boat.md", "/why?note=Boat.md&q=rye"} {
			b.open(path)
			b.assertAccessible(axe, path+", "+scheme)
		}
	})
}

// TestPageFitsAPhone checks that no view scrolls horizontally, and that each paragraph is
// set in the direction of its script.
func TestPageFitsAPhone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abcdefghi", 20)
	p := newPlace(t, map[string]string{
		"Boat.md": "# Boat\n\n`" + long + "` " + long + "\n\n| " + strings.Repeat("column | ", 20) + "\n|" + strings.Repeat("--|", 19) + "-:|\n\n```\n" + long + "\n```\n",
		"خبز.md":  "# خبز\n\nنص عربي، then English.\n\nEnglish, ثم عربي.\n\n    code\n",
		"Folder with a long name/And another one/" + long + ".md": "x",
		"مطبخ/وصفات/كعك.md":                                       "كعك\n",
	})
	p.run(t, "edit", "--replace", "then", "--with", "and", "خبز")
	b := p.browse(t)
	b.run(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	for _, path := range []string{"/", "/?q=boat", "/n/Boat.md", "/n/%D8%AE%D8%A8%D8%B2.md", "/graph", "/status", "/changes", "/history/%D8%AE%D8%A8%D8%B2.md", "/why?note=Boat.md&q=boat"} {
		b.open(path)
		assert.Zero(t, evaluate[int](b, "document.documentElement.scrollWidth - innerWidth"), path)
		assert.Empty(t, evaluate[[]string](b, "[...document.querySelectorAll('button')].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.innerText)"), path)
	}
	b.open("/n/%D9%85%D8%B7%D8%A8%D8%AE/%D9%88%D8%B5%D9%81%D8%A7%D8%AA/%D9%83%D8%B9%D9%83.md")
	assert.Equal(t, "مطبخ وصفات كعك.md", evaluate[string](b, "[...document.querySelectorAll('aside .where bdi')].sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left).map(e => e.innerText).join(' ')"))
	b.open("/n/Boat.md")
	assert.Less(t, evaluate[int](b, "document.querySelector('th').clientHeight"), 40, "a table scrolls, and its words stay whole")
	assert.Equal(t, "start,-webkit-right", evaluate[string](b, "[...document.querySelectorAll('th')].map(e => getComputedStyle(e).textAlign).slice(-2).join()"))
	b.open("/n/%D8%AE%D8%A8%D8%B2.md")
	// Whether the text of each paragraph starts or ends at the edge of the column.
	edges := `(() => { const article = document.querySelector('article').getBoundingClientRect()
		return [...document.querySelectorAll('article > *')].map(e => { const r = document.createRange(); r.selectNodeContents(e); const t = r.getBoundingClientRect()
			return e.tagName + (e.tagName === 'PRE' ? getComputedStyle(e).direction : t.left - article.left < 1 ? ' left' : article.right - t.right < 1 ? ' right' : ' between') }).join() })()`
	assert.Equal(t, "H1 right,P right,P left,PREltr", evaluate[string](b, edges))
	assert.Equal(t, "rtl", evaluate[string](b, "getComputedStyle(document.querySelector('article')).direction"))
	b.clean()
}

// TestPageHistory compares two versions, restores one, undoes that from the list of
// changes, and refuses to overwrite a change that the page has not shown.
func TestPageHistory(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.run(t, "edit", "--replace", "transom", "--with", "rudder", "Boat")
	b := p.browse(t)
	b.navigate(b.base + "/history/")
	b.await("location.pathname === '/changes'")
	b.open("/history/Boat.md")
	b.await("document.querySelectorAll('tbody tr').length === 2")
	b.click("button[form=compare]")
	b.await("document.querySelector('.diff')?.innerText.includes('-Varnish the transom.') && document.querySelector('.diff .add').innerText.includes('rudder')")
	b.open("/history/Boat.md")
	b.click("button[form=restore]")
	b.await("location.pathname === '/n/Boat.md' && document.querySelector('article').innerText.includes('transom')")
	b.open("/changes")
	b.await("document.querySelector('tbody tr td:nth-child(3)').innerText.startsWith('restored by notesd web')")
	names := evaluate[[]string](b, "[...document.querySelectorAll('button, td a[href*=history]')].map(e => e.ariaLabel)")
	assert.Subset(t, names, []string{"Undo change 2 of Boat.md", "History of Boat.md"})
	b.click("form[action='/undo/Boat.md'] button")
	eventually(t, "the restoring is undone", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "rudder") })

	b.open("/history/Boat.md")
	shown := evaluate[string](b, "document.querySelector('#restore [name=hash]').value")
	p.save(t, "Boat.md", "# Boat\n\nSaved by an editor.\n")
	eventually(t, "the save is found", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "editor") })
	evaluate[int](b, "document.querySelector('#restore [name=hash]').value = "+jsString(shown)+"; document.querySelector('button[form=restore]').click(); 0") // as on the page before
	b.await("document.querySelector('.problem') !== null")
	assert.Contains(t, p.run(t, "read", "Boat"), "editor")
	p.run(t, "delete", "Boat")
	b.open("/changes")
	b.click("form[action='/undo/Boat.md'] button")
	eventually(t, "the deletion is undone", func() bool {
		_, err := os.Stat(filepath.Join(p.vault, "Boat.md"))
		return err == nil
	})
	p.run(t, "move", "Boat", "Ships/Dinghy.md")
	b.open("/changes")
	b.click("form[action='/undo/Ships/Dinghy.md'] button")
	eventually(t, "the move is undone", func() bool {
		_, err := os.Stat(filepath.Join(p.vault, "Boat.md"))
		return err == nil
	})
	b.cleanBut(http.StatusConflict)
}

// A note is printed with the text of its folded callouts: paper cannot unfold them.
func TestPagePrints(t *testing.T) {
	t.Parallel()
	b := newPlace(t, map[string]string{"Plan.md": "# Plan\n\n> [!note]- Risks\n> Rain.\n"}).browse(t)
	b.open("/n/Plan.md")
	b.await("!document.querySelector('details.callout p').checkVisibility()")
	b.run(emulation.SetEmulatedMedia().WithMedia("print"))
	b.await("document.querySelector('details.callout p').checkVisibility()")
	b.clean()
}

// TestPageReadOnly offers no write operations, and the session would reject them.
func TestPageReadOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t, pageNotes)
	p.run(t, "edit", "--replace", "transom", "--with", "rudder", "Boat")
	b := p.browse(t, "--read-only")
	for _, path := range []string{"/changes", "/history/Boat.md"} {
		b.open(path)
		assert.Zero(t, evaluate[int](b, "document.querySelectorAll('form[method=post]').length"), path)
	}
	assert.Contains(t, evaluate[string](b, "fetch('/restore/Boat.md', {method: 'POST', body: new URLSearchParams({revision: 1})}).then(r => r.text())"), "This page is read-only.")
	assert.Contains(t, p.run(t, "read", "Boat"), "rudder")
}

// TestPageOverHTTP serves the page at / of a daemon with HTTP, next to MCP, and undoes an
// edit there.
func TestPageOverHTTP(t *testing.T) {
	t.Parallel()
	program := findChromium(t)
	p := newPlace(t, pageNotes)
	p.configure(t, "[semantic]\nprovider = \"off\"\n[search]\nmode = \"text\"\n")
	p.serve(t, "--http", "127.0.0.1:0")
	out := p.run(t, "web")
	link, _, _ := strings.Cut(out, "\n")
	require.Contains(t, link, "/login/")
	assert.Contains(t, out, "The daemon serves the page.")
	b := openBrowserAt(t, program, link)
	b.open("/n/Boat.md")
	p.save(t, "Boat.md", "# Boat\n\nVarnish the rudder.\n")
	b.await("document.querySelector('article').innerText.includes('rudder')")
	p.run(t, "edit", "--replace", "rudder", "--with", "keel", "Boat")
	b.open("/changes")
	b.click("form[action='/undo/Boat.md'] button")
	eventually(t, "the edit is undone", func() bool { return strings.Contains(p.run(t, "read", "Boat"), "rudder") })
	b.open("/?q=rye")
	assert.Equal(t, "text", b.text(".modes [aria-current]"))
	b.clean()
}
