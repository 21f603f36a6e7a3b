package markdown

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"notesd/internal/markdown/mdtest"
)

// blocksOf describes a note's headings and what kind of block each line of text
// is in, as this package sees it.
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

// goldmarkBlocks describes the same, as goldmark sees it, with the offsets of
// the lines that it reports.
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

func assertAgrees(t *testing.T, src string) {
	t.Helper()
	headings, kinds, at := goldmarkBlocks([]byte(src))
	gotHeadings, gotKinds := blocksOf([]byte(src), at)
	assert.Equal(t, headings, gotHeadings, "headings of %q", src)
	assert.Equal(t, kinds, gotKinds, "kinds of lines of %q", src)
}

// TestBlocksAgreeWithGoldmark compares the block structure of CommonMark texts
// with that of an independent parser.
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

// outline matches what is no list item in CommonMark, perhaps.
var outline = regexp.MustCompile(`(?m)^\t+- `)

// TestVaultBlocksAgreeWithGoldmark does so with the notes in NOTESD_VAULTS that
// use nothing but CommonMark.
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
		if locateFrontMatter(body, 0).Format != "" {
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
