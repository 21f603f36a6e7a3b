package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/search"
)

// fakeSemantic has the cosine of each note, by file name.
type fakeSemantic struct {
	store    *store.Store
	cosines  map[string]float64
	firsts   map[string]float64 // of the lead, if it differs
	nearest  map[string]int     // ordinal of the nearest passage, if it is not the first
	across   map[string]bool    // in another language than the query
	missing  map[string]float64 // share of passages without a vector
	coverage notes.Coverage
	weight   float64
	err      error
	wait     time.Duration

	mu    sync.Mutex
	asked []string
}

func (m *fakeSemantic) Coverage() notes.Coverage { return m.coverage }
func (m *fakeSemantic) Weight(string) float64    { return m.weight }

func (m *fakeSemantic) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]notes.SemanticHit, error) {
	m.mu.Lock()
	m.asked = append(m.asked, text)
	m.mu.Unlock()
	if m.wait > 0 {
		select {
		case <-time.After(m.wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	if m.cosines == nil {
		panic("boom")
	}
	hits := m.all(func(n notes.Meta) bool { return allowed.Has(n.ID) })
	return hits[:min(k, len(hits))], nil
}

func (m *fakeSemantic) Cosines(_ context.Context, _ string, ids []int64) ([]notes.SemanticHit, error) {
	if m.wait > 0 {
		return nil, nil
	}
	return m.all(func(n notes.Meta) bool { return slices.Contains(ids, n.ID) }), nil
}

func (*fakeSemantic) Unrelated(context.Context, string) (usual, here notes.Spread, err error) { return }

func (*fakeSemantic) Alike([]notes.SemanticHit) (float64, bool) { return 0, false }

func (*fakeSemantic) Yield() func() { return func() {} }

func (m *fakeSemantic) all(keep func(notes.Meta) bool) []notes.SemanticHit {
	var hits []notes.SemanticHit
	page, err := m.store.List(context.Background(), notes.ListQuery{Limit: 1000})
	if err != nil {
		panic(err)
	}
	for _, n := range page.Notes {
		name := strings.TrimSuffix(n.Path, ".md")
		if cos, ok := m.cosines[name]; ok && keep(n) {
			hits = append(hits, notes.SemanticHit{NoteID: n.ID, Ordinal: m.nearest[name], Cosine: cos, Near: cos, First: cmp.Or(m.firsts[name], cos), Missing: m.missing[name], Across: m.across[name]})
		}
	}
	slices.SortFunc(hits, func(a, b notes.SemanticHit) int {
		if a.Cosine > b.Cosine {
			return -1
		}
		return 1
	})
	return hits
}

var seaside = map[string]string{
	"boats.md":   "Boats in the harbour, harbour, harbour.",
	"ships.md":   "Vessels lie moored by the quay.",
	"mention.md": "A harbour is mentioned among " + strings.Repeat("many other things ", 20),
	"cooking.md": "Bread and salt.",
}

func withSemantic(t *testing.T, m *fakeSemantic) *fixture {
	f := newFixture(t, seaside)
	m.store = f.store
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: time.Minute})
	return f
}

// A note in another language than the query has few of its words, whatever it is about.
func TestHybrid_OtherLanguage(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"boats": .3, "mention": .3, "cooking": .95}}
	f := withSemantic(t, m)
	assert.Equal(t, "boats", pathsOf(f.search(search.Query{Text: "harbour"}))[0])
	m.across = map[string]bool{"cooking": true}
	assert.Equal(t, "cooking", pathsOf(f.search(search.Query{Text: "harbour"}))[0])
	m.cosines["cooking"] = .45
	assert.Equal(t, "boats", pathsOf(f.search(search.Query{Text: "harbour"}))[0], "words count if the meaning is as near")
}

// The more of the nearest notes are in another language, and the less of the query the notes in
// its own have, the more meaning counts.
func TestHybrid_AnswersAcross(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"boats": .3, "mention": .2, "ships": .25, "cooking": .475}, across: map[string]bool{"cooking": true}}
	f := withSemantic(t, m)
	partly, whole := search.Query{Text: "harbour timetable"}, search.Query{Text: "boats harbour"}
	assert.Equal(t, "boats", pathsOf(f.search(partly))[0])
	m.across["ships"] = true
	assert.Equal(t, "cooking", pathsOf(f.search(partly))[0])
	assert.Equal(t, "boats", pathsOf(f.search(whole))[0])
}

