package web

import (
	"encoding/json"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"notesd/mcp/tools"
)

func rendering(source string, to destinations) string {
	return string(render([]byte(source), to).HTML)
}

// TestProperties_Links checks that properties are lists of links as in the text of a note.
func TestProperties_Links(t *testing.T) {
	to := destinations{notes: map[string]string{"Ann": "People/Ann.md"}}
	all := propertiesOf(tools.ReadResult{FrontMatter: map[string]any{
		"url": "https://example.org", "author": []any{"[[Ann]]", "[[Bo]]"}, "tags": []any{"a"}, "year": 2026.0, "note": "<b> # no heading", "list": []any{1.0, "x"},
	}}, to)
	var out strings.Builder
	require.NoError(t, template.Must(template.New("").Parse(`{{range .}}{{.Key}}={{.Value}}|{{end}}`)).Execute(&out, all))
	text := regexp.MustCompile(`</?p[^>]*>|\n`).ReplaceAllString(out.String(), "")
	assert.Equal(t, `author=<a href="/n/People/Ann.md">Ann</a>, <a href="/?q=Bo" class="unresolved" title="there is no such note">Bo</a>|list=1, x|note=&lt;b&gt; # no heading|url=<a href="https://example.org" rel="noreferrer" class="outward">https://example.org</a>|year=2026|`, text)
}

// TestProperties_Values checks that values are shown as in a note, not as in Go.
func TestProperties_Values(t *testing.T) {
	front := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(`{"isbn": 9780306406157, "ids": [202601311200, null, 1.5], "book": {"title": "A & B", "year": 1999}, "due": null, "read": true, "tags": ["a"]}`), &front))
	all := propertiesOf(tools.ReadResult{FrontMatter: front}, destinations{})
	assert.Equal(t, []property{{"book", `{"title":"A & B","year":1999}`}, {"due", ""}, {"ids", "202601311200, , 1.5"}, {"isbn", "9780306406157"}, {"read", "true"}}, all)
}

func TestNotePage_Tags(t *testing.T) {
	all := parseTemplates()
	var out strings.Builder
	require.NoError(t, all["note"].Execute(&out, page{Data: map[string]any{
		"Titled": true, "Text": rendered{}, "Note": tools.ReadResult{Tags: []string{"work/a&b", "machine learning"}}, "Links": tools.LinksResult{}, "Near": nil, "Properties": nil,
	}}))
	assert.Contains(t, out.String(), `<a class="tag" href="/?q=tag%3awork%2fa%26b">#work/a&amp;b</a> <a class="tag" href="/?q=tag%3a%22machine%20learning%22">#machine learning</a>`)
}

