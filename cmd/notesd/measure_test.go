package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// measuredPlace returns the vault in MEASURE, with the state in MEASURE_STATE; both are
// written to. The test is skipped if MEASURE is not set.
func measuredPlace(t *testing.T) place {
	t.Helper()
	vault := os.Getenv("MEASURE")
	if vault == "" {
		t.Skip("SKIPPED: MEASURE names no vault to measure the page on")
	}
	p := newPlace(t, nil)
	p.vault = vault
	if state := os.Getenv("MEASURE_STATE"); state != "" {
		p.state = state
		t.Cleanup(func() { stopDaemon(t, state) })
	}
	return p
}

// TestPageMeasure prints timings of the page if MEASURE is set. It never fails for being
// slow.
func TestPageMeasure(t *testing.T) {
	p := measuredPlace(t)
	b := p.browse(t)
	report := func(what string, values ...any) {
		load, _ := os.ReadFile("/proc/loadavg") // Linux only
		t.Logf("%-44s %s   (load %s)", what, strings.TrimSpace(fmt.Sprintln(values...)), strings.Join(strings.Fields(string(load))[:1], " "))
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000) }
	b.open("/status")
	b.await("document.querySelector('progress[aria-label=Embedded]')?.position === 1")
	report("notes, passages", b.text("dl.status dd:nth-of-type(2)"), b.text("dl.status dd:nth-of-type(4)"))

	for _, path := range []string{"/", "/?q=history+of+science", "/changes"} {
		var paints []float64
		for range 7 {
			b.open(path)
			b.await("performance.getEntriesByName('first-contentful-paint').length > 0")
			paints = append(paints, evaluate[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		}
		report("first paint of "+path+", ms", paints)
	}

	b.open("/")
	report("key to results, ms", evaluate[[]float64](b, `(async () => {
		const field = document.querySelector('input[type=search]'), main = document.querySelector('main'), took = [];
		for (const text of ['sail', 'sailing ships', 'bread', 'history of science', 'whale']) {
			for (let n = 1; n <= text.length; n++) {
				const begun = performance.now();
				await new Promise((resolve) => {
					const seen = new MutationObserver(() => { seen.disconnect(); resolve(); });
					seen.observe(main, {attributes: true}); // they are set again each time
					field.value = text.slice(0, n);
					field.dispatchEvent(new Event('input'));
				});
				took.push(Math.round(performance.now() - begun));
			}
		}
		return took.sort((a, b) => a - b);
	})()`))

	b.open("/graph")
	b.await("performance.getEntriesByName('graph-rest').length > 0")
	report("graph: pictures, ms", evaluate[[]float64](b, "performance.getEntriesByName('graph-drawn').map(e => Math.round(e.startTime))"))
	report("graph: at rest, ms", evaluate[float64](b, "performance.getEntriesByName('graph-rest')[0].startTime"), b.text("#the-legend"))
	report("graph: frames a second while it is panned", evaluate[float64](b, `(async () => {
		const canvas = document.querySelector('canvas'), frames = 120;
		const send = (type, x) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: x, clientY: 200, bubbles: true}));
		canvas.setPointerCapture = () => {};
		send('pointerdown', 300);
		const begun = performance.now();
		for (let i = 0; i < frames; i++) {
			send('pointermove', 300 + 200 * Math.sin(i / 10));
			await new Promise(requestAnimationFrame);
		}
		send('pointercancel', 300);
		return Math.round(frames * 1000 / (performance.now() - begun));
	})()`))

	for _, path := range []string{"/", "/graph"} {
		b.open(path)
		if path == "/graph" {
			b.await("performance.getEntriesByName('graph-rest').length > 0")
		}
		b.run(performance.Enable())
		busy := func() float64 {
			var metrics []*performance.Metric
			b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
				metrics, err = performance.GetMetrics().Do(ctx)
				return err
			}))
			for _, m := range metrics {
				if m.Name == "TaskDuration" {
					return m.Value
				}
			}
			return -1
		}
		before := busy()
		evaluate[bool](b, "new Promise((resolve) => setTimeout(() => resolve(true), 10000))")
		report("idle "+path+": work in 10 s, ms", fmt.Sprintf("%.1f", 1000*(busy()-before)))
	}

	b.open("/")
	save := func(title string) time.Duration {
		begun := time.Now()
		require.NoError(t, os.WriteFile(filepath.Join(p.vault, "Measured.md"), []byte("# "+title+"\n"), 0o600))
		b.await("document.querySelector('main').innerText.includes('" + title + "')")
		return time.Since(begun)
	}
	t.Cleanup(func() { _ = os.Remove(filepath.Join(p.vault, "Measured.md")) })
	report("a save is on the page after", ms(save("First Measure")), ms(save("Second Measure")), ms(save("Third Measure")))
	process, err := os.FindProcess(p.daemon(t).PID)
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	report("after the daemon was killed, a save after", ms(save("Fourth Measure")))

	for _, path := range []string{"/", "/graph"} {
		b.open(path)
		b.await("document.readyState === 'complete'")
		if path == "/graph" {
			b.await("performance.getEntriesByName('graph-rest').length > 0")
		}
		report("compressed bytes of "+path+", its data included", evaluate[float64](b, `(async () => {
			let bytes = 0;
			for (const {name} of [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]) { // without what workers load
				if (name.endsWith('/events')) continue;
				const body = (await fetch(name)).body.pipeThrough(new CompressionStream('gzip'));
				bytes += (await new Response(body).arrayBuffer()).byteLength;
			}
			return bytes;
		})()`))
	}
}

