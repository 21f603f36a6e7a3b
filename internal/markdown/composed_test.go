package markdown_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

// A composed note is generated block by block together with the expected result of
// parsing it, which does not depend on the order of the blocks.
type composed struct {
	random *rand.Rand
	text   strings.Builder
	line   int // line of the next text
	serial int

	title    string
	headings []heading
	links    []link
	tags     []string
	tasks    []int
	blocks   []block
	fields   []markdown.Field
}

type heading struct {
	level int
	text  string
	line  int
}

type link struct {
	kind                  markdown.LinkKind
	target, anchor, alias string
	line                  int
	raw                   string
	external              bool
}

type block struct {
	id   string
	line int
}

// compose generates the note for a seed.
func compose(seed uint64) *composed {
	c := &composed{random: rand.New(rand.NewPCG(seed, 7)), line: 1}
	if c.random.IntN(2) == 0 {
		c.frontMatter()
	}
	parts := []func(string){c.paragraph, c.atxHeading, c.setextHeading, c.fenced, c.indented, c.quote, c.list, c.table, c.html, c.math, c.comment, c.rule}
	c.write("Opening words.\n\n") // not the first line, which may be a page property
	for range 1 + c.random.IntN(12) {
		parts[c.random.IntN(len(parts))]("")
		c.write("\n")
	}
	return c
}

// write appends text and counts its lines.
func (c *composed) write(text string) {
	c.text.WriteString(text)
	c.line += strings.Count(text, "\n")
}

// word returns a word that is unique in the note.
func (c *composed) word() string {
	c.serial++
	return fmt.Sprintf("%s%d", []string{"alder", "birch", "cedar", "Öl", "日本", "éclair"}[c.random.IntN(6)], c.serial)
}

func (c *composed) frontMatter() {
	c.write("---\n")
	if c.random.IntN(2) == 0 {
		c.title = "Title " + c.word()
		c.write("title: \"" + c.title + "\" # of the page\n")
	}
	if c.random.IntN(2) == 0 {
		a, b := c.word(), c.word()+"/"+c.word()
		c.tags = append(c.tags, a, b)
		c.write([]string{"tags: [" + a + ", \"#" + b + "\"]\n", "tags:\n  - " + a + "\n  - '" + b + "'\n", "Tags: " + a + " " + b + "\n"}[c.random.IntN(3)])
	}
	if c.random.IntN(2) == 0 {
		target := c.word()
		c.links = append(c.links, link{markdown.LinkFrontMatter, target, "Part", "shown", c.line, "[[" + target + "#Part|shown]]", false})
		c.write("up: \"[[" + target + "#Part|shown]]\"\n")
	}
	c.write("# [[no]] #no\n---\n")
}

// inline returns words, links, tags and decoys for a line, and records the expected
// results.
func (c *composed) inline() string {
	var parts []string
	add := func(l link, raw string) {
		l.line, l.raw = c.line, raw
		c.links = append(c.links, l)
		parts = append(parts, raw)
	}
	for range 1 + c.random.IntN(5) {
		w := c.word()
		parts = append(parts, "plain")
		switch c.random.IntN(30) {
		case 0:
			c.tags = append(c.tags, w)
			parts = append(parts, "#"+w)
		case 1:
			c.tags = append(c.tags, w+"/sub-tag_1")
			parts = append(parts, "(#"+w+"/sub-tag_1)")
		case 2:
			add(link{kind: markdown.LinkWiki, target: w}, "[["+w+"]]")
		case 3:
			add(link{kind: markdown.LinkWiki, target: "dir/" + w + ".md", alias: "*an* alias"}, "[[dir/"+w+".md|*an* alias]]")
		case 4:
			add(link{kind: markdown.LinkWiki, target: w, anchor: "Part A#Part B"}, "[["+w+"#Part A#Part B]]")
		case 5:
			add(link{kind: markdown.LinkWiki, anchor: "^id-1", alias: w}, "[[#^id-1|"+w+"]]")
		case 6:
			add(link{kind: markdown.LinkEmbed, target: w + ".png", alias: "300x200"}, "![["+w+".png|300x200]]")
		case 7:
			add(link{kind: markdown.LinkMarkdown, target: w + ".md", alias: "text"}, "[text]("+w+".md)")
		case 8:
			add(link{kind: markdown.LinkMarkdown, target: "a " + w + ".md", anchor: "h", alias: "text"}, "[text](a%20"+w+".md#h \"a title\")")
		case 9:
			add(link{kind: markdown.LinkMarkdown, target: "a " + w + " (1).md", alias: "text"}, "[**text**](<a "+w+" (1).md>)")
		case 10:
			add(link{kind: markdown.LinkMarkdown, target: "https://example.org/" + w, alias: "t", external: true}, "[t](https://example.org/"+w+")")
		case 11:
			add(link{kind: markdown.LinkImage, target: w + ".png", alias: "alt"}, "![alt]("+w+".png)")
		case 12:
			c.fields = append(c.fields, markdown.Field{Key: "rating", Value: w})
			parts = append(parts, "[rating:: "+w+"]")
		case 13:
			parts = append(parts, "`[[no]] #no [no](no.md)`")
		case 14:
			parts = append(parts, "``a ` [[no]] #no``")
		case 15:
			parts = append(parts, `\[[no]] \#no`)
		case 16:
			c.tags = append(c.tags, w)
			add(link{kind: markdown.LinkWiki, target: w}, "[["+w+"]]")
			parts[len(parts)-1] = "%%[[" + w + "]] #" + w + "%%"
		case 17:
			parts = append(parts, "<!-- [[no]] #no -->")
		case 18:
			parts = append(parts, "$x_1 [[no]] #no$")
		case 19:
			parts = append(parts, `<b title="[[no]] #no">bold</b>`)
		case 20:
			parts = append(parts, "word#no C# #1 #12/3 issue#no")
		case 21:
			parts = append(parts, "[[no] ] [no]( [no](no no) ![no] [] ()")
		case 22:
			parts = append(parts, "***em*** ~~gone~~ ==mark== &amp; &#35;no")
		}
	}
	return strings.Join(append(parts, "end"), " ")
}

