package vault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// on sets the clock to a local time.
func (f *fixture) on(at string) {
	f.t.Helper()
	now, err := time.ParseInLocation("2006-01-02 15:04", at, time.Local)
	require.NoError(f.t, err)
	f.clock.Advance(now.Sub(f.clock.Now()))
}

func (f *fixture) found(ref string) string {
	f.t.Helper()
	n, err := f.Read(f.t.Context(), ref, notes.Scope{})
	if errors.Is(err, notes.ErrNotFound) {
		return ""
	}
	require.NoError(f.t, err)
	return n.Path
}

func TestWordsNamePeriodicNotes(t *testing.T) {
	f := newFixture(t, "Daily/2026-02-15.md", "x", "Daily/2026-02-16.md", "# Tasks\nx", "Weekly/2026-W08.md", "x", "Meetings/2026-02-16.md", "x", "Daily/2026-02-12.md", "x")
	f.on("2026-02-16 23:59")
	assert.Equal(t, "Daily/2026-02-16.md", f.found("today"))
	assert.Equal(t, "Daily/2026-02-16.md", f.found("Today#Tasks"))
	assert.Equal(t, "Daily/2026-02-15.md", f.found("yesterday"))
	assert.Equal(t, "Daily/2026-02-16.md", f.found("2026-02-16"), "not the meeting of that name")
	for _, written := range []string{"2026年2月16日", "16 февраля 2026", "February 16, 2026", "16. Februar 2026"} {
		assert.Equal(t, "Daily/2026-02-16.md", f.found(written), written)
	}
	assert.Empty(t, f.found("February 17, 2026"), "a name that means only a missing note of a day is like any other")
	assert.Empty(t, f.found("16 February 2026 09:00"))
	assert.Equal(t, "Meetings/2026-02-16.md", f.found("Meetings/2026-02-16"))
	assert.Equal(t, "Weekly/2026-W08.md", f.found("2026-W08"))
	f.on("2026-02-17 00:00")
	assert.Equal(t, "Daily/2026-02-16.md", f.found("yesterday"))
	_, err := f.Read(t.Context(), "today", notes.Scope{})
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, `there is no note of that day yet; it would be "Daily/2026-02-17.md"`, e.Detail)
	_, err = f.Read(t.Context(), "last week", notes.Scope{})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, `there is no note of that week yet; it would be "Daily/2026-W07.md"`, e.Detail)
	assert.Contains(t, e.Hint, "use list_notes after=2026-02-09 before=2026-02-16.")
	_, err = f.Read(t.Context(), notes.URI("today"), notes.Scope{})
	require.ErrorContains(t, err, "no such note", "a URI names its own note")
	n, err := f.Read(t.Context(), "yesterday", notes.Scope{Read: []string{"Meetings"}})
	require.NoError(t, err)
	assert.Equal(t, "Meetings/2026-02-16.md", n.Path, "as if there were no other notes")
	_, err = f.Read(t.Context(), "yesterday", notes.Scope{Read: []string{"Poems"}})
	require.ErrorIs(t, err, notes.ErrNotFound)

	for _, title := range []string{"Q1 2026", "March 2026"} {
		w, err := f.Create(t.Context(), notes.CreateRequest{Title: title, Content: "x"})
		require.NoError(t, err)
		assert.Equal(t, title+".md", w.Path, "a title, as no app names such notes")
	}
	f.write("Daily/2026-01.md", "x")
	f.reconcile()
	assert.Equal(t, "Daily/2026-01.md", f.found("January 2026"))

	f.write("Daily/2026-02-17.md", "x") // not scanned yet
	assert.Equal(t, "Daily/2026-02-17.md", f.found("today"))
	f.write("Poems/today.md", "x")
	f.reconcile()
	assert.Equal(t, "Poems/today.md", f.found("today"), "a note of this name goes before the word")
	links, err := f.Links(t.Context(), "yesterday", notes.LinkQuery{})
	require.NoError(t, err)
	assert.Equal(t, "Daily/2026-02-16.md", links.Path)
}

