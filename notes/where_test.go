package notes

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The filter reference lists every operator, and its examples are valid.
func TestReferenceOfFilters(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/queries.md")
	require.NoError(t, err)
	for operator := range whereOperators {
		assert.Contains(t, string(page), "`"+operator+"`")
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	assert.NotEmpty(t, examples)
	for _, example := range examples {
		var where map[string]any
		require.NoError(t, json.Unmarshal(example[1], &where))
		assert.NoError(t, CheckWhere(where), string(example[1]))
	}
}

// An empty condition would select everything, also for deletion.
func TestCheckWhere_Empty(t *testing.T) {
	for _, where := range []string{`{"v":{}}`, `{"a":1,"v":{}}`, `{"or":[]}`, `{"or":[{}]}`, `{"and":[{"a":1},{}]}`, `{"and":{}}`, `{"not":{}}`, `{"or":[{"v":{}}]}`} {
		var w map[string]any
		require.NoError(t, json.Unmarshal([]byte(where), &w))
		err := CheckWhere(w)
		require.ErrorIs(t, err, ErrInvalid, where)
		assert.ErrorContains(t, err, "a condition is empty")
	}
	assert.NoError(t, CheckWhere(map[string]any{}))
}

// A note's own fields take the place of those of its file, in any spelling, unless they are null.
func TestNote_Values(t *testing.T) {
	for frontMatter, title := range map[string]any{
		`{}`: "File", `{"": "x"}`: "File", `{"title": null}`: "File", `{"title": "Own"}`: "Own", `{"Ti-tle": "Own"}`: "Own",
		`{"Title": "Own", "title": "own"}`: "own", `{"titles": "x"}`: "File",
	} {
		n := &Note{Path: "Work/File.md", Title: "File", Inline: map[string]any{"file": "f"}}
		require.NoError(t, json.Unmarshal([]byte(frontMatter), &n.FrontMatter))
		values := n.Values()
		assert.Equal(t, title, FieldValue(values, "title"), frontMatter)
		assert.Equal(t, "Work", FieldValue(values, "folder"))
		assert.Equal(t, "f", FieldValue(values, "file"))
	}
}

// Conditions that name no field of the file match as with all fields.
func TestFilter_MatchesByFrontMatter(t *testing.T) {
	periods := Periods(nil)
	matched := 0
	var note Note
	for _, frontMatter := range []string{`null`, `{}`, `{"a": 1}`, `{"A": 1}`, `{"a": {"b": 1}}`, `{"title": 1, "Tags": "1 x", "file": {"size": 1}}`, `{"SIZE": 1, "a": null}`} {
		for _, inline := range []map[string]any{nil, {"a": "1"}} {
			n := &Note{Path: "1/1.md", Title: "1", Size: 1, Inline: inline, Tags: []string{"1"}}
			require.NoError(t, json.Unmarshal([]byte(frontMatter), &n.FrontMatter))
			for field := range n.Values() {
				for _, name := range []string{field, " " + field, field + ".b", field + ".name", field + ".tags", "a", "a.b", "none"} {
					for _, want := range []any{"1", nil, map[string]any{"ne": "1"}, map[string]any{"exists": true}} {
						for _, where := range []map[string]any{{name: want}, {"or": []any{map[string]any{name: want}, map[string]any{"x": 1}}}, {"not": map[string]any{name: want}}} {
							is := Filter{Where: where}.Matcher(periods)(n)
							require.Equal(t, periods.WhereMatches(where, n.Values()), is, "%s %v", frontMatter, where)
							if is {
								matched++
							}
						}
					}
				}
			}
		}
	}
	assert.Greater(t, matched, 1000)
	for field := range note.Values() {
		assert.True(t, isAdded(field), field)
	}
}

// Every part of the name of a nested field is compared ignoring case, exact names first.
func TestFieldValue_Nested(t *testing.T) {
	values := map[string]any{"My Project": map[string]any{"Status": "x", "Lead": map[string]any{"Name": "Ann"}}, "Plan": map[string]any{"a": 1}, "plan": map[string]any{"a": 2}, "text": "b"}
	for field, want := range map[string]any{"my-project.status": "x", "My Project.Status": "x", "MY_PROJECT.lead.name": "Ann", "plan.A": 2, "Plan.A": 1, "My Project.none": nil, "none.status": nil, "text.b": nil, ".": nil} {
		assert.Equal(t, want, FieldValue(values, field), field)
	}
}

// Tags are a list, whether the note has them as a list or as text.
func TestNote_ValuesOfTags(t *testing.T) {
	for _, written := range []any{"plan, #home/garden", "plan #home/garden", []any{"plan", "#home/garden"}} {
		for _, key := range []string{"tags", "Tags", "tag"} {
			n := &Note{FrontMatter: map[string]any{key: written, "": "x"}}
			assert.Equal(t, []any{"plan", "home/garden"}, n.Values()[key])
			assert.True(t, Periods(nil).WhereMatches(map[string]any{key: map[string]any{"has": "Plan"}}, n.Values()))
			assert.True(t, Periods(nil).WhereMatches(map[string]any{key: map[string]any{"has": "#home/garden", "nin": []any{"#other"}}}, n.Values()))
			assert.False(t, Periods(nil).WhereMatches(map[string]any{key: map[string]any{"not": map[string]any{"in": []any{"#plan"}}}}, n.Values()))
			assert.False(t, Periods(nil).WhereMatches(map[string]any{key: map[string]any{"has": "pla"}}, n.Values()))
		}
	}
	n := &Note{FrontMatter: map[string]any{"Tags": "plan"}, Tags: []string{"plan", "home"}} // the second in its text
	assert.Equal(t, []any{"plan", "home"}, n.Values()["Tags"])
	assert.True(t, Periods(nil).WhereMatches(map[string]any{"tags": map[string]any{"has": "home"}, "file.tags": map[string]any{"has": "home"}}, n.Values()))
	assert.True(t, Periods(nil).WhereMatches(map[string]any{"file.tags": map[string]any{"has": "#home"}}, n.Values()))
	assert.False(t, Periods(nil).WhereMatches(map[string]any{"file.tags": map[string]any{"exists": true}}, (&Note{}).Values()))
	n = &Note{Inline: map[string]any{"Tags": "alpha, beta"}, Tags: []string{"x"}} // as in a page of Notion's
	assert.Equal(t, []any{"alpha", "beta", "x"}, n.Values()["Tags"])
	for _, written := range []any{nil, []any{}} {
		assert.Equal(t, written, (&Note{FrontMatter: map[string]any{"tags": written}}).Values()["tags"])
	}
}
