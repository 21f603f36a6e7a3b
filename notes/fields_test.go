package notes_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/moment"
	"notesd/notes"
)

var modified = time.Date(2031, 5, 15, 9, 30, 0, 0, time.Local)

// parse returns a note with these lines.
func parse(path string, lines ...string) *notes.Note {
	return notes.Parse(path, []byte(strings.Join(lines, "\n")), modified)
}

// TestFields_Spellings checks that a condition sees the values of all spellings of a
// key in front matter and inline fields.
func TestFields_Spellings(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  any // value of "due date"
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
		for range 20 { // map iteration order is random
			fields := parse("A.md", tt.lines...).Fields([]string{"due date"})
			if list, ok := tt.want.([]any); ok {
				require.IsType(t, list, fields["due date"], name)
				require.ElementsMatch(t, list, fields["due date"], name)
			} else {
				require.Equal(t, tt.want, fields["due date"], name)
			}
		}
	}
}

// TestFields_Notion checks that the properties of a page that Notion exported are fields, and
// that lines of other notes are not.
func TestFields_Notion(t *testing.T) {
	const id = " 0123456789abcdef0123456789abcdef.md"
	lines := []string{"# Alpha launch", "", "Status: In progress", "Tags: work, launch", "Created: December 1, 2025 9:12 AM", "Site: https://example.org", "", "Note: text", "Rating:: 3"}
	n := parse("Projects/Alpha launch"+id, lines...)
	assert.Equal(t, map[string]any{"Status": "In progress", "Tags": "work, launch", "Created": "December 1, 2025 9:12 AM", "Site": "https://example.org", "Rating": "3"}, n.Inline)
	created, ok := notes.ParseDate(n.Inline["Created"].(string))
	assert.True(t, ok)
	assert.Equal(t, time.Date(2025, 12, 1, 9, 12, 0, 0, time.Local), created)
	for written, want := range map[string]bool{"May 1, 2026 → May 3, 2026": true, "May 1, 2026 9:00 AM → 10:00 AM": true, "→ May 3, 2026": false} {
		day, ok := notes.ParseDate(written)
		assert.Equal(t, want, ok && day.Format(time.DateOnly) == "2026-05-01", written)
	}

	assert.Equal(t, map[string]any{"Rating": "3"}, parse("Alpha launch.md", lines...).Inline)
	for _, text := range []string{"Status: Done", "# A\n\nText\nStatus: Done", "# A\n\n- [x](y): Done\nStatus: Done", "# A\n## B\nStatus: Done", "# A"} {
		assert.Nil(t, parse("A"+id, text).Inline, text)
	}
}

// TestFields_File checks that the properties of a file have Dataview's names and short
// names, and that the note's own fields take precedence over the latter.
func TestFields_File(t *testing.T) {
	names := []string{"path", "folder", "title", "date", "size", "modified", "file.name", "file.path", "file.folder", "file.ext", "file.size", "file.day", "file.mday", "file.cday", "nothing", "file.nothing"}
	n := parse("Work/Plan.md", "# The plan")
	fields := n.Fields(names)
	at := modified.Format(time.RFC3339)
	assert.Equal(t, object{"path": "Work/Plan.md", "folder": "Work", "title": "The plan", "date": "2031-05-15", "modified": at, "size": int64(10),
		"file.name": "Plan", "file.path": "Work/Plan.md", "file.folder": "Work", "file.ext": "md", "file.size": int64(10), "file.day": "2031-05-15", "file.mday": "2031-05-15", "file.cday": "2031-05-15"}, fields)

	own := parse("Plan.md", "---", "Folder: mine", "date: soon", "project: {lead: Ann, Size: 3}", "---", "file:: a.pdf").Fields([]string{"folder", "date", "file", "file.name", "title", "project.lead", "PROJECT", "project.size"})
	assert.Equal(t, object{"folder": "mine", "date": "soon", "file": "a.pdf", "title": "Plan", "project.lead": "Ann", "PROJECT": object{"lead": "Ann", "Size": int64(3)}, "project.size": int64(3)}, own)

	assert.Equal(t, object{"folder": ""}, parse("Plan.md").Fields([]string{"folder"}), "the vault itself")
}

