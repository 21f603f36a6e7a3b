package markdown

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"notesd/internal/markdown/mdtest"
)

// blocksOf describes a note's headings, and the kind of block at each of the given
// offsets, as parsed by this package.
func blocksOf(src []byte, at []int) (headings, kinds []string) {
	doc := Parse(src)
	for _, h := range doc.Headings {
		headings = append(headings, fmt.Sprintf("%d at line %d", h.Level, h.Line))
	}
	for _, offset := range at {
		i := sort.Search(len(doc.leaves), func(i int) bool { return doc.leaves[i].start > offset })
		kind := "none"
		if i > 0 {
			kind = kindName(doc.leaves[i-1].kind)
		}
		kinds = append(kinds, fmt.Sprintf("%s %q", kind, lineOf(src, offset)))
	}
	return headings, kinds
}

func kindName(kind leafKind) string {
	switch kind {
	case leafIndented, leafFence:
		return "code"
	case leafHTML:
		return "html"
	case leafHeading:
		return "heading"
	}
	return "text"
}

func lineOf(src []byte, offset int) []byte {
	end, _ := LineAt(src, offset)
	return src[offset:end]
}

// goldmarkBlocks is like blocksOf for goldmark. It also returns the offsets of the lines
// that goldmark reports.
func goldmarkBlocks(src []byte) (headings, kinds []string, at []int) {
	root := goldmark.DefaultParser().Parse(text.NewReader(src))
	add := func(kind string, lines *text.Segments) {
		for i := range lines.Len() {
			offset := lines.At(i).Start
			at = append(at, offset)
			kinds = append(kinds, fmt.Sprintf("%s %q", kind, lineOf(src, offset)))
		}
	}
	quotes := 0
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Blockquote:
			if entering {
				quotes++
			} else {
				quotes--
			}
		case *ast.Heading:
			if entering && n.Lines().Len() > 0 {
				add("heading", n.Lines())
				if quotes == 0 {
					line := 1 + bytes.Count(src[:n.Lines().At(0).Start], []byte{'\n'})
					headings = append(headings, fmt.Sprintf("%d at line %d", n.Level, line))
				}
			}
			return ast.WalkSkipChildren, nil
		case *ast.Paragraph, *ast.TextBlock:
			if entering {
				add("text", n.Lines())
			}
			return ast.WalkSkipChildren, nil
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				add("code", n.Lines())
			}
		case *ast.HTMLBlock:
			if entering {
				add("html", n.Lines())
			}
		}
		return ast.WalkContinue, nil
	})
	return headings, kinds, at
}

// goldmarkLinks describes the links and images of a text as parsed by goldmark, except
// reference links.
func goldmarkLinks(src []byte) (links []string) {
	add := func(kind LinkKind, destination []byte) {
		target := string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
		if decoded, err := url.PathUnescape(target); err == nil {
			target = decoded
		}
		links = append(links, string(kind)+" "+target)
	}
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering && n.Reference == nil {
				add(LinkMarkdown, n.Destination)
			}
		case *ast.Image:
			if entering && n.Reference == nil {
				add(LinkImage, n.Destination)
			}
		}
		return ast.WalkContinue, nil
	})
	return links
}

// goldmarkDefinitions returns the paths of a text's link reference definitions as parsed
// by goldmark. Only the first definition of a label counts.
func goldmarkDefinitions(src []byte) (paths []string) {
	context := parser.NewContext()
	goldmark.DefaultParser().Parse(text.NewReader(src), parser.WithContext(context))
	for _, r := range context.References() {
		paths = append(paths, string(r.Destination()))
	}
	return paths
}

// TestDefinitionsAgreeWithGoldmark compares link reference definitions, including many
// that are almost valid.
func TestDefinitionsAgreeWithGoldmark(t *testing.T) {
	pieces := []string{"[", "]", ":", " ", "\n", "\n ", "\\", "\\]", "a", "/b", "<c d>", "'", "\"", "'t'", "\"t\nu\"", "(v)", "]: /w", "\n[", "\n[x]: y"}
	for seed := range uint64(6000) {
		random := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		b.WriteString("[")
		for range 3 + random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		src := []byte(b.String())
		if bytes.Contains(src, []byte("[[")) || bytes.Contains(src, []byte("](")) {
			continue
		}
		var got []string
		for _, l := range Parse(src).Links {
			if path := string(src[l.TargetStart:l.TargetEnd]); !slices.Contains(got, path) {
				got = append(got, path)
			}
		}
		want := slices.Compact(slices.Sorted(slices.Values(goldmarkDefinitions(src))))
		assert.Subset(t, got, want, "definitions of %q", src)
		if len(want) == 0 {
			assert.Empty(t, got, "definitions of %q", src)
		}
	}
}

