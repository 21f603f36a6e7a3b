package markdown

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const anchoredNote = `---
title: Plan
---
# Plan
## What's new?
### Risks
## C++ & Go
## 1. Einführung
## Risks
## Risks
Text with an id. ^b-1
## [[Other|Alias]] and **bold**
- list
	- item ^Item
## 10:30 Call
# 🎉
> ## Quoted
<a id="kept"></a>
## Custom {#own}
日本語の見出し
---
`

func TestAnchors_Has(t *testing.T) {
	src := []byte(anchoredNote)
	anchors := NewAnchors(Parse(src), src)
	for anchor, want := range map[string]bool{
		"Plan": true, "plan": true, "PLAN": true, "Plan#Risks": true, "plan#what's new?#risks": true,
		"What's new?": true, "What's new": true, "whats-new": true, "what-s-new": true,
		"C++ & Go": true, "c--go": true, "C Go": true,
		"1. Einführung": true, "1-einführung": true, "1 Einführung": true,
		"risks": true, "risks-1": true, "risks-2": true,
		"Other Alias and bold": true, "Alias and bold": true, "alias-and-bold": true,
		"10 30 Call": true, "1030-call": true, "🎉": true,
		"^b-1": true, "^B-1": true, "^item": true, "Risks#^b-1": true,
		"kept": true, "own": true, "L5": true, "L5-L9": true, ":~:text=x": true, "top": true, "": true,
		"日本語の見出し": true,

		"Nope": false, "Plan#Nope": false, "Nope#Risks": false, "C++ & Go#Risks": false, "Risks#Plan": false,
		"risks-3": false, "nope-1": false, "^nope": false, "Risks#^nope": false, "Quoted": false,
		"Einfuhrung": false, "Pla": false, "Plans": false, "!": false, "日本": false,
	} {
		assert.Equal(t, want, anchors.Has(anchor), "%q", anchor)
	}
}

// TestAnchors_Explicit: ids set by HTML or by attributes of Pandoc and kramdown are anchors.
func TestAnchors_Explicit(t *testing.T) {
	for _, src := range []string{"<a id=own>\n", "text <p class=x name='own'>\n", "## Title {#own}\n", "text\n{: #own}\n", "## T {#own .class}\n"} {
		anchors := NewAnchors(Parse([]byte(src)), []byte(src))
		assert.True(t, anchors.Has("own"), src)
		assert.False(t, anchors.Has("Own"), src)
		assert.False(t, anchors.Has("owner"), src)
	}
}

// TestAttributes: the attributes that Pandoc, Hugo and others read after a heading are
// neither part of its text nor a tag, and their ID is a reference to the heading.
func TestAttributes(t *testing.T) {
	for src, id := range map[string]string{
		"## Set up {#own}\n": "own", "## Set up { #own }\n": "own", "## Set up {: .a #sec:own}\n": "sec:own", "## Set up{#own .a k=v k2=\"v w\"} ##\n": "own",
		"Set up {#own}\n---\n": "own", "## Set up {.unnumbered}\n": "", "## Set up {-}\n": "",
	} {
		doc := Parse([]byte(src))
		require.Len(t, doc.Headings, 1, src)
		assert.Equal(t, "Set up", doc.Headings[0].Text, src)
		assert.Equal(t, id, doc.Headings[0].ID, src)
		assert.Empty(t, doc.Tags, src)
		for _, ref := range []string{"Set up", "Set up {#own}", id} {
			s, err := FindSection(doc, []byte(src), ref)
			if ref != "" && assert.NoError(t, err, "%s: %s", src, ref) {
				assert.Equal(t, "Set up", s.Heading)
			}
		}
	}
	assert.Empty(t, Parse([]byte("![](a.png){#fig:a width=50%} and [b]{.c #d}\n{: #e}\n\n::: {#f .g}\n")).Tags)
	assert.Equal(t, []string{"a", "c"}, Parse([]byte("{see #a} #c\n\n## {#own}\n")).Tags)
}

func TestAnchors_Excalidraw(t *testing.T) {
	src := []byte("---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nWord ^abcd1234\n")
	anchors := NewAnchors(Parse(src), src)
	assert.True(t, anchors.Has("^group=Zk3"), "an element of the drawing")
	assert.False(t, anchors.Has("Nope"))
}

// FuzzAnchors checks that every reference that edits accept is also an anchor.
func FuzzAnchors(f *testing.F) {
	f.Add([]byte(anchoredNote), "Plan#Risks")
	f.Add([]byte("# A\n# A\n## B\n"), "a > b")
	f.Add([]byte("- # x\n- # X ^id\n"), "^id")
	f.Add([]byte("<!\n="), "<")
	f.Fuzz(func(t *testing.T, src []byte, anchor string) {
		if !utf8.Valid(src) || !utf8.ValidString(anchor) {
			return // such a heading cannot be written in a link
		}
		doc := Parse(src)
		anchors := NewAnchors(doc, src)
		for _, h := range doc.Headings {
			if h.Text != "" && !strings.Contains(h.Text, "#") && !strings.HasPrefix(h.Text, "^") {
				assert.True(t, anchors.Has(h.Text), "%q", h.Text)
			}
		}
		for _, b := range doc.Blocks {
			assert.True(t, anchors.Has("^"+b.ID), b.ID)
		}
		if strings.ContainsAny(anchor, ">()\"") { // a path as in error messages is not an anchor
			return
		}
		if _, err := FindSection(doc, src, anchor); err == nil || errors.Is(err, ErrAmbiguous) {
			assert.True(t, anchors.Has(anchor), "%q", anchor)
		}
	})
}

// TestAnchors_ManyOfOneName: with very many headings of the same name, only the name is
// compared. Otherwise the cost would be the product of headings and links.
func TestAnchors_ManyOfOneName(t *testing.T) {
	src := []byte(strings.Repeat("# A\n## B\n", 20_000))
	anchors := NewAnchors(Parse(src), src)
	for i := range 20_000 {
		assert.True(t, anchors.Has(fmt.Sprintf("A%d#B", i)))
		assert.False(t, anchors.Has(fmt.Sprintf("A#B%d", i)))
	}
}