func TestHybrid(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"boats": .5, "ships": .9, "mention": .8, "cooking": .1}}
	f := withSemantic(t, m)
	defer search.Off["words count less and less"]()()
	r := f.search(search.Query{Text: "harbour tag:x"})
	assert.Empty(t, r.Hits, "the filter holds for both sides")
	r = f.search(search.Query{Text: "harbour"})
	assert.Equal(t, []string{"boats", "mention", "ships"}, pathsOf(r), "cooking has neither the word nor a near passage")
	assert.Equal(t, search.StateReady, r.Semantic.State)
	assert.Equal(t, 3, r.Total)
	first, ship := r.Hits[0], r.Hits[2]
	mention := r.Hits[1]
	assert.InDelta(t, (first.Score-.5*.5)/first.Why.TextScore, (mention.Score-.5*.8)/mention.Why.TextScore, 1e-9, "one scale for all notes")
	assert.Equal(t, 1, first.Why.TextRank)
	assert.Equal(t, 3, first.Why.VectorRank)
	assert.InDelta(t, .5, first.Why.VectorScore, 1e-9)
	assert.Equal(t, []string{"harbour"}, first.Why.Terms)
	assert.Zero(t, ship.Why.TextRank)
	assert.Equal(t, 1, ship.Why.VectorRank)
	assert.InDelta(t, .5*.9, ship.Score, 1e-9, "nearness is not stretched")
	assert.Equal(t, []string{"harbour", "harbour"}, m.asked[len(m.asked)-2:], "without the filters")

	r = f.search(search.Query{Text: "harbour", Mode: search.ModeSemantic})
	assert.Equal(t, []string{"ships", "mention", "boats"}, pathsOf(r))
	const misspelt = `no note has "harbuor"; searched for harbour instead`
	assert.Contains(t, f.search(search.Query{Text: "harbuor"}).Notes, misspelt)
	assert.NotContains(t, f.search(search.Query{Text: "harbuor", Mode: search.ModeSemantic}).Notes, misspelt)
	r = f.search(search.Query{Text: "harbour", Mode: search.ModeText})
	assert.Equal(t, []string{"boats", "mention"}, pathsOf(r))
	assert.Equal(t, search.StateOff, r.Semantic.State)
	assert.Equal(t, []string{"cooking"}, pathsOf(f.search(search.Query{Text: "-moored -harbour"})), "nothing to embed")
}

// Background work pauses during searches of each mode until they end, even with an error.
func TestBackgroundYieldsToSearches(t *testing.T) {
	m := &yieldingSemantic{fakeSemantic: fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}}}
	f := newFixtureWith(t, seaside, m)
	m.store, m.cosines = f.store, map[string]float64{"boats": .5}
	for i, mode := range []search.Mode{search.ModeHybrid, search.ModeText, search.ModeSemantic} {
		_, err := f.engine.Search(t.Context(), search.Query{Text: "harbour", Mode: mode})
		require.NoError(t, err)
		assert.Equal(t, i+1, m.began)
		assert.Equal(t, m.began, m.ended)
	}
	assert.Equal(t, 1, m.during, "while the vectors are searched")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.engine.Search(ctx, search.Query{Text: "harbour"})
	require.Error(t, err)
	assert.Equal(t, m.began, m.ended)
}

// yieldingSemantic counts calls of Yield.
type yieldingSemantic struct {
	fakeSemantic
	began, ended int
	during       int // Yields not ended at the last call of Weight
}

func (m *yieldingSemantic) Yield() func() {
	m.began++
	return func() { m.ended++ }
}

func (m *yieldingSemantic) Weight(string) float64 {
	m.during = m.began - m.ended
	return m.weight
}

// Of two notes with equally near passages, the one whose first passage is nearer ranks higher.
// A near note has its own text score at any rank by words.
func TestHybridScores(t *testing.T) {
	files := map[string]string{"about.md": "About boats.", "aside.md": "Of something else.", "far.md": "The harbour wall. " + strings.Repeat("Nothing else. ", 100)}
	cosines := map[string]float64{"about": .6, "aside": .6, "far": .9}
	for i := range 150 {
		name := fmt.Sprintf("n%03d", i)
		files[name+".md"], cosines[name] = "harbour wall harbour", 0
	}
	f := newFixture(t, files)
	m := &fakeSemantic{store: f.store, weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: cosines}
	f.engine = search.NewEngine(f.store, f.index, firstSemantic{m, map[string]float64{"aside": .1}}, search.EngineOptions{SemanticTimeout: time.Minute})
	r := f.search(search.Query{Text: "boat"})
	assert.Equal(t, []string{"about", "far", "aside"}, pathsOf(r))
	assert.Equal(t, []string{"far", "about", "aside"}, pathsOf(f.search(search.Query{Text: "xqzzy", Mode: search.ModeHybrid})))
	aside := f.search(search.Query{Text: "xqzzy", Mode: search.ModeHybrid}).Hits[2]
	assert.InDelta(t, .5*(.6*.6+.4*.1), aside.Score, 1e-9)
	aside = f.search(search.Query{Text: "xqzzy", Mode: search.ModeSemantic}).Hits[2]
	assert.InDelta(t, .6, aside.Score, 1e-9, "the first passage counts in hybrid only")

	r = f.search(search.Query{Text: "harbour wall"})
	assert.Equal(t, "far", r.Hits[0].Path[:3])
	far := r.Hits[0]
	assert.Equal(t, []string{"harbour", "wall"}, far.Why.Terms)
	assert.Greater(t, far.Why.TextRank, 100)
	assert.Greater(t, far.Score, .5*.9)
	assert.Equal(t, 153, r.Total, "about and aside are near, all others have the words")
}

// firstSemantic has the cosines of some notes' first passages.
type firstSemantic struct {
	*fakeSemantic
	first map[string]float64
}

func (m firstSemantic) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]notes.SemanticHit, error) {
	hits, err := m.fakeSemantic.Nearest(ctx, text, allowed, k)
	if err != nil {
		return nil, err
	}
	found, err := m.store.ByID(ctx, idsOf(hits))
	for _, n := range found {
		for i := range hits {
			if first, ok := m.first[strings.TrimSuffix(n.Path, ".md")]; ok && hits[i].NoteID == n.ID {
				hits[i].First = first
			}
		}
	}
	return hits, err
}