// linksOf is like goldmarkLinks for this package.
func linksOf(src []byte) (links []string) {
	for _, l := range Parse(src).Links {
		if l.Kind == LinkImage || l.Kind == LinkMarkdown && src[l.End-1] == ')' {
			target := l.Target
			if l.Anchor != "" {
				target += "#" + l.Anchor
			}
			links = append(links, string(l.Kind)+" "+target)
		}
	}
	return links
}

var emptyHeading = regexp.MustCompile(`(?m)# *$`)

func assertAgrees(t *testing.T, src string) {
	t.Helper()
	assert.Equal(t, goldmarkLinks([]byte(src)), linksOf([]byte(src)), "links of %q", src)
	headings, kinds, at := goldmarkBlocks([]byte(src))
	gotHeadings, gotKinds := blocksOf([]byte(src), at)
	if !emptyHeading.MatchString(src) { // goldmark does not report its position
		assert.Equal(t, headings, gotHeadings, "headings of %q", src)
	}
	assert.Equal(t, kinds, gotKinds, "kinds of lines of %q", src)
}

// TestBlocksAgreeWithGoldmark compares the block structure of CommonMark texts with that
// found by an independent parser.
func TestBlocksAgreeWithGoldmark(t *testing.T) {
	for _, src := range []string{
		"# A\n\ntext\n\n## B ##\n\n### C#\n####### no\n#no\n#\ttab\n",
		"Title\n=====\n\nSub\ntitle\n---\n\n---\n",
		"```\n# no\n```\n# yes\n~~~ go\n```\n# no\n~~~\n",
		"````\n```\n# no\n````\n",
		"  ```\n  # no\n  ```\n    # code\n",
		"text\n    # lazy, no code\n\n    # code\n",
		"- a\n  # heading in item\n- ```\n  # no\n  ```\n# yes\n",
		"- a\n\n  ```\n# ends the fence by leaving the item\n",
		"> # quoted\n> ```\n> # no\n# yes\n> ```\n",
		"1. a\n   ## in\n2. b\n10) c\n",
		"10. # in\n123456789. # in\n1234567890. # no\n\n-    # in\n-     # code\n",
		"a\n2. no list\n1. list\n",
		"-\n\n  # not in the empty item\n",
		"- a\n-\n- b\n\n      code\n",
		"\t# code\n\n- a\n\n\t# in item\n\n\t\t# code in item\n",
		"-\t# in\n\n>\t# quoted\n",
		"<!-- # no\n\n# no\n-->\n# yes\n",
		"<div>\n# no\n\n# yes\n</div>\n",
		"<script>\n\n# no\n</script>\n# yes\n",
		"<a href=\"x\">\n# no\n\ntext\n<a>\n# yes\n",
		"<?php\n# no\n?>\n<!X # no\n>\n<![CDATA[\n# no\n]]>\n# yes\n",
		"[a]: b\n===\n\n[a]: b\n---\n",
		"* * *\n- - -\n- a\n* * *\n",
		"a\n***\nb\n- \n",
		"# A\r\n\r\n```\r\n# no\r\n```\r\n\r\nB\r\n-\r\n",
		"> a\nlazy\n===\n",
		"> a\n---\n",
		"- a\n---\n",
		"- foo\n\n\n  bar\n",
		"- a\n - b\n  - c\n   - d\n    - e\n",
		"> > > a\n> b\nc\n",
		">```\n>a\n\n>b\n",
		"    a\n\n\n    b\n# c\n",
		"``` a`b\n# yes\n",
		"~~~ a`b ~~~\n# no\n",
	} {
		assertAgrees(t, src)
	}
}

