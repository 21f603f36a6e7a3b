package vault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// listed returns the tasks that match a query, as "path:line text".
func (f *fixture) listed(q notes.TaskQuery) []string {
	f.t.Helper()
	list := []string{}
	for {
		page, err := f.Tasks(f.t.Context(), q)
		require.NoError(f.t, err)
		for _, t := range page.Tasks {
			list = append(list, fmt.Sprintf("%s:%d %s", t.Path, t.Line, t.Description))
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			require.Len(f.t, list, page.Total)
			return list
		}
	}
}

func TestTasks(t *testing.T) {
	f := newFixture(t,
		"Work/Plan.md", "---\ntags: [work]\n---\n# Plan\n- [ ] Write report 📅 2026-02-20 #urgent/today\n## Later\n- [x] Ask Ann ✅ 2026-02-10\n- [/] Draft ⏫ ⏳ 2026-02-18\n- [-] Old\n- [>] Moved\n",
		"Home.md", "- TODO Ring dentist\n  DEADLINE: <2026-02-17 Tue>\n- LATER Read [due:: 2026-03-01]\n```\n- [ ] code\n```\n%%\n- [ ] comment\n%%\n",
		"Board.md", "## Doing\n\n- [ ] Card one\n\n## Done\n\n- [x] Card two\n\n%% kanban:settings\n- [ ] no\n%%\n",
		"Templates/Day.md", "- [ ] Journal 📅 2026-02-16\n", ".obsidian/templates.json", `{"folder": "Templates"}`)
	for _, test := range []struct {
		q    notes.TaskQuery
		want []string
	}{
		{notes.TaskQuery{}, []string{"Home.md:1 Ring dentist", "Work/Plan.md:5 Write report #urgent/today", "Home.md:3 Read", "Work/Plan.md:8 Draft", "Board.md:3 Card one"}},
		{notes.TaskQuery{Limit: 1}, []string{"Home.md:1 Ring dentist", "Work/Plan.md:5 Write report #urgent/today", "Home.md:3 Read", "Work/Plan.md:8 Draft", "Board.md:3 Card one"}},
		{notes.TaskQuery{Sort: "path", Limit: 2}, []string{"Board.md:3 Card one", "Home.md:1 Ring dentist", "Home.md:3 Read", "Work/Plan.md:5 Write report #urgent/today", "Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Sort: "priority", Limit: 1, Folder: "work"}, []string{"Work/Plan.md:8 Draft", "Work/Plan.md:5 Write report #urgent/today"}},
		{notes.TaskQuery{Status: "all", Note: "plan", Sort: "path"}, []string{"Work/Plan.md:5 Write report #urgent/today", "Work/Plan.md:7 Ask Ann", "Work/Plan.md:8 Draft", "Work/Plan.md:9 Old", "Work/Plan.md:10 Moved"}},
		{notes.TaskQuery{Status: "done", Sort: "done"}, []string{"Board.md:7 Card two", "Work/Plan.md:7 Ask Ann"}},
		{notes.TaskQuery{Status: "done", Done: notes.TaskDates{From: "2026-02-10", Before: "2026-02-11"}}, []string{"Work/Plan.md:7 Ask Ann"}},
		{notes.TaskQuery{Status: "todo", Folder: "work"}, []string{"Work/Plan.md:5 Write report #urgent/today", "Work/Plan.md:8 Draft"}}, // "open", as models call it
		{notes.TaskQuery{Status: "/"}, []string{"Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Status: "LATER"}, []string{"Home.md:3 Read"}},
		{notes.TaskQuery{Status: "in progress"}, []string{"Work/Plan.md:8 Draft"}}, // names that toggle_task takes
		{notes.TaskQuery{Status: "doing"}, []string{"Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Status: "completed", Sort: "done"}, []string{"Board.md:7 Card two", "Work/Plan.md:7 Ask Ann"}},
		{notes.TaskQuery{Status: "cancelled"}, []string{"Work/Plan.md:9 Old"}},
		{notes.TaskQuery{Status: "other"}, []string{"Work/Plan.md:10 Moved"}},
		{notes.TaskQuery{Due: notes.TaskDates{Before: "2026-02-20"}}, []string{"Home.md:1 Ring dentist"}},
		{notes.TaskQuery{Due: notes.TaskDates{From: "2026-02-20"}}, []string{"Work/Plan.md:5 Write report #urgent/today", "Home.md:3 Read"}},
		{notes.TaskQuery{Due: notes.TaskDates{None: true}, Scheduled: notes.TaskDates{From: "2026-01-01"}}, []string{"Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Tags: []string{"#Urgent"}}, []string{"Work/Plan.md:5 Write report #urgent/today"}},
		{notes.TaskQuery{Tags: []string{"work", "urgent/today"}}, []string{"Work/Plan.md:5 Write report #urgent/today"}},
		{notes.TaskQuery{Tags: []string{"urg"}}, []string{}},
		{notes.TaskQuery{Tags: []string{"work"}, Status: "all", Sort: "path", Limit: 2}, []string{"Work/Plan.md:5 Write report #urgent/today", "Work/Plan.md:7 Ask Ann", "Work/Plan.md:8 Draft", "Work/Plan.md:9 Old", "Work/Plan.md:10 Moved"}},
		{notes.TaskQuery{Tags: []string{"work"}, Status: "done", Sort: "done"}, []string{"Work/Plan.md:7 Ask Ann"}},
		{notes.TaskQuery{Tags: []string{"work"}, Text: "draft", Scheduled: notes.TaskDates{From: "2026-02-01"}}, []string{"Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Tags: []string{"work"}, Folder: "work", Sort: "priority", Limit: 1}, []string{"Work/Plan.md:8 Draft", "Work/Plan.md:5 Write report #urgent/today"}},
		{notes.TaskQuery{Tags: []string{"work"}, Scope: notes.Scope{Read: []string{"Home"}}}, []string{}},
		{notes.TaskQuery{Text: "DENTIST"}, []string{"Home.md:1 Ring dentist"}},
		{notes.TaskQuery{Priority: "high"}, []string{"Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Folder: "Templates"}, []string{"Templates/Day.md:1 Journal"}},
		{notes.TaskQuery{Note: "Templates/Day"}, []string{"Templates/Day.md:1 Journal"}},
		{notes.TaskQuery{Scope: notes.Scope{Read: []string{"Work"}}}, []string{"Work/Plan.md:5 Write report #urgent/today", "Work/Plan.md:8 Draft"}},
		{notes.TaskQuery{Scope: notes.Scope{Read: []string{}}}, []string{}},
	} {
		assert.Equal(t, test.want, f.listed(test.q), "%+v", test.q)
	}
	page, err := f.Tasks(t.Context(), notes.TaskQuery{Text: "card", Status: "all", Sort: "path"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Doing", "Done"}, []string{page.Tasks[0].Heading, page.Tasks[1].Heading}, "lanes of a board")
	for _, q := range []notes.TaskQuery{{Sort: "size"}, {Status: "often"}, {Priority: "urgent"}, {Note: "None"}, {Cursor: "x"}, {Note: "Home", Scope: notes.Scope{Read: []string{"Work"}}}} {
		_, err := f.Tasks(t.Context(), q)
		require.Error(t, err, "%+v", q)
	}
	_, err = f.Tasks(t.Context(), notes.TaskQuery{Sort: "path", Cursor: mustNext(t, f, notes.TaskQuery{Limit: 1})})
	require.ErrorIs(t, err, notes.ErrInvalid, "a cursor is of one order")

	f.write("Home.md", "- [ ] Other\n")
	f.remove("Board.md")
	f.rename("Work/Plan.md", "Done/Plan.md")
	f.reconcile()
	assert.Equal(t, []string{"Done/Plan.md:5 Write report #urgent/today", "Done/Plan.md:8 Draft", "Home.md:1 Other"}, f.listed(notes.TaskQuery{}))
}

func mustNext(t *testing.T, f *fixture, q notes.TaskQuery) string {
	t.Helper()
	page, err := f.Tasks(t.Context(), q)
	require.NoError(t, err)
	require.NotEmpty(t, page.Next)
	return page.Next
}

func TestToggleTask(t *testing.T) {
	f := newFixture(t, "List.md", "# List\n- [ ] Milk\n- [ ] Ring dentist 🔁 every month on the 1st 📅 2026-02-01\n", "Old.md", "- [x] a ✅ 2026-01-01\n")
	f.on("2026-02-16 23:59")
	toggle := func(e notes.Edit) string {
		t.Helper()
		e.Op = "toggle_task"
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "list", Edits: []notes.Edit{e}})
		require.NoError(t, err)
		return strings.TrimPrefix(f.onDisk("List.md"), "# List\n")
	}
	assert.Equal(t, "- [x] Milk ✅ 2026-02-16\n- [ ] Ring dentist 🔁 every month on the 1st 📅 2026-02-01\n", toggle(notes.Edit{Text: "milk"}), "as tasks of other notes")
	assert.Equal(t, "- [x] Milk ✅ 2026-02-16\n- [ ] Ring dentist 🔁 every month on the 1st 📅 2026-03-01\n- [x] Ring dentist 🔁 every month on the 1st 📅 2026-02-01 ✅ 2026-02-16\n", toggle(notes.Edit{Text: "dentist"}))
	assert.Equal(t, []string{"List.md:3 Ring dentist"}, f.listed(notes.TaskQuery{}))
	assert.Equal(t, "- [x] Milk ✅ 2026-02-16\n- [ ] Ring dentist 🔁 every month on the 1st 📅 2026-02-01\n", toggle(notes.Edit{Line: 4}), "what was done is undone")
	assert.Equal(t, "- [ ] Milk\n- [ ] Ring dentist 🔁 every month on the 1st 📅 2026-02-17\n", toggleTwo(toggle))
	assert.Contains(t, toggle(notes.Edit{Text: "dentist", Due: "next friday", Scheduled: "in 3 days"}), "📅 2026-02-27 ⏳ 2026-02-19")
	f.on("2026-02-17 00:00")
	assert.Contains(t, toggle(notes.Edit{Text: "Milk", Status: "done"}), "✅ 2026-02-17")

	for text, want := range map[string]error{"nothing": notes.ErrInvalid, "": notes.ErrInvalid} {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "list", Edits: []notes.Edit{{Op: "toggle_task", Text: text}}})
		require.ErrorIs(t, err, want)
	}
	f.write("List.md", "- [ ] a\n- [ ] a\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "list", Edits: []notes.Edit{{Op: "toggle_task", Text: "a"}}})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	f.reconcile()
	f.requireConsistent()
}

func toggleTwo(toggle func(notes.Edit) string) string {
	toggle(notes.Edit{Text: "Milk", Status: "open"})
	return toggle(notes.Edit{Text: "dentist", Due: "tomorrow"})
}

// Every combination of filters selects the matching tasks, with and without paging.
func TestTaskFiltersTogether(t *testing.T) {
	files := []string{}
	for i := range 12 {
		files = append(files, fmt.Sprintf("F%d/N%d.md", i%3, i), fmt.Sprintf("- [ ] call ann %d #home/x 📅 2026-02-%02d\n- [x] call bob %d #work\n- [ ] write %d #home\n", i%4, 10+i, i, i))
	}
	f := newFixture(t, files...)
	all := f.listed(notes.TaskQuery{Status: "all", Sort: "path", Limit: 1000})
	require.Len(t, all, 36)
	page := func(q notes.TaskQuery) notes.TaskPage {
		got, err := f.Tasks(t.Context(), q)
		require.NoError(t, err)
		return got
	}
	for _, text := range []string{"", "CALL", "ann 1", "nothing"} {
		for _, folder := range []string{"", "F1", "Nope"} {
			for _, tag := range []string{"", "home", "work"} {
				for _, sort := range []string{"", "path", "done", "priority"} {
					q := notes.TaskQuery{Text: text, Folder: folder, Status: "all", Sort: sort, Limit: 1000}
					want := 0
					if tag != "" {
						q.Tags = []string{tag}
					}
					for _, line := range all {
						if strings.Contains(strings.ToLower(line), strings.ToLower(text)) && strings.Contains(line, "#"+tag) && strings.Contains(line, folder) {
							want++
						}
					}
					whole := page(q)
					require.Len(t, whole.Tasks, want, "%+v", q)
					require.Equal(t, want, whole.Total)
					var paged []notes.Task
					for q.Limit = 5; ; {
						next := page(q)
						assert.Equal(t, want, next.Total)
						paged = append(paged, next.Tasks...)
						if q.Cursor = next.Next; q.Cursor == "" {
							break
						}
					}
					assert.Equal(t, whole.Tasks, append([]notes.Task{}, paged...), "%+v", q)
				}
			}
		}
	}
}

// Tasks read by older rules are read again.
func TestTasksAfterAnUpgrade(t *testing.T) {
	notestest.SkipInShort(t)
	files := []string{}
	for i := range 450 {
		files = append(files, fmt.Sprintf("N%03d.md", i), fmt.Sprintf("- [ ] task %03d #tag\n- [x] done\n- [!] now\n", i))
	}
	f := newFixture(t, files...)
	want := f.listed(notes.TaskQuery{Sort: "path"})
	require.Len(t, want, 900)
	f.exec(f.store.Notes(), `DELETE FROM tasks WHERE note % 2 = 0; UPDATE notes SET open_tasks = 1, parser = 1`)
	f.restart()
	assert.Equal(t, want, f.listed(notes.TaskQuery{Sort: "path"}))
	assert.Len(t, f.listed(notes.TaskQuery{Tags: []string{"tag"}}), 450)
	var open int
	require.NoError(t, f.store.Notes().Reader().QueryRowContext(t.Context(), `SELECT sum(open_tasks) FROM notes`).Scan(&open))
	assert.Equal(t, 900, open)
}

// BenchmarkTasks lists one page of the open tasks of a large vault, and of those in a
// folder.
func BenchmarkTasks(b *testing.B) {
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("F%d/N%05d.md", i%20, i)] = fmt.Sprintf("---\ntags: [note]\n---\n- [ ] write report %d 📅 2026-%02d-%02d\n- [ ] ring ann #t%d\n- [x] done ✅ 2026-01-01\n", i, 1+i%12, 1+i%28, i%50)
	}
	ctx := b.Context()
	s, err := store.Open(ctx, b.TempDir())
	require.NoError(b, err)
	b.Cleanup(func() { assert.NoError(b, s.Close()) })
	v, err := New(ctx, s, notestest.Vault(b, files), Options{})
	require.NoError(b, err)
	require.NoError(b, v.Reconcile(ctx))
	for name, q := range map[string]notes.TaskQuery{
		"open": {}, "week": {Due: notes.TaskDates{From: "2026-02-16", Before: "2026-02-23"}}, "folder": {Folder: "F3"}, "tag": {Tags: []string{"t7"}}, "often": {Tags: []string{"note"}},
		"text": {Text: "report 77"}, "done": {Status: "done", Sort: "done"}, "path": {Sort: "path"}, "scope": {Scope: notes.Scope{Read: []string{"F1", "F2"}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := v.Tasks(ctx, q)
				require.NoError(b, err)
				require.NotZero(b, page.Total)
			}
		})
	}
}

// TestTasksPlugin lists and changes tasks according to the settings of the Tasks plugin,
// including after these change.
func TestTasksPlugin(t *testing.T) {
	const settings = ".obsidian/plugins/obsidian-tasks-plugin/data.json"
	f := newFixture(t, "List.md", "- [ ] milk\n- [!] rent\n- [D] bread\n- [ℹ] about\n- [ ] tea 🔁 every day ⏳ 2026-02-15 📅 2026-02-16\n",
		settings, `{"taskFormat": "dataview", "recurrenceOnNextLine": true, "setCreatedDate": true, "removeScheduledDateOnRecurrence": true, "statusSettings": {"coreStatuses": [{"symbol": " ", "nextStatusSymbol": "D", "type": "TODO"}, {"symbol": "D", "nextStatusSymbol": " ", "type": "DONE"}],
			"customStatuses": [{"symbol": "!", "nextStatusSymbol": "x", "type": "IN_PROGRESS"}, {"symbol": "x", "nextStatusSymbol": "!", "type": "DONE"}, {"symbol": "ℹ", "type": "NON_TASK"}]}}`)
	f.on("2026-02-16 12:00")
	statuses := func() (list []string) {
		t.Helper()
		page, err := f.Tasks(t.Context(), notes.TaskQuery{Status: "all", Sort: "path"})
		require.NoError(t, err)
		for _, task := range page.Tasks {
			list = append(list, task.Description+" "+string(task.Status))
		}
		return list
	}
	assert.Equal(t, []string{"milk open", "rent in_progress", "bread done", "about other", "tea open"}, statuses())
	assert.Len(t, f.listed(notes.TaskQuery{}), 3)
	assert.Len(t, f.listed(notes.TaskQuery{Status: "ℹ"}), 1)
	for _, text := range []string{"milk", "rent", "tea"} {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "List", Edits: []notes.Edit{{Op: "toggle_task", Text: text}}})
		require.NoError(t, err)
	}
	assert.Equal(t, "- [D] milk [completion:: 2026-02-16]\n- [x] rent [completion:: 2026-02-16]\n- [D] bread\n- [ℹ] about\n"+
		"- [D] tea 🔁 every day ⏳ 2026-02-15 📅 2026-02-16 [completion:: 2026-02-16]\n- [ ] tea 🔁 every day 📅 2026-02-17 [created:: 2026-02-16]\n", f.onDisk("List.md"))

	f.write(settings, `{"setDoneDate": false}`)
	f.reconcile()
	assert.Equal(t, []string{"milk other", "rent done", "bread other", "about other", "tea other", "tea open"}, statuses())
	f.requireConsistent()
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, f.store.SetStatuses(ended), "the tasks are not read again")
	f.remove(settings)
	f.restart()
	assert.Len(t, f.listed(notes.TaskQuery{}), 1)
}

// BenchmarkEditOfManyTasks appends to a note with few tasks, and to one of nearly maximum
// size that consists only of tasks.
func BenchmarkEditOfManyTasks(b *testing.B) {
	for _, count := range []int{100, 160_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			var text strings.Builder
			for i := range count {
				fmt.Fprintf(&text, "- [ ] task number %d with some words to make it longer #tag%d 📅 2026-%02d-%02d [[note%d]]\n", i, i%50, i%12+1, i%28+1, i%100)
			}
			dir := b.TempDir()
			require.NoError(b, os.WriteFile(filepath.Join(dir, "big.md"), []byte(text.String()), 0o644))
			ctx := b.Context()
			s, err := store.Open(ctx, b.TempDir())
			require.NoError(b, err)
			defer func() { require.NoError(b, s.Close()) }()
			v, err := New(ctx, s, dir, Options{})
			require.NoError(b, err)
			require.NoError(b, v.Reconcile(ctx))
			turn := 0
			b.ReportAllocs()
			for b.Loop() {
				turn++
				_, err := v.Edit(ctx, notes.EditRequest{Note: "big.md", Edits: []notes.Edit{{Op: "append", Content: fmt.Sprintf("- [ ] more %d\n", turn)}}})
				require.NoError(b, err)
			}
		})
	}
}
