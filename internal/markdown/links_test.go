package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// describe formats links as "kind target#anchor|alias", with "!" for external ones.
func describe(doc *Document) []string {
	var out []string
	for _, l := range doc.Links {
		s := fmt.Sprintf("%s %s", l.Kind, l.Target)
		if l.Anchor != "" {
			s += "#" + l.Anchor
		}
		if l.Alias != "" {
			s += "|" + l.Alias
		}
		if l.External {
			s += "!"
		}
		out = append(out, s)
	}
	return out
}

func TestLinks(t *testing.T) {
	for src, want := range map[string][]string{
		"[[a]] ![[b.png|200]] [[c#d|e]] [[#f]] [[g#^h]] [[i^j]]": {
			"wikilink a", "embed b.png|200", "wikilink c#d|e", "wikilink #f", "wikilink g#^h", "wikilink i#^j",
		},
		"| [[a\\|b]] | ![[c\\|9]] |":                {"wikilink a|b", "embed c|9"},
		"[[ a b ]] [[a|b|c]] [[a#b#c]] [[]] [[|x]]": {"wikilink a b", "wikilink a|b|c", "wikilink a#b#c"},
		"[[a\nb]] [[c [[d]] [[[e]]]":                {"wikilink d", "wikilink e"},
		"\\[[a]] `[[b]]` [c]] [[d] ]":               nil,
		"[[a^b c]] [[d^e-1 ]] [[f^]] [[g^h#i]]":     {"wikilink a^b c", "wikilink d#^e-1", "wikilink f^", "wikilink g^h#i"}, // "^" that is not before an ID is ordinary
		"[[https://x.y]]":                           {"wikilink https://x.y!"},
		"#[[a b]]":                                  {"tag a b"},

		"[a](b.md) ![c](d.png \"t\") [e](<f g.md#h>)":                                               {"markdown b.md|a", "image d.png|c", "markdown f g.md#h|e"},
		"[a](b%20c.md#d%20e) [f](g\\(h\\).md 'i')":                                                  {"markdown b c.md#d e|a", "markdown g(h).md|f"},
		"[a](b(c)d.md) [e](#f) [](g) [h]()":                                                         {"markdown b(c)d.md|a", "markdown #f|e", "markdown g", "markdown |h"},
		"[a](@site/b.md#c) ![d](@site/e.png) [f](<@site/g h.md>) [i](@/k.md)":                       {"markdown /b.md#c|a", "image /e.png|d", "markdown /g h.md|f", "markdown @/k.md|i"}, // of Docusaurus
		"[[a b://c]] [d](e f://g) [h](i://j) [k](l\\ 'm')":                                          {"wikilink a b://c", "markdown i://j|h!", "markdown l\\|k"},
		"[a](http://b#c) [d](mailto:e@f) [g](//h)":                                                  {"markdown http://b#c|a!", "markdown mailto:e@f|d!", "markdown //h|g!"},
		"[a](onenote:#b&section-id={c}&end) [d](about:blank) [e](((6650a002-1111))) [f](((g h)))":   {"markdown onenote:#b&section-id={c}&end|a!", "markdown about:blank|d!", "markdown ((6650a002-1111))|e!"},
		"- {{[[TODO]]}} [[a]] {{[[embed]]: ((b))}} {{embed [[c]]}} {{[[d]]":                         {"wikilink a", "wikilink c", "wikilink d"}, // of Roam and Logseq
		"[a](100%.md) [b](%ff.md) [c](R&amp;D&copy)":                                                {"markdown 100%.md|a", "markdown %ff.md|b", "markdown R&D&copy|c"},
		"[a](Caf&#233;.md#b&#32;c) [d](e&#x20;f.md) [g](h\\#i.md)":                                  {"markdown Caf\u00e9.md#b c|a", "markdown e f.md|d", "markdown h#i.md|g"},
		"[a](b&#c.md) [d](e&amp;#f)":                                                                {"markdown b&#c.md|a", "markdown e&#f|d"},
		"[![a](b)](c) [x [[d]]](e)":                                                                 {"markdown c|a", "image b|a", "markdown e|x d", "wikilink d"},
		"[a [b](c) d](e)":                                                                           {"markdown c|b"},
		"> [two\n> lines](a)":                                                                       {"markdown a|two lines"},
		"[a](b c.md) [d] (e) [f](g":                                                                 nil,
		"[text]([[page]])":                                                                          {"wikilink page"},
		"[a]: b.md\n[c d]: <e f> 'title'\n[^n]: g\n":                                                {"markdown b.md", "markdown e f"},
		"text\n[a]: b.md\n":                                                                         nil,
		"Note: [a](Note:x.md)":                                                                      {"markdown Note:x.md|a"},
		"```\n[[a]]\n```\n~~~\n[b](c)\n~~~":                                                         nil,
		"%% [[a]] %% [[b]] %%":                                                                      {"wikilink a", "wikilink b"},
		"%%\n[[a]]\n\n[[b]]\n%%\n[[c]]":                                                             {"wikilink a", "wikilink b", "wikilink c"},
		"%% [[a]] %%\n[[b]]\n$$[[c]]$$\n[[d]]\n":                                                    {"wikilink a", "wikilink b", "wikilink d"},
		"%%[[a]]%% [[b]]\n\n$$[[c]]$$ [[d]]\n":                                                      {"wikilink a", "wikilink b", "wikilink d"},
		"%% [[a]]\n\n$$ [[b]]\n\n[[c]]\n":                                                           {"wikilink a", "wikilink b", "wikilink c"},
		"%a [[a]]\n\n$5 [[b]]\n\n%%\n[[c]]\n%%\n$$\n[[d]]\n$$\n":                                    {"wikilink a", "wikilink b", "wikilink c"},
		"%%\n# Data\na: [[b]]\n```json\n{\"c\": \"[[c]]\"}\n```\n%%":                                {"wikilink b"},
		"%%\nit`s [[a]]\n\n[[b]]\n```json\n{\"it`s\": \"[[c]] ```js\"}\n```\n[[d]]\n~~~\n[[e]]\n%%": {"wikilink a", "wikilink b", "wikilink d"},
		"- %%\n  [[a]]\n\n[[b]]\n\n> $$\n> [[c]]\n\n[[d]] %% $$\n":                                  {"wikilink a", "wikilink b", "wikilink d"},
		"$$\n[[a]]\n$$\n[[b]] $[[c]]$ $5 [[d]] $6":                                                  {"wikilink b", "wikilink d"},
		"<!-- [[a]]\n\n[[b]] -->\n\n[[c]] <!-- [[d]] --> [[e]]":                                     {"wikilink c", "wikilink e"},
		"# [[a]]\n\nb [c](d)\n===\n":                                                                {"wikilink a", "markdown d|c"},

		"[a]({% post_url 2026-01-31-b %}) ![c]({{ site.baseurl }}{%- link d/e.png -%}) [f]({% link g.md %}#h 'i') [j]({{ site.url }}/k) {% link l.md %}": { // of Jekyll
			"wikilink 2026-01-31-b|a", "wikilink d/e.png|c", "wikilink g.md|f",
		},
		"[a]: {% post_url b c-%}\n[link b](link c)": {"wikilink b c"},

		"[[Cafe\u0301]]": {"wikilink Caf\u00e9"},
	} {
		assert.Equal(t, want, describe(Parse([]byte(src))), "%q", src)
	}
}

