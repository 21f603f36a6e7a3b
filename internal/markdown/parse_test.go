package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTitle(t *testing.T) {
	for src, want := range map[string]string{
		"":                                   "",
		"# A *b* `c` [[d|e]]\n# F\n":         "A b c e",
		"## A\n\nB\nC\n===\n":                "B C",
		"---\ntitle: T\n---\n# A\n":          "T",
		"---\nTitle: \"T: u\"\n---\n# A\n":   "T: u",
		"---\ntitle: 1984\n---\n":            "1984",
		"---\ntitle:\n---\n# A\n":            "A",
		"---\ntitle: [a\n---\n# A\n":         "[a",
		"+++\ntitle = \"T\"\n+++\n# A\n":     "T",
		"title:: Page\n\n# A\n":              "Page",
		"> # Quoted\n\n# A\n":                "A",
		"```\n# no\n```\n":                   "",
		"# Cafe\u0301\n":                     "Caf\u00e9",
		"# ![alt](i.png) a &amp; b \\* c ##": "alt a & b * c",
		"# snake_case __b__ 2 * 3":           "snake_case b 2 * 3",
	} {
		assert.Equal(t, want, Parse([]byte(src)).Title, "%q", src)
	}
}

func TestHeadingSections(t *testing.T) {
	src := "intro\n# A\na\n## B\nb\n### C\n## D\n# E\ne"
	sections := map[string]string{}
	for _, h := range Parse([]byte(src)).Headings {
		sections[h.Text] = src[h.Start:h.End]
	}
	assert.Equal(t, map[string]string{
		"A": "# A\na\n## B\nb\n### C\n## D\n", "B": "## B\nb\n### C\n", "C": "### C\n", "D": "## D\n", "E": "# E\ne",
	}, sections)
}

func TestHeadingInListItemEndsWithItsItem(t *testing.T) {
	src := "# P\n- ## A\n\t- a\n\t- ### B\n\t  b\n- ## C\n  c\n\nrest\n"
	sections := map[string]string{}
	for _, h := range Parse([]byte(src)).Headings {
		sections[h.Text] = src[h.Start:h.End]
	}
	assert.Equal(t, map[string]string{
		"P": src, "A": "- ## A\n\t- a\n\t- ### B\n\t  b\n", "B": "\t- ### B\n\t  b\n", "C": "- ## C\n  c\n\n",
	}, sections)
}

// TestTemplates checks that the tags of templates contain no Markdown, and what they
// highlight no headings, and that a table of contents is no link.
func TestTemplates(t *testing.T) {
	const src = "{{< figure title=\"a #no [[no]]\" >}} #a {{% x #no %}}{% include y.html c='#no' %} #b\n{/* [no](no.md)\n#no */} [[c]] {{< #d\n\n" +
		"{{< highlight sh \"hl_lines=1\" >}}\n# no\n[[no]] #no\n\n- [ ] no\n{{< / highlight >}}\n{{% notice tip %}}\n- [ ] e #e\n{{% /notice %}}\n\n" +
		"1. f\n\n   {% highlight ruby %}\n   # no\n   {% endhighlight %}\n\n# G\n{%- highlight c -%} #no {%- endhighlight -%}\n{{embed [[h]]}} [[_TOC_]] {%% #j [k]({{< ref \"/l/m.md#n\" >}}) [o]({{< ref p >}})\n"
	doc := Parse([]byte(src))
	assert.Equal(t, []string{"a", "b", "d", "e", "j"}, doc.Tags)
	var links []string
	for _, l := range doc.Links {
		links = append(links, l.Target)
	}
	assert.Equal(t, []string{"c", "h", "/l/m.md"}, links)
	assert.Equal(t, "n", doc.Links[2].Anchor)
	require.Len(t, doc.Headings, 1)
	assert.Equal(t, "G", doc.Headings[0].Text)
	assert.Len(t, doc.Tasks, 1)
}

// TestAdmonitions checks that the indented text of MkDocs' boxes and tabs is no code.
func TestAdmonitions(t *testing.T) {
	const src = "# A\nText\n!!! note \"A #title\"\n    [a](a.md)\n\n    - [ ] b #b ^id\n\n    ```\n    #no\n    ```\n\n        #no\n\n    ## B\n\n" +
		"??? warning inline end\n\n    [[c]]\n\n1.  Item\n\n    ???+ tip\n\n        [[d]]\n\n            #no\n\n=== \"Tab\"\n\n    #e\n\n    !!! danger \"\"\n\n        #f\n\n" +
		"## C\n\n    #no\n\n!!! Well, no.\n\n    #no\n\n> !!! x\n>\n>     #g\n>\n\n    #no\n"
	doc := Parse([]byte(src))
	assert.Equal(t, []string{"title", "b", "e", "f", "g"}, doc.Tags)
	var links []string
	for _, l := range doc.Links {
		links = append(links, l.Target)
	}
	assert.Equal(t, []string{"a.md", "c", "d"}, links)
	var headings []string
	for _, h := range doc.Headings {
		headings = append(headings, h.Text)
	}
	assert.Equal(t, []string{"A", "B", "C"}, headings)
	require.Len(t, doc.Tasks, 1)
	assert.Equal(t, 6, doc.Tasks[0].Line)
	require.Len(t, doc.Blocks, 1)
	assert.Equal(t, "b #b ^id", src[doc.Blocks[0].Start+len("[ ] "):doc.Blocks[0].End])
}