// TestRenderLinks renders links in every notation.
func TestRenderLinks(t *testing.T) {
	to := destinations{
		note:  "Projects/Boat.md",
		notes: map[string]string{"Rye Bread": "Recipes/Rye Bread.md", "Oil.md": "Projects/Oil.md", "Täglich": "Täglich.md", "Plan: B": "Plan: B.md"},
		files: map[string]string{"../files/a plan.svg": "files/a plan.svg", "plan.svg": "files/plan.svg", "list.pdf": "files/list.pdf", "Plan.canvas": "files/Plan.canvas"},
	}
	for source, want := range map[string]string{
		"[[Rye Bread]]":                       `<a href="/n/Recipes/Rye%20Bread.md">Rye Bread</a>`,
		"[[Rye Bread|loaf]]":                  `<a href="/n/Recipes/Rye%20Bread.md">loaf</a>`,
		"[[Rye Bread#The Oven]]":              `<a href="/n/Recipes/Rye%20Bread.md#theoven">Rye Bread › The Oven</a>`,
		"[[#Plan B]]":                         `<a href="#planb">Plan B</a>`,
		"[[Plan: B]]":                         `<a href="/n/Plan:%20B.md">Plan: B</a>`,
		"[[http: X]]":                         `<a href="/?q=http%3A+X" class="unresolved" title="there is no such note">http: X</a>`,
		"[[Täglich]]":                         `<a href="/n/T%C3%A4glich.md">Täglich</a>`,
		"| a |\n|---|\n| [[Rye Bread\\|x]] |": `<a href="/n/Recipes/Rye%20Bread.md">x</a>`,
		"[oil]([[Oil.md]])":                   `<a href="/n/Projects/Oil.md">oil</a>`,
		"[oil](Oil.md#Use)":                   `<a href="/n/Projects/Oil.md#use">oil</a>`,
		"[[Nowhere]]":                         `<a href="/?q=Nowhere" class="unresolved" title="there is no such note">Nowhere</a>`,
		"![[plan.svg]]":                       `<img src="/f/files/plan.svg" alt="plan.svg" loading="lazy">`,
		"![the plan](../files/a%20plan.svg)":  `<img src="/f/files/a%20plan.svg" alt="the plan" loading="lazy">`,
		"[[Plan.canvas]]":                     `<a href="/f/files/Plan.canvas">Plan.canvas</a>`,
		"![[list.pdf]]":                       `<a href="/f/files/list.pdf">list.pdf</a>`,
		"![[Rye Bread]]":                      `<a href="/n/Recipes/Rye%20Bread.md">Rye Bread</a>`,
		"![a](https://evil.example/x.png)":    `<a href="https://evil.example/x.png" rel="noreferrer" class="outward">a (at evil.example)</a>`,
		"[a](https://example.com)":            `<a href="https://example.com" rel="noreferrer" class="outward">a</a>`,
		"[a](http://localhost:PORT/)":         `<a href="http://localhost:PORT/" rel="noreferrer" class="outward">a</a>`,
		"![](https://img.example/95%-a.svg)":  `<a href="https://img.example/95%25-a.svg" rel="noreferrer" class="outward">picture (at another place)</a>`,
		"[[Rye Bread#^Bake-it]]":              `<a href="/n/Recipes/Rye%20Bread.md#%5Ebakeit">`,
		"Bake *well*\nfor long ^Bake-it":      `<p data-l="1-2" id="^bakeit">Bake <em>well</em>` + "\nfor long </p>",
		"- one ^a\n- [ ] two ^b":              `<li data-l="1-1" id="^a">one </li>`,
		"| a |\n|---|\n| 2^x |":               `2^x</td>`,
		"[[not closed":                        `[[not closed`,
	} {
		assert.Contains(t, rendering(source, to), want, source)
	}
}

// TestRenderLinkAsIndexed looks up targets as they are in the index: decoded and in NFC.
func TestRenderLinkAsIndexed(t *testing.T) {
	to := destinations{note: "Home.md", notes: map[string]string{}, files: map[string]string{}}
	for _, name := range []string{"Café", "Café.md", "R_1.md", "a(1).md", "AT&T.md", "AT&amp;T", "50%.md", "C#.md", "Q&A"} {
		to.notes[name] = strings.TrimSuffix(name, ".md") + ".md"
	}
	for _, name := range []string{"Café.png", "p_1.png", "R&D.pdf", "R&amp;D.png"} {
		to.files[name] = name
	}
	to.embed = func(notePath, anchor string) template.HTML { return template.HTML(notePath + " > " + anchor) }
	for source, want := range map[string]string{
		"[[Cafe\u0301]]":              `href="/n/Caf%C3%A9.md"`,
		"[[Cafe\u0301#Cre\u0300me]]":  `href="/n/Caf%C3%A9.md#cr%C3%A8me"`,
		"[x](Cafe\u0301.md)":          `href="/n/Caf%C3%A9.md"`,
		"[x](Cafe%CC%81.md)":          `href="/n/Caf%C3%A9.md"`,
		"[x][1]\n\n[1]: R\\_1.md":     `href="/n/R_1.md"`,
		"[x](R\\_1.md#a\\_b)":         `href="/n/R_1.md#ab"`,
		"[x](a\\(1\\).md)":            `href="/n/a%281%29.md"`,
		"[x](AT&amp;T.md)":            `href="/n/AT&amp;T.md"`,
		"[x](50%.md)":                 `href="/n/50%25.md"`,
		"[x](C\\#.md#x)":              `href="/n/C%23.md#x"`,
		"[x](C%23.md)":                `href="/n/C%23.md"`,
		"[[AT&amp;T]]":                `href="/n/AT&amp;amp%3BT.md"`,
		"[[Q&A#R&amp;D]]":             `href="/n/Q&amp;A.md#rampd"`,
		"[[Cafe\u0301^b-1]]":          `href="/n/Caf%C3%A9.md#%5Eb1"`,
		"![[Cafe\u0301^b-1]]":         "Café.md > ^b-1",
		"![](Cafe\u0301.md#^b-1)":     "Café.md > ^b-1",
		"![](Cafe\u0301.png)":         `src="/f/Caf%C3%A9.png"`,
		"![[Cafe\u0301.png]]":         `src="/f/Caf%C3%A9.png"`,
		"![](p\\_1.png)":              `src="/f/p_1.png"`,
		"![](R&amp;D.pdf)":            `href="/f/R&amp;D.pdf"`,
		"![[R&amp;D.png]]":            `src="/f/R&amp;amp%3BD.png"`,
		"![[Cafe\u0301#Cre\u0300me]]": "Café.md > Crème",
		"![](Cafe\u0301.md#Oven)":     "Café.md > Oven",
		"![](R\\_1.md#a%20b)":         "R_1.md > a b",
	} {
		assert.Contains(t, rendering(source, to), want, source)
	}
}

