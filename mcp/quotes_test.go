package mcp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/mcp/tools"
	"notesd/notes"
)

func TestCheckQuotes(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Plan.md": "# Plan\n\nWe grow red tomatoes in the garden behind the house.\n\n## Risks\n\nSnails eat them.\n"})
	check := func(anchor, quote string) (tools.CheckedQuote, string) {
		t.Helper()
		out, text := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": anchor, "quote": quote}}})
		require.Len(t, out.Results, 1)
		return out.Results[0], text
	}
	read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Plan", "lines": "3"})
	first := read.Anchor
	assert.Equal(t, "note:///Plan.md?rev="+read.Hash[:12]+"#L3-L3", first)
	found, _ := call[tools.SearchResult](t, w.session, "search_notes", args{"query": "snails"})
	gathered, text := call[tools.GatherResult](t, w.session, "gather_context", args{"query": "snails"})
	assert.Equal(t, found.Results[0].Anchor, gathered.Passages[0].Anchor)
	assert.Contains(t, text, found.Results[0].Anchor)
	resource, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: first})
	require.NoError(t, err)
	assert.Equal(t, "We grow red tomatoes in the garden behind the house.\n", resource.Contents[0].Text, "an anchor is a resource")

	got, _ := check(found.Results[0].Anchor, "snails EAT them")
	assert.Equal(t, "changed", got.Verdict)
	got, _ = check(found.Results[0].Anchor, gathered.Passages[0].Text)
	assert.Equal(t, "exact", got.Verdict)
	got, text = check(first, "grow  red\ntomatoes")
	assert.Equal(t, tools.CheckedQuote{Verdict: "exact", Anchor: first}, got)
	assert.Contains(t, text, "1. exact "+first)
	got, _ = check("Plan#Risks", "Snails eat them.")
	assert.Equal(t, "exact", got.Verdict)
	got, _ = check("Plan.md:1-2", "Snails eat them.")
	assert.Equal(t, tools.CheckedQuote{Verdict: "moved", Anchor: strings.Replace(first, "#L3-L3", "#L7-L7", 1)}, got)
	got, _ = check(first, "We grow green tomatoes in the garden behind the house.")
	assert.Equal(t, "changed", got.Verdict)
	assert.Equal(t, "-We grow green tomatoes in the garden behind the house.\n+We grow red tomatoes in the garden behind the house.\n", got.Diff)
	got, _ = check("note:///Nothing.md#L1", "anything")
	assert.Equal(t, "absent", got.Verdict)

	call[tools.WriteResult](t, w.session, "edit_note", args{"note": "Plan", "edits": []args{
		{"op": "replace_text", "old": "red tomatoes in the garden behind the house", "new": "nothing at all"}, {"op": "insert_before", "heading": "Risks", "content": "More."},
	}})
	got, _ = check(first, "We grow red tomatoes in the garden")
	assert.Equal(t, "changed", got.Verdict)
	assert.Equal(t, "-We grow red tomatoes in the garden behind the house.\n", got.Diff)
	assert.Equal(t, "the passage was removed", got.Detail)
	got, _ = check(found.Results[0].Anchor, "Snails eat them.")
	assert.Equal(t, "moved", got.Verdict)
	assert.Contains(t, got.Anchor, "#L9-L9")
	got, _ = check("note:///Plan.md?rev=000000000000#L3-L3", "We grow red tomatoes in the garden")
	assert.Equal(t, "absent", got.Verdict)
	assert.Contains(t, got.Detail, "history does not have")

	call[tools.MoveResult](t, w.session, "move_note", args{"note": "Plan", "to": "Garden/Plan.md"})
	got, _ = check(found.Results[0].Anchor, "Snails eat them.")
	assert.Equal(t, "moved", got.Verdict)
	assert.Contains(t, got.Anchor, "note:///Garden/Plan.md?rev=")
	call[tools.DeleteResult](t, w.session, "delete_note", args{"note": "Garden/Plan.md"})
	got, _ = check("note:///Garden/Plan.md?rev="+read.Hash[:12]+"#L3", "We grow red tomatoes")
	assert.Equal(t, "changed", got.Verdict)
	assert.Equal(t, "the note was deleted", got.Detail)

	assert.Contains(t, refused(t, w.session, "check_quotes", args{"quotes": []args{}}), "quotes is empty")
	assert.Contains(t, refused(t, w.session, "check_quotes", args{"quotes": []args{{"anchor": "Plan.md:1", "quote": "x"}, {"anchor": "Plan.md:1", "quote": " "}}}), "quote 2 of 2 is empty")
}

// An anchor that names no single note does not keep the other quotes from being checked.
func TestCheckQuotes_AmbiguousAnchor(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A/Plan.md": "red tomatoes\n", "B/Plan.md": "blue tomatoes\n"})
	ambiguous := args{"anchor": "Plan", "quote": "red"}
	out, text := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{ambiguous, {"anchor": "A/Plan.md", "quote": "red tomatoes"}}})
	require.Len(t, out.Results, 2)
	assert.Equal(t, "unchecked", out.Results[0].Verdict)
	assert.Contains(t, out.Results[0].Detail, "2 notes have this name. Give the path of the one you mean. A/Plan.md, B/Plan.md")
	assert.Contains(t, text, `1. unchecked (find "Plan": 2 notes have this name`)
	assert.Equal(t, "exact", out.Results[1].Verdict)
	assert.Contains(t, refused(t, w.session, "check_quotes", args{"quotes": []args{ambiguous}}), "2 notes have this name")
}