// TestFilter_MatchesNote checks that each part of a filter matches and excludes notes.
func TestFilter_MatchesNote(t *testing.T) {
	n := parse("Work/Sub/Plan b.md", "---", "tags: [area/home]", "status: open", "---", "#Urgent", "- [ ] call")
	n.Date = time.Date(2031, 5, 15, 0, 0, 0, 0, time.UTC)
	day := func(d int) time.Time { return time.Date(2031, 5, d, 0, 0, 0, 0, time.UTC) }
	periodic := &notes.Periodic{}
	periods := func(s string) (notes.Period, bool) { return periodic.Parse(s, modified) }
	for name, f := range map[string]notes.Filter{
		"all": {}, "folder": {Folder: "work"}, "folder, with slashes": {Folder: "/Work/Sub/"}, "a path": {Paths: []string{"nope", "/Work/s"}}, "not a path": {NotPaths: []string{"Work/X"}},
		"a tag": {Tags: []string{"#URGENT"}}, "a nested tag": {Tags: []string{"area", "urgent"}}, "not a tag": {NotTags: []string{"area/ho"}},
		"at the date": {After: day(15)}, "before": {Before: day(16)}, "todo": {HasTodo: true}, "a text": {NotEmpty: true}, "scope": {Scope: []string{"Home", "WORK"}},
		"the name": {Glob: "plan*"}, "the path": {Glob: "work/**/*.md"}, "one of": {Glob: "{a,plan}?b.md"}, "where": {Where: object{"status": "Open"}}, "a size": {Where: object{"size": object{"gt": 50.0}, "file.size": object{"lt": 80.0}}}, "a period": {Where: object{"file.mtime": "today"}},
		"excluded elsewhere": {Exclude: &notes.Exclusions{Prefixes: []string{"home/"}}},
	} {
		assert.True(t, f.MatchesNote(n, periods), name)
	}
	for name, f := range map[string]notes.Filter{
		"folder": {Folder: "Wor"}, "a path": {Paths: []string{"Sub"}}, "not a path": {NotPaths: []string{"nope", "/work/S"}},
		"a tag": {Tags: []string{"urgent", "area/ho"}}, "not a tag": {NotTags: []string{"nope", "Area"}},
		"after the date": {After: day(16)}, "before": {Before: day(15)}, "scope": {Scope: []string{}}, "another folder's": {Scope: []string{"Work/Sub 2"}},
		"the name": {Glob: "work*"}, "the path": {Glob: "*/*.md"}, "where": {Where: object{"status": "done"}}, "a size": {Where: object{"size": object{"lt": 50.0}}}, "a period": {Where: object{"file.mtime": "yesterday"}},
		"excluded": {Exclude: &notes.Exclusions{Patterns: []notes.ExclusionPattern{{Folder: "Work", Regexp: regexp.MustCompile(`^Sub/`)}}}},
	} {
		assert.False(t, f.MatchesNote(n, periods), name)
	}
	assert.False(t, notes.Filter{HasTodo: true}.MatchesNote(parse("Done.md", "- [x] call"), nil))
	assert.False(t, notes.Filter{NotEmpty: true}.MatchesNote(parse("Empty.md", ""), nil))
	elsewhere := notes.Filter{Exclude: &notes.Exclusions{Patterns: []notes.ExclusionPattern{{Folder: "Work", Regexp: regexp.MustCompile(`Sub/`)}}}}
	assert.True(t, elsewhere.MatchesNote(parse("Other/Sub/Plan.md"), nil), "a pattern is of one folder")
}