// TestRenderLinkToHeading links to a heading in the notations of Obsidian and GitHub.
func TestRenderLinkToHeading(t *testing.T) {
	for heading, links := range map[string][]string{
		"Risks & costs: v2":     {"[[#Risks & costs v2]]", "[a](#risks--costs-v2)", "[a](#Risks%20&%20costs:%20v2)"},
		"A/B | C":               {"[[#A/B C]]", "[a](#ab--c)"},
		"Plan\n\n# Plan":        {"[a](#plan)"},
		"One\n\n# Two\n\n# Two": {"[a](#two-1)"},
	} {
		for _, link := range links {
			text := rendering("# "+heading+"\n\n"+link+"\n", destinations{})
			_, after, _ := strings.Cut(text, `href="#`)
			id, _, _ := strings.Cut(after, `"`)
			require.NotEmpty(t, id, text)
			assert.Contains(t, text, `id="`+id+`"`, link)
		}
	}
}

// TestRenderEmbeds: embedded notes are shown below the paragraph that embeds them, or
// replace a paragraph that contains nothing else.
func TestRenderEmbeds(t *testing.T) {
	to := destinations{
		note:  "Home.md",
		notes: map[string]string{"Rye": "Recipes/Rye.md"},
		files: map[string]string{"p.png": "p.png", "list.pdf": "list.pdf"},
		embed: func(notePath, anchor string) template.HTML {
			return template.HTML("<p>" + notePath + " " + anchor + "</p>")
		},
	}
	for source, want := range map[string]string{
		"---\na: b\n---\n![[Rye]]\n": `<div class="embed" data-l="4-4">` + "\n<p>Recipes/Rye.md </p></div>\n",
		"![[Rye#The Oven]] \n![[Rye#^b1]]": `<div class="embed" data-l="1-2">` + "\n<p>Recipes/Rye.md The Oven</p></div>\n" +
			`<div class="embed" data-l="1-2">` + "\n<p>Recipes/Rye.md ^b1</p></div>\n",
		"see ![[#Part]] here":       `<p data-l="1-1">see <a href="#part">Part</a> here</p>` + "\n" + `<div class="embed" data-l="1-1">` + "\n<p>Home.md Part</p></div>\n",
		"see *![[Rye]]*":            `<p data-l="1-1">see <em><a href="/n/Recipes/Rye.md">Rye</a></em></p>` + "\n" + `<div class="embed" data-l="1-1">` + "\n<p>Recipes/Rye.md </p></div>\n",
		"- ![[Rye]]\n- x":           `<li data-l="1-1">` + "\n" + `<div class="embed" data-l="1-1">` + "\n<p>Recipes/Rye.md </p></div>\n</li>",
		"![a note](Rye#Oven)":       `<div class="embed" data-l="1-1">` + "\n<p>Recipes/Rye.md Oven</p></div>\n",
		"# ![[Rye]]":                `<h1 data-l="1-1" id="rye"><a href="/n/Recipes/Rye.md">Rye</a></h1>`,
		"`![[Rye]]`":                `<p data-l="1-1"><code>![[Rye]]</code></p>`,
		"![[list.pdf]]":             `<p data-l="1-1"><a href="/f/list.pdf">list.pdf</a></p>`,
		"![[Gone & lost#x]]":        `<p class="problem"><a class="unresolved" href="/?q=Gone+%26+lost">Gone &amp; lost</a> is missing: there is no such note or file.</p>`,
		"![[gone.png]]":             `<a class="unresolved" href="/?q=gone.png">gone.png</a> is missing: there is no such note or file.`,
		"![[p.png|300]]":            `<img src="/f/p.png" alt="p.png" loading="lazy" width="300">`,
		"![[p.png|the plan|30x20]]": `<img src="/f/p.png" alt="the plan" loading="lazy" width="30" height="20">`,
		"![the *plan*|100](p.png)":  `<img src="/f/p.png" alt="the plan" loading="lazy" width="100">`,
		"![a|b](p.png)":             `<img src="/f/p.png" alt="a|b" loading="lazy">`,
	} {
		assert.Contains(t, rendering(source, to), want, source)
	}

	to.embed, to.inner = nil, "e1-"
	assert.Equal(t, "<h1>Part</h1>\n"+`<p>text <a href="/n/Home.md#part">Part</a> <sup id="e1-fnref:1"><a href="#e1-fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> </p>`,
		strings.Split(rendering("# Part\n\ntext [[#Part]] [^1] ^b\n\n[^1]: x\n", to), "\n<div")[0], "of what is embedded, nothing has an id that the page has")
}