// A client that may not read a note learns nothing of its text, past or present.
func TestCheckQuotesKeepsTheScope(t *testing.T) {
	w := newRealWorld(t, map[string]string{"Open/A.md": "public words here\n", "Secret/B.md": "private words here\n"})
	read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Secret/B.md"})
	call[tools.WriteResult](t, w.session, "edit_note", args{"note": "Secret/B.md", "edits": []args{{"op": "replace_all", "content": "other text\n"}}})
	s := w.client(t, Profile{Read: []string{"Open"}}, nil)
	out, _ := call[tools.QuotesResult](t, s, "check_quotes", args{"quotes": []args{
		{"anchor": read.Anchor, "quote": "private words here"}, {"anchor": "Secret/B.md:1", "quote": "other text"}, {"anchor": "Open/A.md:1", "quote": "public words"},
	}})
	assert.Equal(t, []tools.CheckedQuote{{Verdict: "absent", Detail: "there is no such note"}, {Verdict: "absent", Detail: "there is no such note"},
		{Verdict: "exact", Anchor: out.Results[2].Anchor}}, out.Results)
}

// A thousand random quotes with known verdicts.
func TestCheckQuotesByTheThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and nothing is concurrent in it that other tests do not have")
	}
	const files, paragraphs = 50, 20
	rng := rand.New(rand.NewPCG(1, 2))
	words := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = []string{"é", "ö", "a", "st", "ro", "ñ"}[rng.IntN(6)] + fmt.Sprintf("%x", rng.IntN(1<<20))
		}
		return strings.Join(list, " ")
	}
	vault := map[string]string{}
	texts := make([][]string, files)
	newline := func(i int) string { return []string{"\n", "\r\n"}[i%2] }
	for i := range files {
		for range paragraphs {
			texts[i] = append(texts[i], words(12)+newline(i)+words(12))
		}
		vault[fmt.Sprintf("N%d.md", i)] = strings.Join(texts[i], newline(i)+newline(i)) + newline(i)
	}
	w := newRealWorld(t, vault)
	type asked struct{ anchor, quote, verdict string }
	var quotes []asked
	for i := range files {
		name := fmt.Sprintf("N%d.md", i)
		hash := notes.Hash([]byte(vault[name]))
		var after []string
		for p, text := range texts[i] {
			line := 1 + 3*p
			q := asked{notes.PassageURI(name, hash, line, line+1), text, "exact"}
			fields := strings.Fields(text)
			if rng.IntN(2) == 0 { // a part of it
				from := rng.IntN(12)
				q.quote = strings.Join(fields[from:from+8], []string{" ", "\n", "\t "}[rng.IntN(3)])
			}
			if rng.IntN(2) == 0 {
				q.quote = norm.NFD.String(q.quote)
			}
			now := text
			switch fate := rng.IntN(4); {
			case fate == 0:
				q.quote, q.verdict = words(10), "absent"
			case i%5 == 1:
				q.verdict = "moved" // by what is put before
			case i%5 == 2:
				q.verdict = "moved" // with its note
			case i%5 == 3 && fate == 1:
				q.verdict, now = "changed", words(12)+newline(i)+words(12)
			case i%5 == 3 && fate == 2:
				changed := append([]string{}, fields...)
				for k := 0; k < len(changed); k += 7 {
					changed[k] = words(1)
				}
				q.verdict, now = "changed", strings.Join(changed[:12], " ")+newline(i)+strings.Join(changed[12:], " ")
			case i%5 == 4 && fate == 1: // misquoted, in a note that is as it was
				changed := append([]string{}, fields...)
				changed[5] = words(1)
				q.quote, q.verdict = strings.Join(changed, " "), "changed"
			}
			after = append(after, now)
			quotes = append(quotes, q)
		}
		text := strings.Join(after, newline(i)+newline(i)) + newline(i)
		if i%5 == 1 {
			text = "put before" + newline(i) + text
		}
		if text != vault[name] {
			call[tools.WriteResult](t, w.session, "edit_note", args{"note": name, "edits": []args{{"op": "replace_all", "content": text}}})
		}
		if i%5 == 2 {
			require.NoError(t, os.MkdirAll(filepath.Join(w.root, "Other"), 0o700))
			call[tools.MoveResult](t, w.session, "move_note", args{"note": name, "to": "Other/" + name})
		}
	}
	require.Len(t, quotes, 1000)
	verdicts := map[string]int{}
	for len(quotes) > 0 {
		var batch []args
		for _, q := range quotes[:100] {
			batch = append(batch, args{"anchor": q.anchor, "quote": q.quote})
		}
		out, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": batch})
		for i, got := range out.Results {
			verdicts[got.Verdict]++
			require.Equal(t, quotes[i].verdict, got.Verdict, "%+v: %+v", quotes[i], got)
			if got.Verdict == "moved" {
				again, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": got.Anchor, "quote": quotes[i].quote}}})
				require.Equal(t, "exact", again.Results[0].Verdict, "at the new anchor")
			}
		}
		quotes = quotes[100:]
	}
	t.Log(verdicts)
	assert.Len(t, verdicts, 4)
}
