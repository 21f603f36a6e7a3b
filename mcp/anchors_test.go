package mcp

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// passageKeys are the keys under which results contain text of notes.
var passageKeys = []string{"snippet", "text", "context", "content"}

// passagesIn returns the anchor and the text of each passage in a structured result.
func passagesIn(t *testing.T, value any) (found []args) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, passagesIn(t, item)...)
		}
	case map[string]any:
		for key, item := range value {
			if text, ok := item.(string); ok && slices.Contains(passageKeys, key) && text != "" {
				require.NotEmpty(t, value["anchor"], "a passage without an anchor: %v", value)
				found = append(found, args{"anchor": value["anchor"], "quote": text})
			}
			found = append(found, passagesIn(t, item)...)
		}
		for _, heading := range asList(value["outline"]) {
			found = append(found, args{"anchor": value["anchor"], "quote": heading.(map[string]any)["heading"]})
		}
	}
	return found
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// Each passage in a result passes check_quotes with the anchor in that result.
func TestEveryPassageHasAnAnchor(t *testing.T) {
	saturday := time.Date(2026, 2, 21, 9, 0, 0, 0, time.UTC)
	w := newRealWorldAt(t, map[string]string{
		"Garden/Tomato plan.md": "---\ntags: [garden]\nup: \"[[Almanac]]\"\n---\n# Tomato plan\r\n\r\nTomatoes need water every day in July. See [[Almanac]] for the moon.\r\n\r\n## Tasks\r\n\r\n- [ ] Water the tomatoes 📅 2026-02-21\r\n- [x] Buy seeds ✅ 2026-02-20\r\n",
		"Almanac.md":            "# Almanac\n\n" + strings.Repeat("The moon waxes and the moon wanes over the garden. ", 30) + "\n\nTomatoes are sown under a full moon, says [the plan](Garden/Tomato%20plan.md).\n",
		"2026-02-21.md":         "Today the tomatoes got water.\n",
		"Sketch.md":             "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nTomatoes in a sketch ^abc\n\n%%\n# Drawing\n```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQgEYA6bGwC2CgF7N6hbEcK4OCtptbErHALRY8RMpWdx8Q1TdIEfARcZgRmBShcZQUebQBmbQAOGjoghH0EDihmbgBtcDBQMBKIEm4IAEYAZgB2ACUAVgBJKuqk5N5/PkNSqGIt\n```\n%%\n",
	}, func() time.Time { return saturday }, nil)
	s := w.session
	check := func(name string, quotes []args) {
		t.Helper()
		require.NotEmpty(t, quotes, name)
		for i, q := range quotes {
			longest := ""
			for part := range strings.SplitSeq(q["quote"].(string), "…") {
				if len(part) > len(longest) {
					longest = part
				}
			}
			quotes[i]["quote"] = longest
		}
		out, _ := call[tools.QuotesResult](t, s, "check_quotes", args{"quotes": quotes})
		for i, r := range out.Results {
			assert.Equal(t, "exact", r.Verdict, "%s: %v: %v", name, quotes[i], r)
			assert.Contains(t, quotes[i]["anchor"], "?rev=", name)
		}
	}
	answers := map[string][]args{
		"search_notes":   {{"query": "tomatoes"}, {"query": "tomatoes", "as_of": "2026-02-21"}, {"query": "moon garden", "limit": 1}},
		"read_note":      {{"note": "today"}, {"note": "Tomato plan", "heading": "Tasks"}, {"notes": []string{"Almanac", "today"}}, {"note": "Almanac", "max_bytes": 100}, {"note": "Almanac", "as_of": "2026-02-21"}, {"note": "Almanac", "outline": true}},
		"gather_context": {{"query": "tomatoes"}},
		"list_tasks":     {{}, {"status": "all", "note": "Tomato plan"}},
		"note_links":     {{"note": "Almanac"}, {"note": "Tomato plan", "depth": 2}},
	}
	for name, calls := range answers {
		for _, a := range calls {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: a})
			require.NoError(t, err)
			check(name, passagesIn(t, res.StructuredContent))
			if text := res.Content[0].(*sdk.TextContent).Text; name == "read_note" {
				assert.Contains(t, text, "?rev=", "the text of what is read has the anchor too")
			}
		}
	}
	for name, arguments := range map[string]map[string]string{
		"summarize_notes": nil, "summarize_note": {"note": "Tomato plan", "heading": "Tasks"}, "daily_review": {"date": "2026-02-21"}, "find_connections": {"note": "Almanac"}, "ask_notes": {"question": "tomatoes"},
	} {
		res, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
		require.NoError(t, err)
		var quotes []args
		for _, m := range res.Messages {
			if e, ok := m.Content.(*sdk.EmbeddedResource); ok {
				quotes = append(quotes, args{"anchor": e.Resource.URI, "quote": e.Resource.Text})
				assert.NotContains(t, e.Resource.Text, "N4KAk", "a drawing is no text")
			}
		}
		check(name, quotes)
	}
	without := []string{ // their results contain no text of notes
		"list_notes", "related_notes", "vault_overview", "create_note", "edit_note", "move_note", "rename_tag", "delete_note", "note_history", "restore_note", "check_quotes",
		"create_table", "add_vector", "search_vectors", "list_tables", "delete_vectors", "drop_table",
	}
	assert.ElementsMatch(t, tools.Names(), append(without, slices.Collect(maps.Keys(answers))...), "a tool that is in neither list")
}

