package search_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
	"notesd/search"
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
		"Old 1999-03-03.md":              "The millennium bug.",
		"Tagebuch/24.07.2026.md":         "Zum Strand.",
		"Tagebuch/24.08.2026.md":         "Zur Arbeit.",
	})
	for query, want := range map[string][]string{
		"january 6 2026":          {"Daily/2026-01-06"},
		"6. Januar 2025":          {"Daily/2025-01-06"},
		"٦ يناير ٢٠٢٥":            {"Daily/2025-01-06"},
		"6 जनवरी 2025":            {"Daily/2025-01-06"},
		"Jan 6th, 2026":           {"Daily/2026-01-06"},
		"March 3rd":               {"journals/2026_03_03"},
		"3 March 2026":            {"journals/2026_03_03"},
		"3. März":                 {"journals/2026_03_03"},
		"the 3rd of March":        {"journals/2026_03_03"},
		"3 de marzo de 2026":      {"journals/2026_03_03"},
		"standup march 5":         {"Meetings/2026-03-05 Standup"},
		"february 2025":           {"Monthly/2025-02"},
		"september 2026":          {"Training/2026-09-04"},
		"set 4":                   {"Set 4"},
		"March 3 1999":            {"Old 1999-03-03"},
		"March 1999":              {"Old 1999-03-03"},
		"2026 January 6":          {"Daily/2026-01-06"},
		"06.01.2026":              {"Daily/2026-01-06"},
		"6.1.2026":                {"Daily/2026-01-06"},
		"2026-03-03":              {"journals/2026_03_03"},
		"2026年1月6日":               {"Daily/2026-01-06"},
		"3月3日":                    {"journals/2026_03_03"},
		"2025年2月":                 {"Monthly/2025-02"},
		"3월 3일":                   {"journals/2026_03_03"},
		"3 月 3 日":                 {"journals/2026_03_03"},
		"6 בינואר 2025":           {"Daily/2025-01-06"},
		"ngày 6 tháng 1 năm 2025": {"Daily/2025-01-06"},
		"6 Tháng 1 2025":          {"Daily/2025-01-06"},
		"6 tháng 1 standup 2026":  {"Daily/2026-01-06"},
		"3 thang 3":               {"journals/2026_03_03"},
		"24. Juli":                {"Tagebuch/24.07.2026"},
		"2026-07-24":              {"Tagebuch/24.07.2026"},
		"Juli 2026":               {"Tagebuch/24.07.2026"},
	} {
		got := f.paths(query)
		assert.Equal(t, want, got[:min(len(got), len(want))], query)
	}
	assert.ElementsMatch(t, []string{"Daily/2026-01-06", "Daily/2025-01-06"}, f.paths("january 6")[:2])
	assert.NotContains(t, f.paths("set 4"), "Training/2026-09-04")
	assert.NotContains(t, f.paths("March 3 1999"), "journals/2026_03_03")
	assert.NotContains(t, f.paths("6 tháng 1 2025"), "Daily/2026-01-06")
	assert.Empty(t, f.paths("march on"), "a month alone")
	assert.Empty(t, f.paths("3 月球"), "a number and a word")
}

// A query of a day alone is answered by words only if notes have the day in digits.
func TestSearch_DayWithoutNote(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"Epiphany": .8, "Perseverance": .7}}
	files := map[string]string{
		"Epiphany.md":     "The three kings visit.",
		"Perseverance.md": "The Mars 2020 mission landed a rover in Jezero crater.",
	}
	for day := 1; day <= 28; day++ {
		files[fmt.Sprintf("Daily/2020-03-%02d.md", day)] = "Stayed at home."
	}
	f := newFixtureWith(t, files, m)
	m.store = f.store
	for query, want := range map[string]string{
		"January 6":    "Epiphany",
		"March 6 2020": "Daily/2020-03-06",
		"6 mars 2020":  "Daily/2020-03-06",
		"Mars 2020":    "Perseverance",
	} {
		r := f.search(search.Query{Text: query})
		if assert.NotEmpty(t, r.Hits, query) {
			assert.Equal(t, want+".md", r.Hits[0].Path, query)
		}
	}
}

// A name in English that is a month in another language is one if most notes are in that.
func TestSearch_ForeignMonth(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Journal/20200306.md": "Nous sommes dans la maison avec les enfants.",
		"Espace.md":           "La mission de 2020 est sur la planète, et elle est dans une zone rouge.",
	})
	assert.Contains(t, f.paths("Mars 2020"), "Journal/20200306")
}

// Notes of other days in the same month or year do not answer a query of a day that no note has.
func TestSearch_OtherDaysAreWeak(t *testing.T) {
	files := map[string]string{"Standup.md": "On 2026-02-03 we met."}
	for day := 1; day <= 28; day++ {
		files[fmt.Sprintf("Daily/2025-11-%02d.md", day)] = "Stayed at home."
	}
	f := newFixture(t, files)
	for query, weak := range map[string]bool{"1989-11-09": true, "09.11.2024": true, "2025-12-09": true, "2025-11-09": false, "09.11.2025": false, "2026-02-03": false} {
		assert.Equal(t, weak, f.search(search.Query{Text: query}).Weak, query)
	}
}
