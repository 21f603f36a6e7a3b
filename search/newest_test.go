package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
)

// A query for the newest note on a topic finds it first, whatever the language and wherever it
// states its date.
func TestSearch_Newest(t *testing.T) {
	files := map[string]string{
		"Health/Dentist 2023-05-02.md":       "Filling. Since the last dentist visit nothing hurt. The dentist was kind.",
		"Health/Dentist 2025-09-15.md":       "Wisdom tooth removed.",
		"Health/Dentist 2026-05-02.md":       "Planned cleaning.", // after today
		"Car/Service 61200 km.md":            "---\ndate: 2024-03-14\n---\nService: oil, oil filter, service stamp.",
		"Car/Service 74950 km.md":            "---\ndate: 2025-03-20\n---\nOil and brakes.",
		"Casa/2025-02-05 Factura luz.md":     "Factura de la luz, luz y más luz.",
		"Casa/2025-08-06 Factura luz.md":     "Importe: 72 euros.",
		"Tier/2025-02-05 Rechnung Kater.md":  "Rechnung für Kater Momo, noch eine Rechnung.",
		"Tier/2025-08-06 Rechnung Kater.md":  "Bezahlt.",
		"Syndic/2025-02-05 Réunion.md":       "Réunion sur la toiture, longue réunion.",
		"Syndic/2025-08-06 Réunion.md":       "Ascenseur.",
		"Journal/2026-02-01.md":              "Booked: dentist, service of the car, paid the factura.",
		"Journal/2025-11-20.md":              "Migraine, went to bed. Migraine again.",
		"Journal/2026-01-20.md":              "Migraine after lunch.",
		"Journal/2025-10-01.md":              "Momo threw a vase.",
		"Journal/2025-12-01.md":              "Momo at the vet." + strings.Repeat(" Then other things happened.", 9) + " Anna threw a party.",
		"Journal/2025-12-02.md":              "Fed Momo and three dogs. Anna threw.",
		"Art/The Last Supper.md":             "Leonardo, a supper in tempera.",
		"Travel/2024-05-11 Milan supper.md":  "Supper, supper, supper.",
		"Travel/2025-05-11 Naples supper.md": "Supper.",
		"Papers/Landlord.md":                 "Last name: Brandstetter",
		"Book club/2025-03-06 Stoner.md":     "The last chapter divided us; a chapter on rain.",
		"Book club/2025-10-06 Piranesi.md":   "The last chapter was long.",
		"Sport/2026-02-10 Run.md":            "Week one: 10 km, week two: 12 km. A week of rain.",
		"Sport/2026-03-01 Run.md":            "Week three: 9 km.",
	}
	f := newFixture(t, files)
	for query, want := range map[string]string{
		"latest dentist":                    "Health/Dentist 2025-09-15",
		"last dentist":                      "Health/Dentist 2025-09-15",
		"when Momo last threw":              "Journal/2025-10-01",
		"when was my last dentist visit":    "Health/Dentist 2023-05-02", // the only note with all words
		"what did the dentist do last time": "Health/Dentist 2025-09-15",
		"last car service":                  "Car/Service 74950 km",
		"most recent service":               "Car/Service 74950 km",
		"última factura de la luz":          "Casa/2025-08-06 Factura luz",
		"la factura de luz más reciente":    "Casa/2025-08-06 Factura luz",
		"letzte Rechnung Kater":             "Tier/2025-08-06 Rechnung Kater",
		"la dernière réunion":               "Syndic/2025-08-06 Réunion",
		"newest landlord":                   "Papers/Landlord",
		"last migraine":                     "Journal/2026-01-20",
		"last supper":                       "Art/The Last Supper",
		"last name":                         "Papers/Landlord",
		"the last chapter":                  "Book club/2025-03-06 Stoner",
		"run last week":                     "Sport/2026-02-10 Run",
		"last week's run":                   "Sport/2026-02-10 Run",
		"l'ultima factura de la luz":        "Casa/2025-08-06 Factura luz",
		"migraine at last":                  "Journal/2025-11-20",
		"migraine":                          "Journal/2025-11-20",
	} {
		assert.Equal(t, want, f.paths(query)[0], query)
	}
	files = map[string]string{"Piano/Lessons.md": "Piano lesson.", "Log/2025-01-01.md": "Piano lesson: scales.", "Log/2025-02-01.md": "Piano lesson: chords, and much more about other things."}
	undated := newFixture(t, files)
	require.NoError(t, os.Chtimes(filepath.Join(undated.root, "Piano/Lessons.md"), today, today))
	undated.write(nil)
	assert.Equal(t, []string{"Piano/Lessons", "Log/2025-01-01", "Log/2025-02-01"}, undated.paths("piano lesson"))
	assert.Equal(t, []string{"Piano/Lessons", "Log/2025-02-01", "Log/2025-01-01"}, undated.paths("last piano lesson"), "a note without a date keeps its place")

	// The pages and the explanation of a hit are of the same order.
	q := search.Query{Text: "latest dentist", Mode: search.ModeText, Limit: 1}
	var paged []string
	for range 3 {
		r := f.search(q)
		paged = append(paged, pathsOf(r)...)
		q.Cursor = r.Next
	}
	assert.Equal(t, f.paths("latest dentist")[:3], paged)
	meta, err := f.vault.Lookup(t.Context(), "Health/Dentist 2025-09-15.md", notes.Scope{})
	require.NoError(t, err)
	x, err := f.engine.Why(t.Context(), search.Query{Text: "latest dentist", Mode: search.ModeText}, meta)
	require.NoError(t, err)
	assert.Equal(t, 1, x.Rank)

	// Of a long series, too.
	many := map[string]string{}
	for i := range 150 {
		many[fmt.Sprintf("Log/2025-%02d-%02d Standup.md", 1+i/28, 1+i%28)] = "Standup." + fmt.Sprint(" Release work on many other things.", i)[:i%30]
	}
	f = newFixture(t, many)
	assert.Equal(t, "Log/2025-06-10 Standup", f.paths("latest standup")[0])
	q = search.Query{Text: "latest standup", Mode: search.ModeText, Limit: 5}
	first := f.search(q)
	assert.Contains(t, strings.Join(first.Notes, " "), "in order of their dates")
	q.Cursor = first.Next
	var calls sync.WaitGroup
	for range 4 { // the race detector
		calls.Go(func() {
			second, err := f.engine.Search(t.Context(), q)
			assert.NoError(t, err)
			assert.Equal(t, []string{"Log/2025-06-05 Standup"}, pathsOf(second)[:1])
		})
	}
	calls.Wait()
}