// TestRenderLines: blocks have the line numbers of the whole note, front matter included.
func TestRenderLines(t *testing.T) {
	source := "---\ntags: [a]\n---\n# Title\n\ntwo\nlines\n\n- item\n- [ ] task\n\n```go\ncode\n```\n\n| a | b |\n|---|---|\n| [[c]] x | d |\n"
	text := rendering(source, destinations{})
	for _, want := range []string{
		`<h1 data-l="4-4" id="title">Title</h1>`,
		`<p data-l="6-7">two`,
		`<li data-l="9-9">item</li>`,
		`<li data-l="10-10"><input type="checkbox" disabled aria-label="open"> task</li>`,
		`<pre tabindex="0" data-l="13-13"><code>code`,
		`<tr data-l="18-18">`,
		`<td data-l="18-18"><a href="/?q=c" class="unresolved" title="there is no such note">c</a> x</td>`,
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "tags:", "front matter is shown beside the note")
	crlf := rendering(strings.ReplaceAll(source, "\n", "\r\n"), destinations{})
	assert.Contains(t, crlf, `<li data-l="10-10">`)
}

// TestRenderDialect: highlights, comments and callouts are rendered as in Obsidian.
func TestRenderDialect(t *testing.T) {
	for source, want := range map[string]string{
		"a ==b *c*== d = e == f":       `<p data-l="1-1">a <mark>b <em>c</em></mark> d = e == f</p>`,
		"`==a==` ===b=== ==c":          `<p data-l="1-1"><code>==a==</code> ===b=== ==c</p>`,
		"a %%b [[c]]%% d %% e":         `<p data-l="1-1">a  d %% e</p>`,
		"a %%b\nc%% d `%%e%%` \\%%f%%": `<p data-l="1-2">a  d <code>%%e%%</code> %%f%%</p>`,
		"a\n%%\nb\n\n# c\n%%\nd":       "<p data-l=\"1-1\">a</p>\n<p data-l=\"7-7\">d</p>\n",
		"%% a %%\nb":                   "<p data-l=\"2-2\">b</p>\n",
		"%% a %% b":                    `<p data-l="1-1"> b</p>`,
		"%% a\n\nb":                    "<p data-l=\"1-1\">%% a</p>\n<p data-l=\"3-3\">b</p>\n",
		"- [/] a\n- [-] b\n- [<] c\n- [X] d\n- [x](e)\n- f [ ] g": `<li data-l="1-1"><span class="box" role="img" aria-label="in progress">/</span> a</li>` + "\n" +
			`<li data-l="2-2"><span class="box" role="img" aria-label="cancelled">-</span> b</li>` + "\n" + `<li data-l="3-3"><span class="box" role="img" aria-label="open">&lt;</span> c</li>` + "\n" +
			`<li data-l="4-4"><input type="checkbox" disabled aria-label="done" checked> d</li>` + "\n" + `<li data-l="5-5"><a href="/?q=e" class="unresolved" title="there is no such note">x</a></li>` + "\n" + `<li data-l="6-6">f [ ] g</li>`,
		"<u>a</u> <U>b": `<p data-l="1-1"><ins>a</ins> <ins>b</p>`,

		"- a\n  %%\n  b\n  %%\n- c": "<li data-l=\"1-4\">a\n</li>\n<li data-l=\"5-5\">c</li>",

		"a $\\{x_1\\} *y* z*$ *b*":    `<p data-l="1-1">a $\{x_1\} *y* z*$ <em>b</em></p>`,
		"$5 *a* $6, $7-$8 *b*":        `<p data-l="1-1">$5 <em>a</em> $6, $7-$8 <em>b</em></p>`,
		"a $$x \\\\ <b>\n*y*$$ b":     `<p data-l="1-2">a $$x \\ &lt;b&gt;` + "\n*y*$$ b</p>",
		"a\n$$\nx \\\\\n\n+ y\n$$\nb": `<p data-l="1-1">a</p>` + "\n" + `<pre class="raw" tabindex="0" data-l="2-6">$$` + "\nx \\\\\n\n+ y\n$$\n</pre>\n<p data-l=\"7-7\">b</p>\n",
		"$$x*y*z$$":                   `<pre class="raw" tabindex="0" data-l="1-1">$$x*y*z$$</pre>`,
		"`$a` *b* `c$` \\$a *b* c$":   `<code>$a</code> <em>b</em> <code>c$</code> $a <em>b</em> c$</p>`,

		"> [!tip] A *b*\n> c\n> d": `<div class="callout" data-callout="tip" data-l="1-3">` + "\n" +
			`<p data-l="1-1">A <em>b</em></p>` + "\n" + `<p data-l="2-3">c` + "\nd</p>\n</div>\n",
		"> [!Größe]\n> - c":                      `<div class="callout" data-callout="größe" data-l="1-2">` + "\n" + `<p data-l="1-1">Größe</p>` + "\n<ul>\n<li data-l=\"2-2\">c</li>",
		"> [!faq]- Why?\n>\n> c":                 `<details class="callout" data-callout="faq" data-l="1-3">` + "\n" + `<summary data-l="1-1">Why?</summary>` + "\n" + `<p data-l="3-3">c</p>` + "\n</details>\n",
		"> [!faq|wide]+\n> c":                    `<details class="callout" data-callout="faq" open="" data-l="1-2">` + "\n" + `<summary data-l="1-1">Faq</summary>`,
		"> [!todo] alone":                        `<p data-l="1-1">alone</p>` + "\n</div>\n",
		"> [!note] A\n> | b |\n> |---|\n> | c |": `<p data-l="1-1">A</p>` + "\n<table data-l=\"2-4\" tabindex=\"0\">",
		"> [!note] A\n> ---\n> b":                `<p data-l="1-1">A</p>` + "\n<hr>\n" + `<p data-l="3-3">b</p>`,
		"> [!note] A\n> > [!bug]- B\n> > c":      `<p data-l="1-1">A</p>` + "\n" + `<details class="callout" data-callout="bug" data-l="2-3">`,
		"> a\n> [!note] b":                       "<blockquote data-l=\"1-2\">\n<p data-l=\"1-2\">a\n[!note] b</p>\n</blockquote>",
		"[!note] a":                              `<p data-l="1-1">[!note] a</p>`,
		"> [!<b>\"] a":                           `data-callout="&lt;b&gt;&quot;"`,
		"> [!<b>]":                               `<p data-l="1-1">&lt;b&gt;</p>`,
	} {
		assert.Contains(t, rendering(source, destinations{}), want, source)
		assert.Contains(t, strings.ReplaceAll(rendering(strings.ReplaceAll(source, "\n", "\r\n"), destinations{}), "\r", ""), want, source)
	}
}

