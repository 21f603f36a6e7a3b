package markdown

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// hostile are texts that make careless scanners quadratic.
func hostile(size int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	runs := func() string { // of backticks, each of another length
		var b strings.Builder
		for n := 1; b.Len() < size; n++ {
			b.WriteString(strings.Repeat("`", n) + " ")
		}
		return b.String()
	}
	lines := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	return map[string]string{
		"brackets":            repeat("["),
		"closing brackets":    repeat("]"),
		"pairs":               repeat("[]"),
		"nested pairs":        strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"wikilinks open":      repeat("[[a"),
		"wikilinks, one end":  repeat("[[a") + "\n]]",
		"wikilinks, no end":   repeat("[[ab") + "]",
		"images":              repeat("!["),
		"nested images":       strings.Repeat("![", size/8) + strings.Repeat("](a)", size/8),
		"links open":          repeat("[a]("),
		"links, paths":        repeat("[a](b"),
		"links, titles":       repeat(`[a](b "`),
		"links, angles":       repeat("[a](<b"),
		"links, parens":       repeat("[a](b(c"),
		"backticks":           repeat("`a``b"),
		"backtick runs":       runs(),
		"comments":            repeat("<!--"),
		"comments inline":     "a " + repeat("<!-- "),
		"tags":                repeat("<a "),
		"tags with values":    repeat(`<a x="`),
		"autolinks":           repeat("<a:"),
		"obsidian comments":   repeat("%% a\n\n"),
		"obsidian, odd":       "%%\n" + repeat("a %% b %% c\n\n"),
		"math":                repeat("$$ a\n\n"),
		"inline math":         repeat("$a "),
		"inline math, long":   "a" + repeat("$b") + " ",
		"quotes":              repeat("> "),
		"quotes, lines":       lines(func(i int) string { return strings.Repeat(">", i%60) + "a\n" }),
		"lists":               repeat("- "),
		"lists, blank lines":  strings.Repeat("- ", 1000) + "a\n" + repeat("\n"),
		"lists, indented":     lines(func(i int) string { return strings.Repeat(" ", i%400) + "- a ^b\n" }),
		"numbers":             repeat("1. "),
		"headings":            repeat("# a\n"),
		"headings, nested":    lines(func(i int) string { return strings.Repeat("- ", i%40) + "# a\n" }),
		"setext":              repeat("a\n=\n"),
		"fences":              repeat("```\na\n"),
		"fences open":         repeat("~~~~ a\n"),
		"html":                repeat("<div>\n"),
		"definitions":         repeat("[a]: b\n"),
		"hashes":              repeat("#"),
		"hash tags":           lines(func(i int) string { return fmt.Sprintf("#t%d ", i) }),
		"words":               repeat("a "),
		"no words":            repeat("a"),
		"tabs":                repeat("\t"),
		"escapes":             repeat(`\`),
		"joiners":             repeat("\u200d"),
		"invalid":             repeat("\xff"),
		"carets":              repeat(" ^a"),
		"front matter open":   "---\n" + repeat("a: b\n"),
		"front matter links":  "---\n" + repeat("[[") + "\n---\n",
		"front matter, wide":  "---\n" + lines(func(i int) string { return fmt.Sprintf("k%d: \"[[a]]\"\n", i) }) + "---\n",
		"front matter, deep":  "---\na: " + repeat("[") + "\n---\n",
		"front matter, toml":  "+++\na = " + repeat("[") + "\n+++\n",
		"page properties":     repeat("tags:: a, [[b\n"),
		"heading of brackets": "# " + repeat("[["),
	}
}

// requireLinear compares the time that work takes for hostile text with that for
// prose of the same size, measured next to each other; a quadratic step takes
// hundreds of times as long, and does so every time, which a busy machine does
// not.
func requireLinear(t *testing.T, size int, atLeast time.Duration, work func(src []byte)) {
	t.Helper()
	const attempts, factor = 5, 100
	measure := func(src []byte) time.Duration {
		start := time.Now()
		work(src)
		return max(time.Since(start), atLeast)
	}
	prose := []byte(strings.Repeat("Some words of *prose* with a [[link]] and a #tag.\n\n", size/50))
	for name, text := range hostile(size) {
		least := math.Inf(1)
		for range attempts {
			least = min(least, float64(measure([]byte(text)))/float64(measure(prose)))
			if least < factor {
				break
			}
		}
		assert.Less(t, least, float64(factor), "%s takes %.0f times as long as prose", name, least)
	}
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	requireLinear(t, 1<<18, time.Millisecond, func(src []byte) {
		Chunks(src, Parse(src), ChunkOptions{})
	})
}

// TestHostileEditsTakeLinearTime does so for edits that fail or touch much.
func TestHostileEditsTakeLinearTime(t *testing.T) {
	absent := strings.Repeat("some text that is not there ", 20)
	requireLinear(t, 1<<16, time.Millisecond, func(src []byte) {
		_, err := ReplaceText(src, absent, "x", 1)
		assert.Error(t, err)
		_, _ = ReplaceSection(src, "no such section", "x")
		_, _ = Append(src, "x")
		_, _ = Prepend(src, "x")
		_, _ = SetFrontMatter(src, "key", "value")
		_, _ = AddTag(src, "new")
		_, _ = RemoveTag(src, "a")
		_, _, _ = RenameTag(src, "tag", "new")
		_, _ = RenameHeading(src, "a", "b")
		out := RewriteLinks(src, Parse(src), func(l Link) (string, bool) { return l.Target + "x", true })
		UnifiedDiff(src, out, "n.md", 3, 4000)
		UnifiedDiff(src, bytes.ReplaceAll(src, []byte("a"), []byte("b\n")), "n.md", 3, 4000)
	})
}
