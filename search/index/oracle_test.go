package index_test

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// oracle computes the results of an index from the terms of each field of each note.
type oracle map[int64]map[string][]string

// weights are the weights of the searched fields.
var weights = map[string]float64{"name": 4, "heading": 1, "tag": 2, "folder": 0.5, "body": 1}

// fieldsOf returns the terms of a note's fields.
func fieldsOf(n *notes.Note) map[string][]string {
	base := path.Base(n.Path)
	f := map[string][]string{
		"name": termsOf(append([]string{n.Title, strings.TrimSuffix(base, path.Ext(base))}, n.Aliases...)...),
		"tag":  termsOf(n.Tags...), "folder": termsOf(path.Dir(n.Path)), "body": termsOf(n.Content),
	}
	for _, h := range n.Headings {
		f["heading"] = append(f["heading"], termsOf(h.Text)...)
	}
	return f
}

// termsOf returns the terms of texts, in order.
func termsOf(texts ...string) []string {
	var all []string
	for _, text := range texts {
		for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
			for _, term := range terms.Expand(nil, text, s) {
				all = append(all, term.Text)
			}
			if n, ok := terms.Number(text, s); ok {
				all = append(all, n.Text)
			}
		}
	}
	return all
}

func count(all []string, is func(string) bool) (n int) {
	for _, term := range all {
		if is(term) {
			n++
		}
	}
	return n
}

// lookup returns a function that reports whether a term matches l.
func lookup(l index.Lookup) func(string) bool {
	return func(term string) bool { return term == l.Text || l.Prefix && strings.HasPrefix(term, l.Text) }
}