func idsOf(hits []notes.SemanticHit) []int64 {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.NoteID
	}
	return ids
}

// A note is shown with its nearest passage, unless another has at least half of the query.
func TestHybrid_NearestPassageIsShown(t *testing.T) {
	f := newFixture(t, map[string]string{"sea.md": "# Sea\n\n" + section("Harbour", "Boats in the harbour.") + section("Quay", "Vessels lie moored.") + section("Beach", "Sand.")})
	m := &fakeSemantic{store: f.store, weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"sea": .9}, nearest: map[string]int{"sea": 2}}
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: time.Minute})
	for query, heading := range map[string]string{"xqzzy": "Quay", "harbour": "Harbour", "harbour xqzzy blorp wibble": "Quay"} {
		hits := f.search(search.Query{Text: query}).Hits
		require.Len(t, hits, 1, query)
		assert.Equal(t, heading, hits[0].Heading, query)
	}
	m.nearest["sea"] = 7
	assert.Equal(t, "Harbour", f.search(search.Query{Text: "harbour xqzzy blorp wibble"}).Hits[0].Heading, "the note has changed and has fewer passages now")
}

// The query's conditions also apply to candidates found semantically.
func TestSearch_ConditionsOfSemanticHits(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"Rye Bread": .9, "Loaf": .8, "Soda Bread": .7, "Starter": .6, "Empty": .5}}
	f := newFixtureWith(t, map[string]string{
		"Rye Bread.md":  "# Rye Bread\n\nBake at once.",
		"Loaf.md":       "# Loaf\n\nA dark dough of rye. Wait a day, then bake.",
		"Soda Bread.md": "# Soda Bread\n\nA day to wait is too long.",
		"Starter.md":    "# Starter\n\nFlour and water. Wait a day.",
		"Empty.md":      "Nothing",
	}, m)
	m.store = f.store
	for _, mode := range []search.Mode{search.ModeHybrid, search.ModeSemantic} {
		for query, want := range map[string][]string{
			`bread -rye`:                   {"Soda Bread", "Starter", "Empty"},
			`"wait a day"`:                 {"Loaf", "Starter"},
			`"wait a day" -dough`:          {"Starter"},
			`bread -"wait a day"`:          {"Rye Bread", "Soda Bread", "Empty"},
			`dough title:bread`:            {"Rye Bread", "Soda Bread"},
			`dough -title:bread`:           {"Loaf", "Starter", "Empty"},
			`bread -path:R`:                {"Loaf", "Soda Bread", "Starter", "Empty"},
			`bread -"wait a day" -path:So`: {"Rye Bread", "Empty"},
		} {
			r := f.search(search.Query{Text: query, Mode: mode})
			assert.ElementsMatch(t, want, pathsOf(r), "%s %s", mode, query)
			assert.Equal(t, len(want), r.Total, "%s %s", mode, query)
		}
	}
}

// A hit has a word of the query or a near passage.
func TestNothingFound(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"boats": .2, "ships": .25, "mention": .1, "cooking": .1}}
	f := withSemantic(t, m)
	for _, mode := range []search.Mode{search.ModeHybrid, search.ModeSemantic} {
		r := f.search(search.Query{Text: "xqzzy blorp", Mode: mode})
		assert.Empty(t, r.Hits)
		assert.Zero(t, r.Total)
		assert.False(t, r.Weak)
		assert.Equal(t, []string{"no note has these words or is semantically close"}, r.Notes)
		for _, query := range []string{"harbour path:cooking", "harbour -harbour -moored"} {
			assert.Equal(t, []string{"no note that meets the other conditions has these words or is semantically close"}, f.search(search.Query{Text: query, Mode: mode}).Notes)
		}
		r = f.search(search.Query{Text: `boats "ships boats"`, Mode: mode})
		assert.Equal(t, []string{`found no note with "ships boats" that fits the rest of the query; without quotation marks, its words are searched`}, r.Notes)
	}
	m.weight = .5
	m.cosines["ships"] = .38
	assert.Empty(t, f.search(search.Query{Text: "xqzzy blorp"}).Hits)
	assert.Equal(t, []string{"ships"}, pathsOf(f.search(search.Query{Text: "xqzzy blorp", Mode: search.ModeSemantic})))
	m.cosines["ships"] = .43
	r := f.search(search.Query{Text: "xqzzy blorp"})
	require.Equal(t, []string{"ships"}, pathsOf(r))
	assert.Equal(t, 1, r.Total)
	assert.True(t, r.Weak)
	assert.True(t, r.Hits[0].Weak)
	require.Len(t, r.Notes, 1)
	assert.Contains(t, r.Notes[0], "no note matches well")

	m.cosines["ships"] = .6
	r = f.search(search.Query{Text: "xqzzy blorp"})
	assert.Equal(t, []string{"ships"}, pathsOf(r))
	assert.False(t, r.Weak)
	assert.Empty(t, r.Notes)

	r = f.search(search.Query{Text: "xqzzy salt blorp wibble"})
	assert.Equal(t, []string{"ships", "cooking"}, pathsOf(r))
	assert.True(t, r.Weak, "a note has one of the words, and none the others")
	m.cosines["ships"] = .7
	r = f.search(search.Query{Text: "xqzzy salt blorp wibble"})
	require.Equal(t, []string{"ships", "cooking"}, pathsOf(r))
	assert.False(t, r.Hits[0].Weak)
	assert.True(t, r.Hits[1].Weak, "one word of four")
	r = f.search(search.Query{Text: "salt"})
	assert.False(t, r.Hits[0].Weak, "it has all words")
	m.cosines["cooking"] = .5
	r = f.search(search.Query{Text: "xqzzy salt blorp wibble"})
	assert.False(t, r.Hits[1].Weak, "one word of four, and near")
}