// hostile lists text in notes that attempts to run a script or reach another server.
var hostile = []string{
	`<script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	"a <img src=x onerror=alert(1)> b",
	`<svg onload=alert(1)>`,
	`[x](javascript:alert(1))`,
	`[x](JaVaScRiPt:alert(1))`,
	"[x](java\tscript:alert(1))",
	`[x](&#106;avascript:alert(1))`,
	`[x](data:text/html,<script>alert(1)</script>)`,
	`[x](vbscript:x)`,
	`[x](javascript:alert(1)%)`,
	`[x](JavaScript://%0Aalert(1)%)`,
	`[x](file:///x%)`,
	`![x](javascript:alert(1))`,
	`![x"onerror="alert(1)](y)`,
	`[[javascript:alert(1)]]`,
	`[[x" onmouseover="alert(1)]]`,
	`![[x.png" onerror="alert(1)]]`,
	"<https://example.com/\"onmouseover=\"alert(1)>",
	"# h <script>alert(1)</script>",
	"```html\n</code></pre><script>alert(1)</script>\n```",
	"```\" onload=\"alert(1)\nx\n```",
	`<mark onclick=alert(1)>x</mark>`,
	`<u onclick=alert(1)>x</u>`,
	"- [<] <script>alert(1)</script>\n- [\"] x",
	`<a href="javascript:alert(1)">x</a>`,
	`<iframe src="https://evil.example"></iframe>`,
	`<style>@import "https://evil.example"</style>`,
	`<base href="https://evil.example">`,
	`<meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<form action="https://evil.example"><button>x</button></form>`,
	`<!--><script>alert(1)</script>-->`,
	"[^1]\n\n[^1]: <script>alert(1)</script>",
	"| <script>alert(1)</script> |\n|---|\n| x |",
	`![[https://evil.example/x.png]]`,
	`![](//evil.example/x.png)`,
	"> [!x\" onclick=\"alert(1)] <script>alert(1)</script>\n> <script>alert(1)</script>",
	"> [!<script>alert(1)</script>]+\n> x",
	"==<script>alert(1)</script>== %%<script>alert(1)</script>",
}

// TestRenderOutline renders an outline of Logseq, in tabs below a heading.
func TestRenderOutline(t *testing.T) {
	assert.Equal(t, "<h1 data-l=\"1-1\" id=\"h\">H</h1>\n<ul>\n<li data-l=\"3-5\">a\n<ul>\n<li data-l=\"4-5\">b\nmore</li>\n</ul>\n</li>\n<li data-l=\"6-6\">c</li>\n</ul>\n<h2 data-l=\"7-7\" id=\"i\">I</h2>\n",
		rendering("# H\n\n\t- a\n\t\t- b\n\t\t  more\n\t- c\n## I\n", destinations{}))
	assert.Equal(t, "# H\nid:: 60a\ncollapsed:: true\n- a\n", string(outdented([]byte("# H\nid:: 60a\ncollapsed:: true\n\t- a\n"))))
	for _, source := range []string{"# H\n- a\n\t- b\n", "```\n# H\n\t- a\n```\n", "# H\n\tcode\n\t- b\n", "# H\nsee std:: x\n\t- b\n", "id:: 60a\n\t- b\n", "a\n\t- b\n", "# H\n    - b\n", "# H\n\t-b\n"} {
		assert.Equal(t, source, string(outdented([]byte(source))))
	}
}

// TestRenderDirection finds the first letter of a text as it is shown.
func TestRenderDirection(t *testing.T) {
	for source, want := range map[string]string{
		"# Bread\n\nخبز": "ltr", "2026: ![[Bread.png]] `1` **خبز** bread": "rtl", "---\ntitle: Bread\n---\n- (שלום)": "rtl", "1, 2, …": "", "\xff": "", "": "",
	} {
		assert.Equal(t, want, render([]byte(source), destinations{files: map[string]string{"Bread.png": "Bread.png"}}).Direction, source)
	}
}

// TestRenderHostile parses the output like a browser and permits only the elements and
// attributes that render itself writes.
func TestRenderHostile(t *testing.T) {
	elements := map[string]bool{}
	for _, name := range strings.Fields("a article blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr img input ins kbd li mark ol p pre s section span strong sub summary sup table tbody td th thead tr ul html head body") {
		elements[name] = true
	}
	attributes := map[string]bool{}
	for _, name := range strings.Fields("href src alt title class rel loading data-l data-callout open id type disabled checked aria-label tabindex align start role") {
		attributes[name] = true
	}
	check := func(name, source string) {
		within := destinations{inner: "e1-"}
		within.embed = func(string, string) template.HTML { return template.HTML("<p>again</p>") }
		root, err := html.Parse(strings.NewReader(rendering(source+"\n\n![[#a]]\n", destinations{
			embed: func(string, string) template.HTML { return template.HTML(rendering(source, within)) },
		})))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			assert.True(t, elements[n.Data], "%s renders <%s>", name, n.Data)
			for _, a := range n.Attr {
				assert.True(t, attributes[a.Key], "%s renders the attribute %s", name, a.Key)
				value := strings.ToLower(strings.TrimSpace(a.Val))
				switch a.Key {
				case "src":
					assert.True(t, strings.HasPrefix(a.Val, "/f/"), "%s loads %s", name, a.Val)
				case "href":
					for _, scheme := range []string{"javascript:", "vbscript:", "data:", "file:"} {
						assert.False(t, strings.HasPrefix(value, scheme), "%s links to %s", name, a.Val)
					}
				}
			}
		}
	}
	for _, source := range hostile {
		check(source, source)
	}
	check("all", strings.Join(hostile, "\n\n"))
}