// holds reports whether a clause holds for a note.
func holds(fields map[string][]string, c index.Clause) bool {
	for _, term := range c.Terms {
		found := false
		for name, all := range fields {
			if len(c.Fields) == 0 || slices.Contains(c.Fields, name) {
				found = found || count(all, lookup(term)) > 0
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// matching returns the notes that a plan's clauses admit.
func (o oracle) matching(p index.Plan) []int64 {
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(o)) {
		holdsFor := func(c index.Clause) bool { return holds(o[id], c) }
		if !slices.ContainsFunc(p.Exclude, holdsFor) && !slices.ContainsFunc(p.Require, func(c index.Clause) bool { return !holdsFor(c) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// rank returns the scores of all notes with a term of the plan by the BM25F formula of the
// paper, plus .4 of the weight of terms in labels beside the name.
func (o oracle) rank(p index.Plan) map[int64]float64 {
	const k1, b = 1.2, 0.5
	length := 0.0
	for _, n := range o {
		length += float64(len(n["body"]))
	}
	average := max(1, length/float64(len(o)))
	scores, named, labelled := map[int64]float64{}, map[int64]bool{}, map[int64]float64{}
	for _, term := range p.Terms {
		is := lookup(term.Lookup)
		with, frequency := map[string]int{}, map[int64]float64{}
		for id, n := range o {
			for name, all := range n {
				if c := count(all, is); c > 0 {
					with[name]++
					frequency[id] += weights[name] * float64(c)
				}
			}
		}
		docs := 0
		for _, n := range with {
			docs = max(docs, n)
		}
		idf := math.Log(1 + (float64(len(o)-docs)+0.5)/(float64(docs)+0.5))
		for id, f := range frequency {
			norm := k1 * (1 - b + b*float64(len(o[id]["body"]))/average)
			scores[id] += idf * term.Weight * term.Times * f / (f + norm)
			if n := o[id]; slices.ContainsFunc(n["name"], is) {
				named[id] = true
			} else if slices.ContainsFunc(n["tag"], is) || slices.ContainsFunc(n["folder"], is) {
				labelled[id] += .4 * idf * term.Weight * term.Times
			}
		}
	}
	for id := range named {
		scores[id] += labelled[id]
	}
	return scores
}

var vocabulary = strings.Fields("apple apples pear plum été Straße node.js e-mail C++ 2026-01-15 机器学习 学习 ภาษาไทย snake_case parseHTTP don't 🚀 running über x_y")

func words(r *rand.Rand, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))] // makes some words frequent
	}
	return strings.Join(all, []string{" ", ", ", "\n"}[r.IntN(3)])
}

func someNote(r *rand.Rand, id int64) *notes.Note {
	n := &notes.Note{ID: id, Title: words(r, 1+r.IntN(2)), Content: words(r, r.IntN(60))}
	n.Path = fmt.Sprintf("%s/%s %d.md", []string{"apple", "a/pear", "plum"}[r.IntN(3)], vocabulary[r.IntN(3)], id)
	for range r.IntN(3) {
		n.Headings = append(n.Headings, notes.Heading{Text: words(r, 2)})
		n.Tags = append(n.Tags, vocabulary[r.IntN(4)])
		n.Aliases = append(n.Aliases, words(r, 1))
	}
	return n
}

func someLookup(r *rand.Rand) index.Lookup {
	all := termsOf(vocabulary...)
	l := index.Lookup{Text: all[r.IntN(len(all))]}
	if r.IntN(4) == 0 {
		if short := terms.ClipTo(l.Text, 3); short != "" {
			l.Text, l.Prefix = short, true
		}
	}
	return l
}

// somePlan returns a random plan of whole terms, with clauses of all kinds.
func somePlan(r *rand.Rand) index.Plan {
	var p index.Plan
	for range 1 + r.IntN(3) {
		l := someLookup(r)
		l.Prefix = false
		p.Terms = append(p.Terms, index.PlanTerm{Lookup: l, Weight: 0.5 + r.Float64(), Times: float64(1 + r.IntN(2))})
	}
	clause := func() index.Clause {
		c := index.Clause{Terms: []index.Lookup{someLookup(r)}}
		if r.IntN(2) == 0 {
			c.Terms = append(c.Terms, someLookup(r))
		}
		for _, name := range []string{"name", "tag", "body"} {
			if r.IntN(4) == 0 {
				c.Fields = append(c.Fields, name)
			}
		}
		return c
	}
	for range r.IntN(3) {
		p.Require = append(p.Require, clause())
	}
	for range r.IntN(2) {
		p.Exclude = append(p.Exclude, clause())
	}
	return p
}

func open(t *testing.T, dir string) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return x
}

func members(s *notes.IDSet, o oracle) []int64 {
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(o)) {
		if s.Has(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// apply applies the changed and deleted notes to the index.
func (o oracle) apply(t *testing.T, x *index.Index, all map[int64]*notes.Note, seq uint64, changed ...int64) {
	t.Helper()
	changes := make([]notes.Change, len(changed))
	for i, id := range changed {
		n := all[id]
		delete(o, id)
		changes[i] = notes.Change{Kind: notes.Deleted, NoteID: id}
		if n != nil {
			o[id] = fieldsOf(n)
			changes[i] = notes.Change{Kind: notes.Modified, NoteID: id, Parsed: n}
		}
	}
	require.NoError(t, x.Apply(t.Context(), notes.Position{Store: "s", Seq: seq}, changes))
}

// TestRank_Oracle compares scores with those of the formula, for notes in one and in many
// segments, and in every script.
func TestRank_Oracle(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := open(t, filepath.Join(t.TempDir(), "index"))
		o, all := oracle{}, map[int64]*notes.Note{}
		for batch := range 1 + r.IntN(5) {
			var ids []int64
			for range 1 + r.IntN(80) {
				id := int64(len(all) + 1)
				all[id] = someNote(r, id)
				ids = append(ids, id)
			}
			o.apply(t, x, all, uint64(batch+1), ids...)
			_, err := x.Matching(t.Context(), index.Plan{}, nil) // flushes, so that each batch is a segment
			require.NoError(t, err)
		}
		for range 30 {
			p := somePlan(r)
			want := o.rank(p)
			got, err := x.Rank(t.Context(), &p, nil, nil, 20)
			require.NoError(t, err)
			what := fmt.Sprintf("seed %d, %+v", seed, p.Terms)
			assert.Equal(t, []int{len(want), len(o)}, []int{got.Total, got.Docs}, what)
			require.Len(t, got.Best, min(20, len(want)), what)
			best := slices.SortedFunc(maps.Values(want), func(a, b float64) int { return -int(math.Copysign(1, a-b)) })
			for i, hit := range got.Best {
				assert.InEpsilon(t, want[hit.Note], hit.Score, 1e-4, what)
				assert.InEpsilon(t, best[i], hit.Score, 1e-4, what)
			}
			got.Release()
		}
		require.NoError(t, x.Close())
	}
}

// TestMatching_Oracle changes, deletes and moves notes, reopens and resets the index, and
// compares the notes that clauses admit and their scores with those of an index that only ever
// had the present notes, or the readable ones.
func TestMatching_Oracle(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 2))
		dir := filepath.Join(t.TempDir(), "index")
		x, o, all := open(t, dir), oracle{}, map[int64]*notes.Note{}
		for step := range 25 {
			var ids []int64
			for range 1 + r.IntN(12) {
				id := int64(1 + r.IntN(60))
				if r.IntN(3) == 0 {
					delete(all, id)
				} else {
					all[id] = someNote(r, id)
				}
				ids = append(ids, id)
			}
			o.apply(t, x, all, uint64(step+1), ids...)
			switch r.IntN(8) {
			case 0:
				require.NoError(t, x.Close())
				x = open(t, dir)
				if p, err := x.Position(); assert.NoError(t, err) && p.Seq != uint64(step+1) { // the latest changes may not have been saved
					every := make([]int64, 60)
					for i := range every {
						every[i] = int64(i + 1)
					}
					o.apply(t, x, all, uint64(step+1), every...)
				}
			case 1:
				require.NoError(t, x.Reset(t.Context()))
				o.apply(t, x, all, uint64(step+1), slices.Collect(maps.Keys(all))...)
			}
			stats, err := x.Stats()
			require.NoError(t, err)
			assert.Equal(t, []any{len(o), uint64(step + 1)}, []any{stats.Notes, stats.Position.Seq})
			p := somePlan(r)
			what := fmt.Sprintf("seed %d, step %d, %+v", seed, step, p)
			want := o.matching(p)
			set, err := x.Matching(t.Context(), p, nil)
			require.NoError(t, err)
			assert.Equal(t, want, members(set, o), what)
			assert.Equal(t, len(want), set.Len(), what)

			readable, part := &notes.IDSet{}, oracle{}
			for id, n := range o {
				if r.IntN(2) == 0 {
					readable.Add(id)
					part[id] = n
				}
			}
			for _, all := range []struct {
				oracle
				readable *notes.IDSet
			}{{o, nil}, {part, readable}} {
				scored, admitted := all.rank(p), &notes.IDSet{}
				for id := range all.oracle {
					if set.Has(id) {
						admitted.Add(id)
					}
				}
				maps.DeleteFunc(scored, func(id int64, _ float64) bool { return !slices.Contains(want, id) })
				ranking, err := x.Rank(t.Context(), &p, all.readable, admitted, 1000)
				require.NoError(t, err)
				assert.Equal(t, []int{len(scored), len(all.oracle)}, []int{ranking.Total, ranking.Docs}, what)
				for i, hit := range ranking.Best {
					assert.InEpsilon(t, scored[hit.Note], hit.Score, 1e-4, what)
					if i > 0 {
						assert.GreaterOrEqual(t, ranking.Best[i-1].Score, hit.Score, what)
					}
				}
				assert.Len(t, ranking.TextOf(admitted), len(scored), what)
				ranking.Release()
			}
		}
		require.NoError(t, x.Close())
	}
}