// distantSemantic reports unrelated passages that are farther from a query than usual for the
// model.
type distantSemantic struct {
	*fakeSemantic
	by float64
}

func (m distantSemantic) Unrelated(context.Context, string) (usual, here notes.Spread, err error) {
	return notes.Spread{Deviation: .095}, notes.Spread{Mean: -m.by, Deviation: .05}, nil
}

// Notes contain little more than the names of a question in another language: having more of
// its words counts only in proportion.
func TestWordsInAnotherLanguage(t *testing.T) {
	f := newFixture(t, map[string]string{"all.md": strings.Repeat("Harbour. Wall. Lamp. ", 4), "near.md": strings.Repeat("Lamp. Wall. ", 4)})
	m := &fakeSemantic{store: f.store, weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"all": .01, "near": .8}}
	for first, semantic := range map[string]search.Semantic{"near": m, "all": distantSemantic{m, .096}} {
		f.engine = search.NewEngine(f.store, f.index, semantic, search.EngineOptions{SemanticTimeout: time.Minute})
		assert.Equal(t, first, pathsOf(f.search(search.Query{Text: "harbour wall lamp"}))[0])
	}
}

// For a question in another language than the notes, lower cosines suffice.
func TestWeakInAnotherLanguage(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .3, "mention": .15, "cooking": -.1}}
	f := withSemantic(t, m)
	f.engine = search.NewEngine(f.store, f.index, distantSemantic{m, .1}, search.EngineOptions{SemanticTimeout: time.Minute})
	for _, question := range []string{"Wo liegt der größte Dreimaster?", "最大的帆船在哪里"} {
		r := f.search(search.Query{Text: question})
		assert.Equal(t, []string{"ships", "mention"}, pathsOf(r), question)
		assert.False(t, r.Weak, question)
		assert.Empty(t, r.Notes, question)
	}
	m.weight = .3
	const advice = "the model supports this language poorly: if the notes are in another language, ask in that"
	r := f.search(search.Query{Text: "Wo liegt der größte Dreimaster?"})
	assert.False(t, r.Weak)
	assert.NotContains(t, r.Notes, advice)
	m.cosines = map[string]float64{"ships": .02}
	r = f.search(search.Query{Text: "Wo liegt der größte Dreimaster?"})
	assert.True(t, r.Weak)
	assert.Contains(t, r.Notes, advice)

	const ask = "if the notes are in another language, ask in that"
	m.weight, m.cosines = .3, map[string]float64{}
	assert.Contains(t, f.search(search.Query{Text: "Dreimaster"}).Notes, ask, "a single word")
	assert.NotContains(t, f.search(search.Query{Text: "harbour"}).Notes, ask, "there are hits")
	m.weight = 0
	assert.Contains(t, f.search(search.Query{Text: "корабль"}).Notes, ask)
	m.weight = .55
	assert.NotContains(t, f.search(search.Query{Text: "xqzzy"}).Notes, ask, "in a language that the model knows")

	m.cosines = map[string]float64{"ships": .3, "mention": .15}
	r = f.search(search.Query{Text: "xqzzy blorp"})
	assert.Equal(t, []string{"ships", "mention"}, pathsOf(r))
	assert.True(t, r.Weak, "the same nearness in the language of the notes")
}

// In a vault of several languages, lower cosines suffice for notes in another than the query, but
// not for those in its own.
func TestWeakAcross(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .3, "boats": .29}}
	f := withSemantic(t, m)
	f.engine = search.NewEngine(f.store, f.index, distantSemantic{m, .1}, search.EngineOptions{SemanticTimeout: time.Minute})
	weak := func(query string, across ...string) []bool {
		m.across = map[string]bool{}
		for _, name := range across {
			m.across[name] = true
		}
		var out []bool
		for _, h := range f.search(search.Query{Text: query}).Hits {
			out = append(out, h.Weak)
		}
		return out
	}
	const question, german = "xqzzy blorp", "Wo liegt der größte harbour?"
	assert.Equal(t, []bool{true, true}, weak(question))
	assert.Equal(t, []bool{false, true}, weak(question, "ships"))
	assert.Equal(t, []bool{false, false}, weak(question, "ships", "boats"))
	m.cosines = map[string]float64{"boats": .05, "ships": .05}
	assert.Equal(t, []bool{true, true}, weak(german, "boats", "ships"), "the bound is low already")
}