// TestLinks_HTML: tags name files of the vault as links and images do.
func TestLinks_HTML(t *testing.T) {
	for src, want := range map[string][]string{
		"a <img src=\"b%20c.png\" width=9> <a title='>' href=d.md>e</a> <A class=x HREF='f g.md#h'>i</A>":                                                      {"image b c.png", "markdown d.md", "markdown f g.md#h"},
		"[<img alt=x src='a.png'>](b.md) ![[c]]":                                                                                                               {"markdown b.md", "image a.png", "embed c"},
		"<p align=center>\n  <img\n  src=\"a.png\">\n[[no]] <a href='b/c.md'>\n</p>\n\n<video src=d.mp4 />":                                                    {"image a.png", "markdown b/c.md", "image d.mp4"},
		"> <div><img src=a.png>\n> </div>\n\n- <img src=b.png>\n":                                                                                              {"image a.png", "image b.png"},
		"{{< figure alt=\"x\" src=\"a.png\" >}} {{%figure src='b.png'%}} {{< figure src=\"https://c/d.png\" >}} {{< ref \"a.png\" >}} {/* <img src=a.png> */}": {"image a.png", "image b.png"},
		"<img src=https://a.b/c.png> <img src=data:image/png;base64,AA==> <img data-src=a.png> <img alt=a.png>":                                                nil,
		"<a href=b.html> <a href=/wiki/Boat> <a href=#c.d> <img src=\"{{ site.url }}/a.png\"> <b src=a.png>":                                                   nil,
		"<img alt=\"a > b, src=c.png\" src='d.png'>":                                                                                                           {"image d.png"},
		"<a href='index.php?id=3'> <a href=/wiki/File:X.jpg> <a href=example.com> <a href=/wiki/St._Louis> <img src='a.png?raw=true'> <img src=C:/a.png>":      nil,
		"`<img src=a.png>` <!-- <img src=a.png> --> \\<img src=a.png>\n\n```\n<img src=a.png>\n```\n":                                                          nil,
		"<!--\n<img src=a.png>\n-->\n<pre>\n<img src=a.png>\n</pre>\n\n    <img src=a.png>\n":                                                                  nil,
	} {
		assert.Equal(t, want, describe(Parse([]byte(src))), "%q", src)
	}
	assert.Equal(t, 5, Parse([]byte("a\n\n<p>\n<img src=https://b>\n<img src=c.png>\n")).Links[0].Line)
}