// TestDateRules_Of checks the precedence of the sources of a note's date and creation
// time.
func TestDateRules_Of(t *testing.T) {
	rules := &notes.DateRules{Keys: []string{"when"}, Names: []notes.NameFormat{{Folder: "Daily", Format: "DD.MM.YYYY"}, {Folder: "Weeks", Format: "gggg-[W]ww"}}, Weeks: moment.Weeks{}}
	rules.Compile()
	mtime := "2031-05-15"
	for _, tt := range []struct {
		path        string
		frontMatter object
		date        string
		created     string // "" if unknown
	}{
		{"A.md", nil, mtime, ""},
		{"A.md", object{"date": "2026-01-02"}, "2026-01-02", "2026-01-02"},
		{"A.md", object{"Date_Created": "2026-01-02"}, "2026-01-02", "2026-01-02"},
		{"A.md", object{"created": "2026-01-02", "updated": "2026-03-04"}, "2026-03-04", "2026-01-02"},
		{"A.md", object{"when": "2026-05-06", "date": "2026-01-02"}, "2026-05-06", "2026-01-02"},
		{"A.md", object{"date": 2026.0}, mtime, ""},
		{"A.md", object{"date": "soon"}, mtime, ""},
		{"A.md", object{"date": "0001-01-01"}, mtime, ""},
		{"2026-02-16.md", nil, "2026-02-16", "2026-02-16"},
		{"Log/2026_02_16 Standup.md", nil, "2026-02-16", "2026-02-16"},
		{"Health/Blood test 2026-02-16.md", nil, "2026-02-16", "2026-02-16"},
		{"Blood test_2026.02.16.md", nil, "2026-02-16", "2026-02-16"},
		{"2026-02-16 to 2026-02-20.md", nil, "2026-02-16", "2026-02-16"},
		{"Order 12026-02-16.md", nil, mtime, ""},
		{"Order 2026-02-16b.md", nil, mtime, ""},
		{"Order 2026-13-16.md", nil, mtime, ""},
		{"2026-02.16.md", nil, mtime, ""},
		{"2026-02-161.md", nil, mtime, ""},
		{"2026-02-16th.md", nil, mtime, ""},
		{"2026-02-30.md", nil, mtime, ""},
		{"2026-W07.md", nil, "2026-02-09", "2026-02-09"},
		{"2026w07 Review.md", nil, "2026-02-09", "2026-02-09"},
		{"2026-W99.md", nil, mtime, ""},
		{"Daily/16.02.2026.md", nil, "2026-02-16", "2026-02-16"},
		{"daily/16.02.2026.md", nil, "2026-02-16", "2026-02-16"},
		{"Other/16.02.2026.md", nil, mtime, ""},
		{"2026-02-16.md", object{"updated": "2026-03-04"}, "2026-02-16", "2026-02-16"},
		{"2026-02-16.md", object{"date": "2026-03-04", "created": "2026-01-01"}, "2026-03-04", "2026-01-01"},
	} {
		date, created := rules.Of(&notes.Note{Path: tt.path, FrontMatter: tt.frontMatter, Modified: modified})
		assert.Equal(t, tt.date, date.Format(time.DateOnly), "%+v", tt)
		if tt.created == "" {
			assert.Zero(t, created, "%+v", tt)
		} else {
			assert.Equal(t, tt.created, created.Format(time.DateOnly), "%+v", tt)
		}
	}
	same := &notes.DateRules{Keys: []string{"when"}, Names: []notes.NameFormat{{Folder: "Daily", Format: "DD.MM.YYYY"}, {Folder: "Weeks", Format: "gggg-[W]ww"}}}
	assert.True(t, rules.Equal(same), "compiled or not")
	same.Version++
	assert.False(t, rules.Equal(same))
}

// TestDateRules_OfNotion: of a page that Notion exported, the file's time is that of the export.
func TestDateRules_OfNotion(t *testing.T) {
	const page = "Call 0123456789abcdef0123456789abcdef.md"
	for _, tt := range []struct{ path, text, date, created string }{
		{page, "# Call\n\nDate: January 31, 2026 → February 2, 2026\nCreated time: January 3, 2026 10:00 AM\n", "2026-01-31", "2026-01-03"},
		{page, "# Call\n\nCreated time: January 3, 2026 10:00 AM\nLast edited time: March 4, 2026 9:30 PM\n", "2026-03-04", "2026-01-03"},
		{page, "# Call\n\nCreated: 3 January 2026 10:00\n", "2026-01-03", "2026-01-03"},
		{page, "---\ndate: 2026-05-06\n---\n# Call\n\nDate: January 31, 2026\n", "2026-05-06", "2026-05-06"},
		{page, "# Call\n\nOwner: Ann\n", "2031-05-15", "0001-01-01"},
		{"Call.md", "# Call\n\nDate: January 31, 2026\n\ndate:: 2026-01-31\n", "2031-05-15", "0001-01-01"},
	} {
		date, created := (&notes.DateRules{}).Of(notes.Parse(tt.path, []byte(tt.text), modified))
		assert.Equal(t, [2]string{tt.date, tt.created}, [2]string{date.Format(time.DateOnly), created.Format(time.DateOnly)}, tt.text)
	}
}