func TestTags(t *testing.T) {
	for src, want := range map[string][]string{
		"#a #b/c #d-e_f #1a":                                 {"a", "b/c", "d-e_f", "1a"},
		"#A #a #Ä #ä":                                        {"A", "Ä"},
		"(#a) [#b] *#c* \"#d\" #e, #f. #g: #h/":              {"a", "b", "c", "d", "e", "f", "g", "h"},
		"a#b a/#c http://x/#d \\#e &#102; ##g # h":           nil,
		"#123 #12/3 #2024-01":                                {"2024-01"},
		"`#a` ``#b`c`` <!-- #d --> %% #e %% $#f$":            {"e"},
		"```\n#a\n```\n    #b\n\n<div>#c</div>":              nil,
		"[x](#a) <https://x/(#b> <b title=\"#c\">":           nil,
		"今天很好，#标签 #émoji🌲 #👩‍👩‍👧":                            {"标签", "émoji🌲", "👩‍👩‍👧"},
		"#读书，很好 #a。#b…":                                      {"读书", "a", "b"},
		"#[[two words]] #x":                                  {"two words", "x"},
		"#[[]] #[[open #[[a\nb]] #y":                         {"y"},
		"---\ntags: [\"[[a b]]\", \"#[[c]]\"]\n---\n":        {"a b", "c"},
		"<b>#a</b> <i title='x'/>#b <br/> #c <3 #d":          {"a", "b", "c", "d"},
		"<a b=c d='#e' f=\"#g\">#h</a > <a b=#i>":            {"h"},
		"<a:b#c> <mailto:#d> <@x #e> <a b='> #f":             {"e", "f"},
		"$#a$ $ #b$ $c\n#d$ \\$ #e $\\$#f$":                  {"b", "d", "e"},
		"# #inheading\n> #quoted\n- #item":                   {"inheading", "quoted", "item"},
		"tags:: a, [[b c]], #d\n\ntext":                      {"a", "b c", "d"},
		"tags:: #a #b [[c d]] #[[e f]]  g h, i\n\ntext":      {"a", "b", "c d", "e f", "g h", "i"},
		"tags:: [[a]] [[b]],, #\n":                           {"a", "b"},
		"{{#include a.md}} {{#if b}} {#c} ({#d e)":           {"d"}, // of mdBook and Handlebars, attributes
		"tags:: c#, d":                                       {"c#", "d"},
		"- TODO [#A] a #b\n- [#C] d [#D] [#a] [#AB] [#C](e)": {"b", "D", "a", "AB", "C"},
		"text\n\ntags:: a":                                   nil,
		"---\ntags: [x, \"#y\", z/w, 7]\n---\n#X #v":         {"x", "y", "z/w", "7", "v"},
		"---\ntags: a b\ntag: c, d e\n---\n":                 {"a", "b", "c", "d e"},
		"---\nTags:\n- a\n- b\n---\n":                        {"a", "b"},
		"---\ntags: [a, b\nx: {\n---\n#c":                    {"a", "b", "c"},
		"---\nx: {\ntags:\n  - \"a\"\n  - b\n---\n":          {"a", "b"},
		"+++\ntags = [\"a\", \"b\"]\n+++\n":                  {"a", "b"},
		"#" + strings.Repeat("x", 300):                       nil,
		"#cafe\u0301":                                        {"caf\u00e9"},
	} {
		assert.Equal(t, want, Parse([]byte(src)).Tags, "%q", src)
	}
}

func TestAliases(t *testing.T) {
	for src, want := range map[string][]string{
		"---\naliases: [a, \"b, c\", a]\n---\n":          {"a", "b, c"},
		"---\nalias: a, b\n---\n":                        {"a", "b"},
		"---\naliases:\n  - 2024\n  - Cafe\u0301\n---\n": {"2024", "Caf\u00e9"},
		"alias:: a, [[b, c]]\ntype:: x\n":                {"a", "b, c"},
		"---\nx: [\naliases: [a, b]\n---\n":              {"a", "b"},
	} {
		assert.Equal(t, want, Parse([]byte(src)).Aliases, "%q", src)
	}
}

