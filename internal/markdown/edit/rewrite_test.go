package edit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

func TestRewriteLinks(t *testing.T) {
	for _, test := range []struct{ src, target, want string }{
		{"[[a]] ![[a#b|c]] [[#d]]", "x y", "[[x y]] ![[x y#b|c]] [[x y#d]]"},
		{"| [[ a \\|b]] |", "x", "| [[ x \\|b]] |"},
		{"[a](b.md#c \"t\") ![d](<e f>)", "x (1) é%.md", "[a](x%20%281%29%20é%25.md#c \"t\") ![d](<x (1) é%25.md>)"},
		{"[a]: b.md 'c'\n", "x y.md", "[a]: x%20y.md 'c'\n"},
		{"[a](b.md)", "mailto:x", "[a](mailto%3Ax)"},
		{"[a](b.md)", "R&amp;D", "[a](R%26amp;D)"},
		{"[a](b.md)", "R&D & co;", "[a](R&D%20&%20co;)"},
		{"[[a]] [b](c)", " x", "[[a]] [b](%20x)"},
		{"[[a]] [b](c)", "x\\", "[[a]] [b](x%5C)"},
		{"[[a]] [b](c)", "\xff", "[[a]] [b](c)"},
		{"[[a]] [b](c)", "https://d", "[[a]] [b](https%3A%2F/d)"},
		{"[a](https://b) [[https://c]]", "x", "[a](https://b) [[https://c]]"},
		{"[[a]] [b](c)", "x#y|z", "[[a]] [b](x%23y%7Cz)"},
		{"---\na: \"[[b]]\"\nc: '[[d]]'\ne: x [[f]]\ng: [[h]]\n---\n", "it's \"x\"",
			"---\na: \"[[it's \\\"x\\\"]]\"\nc: '[[it''s \"x\"]]'\ne: x [[it's \"x\"]]\ng: [[h]]\n---\n"},
		{"---\na: x [[b]]\nc: \"[[d]]\"\n---\n", "k: v", "---\na: x [[b]]\nc: \"[[k: v]]\"\n---\n"},
		{"---\na: x [[b]]\n---\n[[b]]\n", "k:", "---\na: x [[b]]\n---\n[[k:]]\n"},
		{"+++\na = \"[[b]]\"\nc = '[[d]]'\n+++\n", "it's", "+++\na = \"[[it's]]\"\nc = '[[d]]'\n+++\n"},
		{"---\na: \"[[b]]\"\n---\n[[b]] [c](d)\n", "x\ty", "---\na: \"[[b]]\"\n---\n[[x\ty]] [c](x%09y)\n"},
		{"---\na: \"[[b]]\"\n---\n[[b]] [c](d)\n", "x\x7fy", "---\na: \"[[b]]\"\n---\n[[x\x7fy]] [c](x%7Fy)\n"},
		{"---\na: [[b]]\n---\n[[b]]\n", "-x", "---\na: [[b]]\n---\n[[-x]]\n"},
		{"---\na: [[b]]\n---\n[[b]]\n", "x-y", "---\na: [[x-y]]\n---\n[[x-y]]\n"},
		{"`[[a]]` [[a]]\r\n", "b", "`[[a]]` [[b]]\r\n"},
	} {
		src := []byte(test.src)
		out := RewriteLinks(src, markdown.Parse(src), func(markdown.Link) (string, bool) { return test.target, true })
		assert.Equal(t, test.want, string(out), "%q", test.src)
	}
}

func TestRewriteLinks_ReadsBack(t *testing.T) {
	src := []byte("---\na: \"[[t]]\"\nb: 'see [[t|x]]'\n---\n[[t]] ![[t#h|a]] [a](t) ![b](<t#h>)\n\n[r]: t\n")
	for _, target := range []string{"a b", "ä/ö.md", "it's", "a & b", "&lt;", "50% off", "a\\b", "x.y:z", "日本", "../up.md", "a,b", "`c`"} {
		out := RewriteLinks(src, markdown.Parse(src), func(markdown.Link) (string, bool) { return target, true })
		doc := markdown.Parse(out)
		require.Len(t, doc.Links, 7, "%s", out)
		for _, l := range doc.Links {
			assert.Equal(t, target, l.Target, "%s in %s", l.Kind, out)
		}
	}
}

func TestRewriteLinks_LeavesOtherLinks(t *testing.T) {
	src := []byte("[[a]] [x](a) [[b]]\n")
	out := RewriteLinks(src, markdown.Parse(src), func(l markdown.Link) (string, bool) { return "c", l.Target == "a" && l.Kind == markdown.LinkWiki })
	assert.Equal(t, "[[c]] [x](a) [[b]]\n", string(out))
}

// A heading can have a name that a wikilink cannot contain.
func TestRewriteAnchors_OnlyAnchors(t *testing.T) {
	src := []byte("[[a#b]] [x](a#b) [[b]] [x](b)\n")
	out := RewriteAnchors(src, markdown.Parse(src), func(markdown.Link) (string, bool) { return "c ] d", true })
	assert.Equal(t, "[[a#b]] [x](a#c%20%5D%20d) [[b]] [x](b)\n", string(out))
}

// TestRewriteLinks_NestedLinks: an image or embed in the text of a link is a separate link, and both
// can be rewritten together.
func TestRewriteLinks_NestedLinks(t *testing.T) {
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
		doc := markdown.Parse([]byte(src))
		out := RewriteLinks([]byte(src), doc, func(l markdown.Link) (string, bool) { return l.Target + "1", true })
		assert.Equal(t, want, string(out))
		assert.True(t, SameBesidesTargets([]byte(src), doc, out, markdown.Parse(out)))
	}
	for _, pair := range [][2]string{
		{"[a](b) x", "[a](b) y"}, {"[a](b)", "[a](https://b)"}, {"[a](b)", "[a](b) [c](d)"}, {"[a](b#c)", "[a](b#d)"}, {"[[a]]", "![[a]]"}, {"[a](b)", "[c](b)"}, {"[a](b)", "`a`"},
	} {
		a, b := []byte(pair[0]), []byte(pair[1])
		assert.False(t, SameBesidesTargets(a, markdown.Parse(a), b, markdown.Parse(b)), "%q and %q", a, b)
	}
}

// TestRewriteLinks_BreaksFrontMatter: the quotes around a link are read from its line alone,
// so that a target with a quote can end a string of several lines.
func TestRewriteLinks_BreaksFrontMatter(t *testing.T) {
	src := []byte("---\nup: \"see\n  [[A]] and more\"\n---\n[[A]]\n")
	doc := markdown.Parse(src)
	for target, same := range map[string]bool{"B": true, `B "b"`: false} {
		out := RewriteLinks(src, doc, func(markdown.Link) (string, bool) { return target, true })
		assert.Equal(t, same, SameBesidesTargets(src, doc, out, markdown.Parse(out)), "%s", out)
	}
}