// The farther the notes are from an English question, the more nearness counts, and the lower
// the bound of a clear hit is.
func TestLanguageGap(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .25, "mention": -.1}}
	f := withSemantic(t, m)
	ask := func(query string, by float64) search.Result {
		f.engine = search.NewEngine(f.store, f.index, distantSemantic{m, by}, search.EngineOptions{SemanticTimeout: time.Minute})
		return f.search(search.Query{Text: query})
	}
	assert.True(t, ask("xqzzy blorp", .14).Weak)
	assert.False(t, ask("xqzzy blorp", .19).Weak)
	f.write(map[string]string{"all.md": strings.Repeat("Fog. Wall. Lamp. ", 4), "near.md": strings.Repeat("Lamp. Wall. ", 4)})
	m.cosines = map[string]float64{"all": .01, "near": .5}
	assert.Equal(t, "all", pathsOf(ask("fog wall lamp", .1))[0])
	assert.Equal(t, "near", pathsOf(ask("fog wall lamp", .19))[0])
}

// scatteredSemantic has a fixed similarity between the nearest passages.
type scatteredSemantic struct {
	*fakeSemantic
	alike float64
	among []int // number of hits in each call of Alike
}

func (*scatteredSemantic) Unrelated(context.Context, string) (usual, here notes.Spread, err error) {
	return notes.Spread{Deviation: .095}, notes.Spread{Deviation: .095}, nil
}

func (m *scatteredSemantic) Alike(hits []notes.SemanticHit) (float64, bool) {
	m.among = append(m.among, len(hits))
	return m.alike, m.alike > 0
}

// The suggestions for a word that no note has may occur in more notes together than there are.
func TestGuessesInEveryNote(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"a": .4, "b": .5, "c": .3}}
	text := "A fork, a form and a fort."
	f := newFixtureWith(t, map[string]string{"a.md": text, "b.md": text, "c.md": text}, m)
	m.store = f.store
	r := f.search(search.Query{Text: "ford"})
	assert.Equal(t, []string{"b", "a", "c"}, pathsOf(r))
	for _, h := range r.Hits {
		assert.Positive(t, h.Score)
	}
}

// newScattered returns a vault with one near note among many.
func newScattered(t *testing.T, near float64) (*scatteredSemantic, *fixture) {
	m := &scatteredSemantic{fakeSemantic: &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"ships": near}}}
	files := map[string]string{"ships.md": "Vessels lie moored by the quay."}
	for i := range 40 {
		files[fmt.Sprintf("n%02d.md", i)] = "Nothing about that."
		m.cosines[fmt.Sprintf("n%02d", i)] = .1
	}
	f := newFixtureWith(t, files, m)
	m.store = f.store
	return m, f
}

// A question is on the topic of the vault if its nearest passages are about one subject, and
// not if they are about many.
func TestWeakAmongScatteredPassages(t *testing.T) {
	m, f := newScattered(t, .57)
	weak := func(alike float64, filter string) bool {
		m.alike = alike
		r := f.search(search.Query{Text: "schooner" + filter})
		require.Equal(t, []string{"ships"}, pathsOf(r))
		return r.Weak
	}
	assert.False(t, weak(.5, ""))
	assert.True(t, weak(.2, ""))
	assert.False(t, weak(0, ""), "it is not known")
	assert.Equal(t, []int{30, 30, 30}, m.among)
	assert.False(t, weak(.2, " -xqzzy"), "of a part of the vault it is not asked")
	assert.Len(t, m.among, 3)

	f.store.Exclude.Store(&notes.Exclusions{Prefixes: []string{"templates/"}})
	assert.True(t, weak(.2, ""), "without templates it is the vault")
	assert.Len(t, m.among, 4)
	assert.False(t, weak(.2, " -xqzzy"))
	assert.Len(t, m.among, 4)
}

// A note matches its own text, which does not make the other hits clear.
func TestWeakBesideItself(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .9, "boats": .45}}
	f := withSemantic(t, m)
	weak := func(of string) map[string]bool {
		out := map[string]bool{}
		for _, h := range f.search(search.Query{Text: "vessels lie moored by the quay", FromPath: of}).Hits {
			out[h.Path] = h.Weak
		}
		return out
	}
	assert.Equal(t, map[string]bool{"ships.md": false, "boats.md": false}, weak(""))
	assert.Equal(t, map[string]bool{"ships.md": true, "boats.md": true}, weak("ships.md"))
	m.cosines["boats"] = .6
	assert.Equal(t, map[string]bool{"ships.md": false, "boats.md": false}, weak("ships.md"))
}

// If nearness is unknown, the words that occur together decide.
func TestWeakByWords(t *testing.T) {
	f := newFixture(t, map[string]string{
		"pump.md":  "The pump stands by the cellar stairs.",
		"stove.md": "Clean the stove. Then carry the ashes down the stairs.",
	})
	r := f.search(search.Query{Text: "which pump empties the cellar", Mode: search.ModeText})
	assert.False(t, r.Weak)
	assert.False(t, r.Hits[0].Weak)
	r = f.search(search.Query{Text: "stairs of a lighthouse on a foreign coast", Mode: search.ModeText})
	assert.True(t, r.Weak)
	assert.Contains(t, r.Notes[0], "no note matches well")
	r = f.search(search.Query{Text: "clean ashes of a stove in a lighthouse on a coast", Mode: search.ModeText})
	assert.False(t, r.Weak)
	r = f.search(search.Query{Text: "lighthouse keeper painted foreign coast cellar", Mode: search.ModeText})
	require.Len(t, r.Hits, 1)
	assert.True(t, r.Hits[0].Weak)

	f.write(map[string]string{"varnish.md": "Oil the transom."})
	assert.False(t, f.search(search.Query{Text: "varnish", Mode: search.ModeText}).Weak)
	assert.True(t, f.search(search.Query{Text: "varnish lighthouse keeper painted foreign coast", Mode: search.ModeText}).Weak, "a word in a name counts as one word")
}

