package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// realNotes are notes in the styles of people and programs.
var realNotes = map[string]string{
	"a meeting": `---
title: "Kick-off: the boat"
date: 2026-02-16
attendees: ["[[Ann Lee]]", "[[Bo|Bo R.]]"]
tags: [meeting, boat/hull]
---

# Kick-off: the boat

Present: [[Ann Lee]], [[Bo|Bo R.]] and #guests. See [the plan](../Plans/The%20plan.md#Budget).

## Decisions

1. Sand the hull before *May*.
2. Order paint from https://paint.example/boats?c=1#blue.

   Two coats. ^coats

## Actions

- [ ] Ann: ring the yard 📅 2026-02-20 #calls
- [x] Bo: measure the mast ✅ 2026-02-15
  - 11.4 m
- [ ] all: read [[The plan#Risks|the risks]]

### Later

- [ ] sell the old sail

## Notes

> [!quote] Ann
> It floats, but does it sail? ^floats

` + "```sh\n# not a heading\ngrep '#tag' [[notes]]\n```\n",

	"a recipe": `# Rye starter

![[starter.jpg|300]]

Ingredients
-----------

| what        | how much |
|-------------|---------:|
| rye flour   |     50 g |
| water, warm |    50 ml |

^table

Method
------

Mix; wait a day. Feed it [twice a day](Feeding.md "how").

* * *

## Notes

It likes 26 °C. [rating:: 5] (source:: [[Grandma]])
`,

	"an outline": "tags:: project, [[side project]]\nalias:: Boat\n\n- ## Plan\n\t- TODO buy varnish #shop\n\t  SCHEDULED: <2026-02-16 Mon>\n\t- DONE sell the trailer\n- ## Log\n\t- [[Feb 16th, 2026]] went to see it ^seen\n\t\t- rusty\n",

	"a daily note": `<< [[2026-02-15]] | [[2026-02-17]] >>

## Morning
- slept well
- [ ] gym

## Evening

%%
nothing [[hidden]] #hidden
%%

- read [[Moby-Dick]] #reading
`,

	"bare":               "Just a line without anything",
	"front matter alone": "---\naliases:\n- One\n- Two\nup: '[[Home]]'\n---\n",
	"a page of a site":   "+++\ntitle = \"Post\" # shown\ndate = 2026-02-16\ntags = [\"go\", \"notes\"]\n\n[params]\ntoc = true\n+++\n\n# Post\n\nText with $x^2$ and `code`.\n\n## More\n\nmore\n",
}

// forEachNote calls fn with each note and its parsed document.
func forEachNote(t *testing.T, fn func(t *testing.T, src string, doc *markdown.Document)) {
	for name, src := range realNotes {
		t.Run(name, func(t *testing.T) { fn(t, src, markdown.Parse([]byte(src))) })
	}
}

// editsOf returns edits of every kind that apply to a note.
func editsOf(src string, doc *markdown.Document) []edit.Edit {
	const content = "New text with a [[link]].\n\n- and\n- a list"
	edits := []edit.Edit{
		{Op: edit.OpAppend, Content: content}, {Op: edit.OpPrepend, Content: content}, {Op: edit.OpAppend, Content: "- [ ] more"},
		{Op: edit.OpAppend, Heading: "A new part", CreateHeading: true, Content: content},
	}
	if doc.FrontMatter.Err == nil { // an edit may have broken it
		edits = append(edits, edit.Edit{Op: edit.OpAddTag, Tag: "new/tag"}, edit.Edit{Op: edit.OpSetFrontMatter, Key: "status", Value: "being: edited"},
			edit.Edit{Op: edit.OpSetFrontMatter, Key: "title", Value: "Another"}, edit.Edit{Op: edit.OpSetFrontMatter, Key: "tags", Value: []any{"one", "two words"}})
		for _, tag := range doc.Tags {
			if markdown.IsTag(tag) {
				edits = append(edits, edit.Edit{Op: edit.OpRemoveTag, Tag: tag})
			}
		}
	}
	for _, ref := range markdown.References(doc) {
		for _, op := range []string{edit.OpReplaceSection, edit.OpInsertBefore, edit.OpInsertAfter, edit.OpAppend, edit.OpPrepend} {
			edits = append(edits, edit.Edit{Op: op, Heading: ref, Content: content})
		}
		edits = append(edits, edit.Edit{Op: edit.OpRenameHeading, Heading: ref, New: "Renamed *so*"})
	}
	for _, b := range doc.Blocks {
		for _, op := range []string{edit.OpReplaceSection, edit.OpInsertBefore, edit.OpInsertAfter} {
			edits = append(edits, edit.Edit{Op: op, Heading: "^" + b.ID, Content: "Another block"})
		}
	}
	for _, task := range doc.Tasks {
		edits = append(edits, edit.Edit{Op: edit.OpToggleTask, Line: task.Line}, edit.Edit{Op: edit.OpToggleTask, Line: task.Line, Status: "in_progress", Due: "2026-03-01"})
	}
	for line := range strings.Lines(src) {
		if line = strings.TrimSpace(line); line != "" && strings.Count(src, line) == 1 {
			edits = append(edits, edit.Edit{Op: edit.OpReplaceText, Old: line, New: "replaced\nby two lines"})
		}
	}
	return edits
}

