// Package mdtest provides notes for the tests of the Markdown packages: notes that use
// every construct, notes designed to be costly to parse, and notes from real vaults.
package mdtest

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Seeds are notes that use every construct, well formed and not.
var Seeds = []string{
	"",
	"---\ntitle: T\ntags: [a, b/c]\naliases:\n  - x\nup: \"[[Note#h|n]]\"\n---\n# H\n\ntext #tag [[link|alias]] ![[embed]] [t](a%20b.md \"x\") ^id\n",
	"\xef\xbb\xbf+++\r\ntitle = \"T\"\r\n[x]\r\ny = [1, 2]\r\n+++\r\nbody\r\n",
	"---\na: [\n---\n# H\n",
	"---\nprose\n\n---\ntext\n",
	"tags:: a, [[b c]]\nalias:: x\n\n- ## H\n\t- TODO t #[[c d]]\n\t- [x] done ^b\n",
	"Setext\n===\n> # quoted\n> ```\n> [[no]]\n\n- a\n  - b\n\n        code\n",
	"`a ``b` [[c]]``` `` %% [[no]] %% $x$ $$\n[[no]]\n$$ <!-- [[no]] --> \\[[a]]\n",
	"| a | [[b\\|c]] |\n|---|---|\n| [x](<y z.md>) | ![i](j.png) |\n\n^table\n\n[ref]: path.md 'title'\n",
	"# A\n## B\ntext\n## C\n### D\nE\n# F\n",
	strings.Repeat("word ", 2000),
	strings.Repeat("漢字かな", 400) + "。\n" + strings.Repeat("👩‍👩‍👧é", 200),
	"\x00\xff\xfe# \xc3\n[[\xff]] #\xff",
}

// VaultNotes calls fn for each note below the folders listed in NOTESD_VAULTS, which
// is separated like PATH. It skips the test if the variable is not set.
func VaultNotes(tb testing.TB, fn func(path string, src []byte)) {
	tb.Helper()
	list := os.Getenv("NOTESD_VAULTS")
	if list == "" {
		tb.Skip("NOTESD_VAULTS lists no folders of notes")
	}
	for _, root := range filepath.SplitList(list) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
				return err
			}
			src, err := os.ReadFile(path) //nolint:gosec // folders that the developer names
			if err == nil {
				fn(path, src)
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Hostile returns texts of about the given size on which naive scanners take quadratic
// time.
func Hostile(size int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	runs := func() string { // runs of backticks, each of a different length
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
	texts := map[string]string{
		"nested pairs":        strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"wikilinks, one end":  repeat("[[a") + "\n]]",
		"wikilinks, no end":   repeat("[[ab") + "]",
		"nested images":       strings.Repeat("![", size/8) + strings.Repeat("](a)", size/8),
		"backtick runs":       runs(),
		"comments inline":     "a " + repeat("<!-- "),
		"obsidian, odd":       "%%\n" + repeat("a %% b %% c\n\n"),
		"inline math, long":   "a" + repeat("$b") + " ",
		"quotes, lines":       lines(func(i int) string { return strings.Repeat(">", i%60) + "a\n" }),
		"lists, blank lines":  strings.Repeat("- ", 1000) + "a\n" + repeat("\n"),
		"lists, indented":     lines(func(i int) string { return strings.Repeat(" ", i%400) + "- a ^b\n" }),
		"headings, nested":    lines(func(i int) string { return strings.Repeat("- ", i%40) + "# a\n" }),
		"hash tags":           lines(func(i int) string { return fmt.Sprintf("#t%d ", i) }),
		"front matter open":   "---\n" + repeat("a: b\n"),
		"front matter links":  "---\n" + repeat("[[") + "\n---\n",
		"front matter, wide":  "---\n" + lines(func(i int) string { return fmt.Sprintf("k%d: \"[[a]]\"\n", i) }) + "---\n",
		"front matter, deep":  "---\na: " + repeat("[") + "\n---\n",
		"front matter, toml":  "+++\na = " + repeat("[") + "\n+++\n",
		"a page property":     "tags:: " + repeat("[[a,"),
		"heading of brackets": "# " + repeat("[["),
		"footnote texts":      lines(func(i int) string { return fmt.Sprintf("[^%d]: a\n", i) }),
		"fields, nested":      strings.Repeat("[a:: ", size/6) + strings.Repeat("]", size/6),
	}
	for _, piece := range []string{
		"[", "]", "[]", "[[a", "![", "[a](", "[a](b", `[a](b "`, "[a](<b", "[a](b(c", "`a``b", "<!--", "<a ",
		`<a x="`, "<a:", "%% a\n\n", "$$ a\n\n", "$a ", "> ", "- ", "1. ", "# a\n", "a\n=\n", "```\na\n", "~~~~ a\n",
		"<div>\n", "[a]: b\n", "#", "a ", "a", "\t", `\`, "\u200d", "\xff", " ^a", "tags:: a, [[b\n", "![[a", "[^a]",
		"> [!a] b\n", "| a ", "|a|b|\n", "[a:: ", "k:: v\n", "*a_b~~", "&#a", "a ^b\n\n",
		"- [ ] a 📅 2026-01-01 [due:: 2026-01-01]\n", "aB3/", "data:a/b;",
		"{#a ", "# {#a ", "{a=\"b",
	} {
		texts[piece] = repeat(piece)
	}
	return texts
}

// RequireLinear compares the time that work takes for a hostile text with the time for
// sixteen runs on a sixteenth of it. Linear work takes about as long for both. A busy
// machine slows down both alike, while a quadratic step makes the whole text take up to
// sixteen times as long in every attempt.
func RequireLinear(tb testing.TB, size int, work func(src []byte)) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("it takes many seconds and does not depend on the order of tests")
	}
	const attempts, parts, factor = 20, 16, 5
	measure := func(src []byte, times int) time.Duration {
		start := time.Now()
		for range times {
			work(src)
		}
		return max(time.Since(start), time.Microsecond)
	}
	whole := Hostile(size)
	for name, part := range Hostile(size / parts) {
		least := math.Inf(1)
		for range attempts {
			least = min(least, float64(measure([]byte(whole[name]), 1))/float64(measure([]byte(part), parts)))
			if least < factor {
				break
			}
		}
		assert.Less(tb, least, float64(factor), "%q: %d times as much takes %.0f times as long", name, parts, parts*least)
	}
}