// An anchor contains names unescaped, in any script, and is accepted wherever a note can be
// named.
func TestAnchorsAreLegible(t *testing.T) {
	w := newRealWorld(t, map[string]string{"日记/会议记录.md": "# 会议记录\n\n温室需要新的灌溉系统。\n"})
	gathered, text := call[tools.GatherResult](t, w.session, "gather_context", args{"query": "灌溉"})
	require.Len(t, gathered.Passages, 1)
	anchor := gathered.Passages[0].Anchor
	assert.Contains(t, anchor, "note:///日记/会议记录.md?rev=")
	assert.NotContains(t, text, "%")
	assert.Equal(t, "note:///%E6%97%A5%E8%AE%B0/%E4%BC%9A%E8%AE%AE%E8%AE%B0%E5%BD%95.md", gathered.Passages[0].URI, "a resource's is encoded")
	read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": anchor})
	assert.Contains(t, read.Content, "温室")
	resource, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: anchor})
	require.NoError(t, err)
	assert.Contains(t, resource.Contents[0].Text, "温室")
	checked, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": anchor, "quote": "新的灌溉系统"}}})
	assert.Equal(t, "exact", checked.Results[0].Verdict)
}

// The URI of a passage reads as the version that it names, which counts as no reading of the
// present one.
func TestAnchorReadsItsVersion(t *testing.T) {
	w := newRealWorld(t, map[string]string{"X.md": "## X\nalpha\nbeta\n"})
	read := func(uri string) (*sdk.ResourceContents, error) {
		res, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		assert.Equal(t, "private", res.CacheScope, uri)
		return res.Contents[0], nil
	}
	was, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "X", "lines": "2"})
	other := w.client(t, Profile{Tools: []string{groupAll}}, nil)
	call[tools.WriteResult](t, other, "edit_note", args{"note": "X", "edits": []args{{"op": "prepend", "content": "one\ntwo"}}})
	_, err := read(was.Anchor)
	require.NoError(t, err)
	refused(t, w.session, "edit_note", args{"note": "X", "edits": []args{{"op": "replace_all", "content": "x"}}})
	for uri, want := range map[string]string{
		was.Anchor:                               "alpha\n",
		strings.TrimSuffix(was.Anchor, "#L2-L2"): "## X\nalpha\nbeta\n",
		"note:///X.md#L2":                        "two\n",
	} {
		got, err := read(uri)
		require.NoError(t, err, uri)
		assert.Equal(t, want, got.Text, uri)
		assert.Equal(t, uri, got.URI)
		assert.Equal(t, want == "two\n", got.Meta["hash"] != was.Hash, uri)
	}
	_, err = read("note:///X.md?rev=000000000000#L2-L2")
	assert.ErrorContains(t, err, "history does not have this version of the note")
}
