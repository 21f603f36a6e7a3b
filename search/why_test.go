package search_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
)

// Explanations cover hits and misses of every kind, by words alone and with vectors.
func TestWhy(t *testing.T) {
	files := map[string]string{
		"Bread/Rye.md":   "# Rye\n\nBake the rye loaf for an hour, then wait a day.",
		"Bread/Wheat.md": "# Wheat\n\nBake the wheat loaf. #soft",
		"Boat.md":        "# Boat\n\nVarnish the transom.",
		"Sail.md":        "# Sail\n\nMend the jib.",
		"Far.md":         "# Far\n\nNothing of it.",
		"New.md":         "# New\n\nNot embedded.",
		"Planet.md":      "# Planet\n\nOrbits.",
		"Plans.md":       "The plan.",
	}
	meaning := &fakeSemantic{weight: 0.5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1, Passages: 5},
		cosines: map[string]float64{"Bread/Rye": 0.7, "Bread/Wheat": 0.5, "Boat": 0.3, "Sail": 0.6, "Far": 0.01}}
	f := newFixtureWith(t, files, scoringSemantic{meaning, []string{"Bread/Rye", "Sail"}})
	meaning.store = f.store
	why := func(note string, q search.Query) search.Explanation {
		meta, err := f.vault.Lookup(context.Background(), note, notes.Scope{})
		require.NoError(t, err)
		x, err := f.engine.Why(context.Background(), q, meta)
		require.NoError(t, err)
		return x
	}

	x := why("Rye", search.Query{Text: `bake "wait a day" path:Bread/ -oil rye`})
	assert.True(t, x.Found)
	assert.Equal(t, 1, x.Rank)
	assert.Equal(t, search.Reading{Words: []string{"bake", "rye"}, Phrases: []string{`"wait a day"`}, Without: []string{"-oil"}, Filters: []string{"path:Bread/"}}, x.Read)
	assert.InDelta(t, 0.7, x.Cosine, 1e-9)
	assert.Equal(t, []string{"it ranks number 1 by words", "it ranks number 1 semantically, with cosine 0.70"}, x.Reasons)
	has := map[string]bool{}
	for _, term := range x.Terms {
		has[term.Term] = term.Has
		assert.Positive(t, term.Weight, term.Term)
	}
	assert.True(t, has["rye"] && has["bake"], "%v", has)

	x = why("Rye", search.Query{Text: "baking hours, rye's, transoms", Mode: search.ModeText})
	words := []string{}
	for _, term := range x.Terms {
		words = append(words, term.Term)
	}
	assert.Equal(t, []string{"bake", "hour", "rye", "transoms"}, words, "as the note has them, else as the query has them")

	f.write(map[string]string{"Jib.md": "# Jib\n\nOf canvas.", "Canvas.md": "# Tents\n\nOf canvas, as a jib."})
	x = why("Jib", search.Query{Text: "canvas", Mode: search.ModeText})
	assert.Equal(t, "the passage of another of the best hits mentions it", x.Reasons[len(x.Reasons)-1])

	for _, c := range []struct {
		note, query, reason string
		mode                search.Mode
	}{
		{"Boat", "bake path:Bread/", "the filter path:Bread/ does not select this note", ""},
		{"Wheat", "bake -soft", "-soft excludes this note: it has the word or phrase", ""},
		{"Wheat", `bake "wait a day"`, `this note does not have "wait a day"`, ""},
		{"Wheat", "bake title:rye", "this note does not have title:rye", ""},
		{"Wheat", "loaf has:todo", "the filter has:todo does not select this note", ""},
		{"Boat", "rye", "the note has none of the query's words", search.ModeText},
		{"Planet", "plan", "the note has none of the query's words", search.ModeText},
		{"Far", "rye", "its nearest passage has cosine 0.01 with the query, which is below the threshold", ""},
		{"New", "rye", "the note is not embedded yet", ""},
		{"Sail", "2024", "semantic search was not used", ""},
	} {
		x := why(c.note, search.Query{Text: c.query, Mode: c.mode})
		assert.False(t, x.Found, c.query)
		assert.Contains(t, x.Reasons, c.reason, c.query)
	}

	x = why("Far", search.Query{Text: "nothing", Mode: search.ModeSemantic})
	assert.Equal(t, []string{"its nearest passage has cosine 0.01 with the query, which is below the threshold"}, x.Reasons, "it has the word")

	_, err := f.engine.Why(context.Background(), search.Query{Text: " "}, notes.Meta{})
	assert.ErrorIs(t, err, notes.ErrInvalid)
}
