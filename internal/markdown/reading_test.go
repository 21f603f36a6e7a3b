package markdown_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

// TestPlainText: inline text is returned as it is displayed.
func TestPlainText(t *testing.T) {
	for source, want := range map[string]string{
		"plain":                                   "plain",
		" a \t b\n> c ":                           "a b c",
		"**bold** *it* ***both*** __b__ _i_":      "bold it both b i",
		"snake_case_name a * b":                   "snake_case_name a * b",
		"~~gone~~ ==marked== %%hidden%%":          "gone marked hidden",
		"a ~ b, a = b, 50%":                       "a ~ b, a = b, 50%",
		"`code` ``a ` b`` `open":                  "code a ` b `open",
		"`**as is**`":                             "**as is**",
		"[text](https://x.y \"title\") [ref][id]": "text ref",
		"[text](<a b.md>) [a](b(c)d) [open](x":    "text a [open](x",
		"![alt](i.png) !":                         "alt !",
		"[[Note]] [[Note#H|shown]] ![[x.png]]":    "Note shown x.png",
		"[[]] [[open":                             "[[]] [[open",
		`\*not\* \[link\] \a`:                     `*not* [link] \a`,
		"<https://x.y> <b>html</b> a < b":         "https://x.y html a < b",
		"&amp; &#65;x &no such;":                  "& Ax &no such;",
		"e\u0301te\u0301":                         "été",
		"bad \xff byte":                           "bad \uFFFD byte",
	} {
		assert.Equal(t, want, markdown.PlainText([]byte(source)), "%q", source)
	}
	long := markdown.PlainText([]byte(strings.Repeat("é", 5000)))
	assert.True(t, utf8.ValidString(long))
	assert.Less(t, len(long), 2000, "a heading is bounded")
}

func TestLines(t *testing.T) {
	src := []byte("a\r\n\nbc\r")
	for pos, want := range map[int][2]int{0: {1, 3}, 3: {3, 4}, 4: {7, 7}, 7: {7, 7}} {
		end, next := markdown.LineAt(src, pos)
		assert.Equal(t, want, [2]int{end, next}, pos)
	}
	for pos, want := range map[int]int{0: 0, 3: 1, 4: 3, 2: 2, 7: 7} {
		assert.Equal(t, want, markdown.TrimLineBreak(src, pos), pos)
	}
}

// TestIsTag: a tag is what Obsidian accepts as one.
func TestIsTag(t *testing.T) {
	for text, want := range map[string]bool{
		"work": true, "work/2026": true, "日本": true, "y1984": true, "a-b_c": true,
		"": false, "1984": false, "two words": false, "a#b": false, "a,b": false, "#work": false,
	} {
		assert.Equal(t, want, markdown.IsTag(text), "%q", text)
	}
}

// TestLinksAreFound: links are found in text and in %%comments%%, but not in code, math and HTML.
func TestLinksAreFound(t *testing.T) {
	for source, want := range map[string]string{
		"[[A]] `[[B]]` [[C]]":                   "A C",
		"``[[A]] ` [[B]]`` [[C]]":               "C",
		"$$\n[[A]]\n$$\n[[B]]":                  "B",
		"a <!-- [[A]] --> [[B]]":                "B",
		"a <b title=\"[[A]]\">[[B]]</b>":        "B",
		"%% [[A]] %% [[B]]":                     "A B",
		"%%\n[[A]]\n%%\n[[B]]":                  "A B",
		"[a](b.md) [c](<d e.md>) [f](g.md 'h')": "b.md d e.md g.md",
		"[a](b(c).md) [a](b.md (title))":        "b(c).md b.md",
		"\\[[A]] [[B]]":                         "B",
		"```\n[[A]]\n```\n[[B]]":                "B",
		"| [[A\\|x]] | [[B]] |\n|---|---|":      "A B",
		"> [!note] [[A]]\n> - [[B]]":            "A B",
		"[^1]\n\n[^1]: see [[A]]":               "A",
	} {
		var targets []string
		for _, l := range markdown.Parse([]byte(source)).Links {
			if !l.External {
				targets = append(targets, l.Target)
			}
		}
		assert.Equal(t, want, strings.Join(targets, " "), "%q", source)
	}
}