func (c *composed) paragraph(prefix string) {
	start := c.line
	for range c.random.IntN(3) {
		c.write(prefix + c.inline() + "\n")
	}
	c.write(prefix + c.inline())
	c.maybeID(start)
	c.write("\n")
}

// maybeID adds, at random, an id to the block that starts on the given line.
func (c *composed) maybeID(start int) {
	if c.random.IntN(3) == 0 {
		c.serial++
		id := fmt.Sprintf("id-%d", c.serial)
		c.blocks = append(c.blocks, block{id, start})
		c.write(" ^" + id)
	}
}

func (c *composed) atxHeading(string) {
	level, w := 1+c.random.IntN(6), c.word()
	c.heading(level, "Part "+w)
	c.write(strings.Repeat("#", level) + " " + []string{"Part " + w, "*Part* `" + w + "` ##", " Part  **" + w + "**  "}[c.random.IntN(3)] + "\n")
}

func (c *composed) setextHeading(string) {
	w, level := c.word(), 1+c.random.IntN(2)
	c.heading(level, "Part "+w)
	c.write("Part\n" + w + "\n" + []string{"===", "---"}[level-1] + "\n")
}

func (c *composed) heading(level int, text string) {
	c.headings = append(c.headings, heading{level, text, c.line})
	if level == 1 && c.title == "" {
		c.title = text
	}
}

// decoys contains every kind of syntax, none of which counts inside code.
const decoys = "# no\n- [ ] no\n[[no]] #no [no](no.md) ^no\nno\n==\nno:: 1 [no:: 2]\n"

// endList ends a list before indented text, which would otherwise belong to its last item.
func (c *composed) endList() { c.write("<!-- end of a list -->\n\n") }

func (c *composed) fenced(string) {
	c.endList()
	c.write([]string{"```go\n" + decoys + "```\n", "~~~~\n" + decoys + "~~~\n" + decoys + "~~~~~\n", "   ````\n" + decoys + "```\n   ````\n"}[c.random.IntN(3)])
}

func (c *composed) indented(string) {
	c.endList()
	c.write("    " + strings.ReplaceAll(strings.TrimSuffix(decoys, "\n"), "\n", "\n    ") + "\n")
}

// quote writes a block quote. Its text counts, but its headings do not.
func (c *composed) quote(string) {
	c.write("> # Not a section\n> \n")
	c.paragraph("> ")
	if c.random.IntN(2) == 0 {
		c.write(">\n> > [!note]- Callout\n> >\n")
		c.paragraph("> > ")
	}
}