// In a vault without settings, the names of the newest daily notes count, also those of Roam.
func TestWordsNamePeriodicNotes_Roam(t *testing.T) {
	f := newFixture(t, "February 15th, 2026.md", "x", "February 16th, 2026.md", "x", "About March 3rd, 2021.md", "x")
	f.on("2026-02-16 23:59")
	assert.Equal(t, "February 16th, 2026.md", f.found("today"))
	assert.Equal(t, "February 15th, 2026.md", f.found("2026-02-15"))
	w, err := f.Edit(t.Context(), notes.EditRequest{Note: "tomorrow", Edits: []notes.Edit{{Op: "append", Content: "- x"}}})
	require.NoError(t, err)
	assert.Equal(t, "February 17th, 2026.md", w.Path)
}

func TestPeriodicNotesOfObsidian(t *testing.T) {
	f := newFixture(t, "2026-02-16.md", "x", "Journal/2026/16th February.md", "x", "W/26-8.md", "x",
		".obsidian/daily-notes.json", `{"folder": "/Journal/", "format": "YYYY/Do MMMM", "template": "Templates/Day"}`,
		".obsidian/plugins/periodic-notes/data.json", `{"weekly": {"enabled": true, "format": "GG-W", "folder": "W", "template": "Templates/Week.md"}}`)
	f.on("2026-02-16 08:00")
	assert.Equal(t, "Journal/2026/16th February.md", f.found("today"))
	assert.Equal(t, "W/26-8.md", f.found("this week"))
	assert.Equal(t, "2026-02-16.md", f.found("2026-02-16"), "a note of this name goes before the word")
	assert.Empty(t, f.found("this month"))
}

// TestPeriodicNotesInTheUsersLanguage checks that the language in which Obsidian names
// periodic notes is detected from the existing names.
func TestPeriodicNotesInTheUsersLanguage(t *testing.T) {
	f := newFixture(t, ".obsidian/daily-notes.json", `{"folder":"Tagebuch","format":"YYYY/dddd, D. MMMM YYYY"}`,
		"Tagebuch/2026/Sonntag, 1. März 2026.md", "x", "Tagebuch/2026/Montag, 16. Februar 2026.md", "x", "Index.md", "x")
	f.on("2026-03-01 12:00")
	assert.Equal(t, "Tagebuch/2026/Sonntag, 1. März 2026.md", f.found("today"))
	n, err := f.Read(t.Context(), "2026-02-16", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "Tagebuch/2026/Montag, 16. Februar 2026.md", n.Path)
	assert.Equal(t, "2026-02-16", n.Date.Format(time.DateOnly))
	_, err = f.Read(t.Context(), "tomorrow", notes.Scope{})
	assert.ErrorContains(t, err, "Tagebuch/2026/Montag, 2. März 2026.md")
}

// TestPastOfPeriodicNotes checks that a word for a day, such as today, also finds a deleted
// note in history and at earlier times.
func TestPastOfPeriodicNotes(t *testing.T) {
	f := newFixture(t, "Daily/2026-02-14.md", "x", "Daily/2026-02-15.md", "kept\n")
	f.on("2026-02-16 08:00")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "yesterday", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	f.on("2026-02-16 09:00")
	_, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "yesterday"})
	require.NoError(t, err)
	f.on("2026-02-16 10:00")
	page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "yesterday"})
	require.NoError(t, err)
	assert.Equal(t, []string{"delete", "edit"}, []string{page.Revisions[0].Operation, page.Revisions[1].Operation})
	was, err := f.History().ReadAt(t.Context(), "yesterday", f.clock.Now().Add(-90*time.Minute), notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "kept\n\nmore\n", was.Content)
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Note: "yesterday", Revision: page.Revisions[1].Revision})
	require.NoError(t, err)
	assert.Equal(t, "kept\n\nmore\n", f.onDisk("Daily/2026-02-15.md"))
	_, err = f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "tomorrow"})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.ErrorContains(t, err, "there is no note of that day yet")
}

