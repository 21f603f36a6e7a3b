package notes_test

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

func TestScope(t *testing.T) {
	for _, tt := range []struct {
		scope       notes.Scope
		p           string
		read, write bool
	}{
		{notes.Scope{}, "a/b.md", true, true},
		{notes.Scope{ReadOnly: true}, "a/b.md", true, false},
		{notes.Scope{Read: []string{"A/"}}, "a/b.md", true, true},
		{notes.Scope{Read: []string{"a"}}, "ab/c.md", false, false},
		{notes.Scope{Read: []string{}}, "a.md", false, false},
		{notes.Scope{Read: []string{"Ü"}}, "u\u0308/x.md", true, true},
		{notes.Scope{Read: []string{"a"}, Write: []string{"a/in", "b"}}, "a/x.md", true, false},
		{notes.Scope{Read: []string{"a"}, Write: []string{"a/in", "b"}}, "a/in/x.md", true, true},
		{notes.Scope{Read: []string{"a"}, Write: []string{"a/in", "b"}}, "b/x.md", false, false},
		{notes.Scope{Write: []string{}}, "a.md", true, false},
		{notes.Scope{Read: []string{"a/Plan.md"}}, "a/Plan.md", true, true},
	} {
		assert.Equal(t, tt.read, tt.scope.CanRead(tt.p), "read %s with %v", tt.p, tt.scope)
		assert.Equal(t, tt.write, tt.scope.CanWrite(tt.p), "write %s with %v", tt.p, tt.scope)
	}
}

func TestIgnore(t *testing.T) {
	ig, err := notes.NewIgnore([]string{"*.tmp.md", " Archive/ ", "/Work/**/secret", "", "draft-[0-9]*", "{x,y}z", "/Top", "u\u0308"})
	require.NoError(t, err)
	for _, p := range []string{".obsidian", ".git/config", "a/.hidden/b.md", "a.tmp.md", "deep/in/a.tmp.md", "Archive", "Archive/a.md", "b/Archive/c/d.md", "Work/a/b/secret/x.md", "Work/secret/x.md", "draft-1.md", "xz/a.md", "c/yz", "node_modules/x/README.md", "site/node_modules", "$RECYCLE.BIN/S-1-5/$R0.md", "$Recycle.Bin", "logseq/bak/pages/x.md", "work/logseq/bak", "Top/a.md", "ü/a.md"} {
		assert.True(t, ig.Match(p), p)
	}
	for _, p := range []string{"a.md", "Archives/a.md", "Work/a.md", "secret/a.md", "draft-a.md", "a..md", "wz", "node_modules.md", "$Recycle.md", "logseq/bakery.md", "logseq/pages/bak/x.md", "build/a.md", "b/Top/a.md"} {
		assert.False(t, ig.Match(p), p)
	}
	assert.True(t, ig.Match("Archive/a.md"))
	assert.False(t, ig.MatchOne("Archive/a.md"), "the folder was judged before")
	_, err = notes.NewIgnore([]string{"[a-"})
	require.ErrorContains(t, err, "[a-")
}

func TestExclusions(t *testing.T) {
	rules := &notes.Exclusions{Prefixes: []string{"templates/"}, Patterns: []notes.ExclusionPattern{{Regexp: regexp.MustCompile(`^Old/`)}}}
	selects := func(f notes.Filter, p string) bool {
		f.Exclude = rules.ForFilter(f)
		return f.MatchesNote(notes.Parse(p, nil, time.Time{}), nil)
	}
	assert.True(t, selects(notes.Filter{}, "Plan.md"))
	assert.False(t, selects(notes.Filter{}, "Templates/Daily.md"))
	assert.False(t, selects(notes.Filter{}, "Old/Plan.md"))
	assert.True(t, selects(notes.Filter{Folder: "Templates"}, "Templates/Daily.md"), "a filter that names the place means it")
	assert.True(t, selects(notes.Filter{Paths: []string{"old/", "Old/"}}, "Old/Plan.md"))
	assert.False(t, selects(notes.Filter{Folder: "Work"}, "Templates/Daily.md"))
	assert.True(t, selects(notes.Filter{Scope: []string{"Templates"}}, "Templates/Daily.md"), "nothing else may be read")
	assert.True(t, (*notes.Exclusions)(nil).IsZero())
	assert.False(t, rules.IsZero())
	assert.False(t, (&notes.Exclusions{Prefixes: []string{"a/"}}).IsZero())
}

// IDSet is compared with a map.
func TestIDSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var set notes.IDSet
	ids := map[int64]bool{}
	for range 2000 {
		id := rng.Int64N(5000)
		set.Add(id)
		ids[id] = true
	}
	assert.Equal(t, len(ids), set.Len())
	for id := int64(-1); id < 6000; id++ {
		require.Equal(t, ids[id], set.Has(id), "%d", id)
	}
	assert.True(t, (*notes.IDSet)(nil).Has(7), "no set is no filter")
	assert.False(t, new(notes.IDSet).Has(7))
}

// A filter with any field set is not zero. If a scope were mistaken for no filter,
// every note would be shown.
func TestFilter_IsZero(t *testing.T) {
	fields := reflect.TypeFor[notes.Filter]()
	for i := range fields.NumField() {
		f := notes.Filter{}
		field := reflect.ValueOf(&f).Elem().Field(i)
		switch field.Interface().(type) {
		case string:
			field.SetString("a")
		case bool:
			field.SetBool(true)
		case []string:
			field.Set(reflect.ValueOf([]string{"a"}))
		case map[string]any:
			field.Set(reflect.ValueOf(map[string]any{"a": 1}))
		case time.Time:
			field.Set(reflect.ValueOf(time.Unix(0, 0)))
		case *notes.Exclusions:
			field.Set(reflect.ValueOf(&notes.Exclusions{}))
		default:
			t.Fatal(field.Type())
		}
		assert.False(t, f.IsZero(), fields.Field(i).Name)
	}
	assert.False(t, notes.Filter{Scope: []string{}}.IsZero(), "a scope of nothing")
}