// TestFollow: the anchors that lead to a renamed heading change in their own notation.
func TestFollow(t *testing.T) {
	src := []byte("# Plan\n## Old: name\n### Part\n# Twice\n# Twice\ntext ^b\n# Mine {#mine}\n")
	doc := markdown.Parse(src)
	anchors := markdown.NewAnchors(doc, src)
	for _, test := range []struct {
		anchor  string
		heading int
		want    string
	}{
		{"Old: name", 1, "New name"}, {"Old name", 1, "New name"}, {"old name", 1, "New name"},
		{"old-name", 1, "new-name"}, {"Plan#Old name", 1, "Plan#New name"}, {"Plan > Old name", 1, "Plan > New name"},
		{"Old name#Part", 1, "New name#Part"}, {"Plan#Old name#Part", 0, "New name#Old name#Part"},
		{"Twice", 3, "New name"}, {"twice-1", 4, "new-name"}, {"Twice", 4, ""},
		{"Part", 1, ""}, {"^b", 1, ""}, {"Plan#^b", 0, ""}, {"Nothing", 1, ""},
		{"mine", 5, ""}, {"Mine", 5, "New name"},
	} {
		h := doc.Headings[test.heading]
		after := slices.Concat(src[:h.TextStart], []byte("New: name"), src[h.TextEnd:])
		got, ok := anchors.Follow(markdown.NewAnchors(markdown.Parse(after), after), test.anchor)
		assert.Equal(t, cmp.Or(test.want, test.anchor), got, test.anchor)
		assert.True(t, ok, test.anchor)
	}
}

// TestHeadingSection: sections are within their parents, and the text before the first
// heading is in none.
func TestHeadingSection(t *testing.T) {
	src := []byte("before\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\n")
	doc := markdown.Parse(src)
	var texts []string
	for i := range doc.Headings {
		s := markdown.HeadingSection(doc, i)
		texts = append(texts, string(src[s.Start:s.End]))
		found, err := markdown.FindSection(doc, src, doc.Headings[i].Text)
		require.NoError(t, err)
		assert.Equal(t, [2]int{s.Start, s.End}, [2]int{found.Start, found.End})
	}
	assert.Equal(t, []string{"# A\na\n## B\nb\n### C\nc\n## D\nd\n", "## B\nb\n### C\nc\n", "### C\nc\n", "## D\nd\n", "# E\n"}, texts)
}

func ExampleParse() {
	src := []byte("---\ntags: [garden]\n---\n# Plan\n\nSee [[Almanac#May|the almanac]]. #tomatoes\n\n- [ ] water\n")
	doc := markdown.Parse(src)
	link := doc.Links[0]
	fmt.Println(doc.Headings[0].Text, link.Target, link.Anchor, link.Alias, doc.Tags, doc.Tasks[0].Line)
	// Output: Plan Almanac May the almanac [garden tomatoes] 8
}

func ExampleFindSection() {
	src := []byte("# Plan\n\n## Risks\n\nSnails.\n\n## Money\n\nNone.\n")
	section, err := markdown.FindSection(markdown.Parse(src), src, "Plan > Risks")
	fmt.Printf("%q %v\n", src[section.ContentStart:section.End], err)
	// Output: "\nSnails.\n\n" <nil>
}

func ExampleAnchors_Has() {
	src := []byte("# Risks & costs\n\nSnails. ^snails\n")
	anchors := markdown.NewAnchors(markdown.Parse(src), src)
	for _, anchor := range []string{"Risks & costs", "risks--costs", "Risks costs", "^snails", "Money"} {
		fmt.Println(anchor, anchors.Has(anchor))
	}
	// Output:
	// Risks & costs true
	// risks--costs true
	// Risks costs true
	// ^snails true
	// Money false
}