// list writes a list with tasks, ids and nested items. Tasks in quotes count as well.
func (c *composed) list(string) {
	c.endList()
	indent := ""
	for i := range 1 + c.random.IntN(5) {
		marker := []string{"- ", "* ", "+ ", "1. ", "1) "}[c.random.IntN(5)]
		if i > 0 && c.random.IntN(3) == 0 {
			indent += "    "
		} else if c.random.IntN(3) == 0 {
			indent = ""
		}
		c.write(indent + marker)
		switch mark := c.random.IntN(8); mark {
		case 0, 1, 2, 3:
			marks := []string{"[ ] ", "[x] ", "[/] ", "[-] "}
			c.tasks = append(c.tasks, c.line)
			c.write(marks[mark])
		case 4:
			c.tasks = append(c.tasks, c.line)
			c.write("TODO ")
		}
		start := c.line
		c.write(c.inline())
		c.maybeID(start)
		c.write("\n")
	}
}

func (c *composed) table(string) {
	c.write("| a | b |\n|---|---|\n")
	w := c.word()
	raw := "[[" + w + "\\|shown]]"
	c.links = append(c.links, link{markdown.LinkWiki, w, "", "shown", c.line, raw, false})
	c.write("| " + raw + " | `\\|` |\n")
}

func (c *composed) html(string) {
	c.write([]string{"<div>\n" + decoys + "</div>\n", "<!-- \n\n" + decoys + "\n-->\n", "<script>\n\n" + decoys + "\n</script>\n"}[c.random.IntN(3)])
}

func (c *composed) math(string) { c.write("$$\n" + decoys + "\n$$\n") }

// comment writes a comment, in which links and tags count, but no headings, tasks and ids.
func (c *composed) comment(string) {
	w := c.word()
	c.write("%%\n# no\n\n- [ ] no ^no\n")
	c.links = append(c.links, link{markdown.LinkWiki, w, "", "", c.line, "[[" + w + "]]", false})
	c.tags = append(c.tags, w)
	c.write("[[" + w + "]] #" + w + "\n\n```json\n" + decoys + "```\n%%\n")
}

func (c *composed) rule(string) { c.write([]string{"***\n", "- - -\n", "_____\n"}[c.random.IntN(3)]) }

// forms returns the note with each kind of line ending, with a byte order mark, and
// without a last line break.
func (c *composed) forms() map[string]string {
	text := c.text.String()
	return map[string]string{
		"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "BOM": markdown.ByteOrderMark + text,
		"BOM and CRLF": markdown.ByteOrderMark + strings.ReplaceAll(text, "\n", "\r\n"), "no last line break": strings.TrimRight(text, "\n"),
	}
}

// forEachComposed calls fn with each form of many composed notes.
func forEachComposed(t *testing.T, fn func(t *testing.T, c *composed, form string, src []byte)) {
	for seed := range uint64(80) {
		c := compose(seed)
		for form, src := range c.forms() {
			fn(t, c, fmt.Sprintf("seed %d, %s", seed, form), []byte(src))
		}
		if t.Failed() {
			t.Fatalf("of:\n%s", c.text.String())
		}
	}
}

func TestParse_Composed(t *testing.T) {
	forEachComposed(t, func(t *testing.T, c *composed, form string, src []byte) {
		doc := markdown.Parse(src)
		require.NoError(t, doc.FrontMatter.Err, form)
		assert.Equal(t, c.title, doc.Title, form)
		assert.Equal(t, c.tags, doc.Tags, form)

		var headings []heading
		for _, h := range doc.Headings {
			headings = append(headings, heading{h.Level, h.Text, h.Line})
		}
		assert.Equal(t, c.headings, headings, form)

		var links []link
		for _, l := range doc.Links {
			raw := strings.ReplaceAll(string(src[l.Start:l.End]), "\r\n", "\n")
			links = append(links, link{l.Kind, l.Target, l.Anchor, l.Alias, l.Line, raw, l.External})
		}
		assert.Equal(t, c.links, links, form)

		var tasks []int
		for _, k := range doc.Tasks {
			tasks = append(tasks, k.Line)
		}
		assert.Equal(t, c.tasks, tasks, form)

		var blocks []block
		for _, b := range doc.Blocks {
			blocks = append(blocks, block{b.ID, b.Line})
			assert.True(t, bytes.HasSuffix(src[b.Start:b.End], []byte("^"+b.ID)), form)
		}
		assert.Equal(t, c.blocks, blocks, form)
		assert.Equal(t, c.fields, doc.Fields(src), form)
	})
}

// sectionEnd is a simple reference implementation: a section ends at the next heading of
// the same or a higher level.
func sectionEnd(src []byte, headings []heading, i int) int {
	for _, next := range headings[i+1:] {
		if next.level <= headings[i].level {
			return lineStart(src, next.line)
		}
	}
	return len(src)
}