func TestFilter_Bounded(t *testing.T) {
	assert.True(t, notes.Filter{}.IsZero())
	many := make([]string, notes.MaxConditions)
	require.NoError(t, notes.Filter{Tags: many}.Check())
	for name, f := range map[string]notes.Filter{
		"tags and paths": {Tags: many, NotPaths: []string{"a"}},
		"malformed glob": {Glob: "[a"},
		"long glob":      {Glob: strings.Repeat("a", 2000)},
		"alternatives":   {Glob: strings.Repeat("{a,b}", 5)},
		"where":          {Where: map[string]any{"a": map[string]any{"like": 1}}},
		"conditions":     {Where: map[string]any{"or": slices.Repeat([]any{map[string]any{"a": 1}}, notes.MaxConditions)}},
		"nesting":        {Where: nested(9)},
		"no conditions":  {Where: map[string]any{"or": []any{}}},
		"no operator":    {Where: map[string]any{"a": map[string]any{"": 1}}},
	} {
		assert.ErrorIs(t, f.Check(), notes.ErrInvalid, name)
		assert.False(t, f.IsZero(), name)
	}
	require.NoError(t, notes.Filter{Glob: strings.Repeat("{a,b}", 4)}.Check())
	require.NoError(t, notes.Filter{Where: nested(8)}.Check())
}

// nested returns a condition in n others.
func nested(n int) map[string]any {
	where := map[string]any{"a": 1}
	for range n {
		where = map[string]any{"not": where}
	}
	return where
}

// An operator that does not exist is rejected in every "not" of a condition, which has
// two spellings.
func TestCheckWhere_EveryNot(t *testing.T) {
	for range 20 { // map iteration order is random
		require.ErrorContains(t, notes.CheckWhere(map[string]any{"a": map[string]any{
			"not": map[string]any{"not": map[string]any{"like": 1}}, "$not": map[string]any{"eq": 1},
		}}), `unknown operator "like"`)
	}
}

func TestSections(t *testing.T) {
	n := notes.Parse("Plan.md", []byte("---\na: b\n---\n# Plan\nintro\n## Risks\none ^id1\n## Risks\ntwo\n\n# Other\n### Risks\nthree\n> # Quoted\n"), time.Time{})
	lines := func(ref string) [2]int {
		first, last, err := n.Section(ref)
		require.NoError(t, err, ref)
		return [2]int{first, last}
	}
	assert.Equal(t, [2]int{4, 10}, lines("Plan"))
	assert.Equal(t, [2]int{12, 14}, lines("Other > Risks"))
	assert.Equal(t, [2]int{12, 14}, lines("#Other#Risks"))
	assert.Equal(t, [2]int{8, 10}, lines("Risks (line 8)"))
	assert.Equal(t, [2]int{7, 7}, lines("^id1"))
	_, _, err := n.Section("Risks")
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"Plan > Risks (line 6)", "Plan > Risks (line 8)", "Other > Risks (line 12)"}, e.Candidates)
	for _, ref := range e.Candidates {
		_, _, err := n.Section(ref)
		require.NoError(t, err, "what an error lists is taken: %s", ref)
	}
	_, _, err = n.Section("Chances")
	require.ErrorIs(t, err, notes.ErrNotFound)
	_, _, err = notes.Parse("Empty.md", nil, time.Time{}).Section("Plan")
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Hint, "no headings")

	for _, ref := range n.HeadingRefs() {
		_, _, err := n.Section(ref)
		require.NoError(t, err, ref)
	}
	assert.Len(t, n.HeadingRefs(), 5)
	sections := n.Outline()
	assert.Equal(t, notes.OutlineItem{Heading: "Plan", Level: 1, LineStart: 4, LineEnd: 10, Bytes: len("# Plan\nintro\n## Risks\none ^id1\n## Risks\ntwo\n\n")}, sections[0])
}

// Comments at the end of a note, where plugins keep data, are in no section: reading
// the last section returns the text that an edit would replace, and its size agrees.
func TestSections_BeforeFinalComments(t *testing.T) {
	n := notes.Parse("Board.md", []byte("# Plan\n## Done\n- a\n\n%% kanban:settings\n{}\n%%\n"), time.Time{})
	_, last, err := n.Section("Plan")
	require.NoError(t, err)
	for _, section := range n.Outline() {
		assert.Equal(t, last, section.LineEnd, section.Heading)
	}
	assert.Equal(t, len("# Plan\n## Done\n- a\n\n"), n.Outline()[0].Bytes)
}

func TestBindRequest(t *testing.T) {
	bound := notes.BindRequest("key", "edit_note", map[string]any{"note": "A"})
	assert.Equal(t, bound, notes.BindRequest("key", "edit_note", map[string]any{"note": "A"}))
	assert.NotEqual(t, bound, notes.BindRequest("key", "edit_note", map[string]any{"note": "B"}))
	assert.True(t, strings.HasPrefix(bound, "key\x00"))
	assert.Empty(t, notes.BindRequest("", "edit_note"), "no key: nothing to repeat")
}

func TestHistoryLimits(t *testing.T) {
	defaults := notes.HistoryLimits{}.WithDefaults()
	assert.Equal(t, notes.HistoryLimits{Revisions: 200, Age: 10 * 365 * 24 * time.Hour, Bytes: 1 << 30}, defaults)
	set := notes.HistoryLimits{Revisions: 1, Age: time.Hour, Bytes: 1}
	assert.Equal(t, set, set.WithDefaults())
}
