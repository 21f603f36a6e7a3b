package search_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
)

// manyNotes returns n notes on the same topic, each a little longer than the one before, so
// that their order is known.
func manyNotes(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		text := "harbour"
		for range i {
			text += " filler"
		}
		files[fmt.Sprintf("Notes/%03d.md", i)] = text
	}
	return files
}

// allPages follows the cursors of a query to the last page.
func (f *fixture) allPages(q search.Query, between func(page int)) []string {
	f.t.Helper()
	var out []string
	for page := 0; ; page++ {
		r := f.search(q)
		out = append(out, pathsOf(r)...)
		require.Equal(f.t, r.Next != "", r.Truncated)
		if q.Cursor = r.Next; q.Cursor == "" {
			return out
		}
		require.Less(f.t, page, 200, "the pages never end")
		between(page)
	}
}

func TestSearch_Pages(t *testing.T) {
	f := newFixture(t, manyNotes(130))
	q := search.Query{Text: "harbour", Mode: search.ModeText, Limit: 7}
	got := f.allPages(q, func(int) {})
	require.Len(t, got, 130, "beyond what is ranked at first")
	assert.Equal(t, "Notes/000", got[0])
	assert.IsIncreasing(t, got)
	q.Limit = 50
	assert.Equal(t, got, f.allPages(q, func(int) {}))
}

// A thousand notes that a filter selects can be paged through, and no cursor leads beyond them.
func TestSearch_PagesOfAFilter(t *testing.T) {
	f := newFixture(t, nil)
	f.engine = search.NewEngine(manyListed{f.store}, f.index, nil, search.EngineOptions{})
	got := f.allPages(search.Query{Text: "has:todo", Limit: 50}, func(int) {})
	require.Len(t, got, 1000)
	assert.IsIncreasing(t, got)
}

// manyListed lists 2500 notes, in pages smaller than the limit.
type manyListed struct{ search.Store }

func (manyListed) ResolveSearch(context.Context, notes.Filter) (*notes.IDSet, error) { return nil, nil }

func (manyListed) List(_ context.Context, q notes.ListQuery) (notes.ListPage, error) {
	from, _ := strconv.Atoi(q.Cursor)
	page := notes.ListPage{Total: 2500, Next: strconv.Itoa(from + q.Limit - 1)}
	for id := from + 1; id < from+q.Limit; id++ {
		page.Notes = append(page.Notes, notes.Meta{ID: int64(id)})
	}
	return page, nil
}

func (manyListed) ByID(_ context.Context, ids []int64) (out []*notes.Note, err error) {
	for _, id := range ids {
		out = append(out, &notes.Note{ID: id, Path: fmt.Sprintf("%04d.md", id)})
	}
	return out, nil
}

// After the fused notes, the pages of a hybrid search have the others found by words.
func TestSearch_HybridPages(t *testing.T) {
	m := &fakeSemantic{cosines: map[string]float64{"Notes/120": .9}, weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}}
	f := newFixtureWith(t, manyNotes(130), m)
	m.store = f.store
	got := f.allPages(search.Query{Text: "harbour", Limit: 50}, func(int) {})
	slices.Sort(got)
	require.Len(t, slices.Compact(got), 130)
}

// All pages of a hybrid search together have a thousand hits, however many notes have the words.
func TestSearch_HybridPagesOfManyNotes(t *testing.T) {
	files := map[string]string{}
	m := &fakeSemantic{cosines: map[string]float64{}, weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}}
	for i := range 1100 {
		files[fmt.Sprintf("Words/%04d.md", i)] = "harbour"
	}
	for i := range 60 {
		files[fmt.Sprintf("Alike/%02d.md", i)] = "quay"
		m.cosines[fmt.Sprintf("Alike/%02d", i)] = .9
	}
	f := newFixtureWith(t, files, m)
	m.store = f.store
	for _, limit := range []int{7, 50} {
		got := f.allPages(search.Query{Text: "harbour", Limit: limit}, func(int) {})
		slices.Sort(got)
		assert.Len(t, slices.Compact(got), 1000)
	}
}

func TestSearch_PagesWhileNotesChange(t *testing.T) {
	f := newFixture(t, manyNotes(40))
	q := search.Query{Text: "harbour", Mode: search.ModeText, Limit: 8}
	got := f.allPages(q, func(page int) {
		f.write(map[string]string{
			fmt.Sprintf("Notes/%03d.md", page):       "harbour harbour harbour moved to the front", // already shown
			fmt.Sprintf("Notes/%03d.md", 39-page):    "",                                           // not yet shown: deleted
			fmt.Sprintf("Notes/new-%d.md", page):     "harbour",
			fmt.Sprintf("Notes/%03d.md", 20+page*2):  "nothing any more", // shown at most once
			fmt.Sprintf("Notes/other-%d.md", page*2): "filler",
		})
	})
	seen := map[string]int{}
	for _, p := range got {
		seen[p]++
		assert.Equal(t, 1, seen[p], p)
	}
	for i := range 20 {
		assert.Contains(t, seen, fmt.Sprintf("Notes/%03d", i))
	}
	assert.NotContains(t, seen, "Notes/039")
}