// TestLinksAgreeWithGoldmark compares links in many contexts, and syntax that resembles
// links.
func TestLinksAgreeWithGoldmark(t *testing.T) {
	for _, src := range []string{
		`[a](b "c") [a](b 'c') [a](b (c)) [a](b "c\"d") [a](b "c" d) [a](b "c) [a]("c")`,
		`[a](<b c>) [a](<b\>c>) [a](<>) [a]() [a](<b>c) [a](b\)c) [a](b(c)(d)) [a](b((c)) [a](b))`,
		"[a](b\nc) [a](b\n\"c\") [a](\nb\n) [a](<b\nc>) [a\nb](c)",
		"[a]( b ) [a](\tb) [a] (b) [a](b c) [a](\u00a0b)",
		"`[a](b)` ``[a](`b)`` `[a](b) \\`[a](b)` [a`](b)`](c)",
		`*[a*](b) [*a](b*) **[a](b)** _[a]_(b) [a](*b*) [\[a\]](b) [a\](b) \[a](b) [a]\(b)`,
		`[a[b](c)d](e) [a[b]c](d) [a](b)](c) ![a[b](c)](d) [![a](b)](c) [![[a](b)](c)](d) ![![a](b)](c) !\[a](b) \![a](b)`,
		`<a href="[b](c)"> <b c='d' e=f g> [a](b</c>) <a/> <a b="c>[d](e) </a > </a b>[c](d) <3[a](b)`,
		`<http://a.b/[c](d)> <a@b.c>[d](e) <http://a b>[c](d) [<http://a](b)> <m:[a](b)> <made-up-scheme.1+2:[a](b)>`,
		"<a b=>[c](d) <a b= c>[e](f) <a b='c> [g](h)\n\n<a b=\"c> [i](j)\n\n<a b= [k](l) <http://a [m](n) <a b [o](p)",
		`[a](b (c(d)) [e](f (g\(h)) [i](j 'k\'l') [m](n "o" 'p')`,
		"<!-- [a](b) --> <!--> [c](d) --> <!---> [e](f) --> <?[g](h)?> <!X [i](j)> <![CDATA[[k](l)]]> [m](n)",
		`[a](&quot;b&#35;c&#x22;) [a](b&nosuch;c) [&#91;a](b) [a]&#40;b) [a](%62%) [a](b%c3%a9)`,
		"# [a](b) #\n[c](d)\n---\n> [e](f)\n> [g\n> h](i)\n- [j](k)\n  [l\n  m](n)\n",
		"    [a](b)\n\n```\n[c](d)\n```\n\n<div>\n[e](f)\n</div>\n\n[g](h)\n",
		"a\\\n[b](c)  \n[d](e)\n\n| [f](g) | [h\\|i](j) |\n",
	} {
		assertAgrees(t, src)
	}
}

// TestRandomTextsAgreeWithGoldmark compares random sequences of syntax, so that all
// pieces of syntax occur next to each other.
func TestRandomTextsAgreeWithGoldmark(t *testing.T) {
	pieces := []string{
		"a", "b c", " ", "!", "|", ":", "(", ")", "[", "]", "<", ">", "`", "``", "\\", "*", "**", "_", "\"t\"", "'t'", "(u)", "<p q>", "&amp;", "&#40;", "%20", "\\]", "\\)",
		"[x](y)", "![i](j.png)", "](z)", "<b>", "</b>", "<!--", "-->", "<http://u.v>",
		"\n", "\n\n", "\n- ", "\n  ", "\n    ", "\n> ", "\n1. ", "\n# ", "\n```\n", "\n---\n", "\n===\n", "\n~~~\n", "\n<div>\n",
	}
	for seed := range uint64(4000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1 + random.IntN(14) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		src := b.String()
		// The dialects differ in wikilinks, definitions and front matter, and goldmark
		// differs from CommonMark in lower-case declarations.
		if strings.Contains(src, "[[") || strings.Contains(src, "]:") || strings.HasPrefix(strings.TrimLeft(src, "\n"), "---") || strings.Contains(src, "<!a") || strings.Contains(src, "<!b") {
			continue
		}
		assertAgrees(t, src)
	}
}

// outline matches lines that may be list items here but not in CommonMark.
var outline = regexp.MustCompile(`(?m)^\t+- `)

// TestVaultBlocksAgreeWithGoldmark compares the notes in NOTESD_VAULTS that use only
// CommonMark.
func TestVaultBlocksAgreeWithGoldmark(t *testing.T) {
	notes, differ := 0, 0
	mdtest.VaultNotes(t, func(path string, src []byte) {
		doc := Parse(src)
		if bytes.Contains(src, []byte("$$")) || bytes.Contains(src, []byte("%%")) || outline.Match(src) {
			return
		}
		body := src[doc.BodyStart:]
		headings, kinds, at := goldmarkBlocks(body)
		gotHeadings, gotKinds := blocksOf(body, at)
		if locateFrontMatter(body).Format != "" {
			return
		}
		notes++
		if !assert.ObjectsAreEqual(headings, gotHeadings) || !assert.ObjectsAreEqual(kinds, gotKinds) {
			differ++
			if differ < 20 {
				assert.Equal(t, headings, gotHeadings, path)
				assert.Equal(t, kinds, gotKinds, path)
			}
		}
	})
	assert.Zero(t, differ, "of %d notes", notes)
	t.Logf("%d notes", notes)
}
