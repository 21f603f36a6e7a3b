package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// describe writes links as "kind target#anchor|alias" with "!" for external ones.
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
		"[[https://x.y]]":                           {"wikilink https://x.y!"},
		"#[[a b]]":                                  {"wikilink a b"},

		"[a](b.md) ![c](d.png \"t\") [e](<f g.md#h>)":           {"markdown b.md|a", "image d.png|c", "markdown f g.md#h|e"},
		"[a](b%20c.md#d%20e) [f](g\\(h\\).md 'i')":              {"markdown b c.md#d e|a", "markdown g(h).md|f"},
		"[a](b(c)d.md) [e](#f) [](g) [h]()":                     {"markdown b(c)d.md|a", "markdown #f|e", "markdown g", "markdown |h"},
		"[a](http://b#c) [d](mailto:e@f) [g](//h)":              {"markdown http://b#c|a!", "markdown mailto:e@f|d!", "markdown //h|g!"},
		"[a](100%.md) [b](%ff.md) [c](R&amp;D&copy)":            {"markdown 100%.md|a", "markdown %ff.md|b", "markdown R&D&copy|c"},
		"[![a](b)](c) [x [[d]]](e)":                             {"markdown c|a", "image b|a", "markdown e|x d", "wikilink d"},
		"[a [b](c) d](e)":                                       {"markdown c|b"},
		"> [two\n> lines](a)":                                   {"markdown a|two lines"},
		"[a](b c.md) [d] (e) [f](g":                             nil,
		"[text]([[page]])":                                      {"wikilink page"},
		"[a]: b.md\n[c d]: <e f> 'title'\n[^n]: g\n":            {"markdown b.md", "markdown e f"},
		"text\n[a]: b.md\n":                                     nil,
		"Note: [a](Note:x.md)":                                  {"markdown Note:x.md|a"},
		"```\n[[a]]\n```\n~~~\n[b](c)\n~~~":                     nil,
		"%% [[a]] %% [[b]] %%":                                  {"wikilink b"},
		"%%\n[[a]]\n\n[[b]]\n%%\n[[c]]":                         {"wikilink c"},
		"$$\n[[a]]\n$$\n[[b]] $[[c]]$ $5 [[d]] $6":              {"wikilink b", "wikilink d"},
		"<!-- [[a]]\n\n[[b]] -->\n\n[[c]] <!-- [[d]] --> [[e]]": {"wikilink c", "wikilink e"},
		"# [[a]]\n\nb [c](d)\n===\n":                            {"wikilink a", "markdown d|c"},
		"[[Cafe\u0301]]":                                        {"wikilink Caf\u00e9"},
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
		"a: \"[[caf\\u00e9 \\\"x\\\"]]\"\n":              {"frontmatter caf\u00e9 \"x\""},
		"a: |\n  [[b]]\n  it's [[c]]\n":                  {"frontmatter b", "frontmatter c"},
		"a: [[1, 2], [3, 4]]\n# [[no]]\nb: 1 # [[no]]\n": nil,
		"a: [\n": nil,
	} {
		doc := Parse([]byte("---\n" + src + "---\n[[body]]\n"))
		assert.Equal(t, append(want, "wikilink body"), describe(doc), "%q", src)
	}
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

func TestRewriteLinks(t *testing.T) {
	for _, test := range []struct{ src, target, want string }{
		{"[[a]] ![[a#b|c]] [[#d]]", "x y", "[[x y]] ![[x y#b|c]] [[x y#d]]"},
		{"| [[ a \\|b]] |", "x", "| [[ x \\|b]] |"},
		{"[a](b.md#c \"t\") ![d](<e f>)", "x (1) é%.md", "[a](x%20%281%29%20é%25.md#c \"t\") ![d](<x (1) é%25.md>)"},
		{"[a]: b.md 'c'\n", "x y.md", "[a]: x%20y.md 'c'\n"},
		{"[a](b.md)", "mailto:x", "[a](mailto%3Ax)"},
		{"[a](b.md)", "R&amp;D", "[a](R%26amp;D)"},
		{"[a](https://b) [[https://c]]", "x", "[a](https://b) [[https://c]]"},
		{"[[a]] [b](c)", "x#y|z", "[[a]] [b](x%23y%7Cz)"},
		{"---\na: \"[[b]]\"\nc: '[[d]]'\ne: x [[f]]\ng: [[h]]\n---\n", "it's \"x\"",
			"---\na: \"[[it's \\\"x\\\"]]\"\nc: '[[it''s \"x\"]]'\ne: x [[it's \"x\"]]\ng: [[h]]\n---\n"},
		{"---\na: x [[b]]\nc: \"[[d]]\"\n---\n", "k: v", "---\na: x [[b]]\nc: \"[[k: v]]\"\n---\n"},
		{"+++\na = \"[[b]]\"\nc = '[[d]]'\n+++\n", "it's", "+++\na = \"[[it's]]\"\nc = '[[d]]'\n+++\n"},
		{"`[[a]]` [[a]]\r\n", "b", "`[[a]]` [[b]]\r\n"},
	} {
		src := []byte(test.src)
		out := RewriteLinks(src, Parse(src), func(Link) (string, bool) { return test.target, true })
		assert.Equal(t, test.want, string(out), "%q", test.src)
	}
}