// TestRank_PrefixesAndFamilies checks the expansion of prefixes and families.
func TestRank_PrefixesAndFamilies(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer func() { assert.NoError(t, x.Close()) }()
	all := map[int64]*notes.Note{}
	for i, text := range []string{"Gärten", "Gartens", "Garten", "Gärtner", "gardening", "Gar"} {
		all[int64(i+1)] = &notes.Note{ID: int64(i + 1), Path: fmt.Sprintf("%d.md", i+1), Content: text}
	}
	oracle{}.apply(t, x, all, 1, 1, 2, 3, 4, 5, 6)
	find := func(term index.PlanTerm) (ids []int64) {
		term.Weight, term.Times = 1, 1
		p := index.Plan{Terms: []index.PlanTerm{term}}
		ranking, err := x.Rank(t.Context(), &p, nil, nil, 10)
		require.NoError(t, err)
		defer ranking.Release()
		for _, hit := range ranking.Best {
			ids = append(ids, hit.Note)
		}
		slices.Sort(ids)
		return ids
	}
	assert.Equal(t, []int64{3}, find(index.PlanTerm{Lookup: index.Lookup{Text: "garten"}})[2:], "of others only with their forms")
	assert.Equal(t, []int64{1, 2, 3, 4, 5, 6}, find(index.PlanTerm{Lookup: index.Lookup{Text: "gar", Prefix: true}}))

	p := index.Plan{Terms: []index.PlanTerm{
		{Lookup: index.Lookup{Text: "garten"}, Family: true, Weight: 1, Times: 1},
		{Lookup: index.Lookup{Text: "gar", Prefix: true}, Weight: 1, Times: 1},
	}}
	ranking, err := x.Rank(t.Context(), &p, nil, nil, 10)
	require.NoError(t, err)
	defer ranking.Release()
	assert.Equal(t, []string{"gartner"}, p.Terms[0].Others)
	assert.Equal(t, []string{"garten", "garden", "gartner"}, p.Terms[1].Others, "without the term itself, which would count twice")
}