// beforeRule returns the start of the rule above the heading at end, or else end.
func beforeRule(src []byte, end int) int {
	m := ruleAbove.FindSubmatchIndex(src[:end])
	if m == nil || end == len(src) || src[end] == '%' {
		return end
	}
	return m[2]
}

// ruleAbove matches the rules that compose writes.
var ruleAbove = regexp.MustCompile(`(?:^|\n)((?:\*\*\*|- - -|_____)\s+)$`)

// lineStart returns the offset of the start of a line.
func lineStart(src []byte, line int) int {
	lines := bytes.SplitAfter(src, []byte("\n"))
	if line == 1 {
		return 0
	}
	return len(bytes.Join(lines[:line-1], nil))
}

// path returns the texts of the headings from the outermost to the i-th.
func path(headings []heading, i int) []string {
	out, level := []string{headings[i].text}, headings[i].level
	for _, h := range slices.Backward(headings[:i]) {
		if h.level < level {
			out, level = append([]string{h.text}, out...), h.level
		}
	}
	return out
}

// TestSections_Composed compares sections with a simple reference implementation.
func TestSections_Composed(t *testing.T) {
	forEachComposed(t, func(t *testing.T, c *composed, form string, src []byte) {
		doc := markdown.Parse(src)
		require.Len(t, doc.Headings, len(c.headings), form)
		anchors := markdown.NewAnchors(doc, src)
		refs := markdown.References(doc)
		for i, h := range c.headings {
			start, end, way := lineStart(src, h.line), sectionEnd(src, c.headings, i), path(c.headings, i)
			assert.Equal(t, []int{start, end}, []int{doc.Headings[i].Start, doc.Headings[i].End}, form)
			end = beforeRule(src, min(end, doc.TextEnd))
			for _, ref := range []string{
				h.text, strings.ToUpper(h.text), strings.Repeat("#", h.level) + " " + h.text, strings.Join(way, " > "), "#" + strings.Join(way, "#"), refs[i],
				fmt.Sprintf("%s (line %d)", h.text, h.line),
			} {
				section, err := markdown.FindSection(doc, src, ref)
				require.NoError(t, err, "%s: %s", form, ref)
				assert.Equal(t, h.text, section.Heading, "%s: %s", form, ref)
				assert.Equal(t, []int{start, end, h.line, h.level}, []int{section.Start, section.End, section.Line, section.Level}, "%s: %s", form, ref)
			}
			for _, anchor := range []string{h.text, strings.ReplaceAll(strings.ToLower(h.text), " ", "-"), strings.Join(way, "#")} {
				assert.True(t, anchors.Has(anchor), "%s: %s", form, anchor)
			}
		}
		for _, b := range c.blocks {
			section, err := markdown.FindSection(doc, src, "^"+b.id)
			require.NoError(t, err, form)
			assert.Equal(t, []any{b.id, b.line, 0}, []any{section.BlockID, section.Line, section.Level}, form)
			assert.True(t, anchors.Has("^"+b.id), form)
		}
		for _, none := range []string{"no", "^no", "Not a section", "Part of no note"} {
			_, err := markdown.FindSection(doc, src, none)
			assert.ErrorIs(t, err, markdown.ErrMissing, "%s: %s", form, none)
			assert.False(t, anchors.Has(none), "%s: %s", form, none)
		}
	})
}

// TestChunks_Composed checks that passages cover the body and have the right lines and
// headings.
func TestChunks_Composed(t *testing.T) {
	forEachComposed(t, func(t *testing.T, c *composed, form string, src []byte) {
		doc := markdown.Parse(src)
		for _, target := range []int{10, 60, 0} {
			at := doc.BodyStart
			for i, chunk := range markdown.ChunksOf(src, doc, target, target/3) {
				require.Equal(t, []int{i, at}, []int{chunk.Ordinal, chunk.Start}, form)
				require.Greater(t, chunk.End, chunk.Start, form)
				text := bytes.TrimSuffix(src[chunk.Start:chunk.End], []byte("\n"))
				assert.Equal(t, 1+bytes.Count(src[:chunk.Start], []byte("\n")), chunk.LineStart, form)
				assert.Equal(t, chunk.LineStart+bytes.Count(text, []byte("\n")), chunk.LineEnd, form)
				if n := len(chunk.Path); n > 0 {
					j := slices.IndexFunc(c.headings, func(h heading) bool { return h.text == chunk.Heading() })
					require.GreaterOrEqual(t, j, 0, form)
					assert.Equal(t, path(c.headings, j), chunk.Path, form)
				}
				at = chunk.End
			}
			assert.Equal(t, len(src), at, form)
		}
	})
}