// TestAnchorOffsets: a '#' that is escaped or in a character reference does not start an
// anchor.
func TestAnchorOffsets(t *testing.T) {
	for src, want := range map[string][3]string{ // target, anchor, the anchor as written
		"[a](b#c)":                  {"b", "c", "c"},
		"[a](b&amp;#c%20d)":         {"b&", "c d", "c%20d"},
		"[a](&#98;\\#c#d)":          {"b#c", "d", "d"},
		"[a](<b c#d e>)":            {"b c", "d e", "d e"},
		"[a](b&;#c)":                {"b&;", "c", "c"},
		"[[b# c d |e]]":             {"b", "c d", "c d"},
		"[[b#]]":                    {"b", "", ""},
		"[[b^c]]":                   {"b", "^c", ""},
		"[a]: b#c 'd'":              {"b", "c", "c"},
		"---\nk: '[[b#c''s]]'\n---": {"b", "c's", "c''s"},
	} {
		doc := Parse([]byte(src))
		require.Len(t, doc.Links, 1, src)
		l := doc.Links[0]
		assert.Equal(t, want, [3]string{l.Target, l.Anchor, src[l.AnchorStart:l.AnchorEnd]}, src)
	}
}

func TestDefinitions(t *testing.T) {
	for src, want := range map[string][]string{
		"[a]: b.md\n[c]: d.md 'e'\n[f]: <g h.md> (i)\ntext\n":    {"markdown b.md", "markdown d.md", "markdown g h.md"},
		"[a]: b.md c\n[d]: e.md\n":                               nil, // a line that is not a definition ends them
		"[a]: b.md\n[c]:\n[d]: e.md\n":                           {"markdown b.md"},
		"[a]: b.md \"c\" d\n":                                    nil,
		"[a]: <b.md\n[a\\]: b.md\n[]: c.md\n":                    nil,
		"[a\\]b]: c.md\n[d[e]: f.md\n":                           {"markdown c.md"},
		"[a]:\n  b.md\n  'c\n  d'\n[e\n f]: <g.md>\n\"h\"\nends": {"markdown b.md", "markdown g.md"},
		"> [a]:\n> b.md\n> 'c'\n> [d]:\ne.md\n":                  {"markdown b.md", "markdown e.md"},
		"[a]: b.md\n'c' d\n[e]: f.md\n":                          {"markdown b.md"}, // the quoted text is not a title
		"  [a]:b.md\n":                                           {"markdown b.md"},
		"> [a]: b.md\n> [c]: d.md\n":                             {"markdown b.md", "markdown d.md"},
		"- [a]: b.md\n\n  [c]: #d\n":                             {"markdown b.md", "markdown #d"},
		"[a]: https://b.c/d#e\n[f]: mailto:g@h.i\n":              {"markdown https://b.c/d#e!", "markdown mailto:g@h.i!"},
		"# [a]: b.md\n":                                          nil,
		"[a]: b.md\n===\n":                                       {"markdown b.md"},
		"[a]: b.md\r\n[c]: d.md#e&#32;f\r\n":                     {"markdown b.md", "markdown d.md#e f"},
		"[^1]: [a](b.md) and [[c]]\n":                            {"markdown b.md|a", "wikilink c"},
	} {
		assert.Equal(t, want, describe(Parse([]byte(src))), "%q", src)
	}
}

