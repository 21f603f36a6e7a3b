package markdown_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

// TestBrokenFrontMatter_KeepsNames: a line that breaks front matter does not change title,
// tags and aliases, which equal those of the block without that line.
func TestBrokenFrontMatter_KeepsNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 1))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	word := func() string {
		return one("alder", "Öl", "日本", "two words", "a/b", "x-1") + fmt.Sprint(rng.IntN(90))
	}
	quoted := func(s string) string { return one("", "'", `"`) + s }
	closed := func(s string) string { // close a quote at the start
		if s[0] == '\'' || s[0] == '"' {
			return s + s[:1]
		}
		return s
	}
	list := func(key string) string {
		items := []string{closed(quoted(word())), closed(quoted(word()))}[:1+rng.IntN(2)]
		if rng.IntN(2) == 0 {
			return key + ": [" + strings.Join(items, ", ") + "]\n"
		}
		indent := one("", "  ")
		return key + ":\n" + indent + "- " + strings.Join(items, "\n"+indent+"- ") + "\n"
	}
	broken := 0
	for range 3000 {
		var parts []string
		if rng.IntN(2) == 0 {
			parts = append(parts, one("title", "Title")+":"+one(" ", "   ")+closed(quoted(word()))+"\n")
		}
		if rng.IntN(2) == 0 {
			parts = append(parts, list(one("tags", "Tags", "tag")))
		}
		if rng.IntN(2) == 0 {
			parts = append(parts, list(one("aliases", "alias")))
		}
		parts = append(parts, one("status: open\n", "# a comment\n", "due: 2026-01-31\n", "people:\n  - Ann\n", ""))
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		note := func(parts []string) []byte { return []byte("---\n" + strings.Join(parts, "") + "---\n# Heading\n") }
		whole := note(parts)
		cut := note(slices.Insert(slices.Clone(parts), rng.IntN(len(parts)+1), one("x: [\n", "y: {a\n", "z: \"open\n", "w: 'a' b\n", "v: @a\n", "u: a: b\n", "t:\tx: [\n")))
		want, got := markdown.Parse(whole), markdown.Parse(cut)
		require.NoError(t, want.FrontMatter.Err, "%s", whole)
		if got.FrontMatter.Err == nil {
			continue // the library continues to the next line
		}
		broken++
		assert.Equal(t, [3]any{want.Title, want.Tags, want.Aliases}, [3]any{got.Title, got.Tags, got.Aliases}, "%s", cut)
	}
	require.Greater(t, broken, 1000)
}

// TestFrontMatterLinks_Oracle: the links in front matter are those in its string values,
// regardless of quotes, each with the bytes of its target.
func TestFrontMatterLinks_Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range 3000 {
		var inner strings.Builder
		var want []string
		serial := 0
		text := func(quote string) string { // text with links
			var b strings.Builder
			for range 1 + rng.IntN(3) {
				serial++
				target := fmt.Sprintf("%s%d", one("Ann", "dir/Plan", "Öl", "v1.2", "it"+map[string]string{"'": "''s", `"`: "'s", "": "s"}[quote]), serial)
				meant := strings.ReplaceAll(target, "''", "'")
				anchor, alias := one("", "#Part", "#^id"), one("", "|shown", "|a b")
				b.WriteString(one("", "see ", "and ") + "[[" + target + anchor + alias + "]]" + one("", " ", ", "))
				want = append(want, meant+anchor+alias)
			}
			return strings.TrimRight(b.String(), " ,")
		}
		value := func() string {
			switch rng.IntN(3) {
			case 0:
				return `"` + text(`"`) + `"`
			case 1:
				return "'" + text("'") + "'"
			}
			return "see " + text("")
		}
		for i := range 1 + rng.IntN(4) {
			switch rng.IntN(4) {
			case 0:
				fmt.Fprintf(&inner, "k%d: %s # [[no]]\n", i, value())
			case 1:
				fmt.Fprintf(&inner, "k%d:\n  - %s\n  - x\n", i, value())
			case 2:
				fmt.Fprintf(&inner, "k%d: |\n  %s\n  more\n", i, text(""))
			case 3:
				serial++
				fmt.Fprintf(&inner, "k%d: [[Bare%d]]\n", i, serial) // a list in a list to YAML
				want = append(want, fmt.Sprintf("Bare%d", serial))
			}
		}
		src := []byte("---\n" + inner.String() + "---\n[[no link of these]]\n")
		doc := markdown.Parse(src)
		require.NoError(t, doc.FrontMatter.Err, "%s", src)
		got := []string{}
		for _, l := range doc.Links {
			if l.Kind != markdown.LinkFrontMatter {
				continue
			}
			written := l.Target
			if l.Anchor != "" {
				written += "#" + l.Anchor
			}
			if l.Alias != "" {
				written += "|" + l.Alias
			}
			got = append(got, written)
			raw := string(src[l.TargetStart:l.TargetEnd])
			require.Equal(t, l.Target, strings.ReplaceAll(raw, "''", "'"), "%s", src)
			require.Equal(t, 1+strings.Count(string(src[:l.Start]), "\n"), l.Line)
		}
		require.Equal(t, want, got, "%s", src)
	}
}