func apply(t *testing.T, src string, edits ...edit.Edit) string {
	t.Helper()
	before := bytes.Clone([]byte(src))
	out, _, err := edit.Apply(t.Context(), before, edits)
	require.NoError(t, err, "%+v", edits)
	require.Equal(t, src, string(before), "the source stays")
	return string(out)
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// TestApply_EveryForm makes each edit in the note with Windows line endings and with a
// byte order mark. The results must differ in nothing else.
func TestApply_EveryForm(t *testing.T) {
	forEachNote(t, func(t *testing.T, src string, doc *markdown.Document) {
		if !strings.Contains(src, "\n") {
			t.Skip("a note without line breaks takes those of the edit")
		}
		for _, e := range editsOf(src, doc) {
			want := apply(t, src, e)
			assert.Equal(t, crlf(want), apply(t, crlf(src), e), "CRLF: %+v", e)
			assert.Equal(t, markdown.ByteOrderMark+want, apply(t, markdown.ByteOrderMark+src, e), "a byte order mark: %+v", e)
			crlfEdit := e
			crlfEdit.Old, crlfEdit.New, crlfEdit.Content = crlf(e.Old), crlf(e.New), crlf(e.Content)
			assert.Equal(t, want, apply(t, src, crlfEdit), "CRLF in the edit: %+v", e)
		}
	})
}

// TestApply_OneAfterTheOther compares two edits in one call with the same edits in two. The
// lines of two calls differ: see TestToggleTask_LinesOfTheOriginal.
func TestApply_OneAfterTheOther(t *testing.T) {
	forEachNote(t, func(t *testing.T, src string, doc *markdown.Document) {
		for _, first := range editsOf(src, doc) {
			between := apply(t, src, first)
			edits := editsOf(between, markdown.Parse([]byte(between)))
			for i, second := range edits {
				if i%25 == len(first.Op)%25 && second.Line == 0 { // a sample
					assert.Equal(t, apply(t, between, second), apply(t, src, first, second), "%+v, then %+v", first, second)
				}
			}
		}
	})
}

// facts returns the structure of a note: its headings and blocks.
func facts(doc *markdown.Document) (headings []string, blocks []string) {
	for _, h := range doc.Headings {
		headings = append(headings, fmt.Sprintf("%d %s", h.Level, h.Text))
	}
	for _, b := range doc.Blocks {
		blocks = append(blocks, b.ID)
	}
	return headings, blocks
}

// TestApply_Around checks that an edit of a section preserves the bytes before and after
// it, and the structure of the note around it.
func TestApply_Around(t *testing.T) {
	forEachNote(t, func(t *testing.T, src string, doc *markdown.Document) {
		headings, blocks := facts(doc)
		for i, ref := range markdown.References(doc) {
			h := doc.Headings[i]
			around := func(op string, from, to int) *markdown.Document {
				out := apply(t, src, edit.Edit{Op: op, Heading: ref, Content: "The new words."})
				assert.True(t, strings.HasPrefix(out, src[:from]), "%s %s: before", op, ref)
				assert.True(t, strings.HasSuffix(out, src[to:]), "%s %s: after", op, ref)
				assert.Equal(t, 1, strings.Count(out, "The new words."), "%s %s", op, ref)
				return markdown.Parse([]byte(out))
			}
			after := around(edit.OpReplaceSection, h.ContentStart, h.End)
			kept := slices.DeleteFunc(slices.Clone(doc.Headings), func(o markdown.Heading) bool { return o.Start > h.Start && o.Start < h.End })
			require.Len(t, after.Headings, len(kept), ref)
			for j, k := range kept {
				assert.Equal(t, k.Text, after.Headings[j].Text, ref)
				assert.Equal(t, k.Level, after.Headings[j].Level, ref)
			}
			for _, op := range []string{edit.OpInsertBefore, edit.OpInsertAfter, edit.OpAppend, edit.OpPrepend} {
				from, to := h.ContentStart, h.End
				if op == edit.OpInsertBefore {
					from, to = 0, h.Start
				}
				if op == edit.OpInsertAfter {
					from, to = h.Start, h.End
				}
				after := around(op, from, to)
				gotHeadings, gotBlocks := facts(after)
				assert.Equal(t, headings, gotHeadings, "%s %s", op, ref)
				assert.Equal(t, blocks, gotBlocks, "%s %s", op, ref)
				assert.Len(t, after.Tasks, len(doc.Tasks), "%s %s", op, ref)
				assert.Len(t, after.Links, len(doc.Links), "%s %s", op, ref)
				assert.Equal(t, doc.FrontMatter.Values, after.FrontMatter.Values, "%s %s", op, ref)
			}
		}
	})
}

// TestApply_Undone makes edits that have an inverse, and then the inverse.
func TestApply_Undone(t *testing.T) {
	forEachNote(t, func(t *testing.T, src string, doc *markdown.Document) {
		for _, task := range doc.Tasks {
			line := edit.Edit{Op: edit.OpToggleTask, Line: task.Line}
			once := apply(t, src, line)
			assert.NotEqual(t, src, once)
			twice := apply(t, once, line)
			assert.Equal(t, once, apply(t, twice, line), "as it was after the first")
		}
		for line := range strings.Lines(src) {
			if line = strings.TrimSpace(line); line == "" || strings.Count(src, line) != 1 {
				continue
			}
			const other = "words that no note has"
			there := apply(t, src, edit.Edit{Op: edit.OpReplaceText, Old: line, New: other})
			assert.Equal(t, strings.Replace(src, line, other, 1), there)
			assert.Equal(t, src, apply(t, there, edit.Edit{Op: edit.OpReplaceText, Old: other, New: line}))
		}
		to := func(name string) func(markdown.Link) (string, bool) {
			return func(l markdown.Link) (string, bool) {
				return strings.Replace(l.Target, "", name, 1), !l.External && l.Target != ""
			}
		}
		there := edit.RewriteLinks([]byte(src), doc, to("Other folder/"))
		moved := markdown.Parse(there)
		require.Len(t, moved.Links, len(doc.Links))
		for i, l := range moved.Links {
			want := doc.Links[i].Target
			if !l.External && want != "" && edit.CanTarget(doc.Links[i], "Other folder/"+want) {
				want = "Other folder/" + want
			}
			assert.Equal(t, want, l.Target)
		}
		back := edit.RewriteLinks(there, moved, func(l markdown.Link) (string, bool) { return strings.TrimPrefix(l.Target, "Other folder/"), true })
		assert.Equal(t, src, string(back))
		assert.True(t, edit.SameBesidesTargets([]byte(src), doc, there, moved))
	})
}

// TestApply_Refused checks that the error of an edit that cannot be made names the edit
// and the reason, and that nothing changes.
func TestApply_Refused(t *testing.T) {
	forEachNote(t, func(t *testing.T, src string, _ *markdown.Document) {
		for _, c := range []struct {
			edit edit.Edit
			is   error
		}{
			{edit.Edit{Op: edit.OpReplaceText, Old: "words of no note", New: "x"}, markdown.ErrMissing},
			{edit.Edit{Op: edit.OpReplaceText, Old: "i", New: "x", Count: 99}, edit.ErrMismatch},
			{edit.Edit{Op: edit.OpReplaceText, New: "x"}, edit.ErrInvalid},
			{edit.Edit{Op: edit.OpReplaceSection, Heading: "No such part", Content: "x"}, markdown.ErrMissing},
			{edit.Edit{Op: edit.OpInsertAfter, Heading: "^none", Content: "x"}, markdown.ErrMissing},
			{edit.Edit{Op: edit.OpInsertBefore, Content: "x"}, edit.ErrInvalid},
			{edit.Edit{Op: edit.OpAppend}, edit.ErrInvalid},
			{edit.Edit{Op: edit.OpAddTag, Tag: "two words"}, edit.ErrInvalid},
			{edit.Edit{Op: edit.OpRemoveTag, Tag: "no-such-tag"}, markdown.ErrMissing},
			{edit.Edit{Op: edit.OpRenameHeading, Heading: "No such part", New: "x"}, markdown.ErrMissing},
			{edit.Edit{Op: edit.OpSetFrontMatter, Value: "x"}, edit.ErrInvalid},
			{edit.Edit{Op: edit.OpAppend, Content: "x", Key: "k"}, edit.ErrInvalid},
			{edit.Edit{Op: "rewrite"}, edit.ErrInvalid},
		} {
			out, _, err := edit.Apply(t.Context(), []byte(src), []edit.Edit{{Op: edit.OpAppend, Content: "made before it"}, c.edit})
			assert.Nil(t, out)
			var failed *edit.EditError
			require.ErrorAs(t, err, &failed, "%+v", c.edit)
			assert.Equal(t, 1, failed.Index)
			assert.Equal(t, c.edit.Op, failed.Op)
			if errors.Is(c.is, edit.ErrMismatch) && !strings.Contains(src, "i") {
				c.is = markdown.ErrMissing
			}
			assert.ErrorIs(t, err, c.is, "%+v", c.edit)
		}
	})
}