// TestWeeksOfTheCalendar checks that weeks begin, and are numbered, as configured in the
// Calendar plugin.
func TestWeeksOfTheCalendar(t *testing.T) {
	f := newFixture(t, "W/2027-W02.md", "x",
		".obsidian/plugins/calendar/data.json", `{"weekStart": "sunday", "localeOverride": "en-us", "weeklyNoteFolder": "W", "weeklyNoteTemplate": "T"}`, "T.md", "{{title}} {{sunday:MMM D}} {{saturday:MMM D}}\n")
	f.on("2027-01-03 08:00") // a Sunday
	assert.Equal(t, "W/2027-W02.md", f.found("this week"))
	assert.Equal(t, "W/2027-W02.md", f.found("2027-W02"))
	assert.Equal(t, "2027-01-03", f.dayOf("W/2027-W02.md"))
	made, err := f.Create(t.Context(), notes.CreateRequest{Title: "next week"})
	require.NoError(t, err)
	assert.Equal(t, "W/2027-W03.md", made.Path)
	assert.Equal(t, "2027-W03 Jan 10 Jan 16\n", f.onDisk(made.Path))

	f.write(".obsidian/plugins/calendar/data.json", `{"weekStart": "monday", "weeklyNoteFolder": "W"}`)
	f.reconcile()
	assert.Equal(t, "2027-01-11", f.dayOf("W/2027-W02.md"))
	made, err = f.Create(t.Context(), notes.CreateRequest{Title: "this week"})
	require.NoError(t, err)
	assert.Equal(t, "W/2026-W53.md", made.Path)
}

// A note moved to a date gets the path of that date's periodic note, unless a folder has
// the date as its name.
func TestMoveToADate(t *testing.T) {
	f := newFixture(t, "Inbox/Draft.md", "d", "Plan.md", "[[Draft]]", "Other.md", "o", "tomorrow/x.md", "x",
		".obsidian/daily-notes.json", `{"folder": "Daily"}`)
	f.on("2026-02-16 08:30")
	for _, move := range [][3]string{
		{"Draft", "next week", "Daily/2026-W09.md"}, {"Daily/2026-W09.md", "2026-02-20", "Daily/2026-02-20.md"},
		{"Daily/2026-02-20.md", "Today", "Daily/2026-02-16.md"}, {"Other", "tomorrow", "tomorrow/Other.md"},
		{"tomorrow/Other.md", "2026-02-21.md", "2026-02-21.md"},
	} {
		w, err := f.Move(t.Context(), notes.MoveRequest{Note: move[0], To: move[1], UpdateLinks: true})
		require.NoError(t, err, move)
		assert.Equal(t, move[2], w.Path)
	}
	assert.Equal(t, "[[2026-02-16]]", f.onDisk("Plan.md"))
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "Plan", To: "today"})
	require.ErrorIs(t, err, notes.ErrExists)
}

// A repeated request gets its stored answer after midnight, when its words name another note.
func TestRepeatedRequest_AfterMidnight(t *testing.T) {
	f := newFixture(t, "Day.md", "# {{date}}\n")
	f.on("2026-02-16 23:59")
	edit := func(e notes.Edit) (notes.Written, error) {
		return f.Edit(t.Context(), notes.EditRequest{Note: "today", Edits: []notes.Edit{e}, RequestKey: e.Op})
	}
	requests := []func() (notes.Written, error){
		func() (notes.Written, error) {
			return f.Create(t.Context(), notes.CreateRequest{Title: "today", Template: "Day", Content: "## Log\n- [ ] call", RequestKey: "create"})
		},
		func() (notes.Written, error) { return edit(notes.Edit{Op: "toggle_task", Text: "call"}) },
		func() (notes.Written, error) { return edit(notes.Edit{Op: "append", Heading: "Log", Content: "more"}) },
	}
	var first []notes.Written
	for _, request := range requests {
		w, err := request()
		require.NoError(t, err)
		require.NotZero(t, w.Change)
		first = append(first, w)
	}
	f.remove("Day.md")
	f.reconcile()
	before := f.files()
	f.on("2026-02-17 00:01")
	for i, request := range requests {
		again, err := request()
		require.NoError(t, err, "request %d", i)
		assert.Equal(t, first[i], again)
	}
	assert.Equal(t, before, f.files())
}