func TestRewriteLinksReadsBack(t *testing.T) {
	src := []byte("---\na: \"[[t]]\"\nb: 'see [[t|x]]'\n---\n[[t]] ![[t#h|a]] [a](t) ![b](<t#h>)\n\n[r]: t\n")
	for _, target := range []string{"a b", "ä/ö.md", "it's", "a & b", "&lt;", "50% off", "a\\b", "x.y:z", "日本", "../up.md", "a,b", "`c`"} {
		out := RewriteLinks(src, Parse(src), func(Link) (string, bool) { return target, true })
		doc := Parse(out)
		require.Len(t, doc.Links, 7, "%s", out)
		for _, l := range doc.Links {
			assert.Equal(t, target, l.Target, "%s in %s", l.Kind, out)
		}
	}
}

func TestRewriteLinksLeavesWhatItIsNotAsked(t *testing.T) {
	src := []byte("[[a]] [x](a) [[b]]\n")
	out := RewriteLinks(src, Parse(src), func(l Link) (string, bool) { return "c", l.Target == "a" && l.Kind == LinkWiki })
	assert.Equal(t, "[[c]] [x](a) [[b]]\n", string(out))
}

// TestLinksInLinks: an image or an embed in the text of a link is a link of its
// own, and each keeps its place when both are rewritten.
func TestLinksInLinks(t *testing.T) {
	for src, want := range map[string]string{
		"[![t](a)](b)":                          "[![t](a1)](b1)",
		"[x ![t](a \"title\") y](b#c)":          "[x ![t](a1 \"title\") y](b1#c)",
		"[![t](<a>) ![u](b)](c)":                "[![t](<a1>) ![u](b1)](c1)",
		"![![t](a)](b)":                         "![![t](a1)](b1)",
		"[![[a]] x](b)":                         "[![[a1]] x](b1)",
		"[![![t](a)](b)](c)":                    "[![![t](a1)](b1)](c1)",
		"- [![t](a)](b) [![t](c)](d)\n":         "- [![t](a1)](b1) [![t](c1)](d1)\n",
		"| [![t](a)](b) | [[c\\|d]] |\n":        "| [![t](a1)](b1) | [[c1\\|d]] |\n",
		"> [![t](a)](b)\n\n[r]: c\n":            "> [![t](a1)](b1)\n\n[r]: c1\n",
		"---\nup: \"[[a]]\"\n---\n[![t](b)](c)": "---\nup: \"[[a1]]\"\n---\n[![t](b1)](c1)",
		"`[![t](a)](b)` [![t](c)](d)":           "`[![t](a)](b)` [![t](c1)](d1)",
		"[![t](https://a.b/c)](d)":              "[![t](https://a.b/c)](d1)",
	} {
		doc := Parse([]byte(src))
		out := RewriteLinks([]byte(src), doc, func(l Link) (string, bool) { return l.Target + "1", true })
		assert.Equal(t, want, string(out))
		assert.True(t, SameBesidesTargets([]byte(src), doc, out, Parse(out)))
	}
	for _, pair := range [][2]string{
		{"[a](b) x", "[a](b) y"}, {"[a](b)", "[a](b) [c](d)"}, {"[a](b#c)", "[a](b#d)"}, {"[[a]]", "![[a]]"}, {"[a](b)", "[c](b)"}, {"[a](b)", "`a`"},
	} {
		a, b := []byte(pair[0]), []byte(pair[1])
		assert.False(t, SameBesidesTargets(a, Parse(a), b, Parse(b)), "%q and %q", a, b)
	}
}