// TestRenderBounds renders notes on which goldmark alone takes time or memory that grows
// with the square or the cube of their size.
func TestRenderBounds(t *testing.T) {
	for _, marker := range []string{"> ", "1. ", "- "} {
		out := rendering(strings.Repeat(marker, 2000)+"a", destinations{})
		assert.LessOrEqual(t, strings.Count(out, "<blockquote")+strings.Count(out, "<li"), maxNesting, marker)
		assert.Contains(t, out, template.HTMLEscapeString(marker)+"a</", "the rest is shown as written")
	}
	for _, mark := range []string{"*a_", "[a](", "~~a ", "==a ", "`a``", "<a ", "![a", "$a"} {
		for _, start := range []string{"", "# ", "- ", "| "} {
			source := start + strings.Repeat(mark, maxMarks) + "z"
			if start == "| " {
				source += "\n|-"
			}
			out := rendering(source, destinations{})
			assert.Contains(t, out, template.HTMLEscapeString(strings.Repeat(mark, maxMarks)+"z"))
		}
	}
	links := rendering(strings.Repeat("[a](b.md) and [[c]]\n", 600), destinations{})
	assert.Equal(t, 1200, strings.Count(links, "<a "))

	wide := strings.Repeat("|a", 900) + "\n" + strings.Repeat("|-", 900) + "\n"
	assert.Equal(t, 1800, strings.Count(rendering(wide+strings.Repeat("|a", 900), destinations{}), "a</t"))
	assert.Less(t, strings.Count(rendering(strings.Repeat(wide+strings.Repeat("|a\n", 20)+"\n", 10), destinations{}), "<td"), 2*maxAddedCells)
	assert.NotContains(t, rendering(wide+strings.Repeat("|a\n", 200), destinations{}), "<td")
	assert.Equal(t, 20_000, strings.Count(rendering("|a|b|\n|-|-|\n"+strings.Repeat("|a|b|\n", 10_000), destinations{}), "<td"))
	assert.Contains(t, rendering(strings.Repeat("[a]: b\n", 10_000), destinations{}), "[a]: b")

	block := ast.NewHTMLBlock(ast.HTMLBlockType2)
	block.Lines().AppendAll([]text.Segment{text.NewSegment(0, 9), text.NewSegment(0, 2)})
	assert.NotPanics(t, func() {
		markedBlock{mark: commentMark}.Continue(block, text.NewReader([]byte("b\n")), nil)
	}, "the first line, here longer than the source, is not read again for every line")
}