// A word that no note has indicates that a question is on another topic, if notes have others
// of its words.
func TestWeakByUnknownWords(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}}
	files := map[string]string{"pump.md": "The pump stands by the cellar stairs."}
	for i := range 20 {
		files[fmt.Sprintf("n%02d.md", i)] = "Nothing about that."
	}
	f := newFixtureWith(t, files, m)
	m.store = f.store
	weak := func(query string, mode search.Mode, cosine float64) bool {
		m.cosines = map[string]float64{"pump": cosine}
		r := f.search(search.Query{Text: query, Mode: mode})
		require.Equal(t, []string{"pump"}, pathsOf(r), query)
		return r.Weak
	}
	assert.False(t, weak("cellar pump", search.ModeText, 0))
	assert.True(t, weak("cellar handrail varnish", search.ModeText, 0))
	assert.True(t, weak("cellar handrail varnish", search.ModeHybrid, .4))
	assert.False(t, weak("cellar handrail varnish", search.ModeHybrid, .45), "it says the same in other words, perhaps")
	assert.False(t, weak("handrail varnish", search.ModeHybrid, .6), "words say nothing")
	assert.False(t, weak("cellar handrail varnish", search.ModeSemantic, .45))
	m.weight = .3
	assert.False(t, weak("der handrail und die cellar", search.ModeHybrid, .3), "other languages have other words")
}

// A word that a note has in another spelling is not unknown; one that no note has is.
func TestWeakByOtherSpellings(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"novel": .15, "help": .15, "pumps": .15}}
	f := newFixtureWith(t, map[string]string{
		"novel.md": "Read Howards End by E. M. Forster.",
		"help.md":  "Help with the boxes.",
		"pumps.md": "The cellar pump.",
	}, m)
	m.store = f.store
	for query, weak := range map[string]bool{
		"E.M. Forster":    false,
		"cellar-pump":     false,
		"A.X.B. Howardia": true,
		"help":            false,
		"helm":            true, // searched as help
	} {
		r := f.search(search.Query{Text: query})
		require.NotEmpty(t, r.Hits, query)
		assert.Equal(t, weak, r.Weak, query)
	}
}

// Words far apart count less than words that occur together.
func TestWeakHitWithScatteredWords(t *testing.T) {
	apart := strings.Repeat("Nothing about that. ", 20)
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"meet": .25, "scattered": .25, "tagged": .25}}
	f := newFixture(t, map[string]string{
		"meet.md":      apart + "The pump stands by the cellar stairs. " + apart,
		"scattered.md": "A pump. " + apart + "A cellar. " + apart + "Stairs.",
		"tagged.md":    "---\ntags: [pump, cellar, stairs]\n---\nIt is empty.",
	})
	m.store = f.store
	f.engine = search.NewEngine(f.store, f.index, m, search.EngineOptions{SemanticTimeout: time.Minute})
	weak := map[string]bool{}
	for _, h := range f.search(search.Query{Text: "pump cellar stairs"}).Hits {
		weak[h.Path] = h.Weak
	}
	assert.Equal(t, map[string]bool{"meet.md": false, "scattered.md": true, "tagged.md": false}, weak)

	f.write(map[string]string{"meet.md": "Learnt by sm5."})
	m.cosines = map[string]float64{"meet": .1}
	r := f.search(search.Query{Text: "SM-5"})
	require.Len(t, r.Hits, 1)
	assert.False(t, r.Weak, "the whole of a compound has its parts")

	f.write(map[string]string{"meet.md": "The harbour wall lamp."})
	r = f.search(search.Query{Text: "harbour wall harbour lamp"})
	require.Len(t, r.Hits, 1)
	assert.False(t, r.Weak, "it has the whole query")
}

// While notes are being embedded, one without vectors ranks by its words.
func TestHybridWhileEmbedding(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateBuilding, Coverage: .5},
		cosines: map[string]float64{"cooking": .1, "mention": .8}}
	f := withSemantic(t, m)
	r := f.search(search.Query{Text: "harbour"})
	assert.Equal(t, "boats", pathsOf(r)[0])
	assert.Equal(t, notes.Coverage{State: search.StateBuilding, Coverage: .5}, r.Semantic)

	m.coverage = notes.Coverage{State: search.StateReady, Coverage: 1}
	m.cosines["boats"] = 0
	r = f.search(search.Query{Text: "harbour"})
	assert.Equal(t, "mention", pathsOf(r)[0])
}

// scoringSemantic finds only some of the near notes.
type scoringSemantic struct {
	*fakeSemantic
	near []string // paths that Nearest returns
}

func (m scoringSemantic) Nearest(context.Context, string, *notes.IDSet, int) ([]notes.SemanticHit, error) {
	return m.all(func(n notes.Meta) bool { return slices.Contains(m.near, strings.TrimSuffix(n.Path, ".md")) }), nil
}