// TestPagePictures writes screenshots of the page, the panel and a report to the folder
// PICTURES: light and dark, desktop and phone.
func TestPagePictures(t *testing.T) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		t.Skip("SKIPPED: PICTURES names no folder")
	}
	p := newPlace(t, nil)
	if os.Getenv("MEASURE") != "" {
		p = measuredPlace(t)
	} else {
		require.NoError(t, os.CopyFS(p.vault, os.DirFS(examples(t))))
		require.NoError(t, os.RemoveAll(filepath.Join(p.config(), "notesd"))) // written by configureTests, which disables semantic search
	}
	c := p.chat(t)
	query := cmp.Or(os.Getenv("PICTURE_QUERY"), "feeding a sourdough starter")
	b := p.browse(t)
	b.open("/status")
	b.await("document.querySelector('progress[aria-label=Embedded]')?.position === 1")
	note := c.peer.found(query)[0]
	b.open("/?q=" + url.QueryEscape(query))
	address := evaluate[string](b, "document.querySelector('a.hit').getAttribute('href')")
	take := func(b *browser, name string) {
		t.Helper()
		b.run(chromedp.ActionFunc(func(ctx context.Context) error {
			const good = 85
			picture, err := page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(good).Do(ctx)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name+".webp"), picture, 0o600)
		}))
	}
	for screen, size := range map[string][2]int64{"desktop": {1200, 750}, "phone": {390, 844}} {
		for _, b := range []*browser{b, c.browser} {
			b.run(emulation.SetDeviceMetricsOverride(size[0], size[1], 1, screen == "phone"))
		}
		b.inBothSchemes(func(scheme string) {
			for name, path := range map[string]string{
				"newest": "/", "search": "/?q=" + url.QueryEscape(query), "note": address, "graph": "/graph", "around": "/graph?depth=2&note=" + url.QueryEscape(note),
				"changes": "/changes", "status": "/status", "why": "/why?note=" + url.QueryEscape(note) + "&q=" + url.QueryEscape(query),
			} {
				b.open(path)
				if strings.HasPrefix(path, "/graph") {
					b.await("performance.getEntriesByName('graph-rest').length > 0")
					evaluate[bool](b, "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))")
				}
				take(b, name+"-"+screen+"-"+scheme)
			}
		})
		c.inBothSchemes(func(scheme string) {
			for name, call := range map[string][2]any{
				"search": {"search_notes", map[string]any{"query": query}}, "links": {"note_links", map[string]any{"note": note}},
				"edit": {"edit_note", map[string]any{"note": note, "dry_run": true, "edits": []any{map[string]any{"op": "add_tag", "tag": "to/read"}}}},
			} {
				c.alone(call[0].(string), call[1])
				take(c.browser, "panel-"+name+"-"+screen+"-"+scheme)
			}
		})
	}
}