// FuzzRender searches for notes that make render panic or that inject a script.
func FuzzRender(f *testing.F) {
	for _, source := range hostile {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		out := render([]byte(source), destinations{notes: map[string]string{"a": "a.md"}})
		root, err := html.Parse(strings.NewReader(string(out.HTML)))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type == html.ElementNode {
				assert.NotContains(t, []string{"script", "iframe", "object", "embed", "style", "base", "form", "svg", "math", "link", "meta"}, n.Data)
				for _, a := range n.Attr {
					assert.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
				}
			}
		}
	})
}

// TestRenderExamples renders the example vault, a long line, deep nesting and invalid
// UTF-8.
func TestRenderExamples(t *testing.T) {
	n := 0
	require.NoError(t, filepath.WalkDir("../../examples/vault", func(name string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		out := render(source, destinations{})
		assert.NotEmpty(t, out.HTML, name)
		n++
		return nil
	}))
	assert.Greater(t, n, 40)
	for name, source := range map[string]string{
		"long line": strings.Repeat("word ", 40_000),
		"nested":    strings.Repeat("> ", 1000) + "x",
		"lists":     strings.Repeat("- ", 500) + "x",
		"brackets":  strings.Repeat("[[", 20_000),
		"latin-1":   "caf\xe9 \x00 end",
		"no fence":  "---\ntitle: x\n",
	} {
		assert.NotEmpty(t, render([]byte(source), destinations{}).HTML, name)
	}
}