func TestSearch_PageOfEvictedList(t *testing.T) {
	f := newFixture(t, manyNotes(30))
	q := search.Query{Text: "harbour", Mode: search.ModeText}
	first := f.search(q)
	for i := range 100 { // more than the engine caches
		f.search(search.Query{Text: fmt.Sprintf("harbour %d", i)})
	}
	q.Cursor = first.Next
	second := f.search(q)
	assert.Equal(t, "Notes/010", pathsOf(second)[0], "made again")
	again := search.NewEngine(f.store, f.index, nil, search.EngineOptions{})
	r, err := again.Search(context.Background(), q)
	require.NoError(t, err, "another process")
	assert.Equal(t, pathsOf(second), pathsOf(r))
}

func TestSearch_CursorOfAnotherQuery(t *testing.T) {
	f := newFixture(t, manyNotes(30))
	first := f.search(search.Query{Text: "harbour", Filter: notes.Filter{Folder: "Notes"}})
	for name, q := range map[string]search.Query{
		"text":   {Text: "filler", Filter: notes.Filter{Folder: "Notes"}},
		"filter": {Text: "harbour"},
		"scope":  {Text: "harbour", Filter: notes.Filter{Folder: "Notes", Scope: []string{"Notes"}}},
		"mode":   {Text: "harbour", Filter: notes.Filter{Folder: "Notes"}, Mode: search.ModeText},
	} {
		t.Run(name, func(t *testing.T) {
			q.Cursor = first.Next
			_, err := f.engine.Search(context.Background(), q)
			assert.ErrorIs(t, err, notes.ErrInvalid)
		})
	}
}

// An age in a filter, such as 36h, is another moment on each page.
func TestSearch_PagesOfAnAge(t *testing.T) {
	f := newFixture(t, manyNotes(30))
	since := today.AddDate(-1, 0, 0)
	q := search.Query{Text: "harbour", Mode: search.ModeText, Filter: notes.Filter{After: since, Before: since.AddDate(100, 0, 0)}}
	first := f.search(q)
	q.Cursor = first.Next
	q.Filter.After, q.Filter.Before = q.Filter.After.Add(1), q.Filter.Before.Add(1)
	second := f.search(q)
	assert.Equal(t, "Notes/010", pathsOf(second)[0])
	assert.Len(t, second.Hits, 10)
	q.Filter.Before = time.Time{}
	_, err := f.engine.Search(context.Background(), q)
	assert.ErrorIs(t, err, notes.ErrInvalid, "a query without the bound")
}

// A note that leaves the caller's scope between two pages is not shown.
func TestSearch_PagesFollowScopeChanges(t *testing.T) {
	f := newFixture(t, manyNotes(30))
	q := search.Query{Text: "harbour", Mode: search.ModeText, Filter: notes.Filter{Scope: []string{"Notes"}}}
	q.Cursor = f.search(q).Next
	f.write(map[string]string{"Notes/012.md": "", "Secret/012.md": manyNotes(30)["Notes/012.md"]})
	assert.NotContains(t, pathsOf(f.search(q)), "Secret/012")
}

func TestSearch_DropsDeletedNotes(t *testing.T) {
	f := newFixture(t, manyNotes(5))
	gone := goneStore{f.store, 3}
	e := search.NewEngine(gone, f.index, nil, search.EngineOptions{})
	r, err := e.Search(context.Background(), search.Query{Text: "harbour"})
	require.NoError(t, err)
	assert.Len(t, r.Hits, 4)
	for _, h := range r.Hits {
		assert.NotEqual(t, int64(3), h.NoteID)
	}
}

// goneStore is a store without a note that the index still has.
type goneStore struct {
	search.Store
	id int64
}

func (s goneStore) ByID(ctx context.Context, ids []int64) ([]*notes.Note, error) {
	found, err := s.Store.ByID(ctx, ids)
	return slices.DeleteFunc(found, func(n *notes.Note) bool { return n.ID == s.id }), err
}

// The words to mark in a snippet include the forms in which it has the words of the query.
func TestSearch_Forms(t *testing.T) {
	f := newFixture(t, map[string]string{"Boat.md": "# Boat\n\nWe studied the harbours where she receives guests.\n", "Other.md": "# Other\n\nNothing.\n"})
	for query, want := range map[string][]string{
		"harbour":       {"harbour", "harbours"},
		"studying boat": {"boat", "studying", "studied"},
		"resceives":     {"resceives", "receives"},
		"guests":        {"guests"},
	} {
		assert.ElementsMatch(t, want, f.search(search.Query{Text: query, Mode: search.ModeText}).Hits[0].Why.Words(), query)
	}
}