// Vectors that do not come in time are waited for once.
func TestSearch_NewestWithoutVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeSemantic{weight: .5, wait: 10 * time.Second, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{}}
		f := newFixtureWith(t, map[string]string{"L/2025-01-01 Standup.md": "Standup", "L/2025-02-01 Standup.md": "Standup again and so on."}, m)
		m.store = f.store
		f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: 500 * time.Millisecond, Clock: func() time.Time { return today }})
		f.search(search.Query{Text: "latest standup"})
		assert.Len(t, m.asked, 1)
	})
}

// If the best note was found by its vector only, notes that are far from the topic keep their places.
func TestSearch_NewestByMeaning(t *testing.T) {
	files := map[string]string{"Pets/2025-01-10 Momo.md": "Checked at the clinic.", "Pets/2025-06-10 Momo.md": "Vaccine at the clinic.", "Log/2025-09-01.md": "Rain.", "Log/2025-10-01.md": "Snow."}
	m := &fakeSemantic{weight: .9, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"Pets/2025-01-10 Momo": .8, "Pets/2025-06-10 Momo": .8, "Log/2025-09-01": .5, "Log/2025-10-01": .5}}
	f := newFixtureWith(t, files, m)
	m.store = f.store
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{Clock: func() time.Time { return today }})
	assert.Equal(t, "Pets/2025-06-10 Momo", pathsOf(f.search(search.Query{Text: "última visita veterinario"}))[0])
}