func TestHybrid_CosinesOfTextHits(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .9, "mention": .8, "cooking": .1}}
	f := withSemantic(t, m)
	f.engine = search.NewEngine(f.store, f.index, scoringSemantic{m, []string{"ships", "cooking"}}, search.EngineOptions{SemanticTimeout: time.Minute})
	r := f.search(search.Query{Text: "harbour"})
	require.Equal(t, "boats", pathsOf(r)[0], "it has no vectors: by its words alone")
	require.Equal(t, "mention", pathsOf(r)[1])
	assert.InDelta(t, .8, r.Hits[1].Why.VectorScore, 1e-9)
	assert.Zero(t, r.Hits[1].Why.VectorRank)
}

// waitingSemantic blocks in Nearest until Cosines is called.
type waitingSemantic struct {
	scoringSemantic
	asked chan struct{}
}

func (m waitingSemantic) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]notes.SemanticHit, error) {
	select {
	case <-m.asked:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return m.scoringSemantic.Nearest(ctx, text, allowed, k)
}

func (m waitingSemantic) Cosines(ctx context.Context, text string, ids []int64) ([]notes.SemanticHit, error) {
	close(m.asked)
	return m.scoringSemantic.Cosines(ctx, text, ids)
}

func TestHybrid_CosinesRunBesideNearest(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .9, "mention": .8}}
	f := withSemantic(t, m)
	f.engine = search.NewEngine(f.store, f.index, waitingSemantic{scoringSemantic{m, []string{"ships"}}, make(chan struct{})}, search.EngineOptions{SemanticTimeout: time.Minute})
	r := f.search(search.Query{Text: "harbour"})
	assert.Equal(t, search.StateReady, r.Semantic.State)
	assert.Contains(t, pathsOf(r), "ships")
}

// away is the error of a server that does not answer.
type away string

func (a away) Error() string     { return string(a) }
func (away) Wait() time.Duration { return 0 }

func TestSearch_SemanticUnavailable(t *testing.T) {
	ready := notes.Coverage{State: search.StateReady, Coverage: 1}
	cosines := map[string]float64{"ships": .9}
	for name, c := range map[string]struct {
		m    *fakeSemantic
		want string
	}{
		"off":    {&fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateOff}}, search.StateOff},
		"empty":  {&fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateBuilding}}, search.StateBuilding},
		"script": {&fakeSemantic{weight: 0, coverage: ready, cosines: cosines}, search.StateUnsupported},
		"panics": {&fakeSemantic{weight: .5, coverage: ready}, search.StateFailed},
		"failed": {&fakeSemantic{weight: .5, coverage: ready, err: errors.New("boom")}, search.StateFailed},
		"server": {&fakeSemantic{weight: .5, coverage: ready, err: away("waiting for a server: nothing listens there")}, search.StateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := withSemantic(t, c.m)
			for _, mode := range []search.Mode{search.ModeHybrid, search.ModeSemantic} {
				r := f.search(search.Query{Text: "harbour", Mode: mode})
				assert.Equal(t, []string{"boats", "mention"}, pathsOf(r))
				assert.Equal(t, c.want, r.Semantic.State)
				if mode == search.ModeSemantic || c.want == search.StateFailed || c.want == search.StateUnsupported {
					require.Len(t, r.Notes, 1)
					assert.NotContains(t, r.Notes[0], "boom")
					assert.Equal(t, name == "empty", r.Notes[0] == "no passage can be found semantically yet; only words were searched", r.Notes[0])
					assert.Equal(t, name == "server", r.Notes[0] == "semantic search: waiting for a server: nothing listens there; only words were searched", r.Notes[0])
				}
			}
		})
	}
}

// A vault that changed its language is embedded with another model, which the reader may wait for.
func TestSearch_FormerModel(t *testing.T) {
	for former, want := range map[bool]string{
		false: "the model knows neither these words nor their script; only words were searched",
		true:  "the model knows neither these words nor their script; only words were searched until the vectors of another model are ready",
	} {
		f := withSemantic(t, &fakeSemantic{coverage: notes.Coverage{State: search.StateBuilding, Coverage: .5, Former: former}})
		assert.Equal(t, []string{want}, f.search(search.Query{Text: "harbour"}).Notes)
	}
}

func TestSearch_SemanticTimeout(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1},
		cosines: map[string]float64{"ships": .9}, wait: time.Hour}
	f := withSemantic(t, m)
	store := memoryStore(t, f)
	f.paths("harbour") // lets Bleve, whose goroutines are outside the bubble, apply the changes
	synctest.Test(t, func(t *testing.T) {
		e := search.NewEngine(store, f.index, m, search.EngineOptions{})
		start := time.Now()
		r, err := e.Search(context.Background(), search.Query{Text: "harbour"})
		require.NoError(t, err)
		assert.Equal(t, 250*time.Millisecond, time.Since(start))
		assert.Equal(t, []string{"boats", "mention"}, pathsOf(r))
		assert.Equal(t, search.StateLate, r.Semantic.State)
		assert.Len(t, r.Notes, 1)

		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err = e.Search(ctx, search.Query{Text: "harbour"})
		assert.ErrorIs(t, err, context.DeadlineExceeded, "the caller's own time limit")
		synctest.Wait()
	})
}

