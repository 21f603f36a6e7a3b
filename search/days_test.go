package search_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A day in words finds the notes that have it in digits, and no other words do.
func TestSearch_DayInWords(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Daily/2026-01-06.md":            "Mowed the lawn.",
		"Daily/2025-01-06.md":            "Read a book about gardens.",
		"Daily/2026-01-16.md":            "Six people for dinner.",
		"journals/2026_03_03.md":         "Dentist.",
		"Meetings/2026-03-05 Standup.md": "Budget.",
		"Meetings/2026-03-15 Standup.md": "Budget, 5 people.",
		"Monthly/2025-02.md":             "Saved 300.",
		"Training/2026-09-04.md":         "Squats.",
		"Set 4.md":                       "Bench press.",
	})
	for query, want := range map[string][]string{
		"january 6 2026":     {"Daily/2026-01-06"},
		"6. Januar 2025":     {"Daily/2025-01-06"},
		"Jan 6th, 2026":      {"Daily/2026-01-06"},
		"March 3rd":          {"journals/2026_03_03"},
		"3 March 2026":       {"journals/2026_03_03"},
		"3. März":            {"journals/2026_03_03"},
		"the 3rd of March":   {"journals/2026_03_03"},
		"3 de marzo de 2026": {"journals/2026_03_03"},
		"standup march 5":    {"Meetings/2026-03-05 Standup"},
		"february 2025":      {"Monthly/2025-02"},
		"september 2026":     {"Training/2026-09-04"},
		"set 4":              {"Set 4"},
	} {
		got := f.paths(query)
		assert.Equal(t, want, got[:min(len(got), len(want))], query)
	}
	assert.ElementsMatch(t, []string{"Daily/2026-01-06", "Daily/2025-01-06"}, f.paths("january 6")[:2])
	assert.NotContains(t, f.paths("set 4"), "Training/2026-09-04")
	assert.Empty(t, f.paths("march on"), "a month alone")
}
