package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
	"notesd/search"
)

// starterQuery has many words, and no note has most of them.
const starterQuery = "how often does one feed a sourdough starter at home in cold winter weather"

// newStarters returns a vault in which best.md answers starterQuery, and twenty notes have
// passages that are nearly as close.
func newStarters(t *testing.T) (*fixture, *fakeSemantic) {
	files := map[string]string{"best.md": "Feeding a sourdough starter twice a day."}
	for i := range 20 {
		name := fmt.Sprintf("daily-%02d.md", i)
		files[name] = "Cold weather. Went for a walk; bread, rolls and cake."
		if i%2 == 0 {
			files[name] += " Talked of sourdough."
		}
	}
	f := newFixture(t, files)
	m := &fakeSemantic{store: f.store, weight: .55, cosines: map[string]float64{}, coverage: notes.Coverage{State: search.StateBuilding, Coverage: .5}}
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: time.Minute})
	return f, m
}

// During embedding, hybrid results are no worse than results by words: a note with vectors does
// not displace a better one without.
func TestHybridNoWorseWhileEmbedding(t *testing.T) {
	f, m := newStarters(t)
	first := func() string { return pathsOf(f.search(search.Query{Text: starterQuery}))[0] }
	for i := range 20 {
		m.cosines[fmt.Sprintf("daily-%02d", i)] = .5 + .01*float64(i)
		assert.Equal(t, "best", first(), "%d notes have vectors", i+1)
	}
	m.cosines["best"] = .65
	m.coverage = notes.Coverage{State: search.StateReady, Coverage: 1}
	assert.Equal(t, "best", first())
}

// A note without vectors is expected to be as near as the notes with vectors that have as many
// of the words.
func TestHybrid_ExpectedNearness(t *testing.T) {
	files := map[string]string{}
	cosines := map[string]float64{}
	for i := range 40 {
		files[fmt.Sprintf("n%02d.md", i)] = "Boats in the harbour."
		cosines[fmt.Sprintf("n%02d", i)] = .5
	}
	delete(cosines, "n00")
	f := newFixture(t, files)
	m := &fakeSemantic{store: f.store, weight: .5, cosines: cosines, coverage: notes.Coverage{State: search.StateBuilding, Coverage: .9}}
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: time.Minute})
	scores := map[string]float64{}
	for _, h := range f.search(search.Query{Text: "boats harbour", Limit: 50}).Hits {
		scores[h.Path] = h.Score
	}
	assert.InEpsilon(t, scores["n01.md"], scores["n00.md"], .05)
}

// The nearness of a partly embedded note is a lower bound.
func TestHybrid_PartlyEmbeddedNote(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateBuilding, Coverage: .5},
		cosines: map[string]float64{"boats": .5, "ships": .52, "mention": .1, "cooking": .1}}
	f := withSemantic(t, m)
	score := func() search.Hit { return f.search(search.Query{Text: "schooner"}).Hits[0] }
	assert.Equal(t, "ships.md", score().Path)
	m.missing = map[string]float64{"boats": .9}
	assert.Equal(t, "boats.md", score().Path)

	m.cosines = map[string]float64{"boats": .2, "ships": .1, "mention": .1, "cooking": .1}
	weak := func() bool { return f.search(search.Query{Text: "boats salt vessel"}).Hits[0].Weak }
	m.missing = nil
	assert.True(t, weak())
	m.missing = map[string]float64{"boats": .9, "ships": .9, "mention": .9}
	assert.False(t, weak(), "what has no vector yet may be near")
}