// The first searches wait a moment for vectors that are still being loaded.
func TestSearch_SemanticLoading(t *testing.T) {
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateLoading}, cosines: map[string]float64{"ships": .9}}
	f := withSemantic(t, m)
	store := memoryStore(t, f)
	f.paths("harbour")
	hits := m.all(func(notes.Meta) bool { return true })
	synctest.Test(t, func(t *testing.T) {
		loaded := &loadingSemantic{fakeSemantic: m, hits: hits, after: time.Now().Add(900 * time.Millisecond)}
		e := search.NewEngine(store, f.index, loaded, search.EngineOptions{})
		r, err := e.Search(context.Background(), search.Query{Text: "harbour"})
		require.NoError(t, err)
		assert.Contains(t, pathsOf(r), "ships")
		assert.Equal(t, search.StateReady, r.Semantic.State)
		assert.Empty(t, r.Notes)

		loaded.after = time.Now().Add(time.Hour)
		start := time.Now()
		r, err = e.Search(context.Background(), search.Query{Text: "harbour"})
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(start))
		assert.NotContains(t, pathsOf(r), "ships")
		assert.Equal(t, search.StateLoading, r.Semantic.State)
		assert.Equal(t, []string{"the vectors are still being loaded; only words were searched"}, r.Notes)
		synctest.Wait()
	})
}

// loadingSemantic has no vectors until a given time.
type loadingSemantic struct {
	*fakeSemantic
	after time.Time
	hits  []notes.SemanticHit // read in advance: its clock must not wait for SQLite
}

func (m *loadingSemantic) Coverage() notes.Coverage {
	if time.Now().Before(m.after) {
		return notes.Coverage{State: search.StateLoading}
	}
	return notes.Coverage{State: search.StateReady, Coverage: 1}
}

func (*loadingSemantic) Cosines(context.Context, string, []int64) ([]notes.SemanticHit, error) {
	return nil, nil
}

func (m *loadingSemantic) Nearest(ctx context.Context, _ string, _ *notes.IDSet, _ int) ([]notes.SemanticHit, error) {
	select {
	case <-time.After(time.Until(m.after)):
		return m.hits, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// memory is a store in memory, for tests whose clock must not wait for SQLite.
type memory map[int64]*notes.Note

func memoryStore(t *testing.T, f *fixture) memory {
	m := memory{}
	page, err := f.store.List(context.Background(), notes.ListQuery{Limit: 1000})
	require.NoError(t, err)
	for _, n := range page.Notes {
		found, err := f.store.ByID(context.Background(), []int64{n.ID})
		require.NoError(t, err)
		m[n.ID] = found[0]
	}
	return m
}

func (m memory) ByID(_ context.Context, ids []int64) (out []*notes.Note, err error) {
	for _, id := range ids {
		if n := m[id]; n != nil {
			out = append(out, n)
		}
	}
	return out, nil
}

func (m memory) Metas(context.Context, []int64) ([]notes.Meta, error) { return nil, nil }

func (m memory) WhyNothing(context.Context, notes.Filter) ([]string, error) { return nil, nil }

func (m memory) Resolve(context.Context, notes.Filter) (*notes.IDSet, error) { return nil, nil }

func (m memory) ResolveSearch(context.Context, notes.Filter) (*notes.IDSet, error) { return nil, nil }

func (m memory) List(context.Context, notes.ListQuery) (notes.ListPage, error) {
	return notes.ListPage{}, nil
}

// Numbers are found by their digits: to a model, they are all close to each other.
func TestHybrid_Numbers(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"boats": .9, "cooking": .9}}
	f := withSemantic(t, m)
	f.write(map[string]string{"Book.md": "# Harbours\n\n978-0-374-27563-1"})
	r := f.search(search.Query{Text: "978-0-374-27563-1"})
	assert.Equal(t, []string{"Book"}, pathsOf(r))
	assert.False(t, r.Weak)
	assert.Empty(t, r.Notes)
	assert.Equal(t, search.StateReady, r.Semantic.State)
	assert.Equal(t, []string{"no note has these words"}, f.search(search.Query{Text: "+49 171 2345678"}).Notes)
	assert.Empty(t, m.asked)
	assert.NotEmpty(t, f.search(search.Query{Text: "978", Mode: search.ModeSemantic}).Hits)
}

// A code's parts stand together in one note, which notes with near passages do not displace
// before its text is read.
func TestHybrid_BestByWordsIsRead(t *testing.T) {
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{}}
	f := withSemantic(t, m)
	files := map[string]string{"Offer.md": "# Boiler\n\n" + strings.Repeat("Radiators and pipes. ", 12) + "Offer AN-25-0417 of the plumber.\n"}
	for i := range 80 {
		files[fmt.Sprintf("Day %d.md", i)] = "# Day\n\nRain.\n"
	}
	for i := range 20 {
		name := fmt.Sprintf("Bill of %d", 2000+i)
		files[name+".md"] = "# " + name + "\n\nNo. 25.\n"
		m.cosines[name] = .74
	}
	f.write(files)
	for _, limit := range []int{1, 5, 10, 20} {
		for _, query := range []string{"AN-25-0417", "who sent AN-25-0417"} {
			r := f.search(search.Query{Text: query, Limit: limit})
			assert.Equal(t, "Offer", pathsOf(r)[0], "%s, limit %d", query, limit)
			assert.Len(t, r.Hits, limit)
		}
	}
}