func TestTasks(t *testing.T) {
	src := "- [ ] a\n- [x] b\n  1. [X] c\n* [/] d\n- [-] e\n- [link](x)\n- []\n[ ] no item\n\n" +
		"- TODO f\n- DONE g\n- TODOs\n- `[ ]`\n```\n- [ ] no\n```\n- [ ]\n- [a]b\n- [d]: e.md\n  [ ] no\n"
	var lines []int
	for _, task := range Parse([]byte(src)).Tasks {
		lines = append(lines, task.Line)
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5, 10, 11, 17}, lines)
}

func TestBlocks(t *testing.T) {
	src := "A\nparagraph ^one\n\n- item ^two-2\n  - child\n- next\n\n| a |\n|---|\n\n^three\n\nno^four ^ five ^si_x `^seven`\n" +
		"```\ncode ^eight\n```\n> quoted ^nine\n"
	var got []string
	for _, b := range Parse([]byte(src)).Blocks {
		got = append(got, b.ID+": "+src[b.Start:b.End])
	}
	assert.Equal(t, []string{
		"one: A\nparagraph ^one", "two-2: item ^two-2", "three: | a |\n|---|\n\n^three", "nine: quoted ^nine",
	}, got)
}

func TestBlocks_IDBelow(t *testing.T) {
	for src, want := range map[string]string{
		"text\n\n> [!note] T\n>\n> a\n>\n> - b\n> - c\n\n^id\n": "[!note] T\n>\n> a\n>\n> - b\n> - c\n\n^id",
		"> a\n\n> b\n\n^id\n":                "b\n\n^id",
		"> - a\n> - b\n>\n> ^id\n":           "- a\n> - b\n>\n> ^id",
		"text\n\n- a\n  - b\n\n- c\n\n^id\n": "- a\n  - b\n\n- c\n\n^id",
		"- a\n\ntext\n\n1. b\n2. c\n\n^id\n": "1. b\n2. c\n\n^id",
		"- a\n  - b\n  - c\n\n  ^id\n":       "- b\n  - c\n\n  ^id",
		"text\n-\n\n^id\n":                   "text\n-\n\n^id",
		"- a\n- b\n\n1. c\n2. d\n\n^id\n":    "1. c\n2. d\n\n^id",
		"- a\n\n* b\n* c\n\n^id\n":           "* b\n* c\n\n^id",
	} {
		blocks := Parse([]byte(src)).Blocks
		if assert.Len(t, blocks, 1, "%q", src) {
			assert.Equal(t, want, src[blocks[0].Start:blocks[0].End])
		}
	}
	src := "- a\n\n^one\n\n- b\n\n^two\n"
	blocks := Parse([]byte(src)).Blocks
	require.Len(t, blocks, 2)
	assert.Equal(t, "- b\n\n^two", src[blocks[1].Start:blocks[1].End], "an id ends its list")
}

func TestByteOrderMarkAndLineEndings(t *testing.T) {
	src := "\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n# A\r\n\r\ntext [[x]]\r\n## B\r\n"
	doc := Parse([]byte(src))
	assert.Equal(t, len(ByteOrderMark), doc.FrontMatter.Start)
	assert.Equal(t, "yaml", doc.FrontMatter.Format)
	assert.Equal(t, strings.Index(src, "# A"), doc.BodyStart)
	require.Len(t, doc.Headings, 2)
	assert.Equal(t, 4, doc.Headings[0].Line)
	assert.Equal(t, "A", doc.Headings[0].Text)
	assert.Equal(t, "## B\r\n", src[doc.Headings[1].Start:doc.Headings[1].End])
	assert.Equal(t, 6, doc.Links[0].Line)
	assert.Equal(t, 3, Parse([]byte("\xef\xbb\xbfx")).BodyStart)
}

func TestParseKeepsNothingOfTheSource(t *testing.T) {
	src := []byte("# Title\n\n[[target|alias]] #tag\n")
	doc := Parse(src)
	for i := range src {
		src[i] = 'x'
	}
	assert.Equal(t, "Title", doc.Title)
	assert.Equal(t, []string{"tag"}, doc.Tags)
	assert.Equal(t, "target", doc.Links[0].Target)
}

func BenchmarkParse(b *testing.B) {
	src := []byte(strings.Repeat("## A heading\n\nSome words of *prose* with a [[link|alias]], `code` and a #tag.\n"+
		"Another line, [of](text.md), that ends here.\n\n- an item\n- [ ] a task\n\n```go\nfunc main() {}\n```\n\n", 50))
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			Parse(src)
		}
	})
	b.Run("Chunks", func(b *testing.B) {
		doc := Parse(src)
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			Chunks(src, doc)
		}
	})
}