// Appending to a daily note that does not exist creates it as the app would.
func TestEdit_AppendCreatesDailyNote(t *testing.T) {
	f := newFixture(t, "Templates/Day.md", "---\nmood:\ntags: [daily]\n---\n# {{date:dddd}}\n[[{{yesterday}}]]\n\n## Log\n\n## Tasks\n",
		".obsidian/daily-notes.json", `{"folder": "Daily", "template": "Templates/Day"}`)
	f.on("2026-02-16 08:30")
	edit := func(note string, edits ...notes.Edit) (notes.Written, error) {
		return f.Edit(t.Context(), notes.EditRequest{Note: note, Edits: edits, RequestKey: note})
	}
	dry, err := f.Edit(t.Context(), notes.EditRequest{Note: "today", Edits: []notes.Edit{{Op: "append", Content: "x"}}, DryRun: true})
	require.NoError(t, err)
	assert.Contains(t, dry.Diff, "+x")
	assert.NoDirExists(t, filepath.Join(f.dir, "Daily"))

	w, err := edit("today", notes.Edit{Op: "append", Heading: "Log", Content: "- 8:30 up"})
	require.NoError(t, err)
	assert.Equal(t, "Daily/2026-02-16.md", w.Path)
	want := "---\nmood:\ntags: [daily]\n---\n# Monday\n[[2026-02-15]]\n\n## Log\n\n- 8:30 up\n\n## Tasks\n"
	assert.Equal(t, want, f.onDisk("Daily/2026-02-16.md"))
	again, err := edit("today", notes.Edit{Op: "append", Heading: "Log", Content: "- 8:30 up"})
	require.NoError(t, err)
	assert.Equal(t, [2]any{w.Hash, w.Revision}, [2]any{again.Hash, again.Revision}, "the same request is answered as before")
	assert.Equal(t, want, f.onDisk("Daily/2026-02-16.md"))

	for _, refused := range []notes.Edit{{Op: "replace_all", Content: "x"}, {Op: "append", Heading: "No such", Content: "x"}} {
		_, err = edit("tomorrow", refused)
		require.Error(t, err)
	}
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "tomorrow", Edits: []notes.Edit{{Op: "append", Content: "x"}}, Scope: notes.Scope{Write: []string{"Inbox"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.NoFileExists(t, filepath.Join(f.dir, "Daily/2026-02-17.md"))

	w, err = f.Edit(t.Context(), notes.EditRequest{Note: "tomorrow", Edits: []notes.Edit{{Op: "append", Content: "x"}}, Scope: notes.Scope{Read: []string{"Daily"}}})
	require.NoError(t, err)
	assert.Equal(t, "x", f.onDisk(w.Path)[:1], "a template that the caller may not read is not shown to it")
	require.NoError(t, os.Remove(filepath.Join(f.dir, "Templates/Day.md")))
	f.reconcile()
	w, err = edit("2026-03-01", notes.Edit{Op: "prepend", Content: "y"})
	require.NoError(t, err)
	assert.Equal(t, "Daily/2026-03-01.md", w.Path)
	f.requireConsistent()
}

func TestCreateFromTemplates(t *testing.T) {
	f := newFixture(t, "Vorlagen/Meeting.md", "---\ntype: meeting\nstatus:\ntags: [meeting]\n---\n# {{title}}\nOn {{date}} at {{time}}.\n\n## Notes", "Plain.md", "Hello {{title}}\n", "Poems/Meeting.md", "no template",
		".obsidian/templates.json", `{"folder": "Vorlagen", "timeFormat": "H.mm"}`, "Daily/2026/2026-02-15.md", "x")
	f.on("2026-02-16 09:05")
	create := func(r notes.CreateRequest) string {
		t.Helper()
		w, err := f.Create(t.Context(), r)
		require.NoError(t, err)
		return w.Path + ": " + f.onDisk(w.Path)
	}
	assert.Equal(t, "Work/Board.md: ---\ntype: meeting\nstatus: open\ntags: [meeting, board, work]\n---\n# Board\nOn 2026-02-16 at 9.05.\n\n## Notes\n\nAnn came.\n",
		create(notes.CreateRequest{Title: "Board", Folder: "Work", Template: "meeting", Content: "Ann came.", Tags: []string{"work"}, FrontMatter: map[string]any{"status": "open", "tags": "board"}}))
	assert.Equal(t, "Work/Crew.md: ---\ntype: meeting\nstatus:\ntags: [meeting]\n---\n# Crew\nOn 2026-02-16 at 9.05.\n\n## Notes\n\n- Bob\n",
		create(notes.CreateRequest{Title: "Crew", Folder: "Work", Template: "Meeting", Content: "# Crew\n\n- Bob\n"}), "the title is in the template")
	assert.Equal(t, "X.md: Hello X\n", create(notes.CreateRequest{Path: "X", Template: "Plain"}))
	assert.Equal(t, "Blank.md: Hello Blank\n", create(notes.CreateRequest{Path: "Blank", Template: "Plain", Content: "\n"}))
	assert.Equal(t, "Daily/2026/2026-02-16.md: a\n", create(notes.CreateRequest{Title: "today", Content: "a", RequestKey: "k"}))
	assert.Equal(t, "Daily/2026/2026-02-16.md: a\n", create(notes.CreateRequest{Title: "today", Content: "a", RequestKey: "k"}), "the same request")
	assert.Equal(t, "Daily/2026/2026-02-17.md: ---\ntype: meeting\nstatus:\ntags: [meeting]\n---\n# 2026-02-17\nOn 2026-02-17 at 9.05.\n\n## Notes\n", create(notes.CreateRequest{Title: "tomorrow", Template: "Meeting"}), "dates are those of the note")
	assert.Equal(t, "Daily/2026-W08.md: ", create(notes.CreateRequest{Title: "this week"}))
	assert.Equal(t, "Poems/Tomorrow.md: a\n", create(notes.CreateRequest{Title: "Tomorrow", Folder: "Poems", Content: "a"}), "in a folder it is a title")

	_, err := f.Create(t.Context(), notes.CreateRequest{Title: "today", Content: "b"})
	require.ErrorIs(t, err, notes.ErrExists)
	_, err = f.Create(t.Context(), notes.CreateRequest{Title: "Y", Template: "Nothing"})
	require.ErrorContains(t, err, `read the template "Nothing": there is no such note`)
	var missing *notes.Error
	require.ErrorAs(t, err, &missing)
	assert.Contains(t, missing.Hint, `list_notes folder="Vorlagen"`)
	_, err = f.Create(t.Context(), notes.CreateRequest{Title: "Y", Template: "Meeting", Content: "---\na: b\n---\n"})
	require.ErrorContains(t, err, "front matter")
	f.write("Vorlagen/Broken.md", "---\nby: {{title}}\na: [\n---\nx\n")
	f.reconcile()
	for _, r := range []notes.CreateRequest{{FrontMatter: map[string]any{"a": "b"}}, {Tags: []string{"a"}}} {
		r.Title, r.Template = "Y", "Broken"
		_, err = f.Create(t.Context(), r)
		require.ErrorContains(t, err, `read the template "Vorlagen/Broken.md": its front matter is broken: YAML`)
	}
	assert.Equal(t, "Z.md: ---\nby: Z\na: [\n---\nx\n", create(notes.CreateRequest{Title: "Z", Template: "Broken"}))
	_, err = f.Create(t.Context(), notes.CreateRequest{Title: "Y", Template: "Meeting", Scope: notes.Scope{Read: []string{"Work"}}})
	require.ErrorIs(t, err, notes.ErrNotFound)
}

// TestCreateFromTemplates_Properties: in properties, where ": " and "#" have a meaning and links need
// the file's name, {{title}} is that name, as in Obsidian, but the note keeps its title.
func TestCreateFromTemplates_Properties(t *testing.T) {
	f := newFixture(t, "T.md", "---\ntitle: {{title}}\naliases: [\"{{title}}\", x]\nup: \"[[{{title}} index]]\"\n---\n# {{title}}\n", "U.md", "---\nup: {{title}}\n---\n", "V.md", "---\ntitle: \"<% tp.file.title %>\"\n---\n", "W.md", "---\ntitle:\n---\n", "S.md", "# Summary\n\n# Details\n")
	for title, want := range map[string]string{
		`Recipe: "Soup" #2`: "---\ntitle: \"Recipe: \\\"Soup\\\" #2\"\naliases: [\"Recipe: \\\"Soup\\\" #2\", x]\nup: \"[[Recipe- Soup 2 index]]\"\n---\n# Recipe: \"Soup\" #2\n",
		"Soup":              "---\ntitle: Soup\naliases: [\"Soup\", x]\nup: \"[[Soup index]]\"\n---\n# Soup\n",
	} {
		w, err := f.Create(t.Context(), notes.CreateRequest{Title: title, Template: "T"})
		require.NoError(t, err, title)
		assert.Equal(t, want, f.onDisk(w.Path))
	}
	for _, tt := range []struct{ title, template, want string }{
		{"A: b", "U", "---\nup: A- b\ntitle: \"A: b\"\n---\n"},
		{"Dune", "V", "---\ntitle: \"Dune\"\n---\n"},
		{"C: d", "W", "---\ntitle: \"C: d\"\n---\n"},
	} {
		w, err := f.Create(t.Context(), notes.CreateRequest{Title: tt.title, Template: tt.template})
		require.NoError(t, err)
		assert.Equal(t, tt.want, f.onDisk(w.Path))
	}
	w, err := f.Create(t.Context(), notes.CreateRequest{Path: "P", Template: "V"})
	require.NoError(t, err)
	assert.Equal(t, "---\ntitle: \"<% tp.file.title %>\"\n---\n", f.onDisk(w.Path), "no title was passed")
	w, err = f.Create(t.Context(), notes.CreateRequest{Path: "Q", Template: "S", Content: "# Summary\ns"})
	require.NoError(t, err)
	assert.Equal(t, "# Summary\n\n# Details\n\n# Summary\ns\n", f.onDisk(w.Path), "of two headings, neither is the title")
}

// TestCreate_ObsidianFolder checks that a note created without a folder goes where
// Obsidian puts new notes.
func TestCreate_ObsidianFolder(t *testing.T) {
	for settings, want := range map[string]string{
		`{"newFileLocation": "folder", "newFileFolderPath": "/0 Inbox/"}`: "0 Inbox/New.md",
		`{"newFileLocation": "folder", "newFileFolderPath": "../out"}`:    "New.md",
		`{"newFileLocation": "folder"}`:                                   "New.md",
		`{"newFileLocation": "root", "newFileFolderPath": "0 Inbox"}`:     "New.md",
	} {
		f := newFixture(t, ".obsidian/app.json", settings, "Work/A.md", "x")
		for _, tt := range []struct {
			r    notes.CreateRequest
			want string
		}{
			{notes.CreateRequest{Title: "New"}, want},
			{notes.CreateRequest{Title: "Root", Folder: "/"}, "Root.md"},
			{notes.CreateRequest{Title: "B", Folder: "Work"}, "Work/B.md"},
			{notes.CreateRequest{Path: "C.md"}, "C.md"},
		} {
			created, err := f.Create(t.Context(), tt.r)
			require.NoError(t, err, settings)
			assert.Equal(t, tt.want, created.Path, settings)
		}
	}
	several := newFixtureOf(t, []string{"home", "work"}, "home/.obsidian/app.json", `{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}`, "work/N.md", "x")
	for folder, want := range map[string]string{"home": "home/Inbox/New.md", "work": "work/New.md"} {
		created, err := several.Create(t.Context(), notes.CreateRequest{Title: "New", Folder: folder})
		require.NoError(t, err)
		assert.Equal(t, want, created.Path)
	}
}

// TestWordsNamePeriodicNotes_Gone: a date in words does not name a daily note if a note had it as its
// name: a delete that is repeated would delete another note.
func TestWordsNamePeriodicNotes_Gone(t *testing.T) {
	f := newFixture(t, "Daily/2026-02-16.md", "diary", "Trips/February 16, 2026.md", "trip")
	for _, want := range []error{nil, notes.ErrNotFound} {
		_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "February 16, 2026"})
		require.ErrorIs(t, err, want)
	}
	assert.Equal(t, "diary", f.onDisk("Daily/2026-02-16.md"))
}