// TestTasksOf checks the heading, line and tags of a note's tasks.
func TestTasksOf(t *testing.T) {
	n := parse("A.md", "---", "tags: [work]", "---", "- [ ] before #a/b", "# One", "- [x] done", "## Two", "  - [/] nested", "    more of it", "- no task", "- [ ] x"+strings.Repeat("ä", 2000))
	type task struct {
		line          int
		heading, text string
		open          bool
	}
	var have []task
	for _, x := range n.Tasks {
		have = append(have, task{x.Line, x.Heading, x.Text, x.Status.IsOpen()})
		assert.Equal(t, []string{"work"}, x.NoteTags)
		assert.LessOrEqual(t, len(x.Source), 2<<10)
		assert.True(t, utf8.ValidString(x.Source))
	}
	require.Len(t, have, 4)
	assert.Equal(t, []task{{4, "", "before #a/b", true}, {6, "One", "done", false}, {8, "Two", "nested", true}}, have[:3])
	assert.Equal(t, []string{"a/b"}, n.Tasks[0].Tags)
	assert.Empty(t, n.Tasks[1].Tags)
	assert.Equal(t, 3, n.OpenTasks)
	assert.Nil(t, parse("B.md", "text").Tasks)
}

// TestNotText checks that only UTF-8 text can be a note, and the reasons given for
// other files.
func TestNotText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ä": "", "\xef\xbb\xbfwith a byte order mark": "", "\xff\xfea\x00": "UTF-16", "\xfe\xff\x00a": "UTF-16", "a\x00b": "NUL", "\xe4": "not UTF-8",
	} {
		assert.Contains(t, notes.NotText([]byte(text)), want, "%q", text)
		assert.Equal(t, want == "", notes.NotText([]byte(text)) == "", "%q", text)
	}
	n := parse("A.md", "---", "a: [", "---", "text")
	assert.Nil(t, n.FrontMatter)
	assert.NotEmpty(t, n.FrontMatterError)
}

// TestChange_Note checks that a change returns the note it carries, loads it if it
// carries none, and returns nil after a deletion.
func TestChange_Note(t *testing.T) {
	loaded, parsed := &notes.Note{ID: 7}, &notes.Note{ID: 8}
	load := func(_ context.Context, id int64) (*notes.Note, error) {
		assert.Equal(t, loaded.ID, id)
		return loaded, nil
	}
	for _, tt := range []struct {
		change notes.Change
		want   *notes.Note
	}{
		{notes.Change{Kind: notes.Modified, NoteID: 7, Loader: load}, loaded},
		{notes.Change{Kind: notes.Created, NoteID: 8, Loader: load, Parsed: parsed}, parsed},
		{notes.Change{Kind: notes.Deleted, NoteID: 7, Loader: load, Parsed: parsed}, nil},
	} {
		n, err := tt.change.Note(t.Context())
		require.NoError(t, err)
		assert.Same(t, tt.want, n)
	}
}

// TestError_Line checks that the text of an error is one line with the operation, the
// subject and the cause.
func TestError_Line(t *testing.T) {
	for want, err := range map[string]*notes.Error{
		"read: not found":                       {Op: "read", Err: notes.ErrNotFound},
		`read "A.md": not found`:                {Op: "read", Path: "A.md", Err: notes.ErrNotFound},
		"read \"a\uFFFDb\uFFFD\": it is a file": {Op: "read", Path: "a\nb\x7f", Err: notes.ErrInvalid, Detail: "it is a file"},
	} {
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, err.Err)
	}
	assert.EqualError(t, &notes.LogConflict{Path: "A\n.md"}, "\"A\uFFFD.md\" was changed in the log in the meantime")
}