func TestFrontMatterLinks(t *testing.T) {
	for src, want := range map[string][]string{
		"a: \"[[b#c|d]]\"\n":                             {"frontmatter b#c|d"},
		"a:\n  - \"[[b]]\"\n  - '[[it''s]]'\n":           {"frontmatter b", "frontmatter it's"},
		"a: see [[b]] and [[c]]\n":                       {"frontmatter b", "frontmatter c"},
		"a: [[b]]\n":                                     {"frontmatter b"},
		"a: \"[[b]]\"\nc: {{date}}\n":                    {"frontmatter b"},
		"a: \"[[caf\\u00e9 \\\"x\\\"]]\"\n":              {"frontmatter caf\u00e9 \"x\""},
		"a: |\n  [[b]]\n  it's [[c]]\n":                  {"frontmatter b", "frontmatter c"},
		"a: [[1, 2], [3, 4]]\n# [[no]]\nb: 1 # [[no]]\n": nil,
		"a: [\n": nil,
	} {
		doc := Parse([]byte("---\n" + src + "---\n[[body]]\n"))
		assert.Equal(t, append(want, "wikilink body"), describe(doc), "%q", src)
	}
}

// TestFrontMatterLinks_TOML: single quotes in TOML have no escapes, and the header of a table is
// no link, such as [[resources]] of a page of Hugo.
func TestFrontMatterLinks_TOML(t *testing.T) {
	src := "+++\na = '[[b\\c]]'\ne = \"[[f \\\"g\\\"]]\" # [[no]]\nh = '''[[i]]'''\nj = ['[[k]]', \"[[l\"]\n[[m]]\nn = \"o\"\n  [[ m.p ]]\n+++\n"
	doc := Parse([]byte(src))
	require.NoError(t, doc.FrontMatter.Err)
	assert.Equal(t, []string{`frontmatter b\c`, `frontmatter f "g"`, "frontmatter i", "frontmatter k"}, describe(doc))
	assert.Equal(t, LiteralQuoted, doc.Links[0].Quote)
}

func TestLinkOffsets(t *testing.T) {
	src := "---\nup: \"[[ A ]]\"\n---\nx [[B b#c|d]] ![e](<f g.md#h> \"i\")\n[j]: k.md\n\n[l]: m%20n.md\n"
	var whole, targets []string
	doc := Parse([]byte(src))
	for _, l := range doc.Links {
		whole = append(whole, src[l.Start:l.End])
		targets = append(targets, src[l.TargetStart:l.TargetEnd])
	}
	assert.Equal(t, []string{"[[ A ]]", "[[B b#c|d]]", "![e](<f g.md#h> \"i\")", "[l]: m%20n.md"}, whole)
	assert.Equal(t, []string{"A", "B b", "f g.md", "m%20n.md"}, targets)
	assert.Equal(t, 4, doc.Links[1].Line)
}

func TestLongTextsAreCut(t *testing.T) {
	doc := Parse([]byte("[[a|" + strings.Repeat("é", 2000) + "]]\n\n# " + strings.Repeat("ü", 2000)))
	require.Len(t, doc.Links, 1)
	assert.Equal(t, strings.Repeat("é", 500), doc.Links[0].Alias)
	assert.Equal(t, strings.Repeat("ü", 500), doc.Headings[0].Text)
}
