package mcp

import (
	"context"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// headed contains notes whose headings are easily named wrongly, each with the lines of the
// headings that can be named.
var headed = map[string]struct {
	text  string
	lines []int
}{
	"Plain.md":           {"# Plan\n\n## Risks\n\nSnails.\n\n### Slugs\n\n## Money\n", []int{1, 3, 7, 9}},
	"Front matter.md":    {"---\ntitle: x\n---\n## Late\n\n# Early\n", []int{4, 6}},
	"Levels left out.md": {"### Deep\n\n# Top\n\n#### Under\n\n## Middle\n", []int{1, 3, 5, 7}},
	"In a list.md":       {"# Day\n\n- ## Morning\n\n  Tea.\n  - # Noon\n- plain\n\n## Evening\n", []int{1, 3, 6, 9}},
	"In a quote.md":      {"# Own\n\n> # Theirs\n>\n> ## Also theirs\n\n## Mine\n", []int{1, 7}},
	"Twice.md":           {"# Log\n\n## Monday\n\na\n\n## Monday\n\nb\n\n# Monday\n", []int{1, 3, 7, 11}},
	"Signs.md":           {"# a > b\n\n## c\n\n# ^id\n\n# \\# hash\n\n# Cost (line 3)\n\n# \"Quoted\"\n\n# \"Quoted\"\n\n##\n\n# ?\n", []int{1, 3, 5, 7, 9, 11, 13, 17}},
	"Setext 日本語.md":      {"計画\n===\n\nリスク\n---\n\n🎉 Party\n---\n", []int{1, 4, 7}},
	"Markup.md":          {"# **Bold** and `code`\n\n## A [link](x.md)\n\n## [[Wiki|alias]] #tag\n", []int{1, 3, 5}},
	"Line ends.md":       {"# One\r\n\r\n## Two\r\n\r\ntext\r\n", []int{1, 3}},
	"None.md":            {"text\n", nil},
}

// Completions for a heading are accepted by the tools that take one, and refer to that
// heading.
func TestCompletedHeadingsAreAccepted(t *testing.T) {
	files := map[string]string{}
	for path, note := range headed {
		files[path] = note.text
	}
	w := newRealWorld(t, files)
	for path, note := range headed {
		t.Run(path, func(t *testing.T) {
			var lines []int
			for _, heading := range w.completed(t, path, "") {
				args := map[string]any{"note": path, "heading": heading}
				read, _ := call[tools.ReadResult](t, w.session, "read_note", args)
				lines = append(lines, read.LineStart)
				prompt, err := w.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_note", Arguments: map[string]string{"note": path, "heading": heading}})
				require.NoError(t, err, heading)
				require.NotEmpty(t, prompt.Messages)
				for _, op := range []string{"replace_section", "insert_before", "insert_after"} {
					edit := map[string]any{"op": op, "heading": heading, "content": "xyzzy\n"}
					edited, _ := call[tools.WriteResult](t, w.session, "edit_note", map[string]any{"note": path, "edits": []any{edit}, "dry_run": true})
					assert.Contains(t, edited.Diff, "xyzzy", "%s %s", op, heading)
				}
			}
			slices.Sort(lines)
			assert.Equal(t, note.lines, lines, "each heading once")
		})
	}
	assert.Equal(t, []string{"Plan > Risks", "Plan > Risks > Slugs"}, w.completed(t, "Plain.md", "risk"))
	assert.Equal(t, []string{"Rebuild > Budget", "Rebuild", "Rebuild > Log"}, rank([]string{"Rebuild", "Rebuild > Budget", "Rebuild > Log"}, "bu"))
	assert.Empty(t, w.completed(t, "Nowhere.md", ""))
	const composed, decomposed = "\u00fc", "u\u0308"
	assert.Equal(t, []string{decomposed + "ber uns"}, rank([]string{decomposed + "ber uns", "x"}, composed+"b"))
	assert.Equal(t, []string{composed + "ber uns"}, rank([]string{composed + "ber uns", "x"}, decomposed+"b"))
	for want, ref := range map[string]*sdk.CompleteReference{
		`the prompt "summarize_note" has no argument "depth"`: {Type: "ref/prompt", Name: "summarize_note"},
		`there is no resource template "note:///x"`:           {Type: "ref/resource", URI: "note:///x"},
	} {
		_, err := w.session.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "depth"}})
		assert.ErrorContains(t, err, want)
	}
}

// Tags, folders and names are completed as people write them.
func TestCompletionsAsWritten(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Docs/Sub/Über uns.md": "#work/today\n", "Docs/x.md": "#rest\n", "Log/2026/11/x.md": "x\n"})
	for _, tt := range []struct {
		argument, typed string
		want            []string
	}{
		{"tag", " #Work", []string{"work/today"}},
		{"folder", "/docs/", []string{"Docs", "Docs/Sub"}},
		{"folder", "docs/s", []string{"Docs/Sub"}},
		{"folder", "log", []string{"Log", "Log/2026", "Log/2026/11"}},
		{"date", "T", []string{"today", "tomorrow", "yesterday", "this week", "last week"}},
		{"note", "uber", []string{"Docs/Sub/Über uns.md"}},
	} {
		prompt := "summarize_notes"
		switch tt.argument {
		case "note":
			prompt = "summarize_note"
		case "date":
			prompt = "daily_review"
		}
		res, err := w.session.Complete(t.Context(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: prompt},
			Argument: sdk.CompleteParamsArgument{Name: tt.argument, Value: tt.typed},
		})
		require.NoError(t, err)
		assert.ElementsMatch(t, tt.want, res.Completion.Values, tt.typed)
	}
}

// completed returns the completions for a heading of a note.
func (w *realWorld) completed(t *testing.T, note, typed string) []string {
	t.Helper()
	res, err := w.session.Complete(context.Background(), &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: "summarize_note"},
		Argument: sdk.CompleteParamsArgument{Name: "heading", Value: typed},
		Context:  &sdk.CompleteContext{Arguments: map[string]string{"note": note}},
	})
	require.NoError(t, err)
	for _, v := range res.Completion.Values {
		require.Equal(t, strings.TrimSpace(v), v)
	}
	return res.Completion.Values
}