func TestMarked(t *testing.T) {
	for _, c := range []struct {
		text  string
		terms []string
		want  string
	}{
		{"Äpfel, ryes and rye-bread: ryebreads!", []string{"rye", "äpfel"}, "<Äpfel>, <ryes> and <rye>-bread: ryebreads!"},
		{"this is 1st", []string{"is", "1st"}, "this <is> <1st>"},
		{"foo_bar and c++", []string{"foo_bar", "c++", "foo"}, "<foo_bar> and <c++>"},
		{"パンを焼く、ライ麦パン", []string{"パン", "焼く"}, "<パン>を<焼く>、ライ麦<パン>"},
		{"İstanbul rye", []string{"rye"}, "İstanbul <rye>"},
		{"Stra\u00dfe in Ko\u0308ln, STRASSE", []string{"k\u00f6ln", "strasse"}, "<Stra\u00dfe> in <Ko\u0308ln>, <STRASSE>"},
		{"K\u00f6ln", []string{"koln"}, "<K\u00f6ln>"},
		{"\u0130STANBUL g\u00fczel", []string{"istanbul"}, "<\u0130STANBUL> g\u00fczel"},
		{"\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd.", []string{"\u05e9\u05dc\u05d5\u05dd"}, "<\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd>."},
		{"Strategic plan", []string{"stra*"}, "<Strategic> plan"},
		{"nothing", nil, "nothing"},
		{"", []string{"a"}, ""},
	} {
		text := ""
		for _, p := range Marked(c.text, c.terms) {
			if p.Mark {
				p.Text = "<" + p.Text + ">"
			}
			text += p.Text
		}
		assert.Equal(t, c.want, text)
	}
}
