package edit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown/edit"
)

// A key is set where the note has it: front matter with another value for the key of a page
// property would give it two, and Logseq reads properties only at the beginning of a page.
func TestSetFrontMatter_Properties(t *testing.T) {
	const page, notion = "type:: person\nalias:: Ann\n\n- tea\n", "# Task\n\nStatus: To do\nDue: May 2, 2025\n\nText\n"
	for _, test := range []struct {
		src, key string
		value    any
		notion   bool
		want     string
	}{
		{page, "type", "project", false, "type:: project\nalias:: Ann\n\n- tea\n"},
		{page, "ALIAS", []any{"Ann", "A. Lee"}, false, "type:: person\nalias:: Ann, A. Lee\n\n- tea\n"},
		{page, "due", "[[Nov 30th, 2026]]", false, "type:: person\nalias:: Ann\ndue:: [[Nov 30th, 2026]]\n\n- tea\n"},
		{page, "type", nil, false, "alias:: Ann\n\n- tea\n"},
		{"a:: 1", "b", float64(2), false, "a:: 1\nb:: 2"},
		{"a:: 1", "a", true, false, "a:: true"},
		{"---\nx: 1\n---\na:: 1\n", "a", "2", false, "---\nx: 1\n---\na:: 2\n"},
		{"---\nx: 1\n---\na:: 1\n", "b", "2", false, "---\nx: 1\nb: \"2\"\n---\na:: 1\n"},
		{"---\na: 1\n---\na:: 1\n", "a", "2", false, "---\na: 2\n---\na:: 1\n"},
		{"# A\r\n\r\nOwner:: [[Ann]]\r\nBudget:: 4\r\n\r\nText", "budget", 5.0, false, "# A\r\n\r\nOwner:: [[Ann]]\r\nBudget:: 5\r\n\r\nText"},
		{"---\nx: 1\n---\n# A\n\nOwner:: [[Ann]]\nEnd:: 4", "end", "5", false, "---\nx: 1\n---\n# A\n\nOwner:: [[Ann]]\nEnd:: 5"},
		{"# A\n\nOwner:: [[Ann]]\nEnd:: 4\n", "owner", nil, false, "# A\n\nEnd:: 4\n"},
		{"# A\n\n```\na:: 1\n```\n\na:: 2\n", "a", "3", false, "# A\n\n```\na:: 1\n```\n\na:: 3\n"},
		{"# A\n\na:: 1\n\n- [ ] b [a:: 2]\n", "a", "3", false, "---\na: \"3\"\n---\n# A\n\na:: 1\n\n- [ ] b [a:: 2]\n"}, // of the task, perhaps
		{"# A\n\n- a:: 1\n", "a", "3", false, "---\na: \"3\"\n---\n# A\n\n- a:: 1\n"},
		{"# A\n\nstd::map\nstd:: 1\n", "std", "2", false, "# A\n\nstd::map\nstd:: 2\n"},
		{"# A\n\nTags:: #old\n", "tags", []any{"new"}, false, "---\ntags:\n  - new\n---\n# A\n\nTags:: #old\n"},
		{"# A\n\nx:: 1\n", "x", []any{"b", "c"}, false, "---\nx:\n  - b\n  - c\n---\n# A\n\nx:: 1\n"},
		{"# A\n\nRole::admin\n\n- Role:: admin\n", "role", "user", false, "---\nrole: user\n---\n# A\n\nRole::admin\n\n- Role:: admin\n"}, // the first is none
		{"# A\n\nx:: 1 ^id\n", "x", "2", false, "---\nx: \"2\"\n---\n# A\n\nx:: 1 ^id\n"},
		{"# A\n\nx:: 1  \ny\n", "x", "2", false, "---\nx: \"2\"\n---\n# A\n\nx:: 1  \ny\n"},
		{"type:: person\n\n# Bob\n\nstatus:: open\n", "status", "done", false, "type:: person\n\n# Bob\n\nstatus:: done\n"},
		{"# A\n\nb:: 1\n", "a", "3", false, "---\na: \"3\"\n---\n# A\n\nb:: 1\n"},
		{page, "due date", "1", false, "---\ndue date: \"1\"\n---\n" + page}, // Logseq's keys have no space
		{page, "people", []any{"Ann", "Bob"}, false, "---\npeople:\n  - Ann\n  - Bob\n---\n" + page},
		{page, "people", []any{"[[Ann]]", "[[Bob]]"}, false, "type:: person\nalias:: Ann\npeople:: [[Ann]], [[Bob]]\n\n- tea\n"},
		{page, "size", 20260116.0, false, "type:: person\nalias:: Ann\nsize:: 20260116\n\n- tea\n"},
		{page, "map", map[string]any{"a": int64(1)}, false, "---\nmap:\n  a: 1\n---\n" + page},
		{notion, "status", "Done", true, "# Task\n\nStatus: Done\nDue: May 2, 2025\n\nText\n"},
		{notion, "Owner", "Ann", true, "---\nOwner: Ann\n---\n" + notion}, // a line may be prose
		{notion, "Due", nil, true, "# Task\n\nStatus: To do\n\nText\n"},
		{notion, "Status", "Done", false, "---\nStatus: Done\n---\n" + notion},
		{"---\ntags:\n  - a\n---\n" + notion, "Status", "Done", true, "---\ntags:\n  - a\n---\n# Task\n\nStatus: Done\nDue: May 2, 2025\n\nText\n"},
		{"# Task\n\nText\n", "Status", "Done", true, "---\nStatus: Done\n---\n# Task\n\nText\n"},
	} {
		assert.Equal(t, test.want, apply(t, test.src, edit.Edit{Op: edit.OpSetFrontMatter, Key: test.key, Value: test.value, Notion: test.notion}), "%q %v in %q", test.key, test.value, test.src)
	}
	for _, value := range []any{"two\nlines", []any{"Foo", "Lee, Ann"}, []any{map[string]any{"a": "b"}}} {
		_, _, err := edit.Apply(t.Context(), []byte(page), []edit.Edit{{Op: edit.OpSetFrontMatter, Key: "alias", Value: value}})
		require.ErrorIs(t, err, edit.ErrFrontMatter)
		assert.ErrorContains(t, err, `it is on a line "alias::", which cannot have this value (line 2)`)
	}
	for _, src := range []string{page, "\n" + page, notion} { // a blank line has no key
		_, _, err := edit.Apply(t.Context(), []byte(src), []edit.Edit{{Op: edit.OpSetFrontMatter, Notion: true}})
		assert.ErrorContains(t, err, "set_front_matter needs a key", src)
	}
}
