package mcp

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// Weeks begin on the same day, that of the vault's calendar, for weekly notes, tasks,
// filters, the past and the daily review.
func TestWeeksAreThoseOfTheCalendar(t *testing.T) {
	sunday := time.Date(2027, 1, 3, 8, 0, 0, 0, time.Local)
	w := newRealWorldAt(t, map[string]string{
		".obsidian/plugins/calendar/data.json": `{"weekStart": "sunday", "localeOverride": "en-us"}`,
		"2027-W02.md":                          "the week\n",
		"2027-01-02.md":                        "Saturday\n- [ ] before 📅 2027-01-02\n",
		"2027-01-09.md":                        "Saturday\n- [ ] within 📅 2027-01-09\n",
		"2027-01-10.md":                        "Sunday\n- [ ] after 📅 2027-01-10\n",
	}, func() time.Time { return sunday }, nil)

	for _, week := range []string{"this week", "2027-W02"} {
		list, _ := call[tools.TaskList](t, w.session, "list_tasks", args{"due": week})
		require.Len(t, list.Tasks, 1, week)
		assert.Contains(t, list.Tasks[0].Text, "within")
	}
	before, _ := call[tools.TaskList](t, w.session, "list_tasks", args{"due_before": "this week"})
	require.Len(t, before.Tasks, 1)
	assert.Contains(t, before.Tasks[0].Text, "before")

	paths := func(arguments args) (paths []string) {
		list, _ := call[tools.ListResult](t, w.session, "list_notes", arguments)
		for _, n := range list.Notes {
			paths = append(paths, n.Path)
		}
		return paths
	}
	within := []string{"2027-01-09.md", "2027-W02.md"}
	assert.ElementsMatch(t, within, paths(args{"where": map[string]any{"date": "this week"}}))
	found, _ := call[tools.SearchResult](t, w.session, "search_notes", args{"query": "Saturday", "after": "this week"})
	require.Len(t, found.Results, 1)
	assert.Equal(t, "2027-01-09.md", found.Results[0].Path)
	assert.Equal(t, 1, found.Total)
	found, _ = call[tools.SearchResult](t, w.session, "search_notes", args{"query": "Saturday Sunday", "before": "next week", "mode": "text"})
	assert.Equal(t, 2, found.Total)

	prompt, err := w.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "daily_review", Arguments: map[string]string{"date": "this week"}})
	require.NoError(t, err)
	var embedded []string
	for _, m := range prompt.Messages {
		if e, ok := m.Content.(*sdk.EmbeddedResource); ok {
			uri, _, _ := strings.Cut(e.Resource.URI, "?")
			embedded = append(embedded, uri)
		}
	}
	assert.ElementsMatch(t, []string{"note:///2027-01-09.md", "note:///2027-W02.md"}, embedded)

	assert.ElementsMatch(t, within, paths(args{"after": "this week", "before": "next week"}))
	assert.Len(t, paths(args{"after": "last friday"}), 4)
	assert.Empty(t, paths(args{"before": "friday"}))
	for _, since := range []string{"this week", "friday"} {
		_, text := call[tools.HistoryResult](t, w.session, "note_history", args{"since": since})
		assert.Contains(t, text, "2027-01-09.md")
	}
}
