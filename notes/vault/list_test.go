package vault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// TestList_PagesWithEqualKeys checks that notes with equal sort values are ordered
// by id, so that pages neither repeat nor skip any.
func TestList_PagesWithEqualKeys(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	same := time.Now().Add(-time.Hour)
	want := map[string]bool{}
	for i := range 30 {
		name := fmt.Sprintf("d%d/n.md", i) // same title and size
		f.write(name, "text")
		require.NoError(t, os.Chtimes(filepath.Join(f.dir, filepath.FromSlash(name)), same, same))
		want[name] = true
	}
	f.reconcile()
	for by := range map[string]bool{"modified": true, "date": true, "created": true, "size": true, "title": true, "path": true} {
		for _, limit := range []int{1, 7, 29, 30, 31} {
			got := map[string]bool{}
			cursor := ""
			for {
				page, err := f.List(ctx, notes.ListQuery{Sort: by, Limit: limit, Cursor: cursor})
				require.NoError(t, err)
				assert.Equal(t, 30, page.Total)
				for _, m := range page.Notes {
					require.False(t, got[m.Path], "%s twice by %s", m.Path, by)
					got[m.Path] = true
				}
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			assert.Equal(t, want, got, "by %s, %d a page", by, limit)
		}
	}
	_, err := f.List(ctx, notes.ListQuery{Cursor: "garbage"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.List(ctx, notes.ListQuery{Sort: "colour"})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

func TestFilters(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t,
		"A.md", "---\ntags: [Work/Urgent]\nstatus: open\ndue: 2026-01-15\npeople: [\"[[Ann]]\", Bob]\nn: 3\ndate: 2026-01-10\n---\n- [ ] do\n[[B]] [[nowhere]]\n",
		"B.md", "---\nstatus: Closed\ndue: 2026-03-01\nn: 10\nnested: {deep: x}\ndate: 2026-02-10\n---\n#home\n",
		"Sub Folder/C.md", "lonely\n", "sub/D.md", "#work\n[[A]]\n")
	tests := []struct {
		name string
		f    notes.Filter
		want []string
	}{
		{"nothing", notes.Filter{}, []string{"A.md", "B.md", "Sub Folder/C.md", "sub/D.md"}},
		{"folder, any case", notes.Filter{Folder: "sub folder"}, []string{"Sub Folder/C.md"}},
		{"folder is not a prefix", notes.Filter{Folder: "sub"}, []string{"sub/D.md"}},
		{"nested tags", notes.Filter{Tags: []string{"#work"}}, []string{"A.md", "sub/D.md"}},
		{"not tags", notes.Filter{NotTags: []string{"work/urgent"}}, []string{"B.md", "Sub Folder/C.md", "sub/D.md"}},
		{"glob on names", notes.Filter{Glob: "[ab].md"}, []string{"A.md", "B.md"}},
		{"glob on paths", notes.Filter{Glob: "sub*/**"}, []string{"Sub Folder/C.md", "sub/D.md"}},
		{"path prefix", notes.Filter{Paths: []string{"sub"}}, []string{"Sub Folder/C.md", "sub/D.md"}},
		{"not path", notes.Filter{NotPaths: []string{"sub"}}, []string{"A.md", "B.md"}},
		{"todo", notes.Filter{HasTodo: true}, []string{"A.md"}},
		{"orphans", notes.Filter{Orphans: true}, []string{"Sub Folder/C.md"}},
		{"broken links", notes.Filter{BrokenLinks: true}, []string{"A.md"}},
		{"between", notes.Filter{After: time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local), Before: time.Date(2026, 2, 1, 0, 0, 0, 0, time.Local)}, []string{"A.md"}},
		{"scope", notes.Filter{Scope: []string{"sub"}}, []string{"sub/D.md"}},
		{"no scope", notes.Filter{Scope: []string{}}, nil},
		{"equal, any case", notes.Filter{Where: map[string]any{"status": "closed"}}, []string{"B.md"}},
		{"dates", notes.Filter{Where: map[string]any{"due": map[string]any{"lt": "2026-02-01"}}}, []string{"A.md"}},
		{"numbers", notes.Filter{Where: map[string]any{"n": map[string]any{"gt": 5}}}, []string{"B.md"}},
		{"has", notes.Filter{Where: map[string]any{"people": map[string]any{"has": "Ann"}}}, []string{"A.md"}},
		{"in", notes.Filter{Where: map[string]any{"status": map[string]any{"in": []any{"open", "x"}}}}, []string{"A.md"}},
		{"nested", notes.Filter{Where: map[string]any{"nested.deep": "x"}}, []string{"B.md"}},
		{"exists", notes.Filter{Where: map[string]any{"status": map[string]any{"exists": false}}}, []string{"Sub Folder/C.md", "sub/D.md"}},
	}
	for _, tt := range tests {
		page, err := f.List(ctx, notes.ListQuery{Filter: tt.f, Sort: "path"})
		require.NoError(t, err, tt.name)
		var got []string
		for _, m := range page.Notes {
			got = append(got, m.Path)
		}
		assert.ElementsMatch(t, tt.want, got, tt.name)
		assert.Equal(t, len(tt.want), page.Total, tt.name)
		set, err := f.store.Resolve(ctx, tt.f)
		require.NoError(t, err)
		if tt.f.IsZero() {
			assert.Nil(t, set)
			continue
		}
		assert.Equal(t, len(tt.want), set.Len(), tt.name)
	}
	for _, bad := range []notes.Filter{{Glob: "[a"}, {Where: map[string]any{"x": map[string]any{"like": 1}}}} {
		_, err := f.store.Resolve(ctx, bad)
		require.ErrorIs(t, err, notes.ErrInvalid)
		domainError(t, err)
	}
}

func TestLookup(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Projects/Plan.md", "---\naliases: [The Big One]\ntitle: A Plan\n---\n", "Archive/Plan.md", "old", "Ärger.md", "x", "Only.md", "y")
	for ref, want := range map[string]string{
		"Projects/Plan.md": "Projects/Plan.md", "Projects/Plan": "Projects/Plan.md", "projects/plan": "Projects/Plan.md", "the big one": "Projects/Plan.md",
		"A Plan": "Projects/Plan.md", "note:///Projects/Plan.md": "Projects/Plan.md", "note:///Projects%2FPlan.md": "Projects/Plan.md", "[[Only#h|x]]": "Only.md", "ärger": "Ärger.md", "only.MD": "Only.md",
	} {
		meta, err := f.Lookup(ctx, ref, notes.Scope{})
		require.NoError(t, err, ref)
		assert.Equal(t, want, meta.Path, ref)
	}
	_, err := f.Lookup(ctx, "Plan", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	assert.Equal(t, []string{"Archive/Plan.md", "Projects/Plan.md"}, domainError(t, err).Candidates)
	meta, err := f.Lookup(ctx, "Plan", notes.Scope{Read: []string{"Archive"}})
	require.NoError(t, err, "what is out of scope does not exist")
	assert.Equal(t, "Archive/Plan.md", meta.Path)
	_, err = f.Lookup(ctx, "Onlyy", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.Equal(t, []string{"Only.md"}, domainError(t, err).Candidates)
	_, err = f.Lookup(ctx, "../etc", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.Lookup(ctx, " ", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrInvalid)

	f = newFixture(t, "项目计划.md", "x", "2026 Project plan for the garden.md", "x", "Other.md", "x")
	for part, want := range map[string]string{"计划": "项目计划.md", "plan": "2026 Project plan for the garden.md"} {
		_, err = f.Lookup(context.Background(), part, notes.Scope{})
		assert.Equal(t, []string{want}, domainError(t, err).Candidates, "a name that has it in it")
	}
}

// TestFiltersAreBounded checks that a filter of any size does not affect other clients and
// is not an internal error.
func TestFiltersAreBounded(t *testing.T) {
	notestest.SkipInShort(t)
	ctx := context.Background()
	f := newFixture(t, "a.md", "#one\n")
	many := slices.Repeat([]string{"one"}, 10_000)
	for name, filter := range map[string]notes.Filter{
		"tags": {Tags: many}, "tags not": {NotTags: many}, "paths": {Paths: many}, "paths not": {NotPaths: many},
		"alternatives": {Glob: strings.Repeat("{?,?}", 34) + "zzz"}, "a long glob": {Glob: strings.Repeat("*a", 5000)},
	} {
		_, err := f.List(ctx, notes.ListQuery{Filter: filter})
		require.ErrorIs(t, err, notes.ErrInvalid, name)
		assert.Contains(t, err.Error(), "at most", name)
		_, err = f.store.Resolve(ctx, filter)
		require.ErrorIs(t, err, notes.ErrInvalid, name)
	}
	page, err := f.List(ctx, notes.ListQuery{Filter: notes.Filter{Tags: many[:100], NotTags: slices.Repeat([]string{"two"}, 100), Paths: slices.Repeat([]string{"a"}, 100), NotPaths: slices.Repeat([]string{"b"}, 100)}})
	require.NoError(t, err)
	assert.Equal(t, 1, page.Total)
	for _, filter := range []notes.Filter{{Tags: many[:notes.MaxConditions]}, {NotPaths: many[:notes.MaxConditions]}, {Glob: strings.Repeat("{?,?}", 4)}, {Glob: strings.Repeat("*a", 512)}} {
		_, err := f.List(ctx, notes.ListQuery{Filter: filter})
		require.NoError(t, err)
	}
}
