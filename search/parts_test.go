package search_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
	"notesd/search/eval"
)

// Each part of the ranking has a query that fails without it, in the golden file or among those
// with vectors.
func TestEachPartIsNeeded(t *testing.T) {
	file := func(name string) string { return filepath.Join("eval", "testdata", "judged", name) }
	set, err := eval.Load(file("docs.jsonl"), file("queries.jsonl"), file("qrels.tsv"))
	require.NoError(t, err)
	golden := newFixture(t, nil)
	require.NoError(t, set.WriteVault(golden.root))
	golden.write(nil)
	meaning := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"boats": .1, "ships": .6, "mention": .5, "cooking": .2}, firsts: map[string]float64{"ships": .1}}
	vectors := withSemantic(t, meaning)

	starters, daily := newStarters(t)
	for i := range 20 {
		daily.cosines[fmt.Sprintf("daily-%02d", i)] = .4
	}
	daily.cosines["daily-18"] = .97
	parts := withSemantic(t, &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateBuilding, Coverage: .5},
		cosines: map[string]float64{"boats": .5, "ships": .52}, missing: map[string]float64{"boats": .9}})
	harbours := newFixture(t, map[string]string{"far.md": "The harbour wall. " + strings.Repeat("Nothing else. ", 100)})
	many, cosines := map[string]string{}, map[string]float64{"far": .9}
	for i := range 150 {
		name := fmt.Sprintf("n%03d", i)
		many[name+".md"], cosines[name] = "harbour wall harbour", 0
	}
	harbours.write(many)
	harbours.engine = search.NewEngine(harbours.store, harbours.index, &fakeSemantic{store: harbours.store, weight: .5,
		coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: cosines}, search.EngineOptions{SemanticTimeout: time.Minute})
	lamps := newFixture(t, map[string]string{"all.md": strings.Repeat("Harbour. Wall. Lamp. ", 4), "near.md": strings.Repeat("Lamp. Wall. ", 4)})
	lamps.engine = search.NewEngine(lamps.store, lamps.index, &fakeSemantic{store: lamps.store, weight: .5,
		coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"all": .01, "near": .8}}, search.EngineOptions{SemanticTimeout: time.Minute})
	across := newFixture(t, map[string]string{"name.md": "The lamp of Bergen.", "answer.md": "Hafen und Mauer."})
	across.engine = search.NewEngine(across.store, across.index, distantSemantic{&fakeSemantic{store: across.store, weight: .5,
		coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"name": .1, "answer": .31}}, .096}, search.EngineOptions{SemanticTimeout: time.Minute})

	near := withSemantic(t, &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .6, "mention": .45}})

	among, scattered := newScattered(t, .57)
	among.alike = .2

	first := func(query, want string) func() bool {
		i := slices.IndexFunc(set.Queries, func(q eval.Query) bool { return q.ID == query })
		return func() bool {
			found := golden.paths(set.Queries[i].Text)
			return len(found) > 0 && found[0] == want
		}
	}
	hybrid := func(query string, ok func(search.Result) bool) func() bool {
		return func() bool { return ok(vectors.search(search.Query{Text: query})) }
	}
	tests := map[string]func() bool{
		"words that stand together":     first("q50", "pump"),
		"pairs in the other order":      first("q58", "attic"),
		"words that meet":               first("q51", "island"),
		"the word as it was asked for":  first("q31", "ratatouille"),
		"the head of a description":     first("q59", "bittern"),
		"what a note begins with":       first("q52", "cape"),
		"the note that the query names": first("q55", "beehives"),
		"what another hit names":        first("q56", "loire"),
		"words count less and less": func() bool {
			return pathsOf(lamps.search(search.Query{Text: "harbour wall lamp"}))[0] == "near"
		},
		"few words in another language": func() bool {
			return pathsOf(across.search(search.Query{Text: "harbour wall of Bergen"}))[0] == "answer"
		},
		"repeated words":           first("q46", "knots"),
		"quotes in running text":   first("q49", "meeting-0209"),
		"a quote that no note has": first("q57", "meeting-0209"),
		"other languages":          first("q53", "sunflowers"),
		"suggestions":              first("q54", "sourdough"),
		"a second passage": func() bool {
			f := newFixture(t, map[string]string{"starter.md": aboutStarters, "other.md": "# Other"})
			return f.search(search.Query{Text: "sourdough starter"}).Second != nil
		},
		"the lead vector":          hybrid("schooner", func(r search.Result) bool { return pathsOf(r)[0] == "mention" }),
		"what a query can ask for": hybrid("boats and harbour far from storms, gales, currents, reefs and fog", func(r search.Result) bool { return pathsOf(r)[0] == "boats" }),
		"the words of near notes": func() bool {
			return harbours.search(search.Query{Text: "harbour wall"}).Hits[0].Path == "far.md"
		},
		"the hits beside a clear one":    func() bool { return !near.search(search.Query{Text: "schooner"}).Hits[1].Weak },
		"scattered passages":             func() bool { return scattered.search(search.Query{Text: "schooner"}).Weak },
		"words that no note has":         func() bool { return golden.search(search.Query{Text: "ships harbour handrail"}).Weak },
		"nearness that words let expect": func() bool { return pathsOf(starters.search(search.Query{Text: starterQuery}))[0] == "best" },
		"missing passages":               func() bool { return pathsOf(parts.search(search.Query{Text: "schooner"}))[0] == "boats" },
		"the floor":                      hybrid("schooner", func(r search.Result) bool { return !slices.Contains(pathsOf(r), "cooking") }),
	}
	for name, off := range search.Off {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, tests, name)
			assert.True(t, tests[name](), "with it")
			on := off()
			defer on()
			assert.False(t, tests[name](), "without it")
		})
	}
}
