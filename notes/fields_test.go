package notes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

var modified = time.Date(2031, 5, 15, 9, 30, 0, 0, time.Local)

// parse returns a note with these lines.
func parse(path string, lines ...string) *notes.Note {
	return notes.Parse(path, []byte(strings.Join(lines, "\n")), modified)
}

// TestFields_Spellings: however the keys of front matter and of inline fields are spelled,
// a condition sees the values of all of them, each time.
func TestFields_Spellings(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  any // of "due date"
	}{
		"front matter alone":          {[]string{"---", "due-date: a", "---"}, "a"},
		"inline alone":                {[]string{"Due Date:: a"}, "a"},
		"both, alike":                 {[]string{"---", "due date: a", "---", "due date:: b"}, []any{"a", "b"}},
		"both, in another case":       {[]string{"---", "due date: a", "---", "Due Date:: b"}, []any{"a", "b"}},
		"both, with a dash":           {[]string{"---", "Due-Date: [a, b]", "---", "due_date:: c"}, []any{"a", "b", "c"}},
		"inline, three spellings":     {[]string{"Due Date:: a", "due date:: b", "due-date:: c"}, []any{"a", "b", "c"}},
		"the exact key before others": {[]string{"---", "DUE DATE: x", "due date: a", "---", "due date:: b"}, []any{"a", "b"}},
		"an empty one in front":       {[]string{"---", "due date:", "---", "Due Date:: b"}, "b"},
	} {
		for range 20 { // maps have no order
			fields, err := parse("A.md", tt.lines...).Fields([]string{"due date"})
			require.NoError(t, err)
			if list, ok := tt.want.([]any); ok {
				require.IsType(t, list, fields["due date"], name)
				require.ElementsMatch(t, list, fields["due date"], name)
			} else {
				require.Equal(t, tt.want, fields["due date"], name)
			}
		}
	}
}

// TestFields_File: what is known of a file has the names of Dataview and short ones, of
// which the note's own fields take precedence.
func TestFields_File(t *testing.T) {
	names := []string{"path", "folder", "title", "date", "size", "modified", "file.name", "file.path", "file.folder", "file.ext", "file.size", "file.day", "file.mday", "file.cday", "nothing", "file.nothing"}
	n := parse("Work/Plan.md", "# The plan")
	fields, err := n.Fields(names)
	require.NoError(t, err)
	at := modified.Format(time.RFC3339)
	assert.Equal(t, object{"path": "Work/Plan.md", "folder": "Work", "title": "The plan", "date": "2031-05-15", "modified": at, "size": int64(10),
		"file.name": "Plan", "file.path": "Work/Plan.md", "file.folder": "Work", "file.ext": "md", "file.size": int64(10), "file.day": "2031-05-15", "file.mday": "2031-05-15", "file.cday": "2031-05-15"}, fields)

	own, err := parse("Plan.md", "---", "Folder: mine", "date: soon", "project: {lead: Ann, Size: 3}", "---", "file:: a.pdf").Fields([]string{"folder", "date", "file", "file.name", "title", "project.lead", "PROJECT", "project.size"})
	require.NoError(t, err)
	assert.Equal(t, object{"folder": "mine", "date": "soon", "file": "a.pdf", "title": "Plan", "project.lead": "Ann", "PROJECT": object{"lead": "Ann", "Size": 3.0}, "project.size": 3.0}, own)

	root, err := parse("Plan.md").Fields([]string{"folder"})
	require.NoError(t, err)
	assert.Equal(t, object{"folder": ""}, root, "the vault itself")
	_, err = notes.Record{FrontMatter: []byte("{")}.Fields(nil)
	require.Error(t, err)
}
