package store_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown/tasks"
	"notesd/internal/notestest"
	"notesd/notes"
)

// aTask is a task as written in a note.
type aTask struct {
	path                 string
	line                 int
	mark, text, priority string
	due, scheduled, done string
	tags                 []string // of its text and its note
}

// randomTasks returns notes with tasks in the emoji notation.
func randomTasks(rng *rand.Rand, count int) (files map[string]string, all []aTask) {
	any := func(list ...string) string { return list[rng.IntN(len(list))] }
	files = map[string]string{}
	for i := range count {
		p := any("", "Work/", "Work/Old/", "Home/") + fmt.Sprintf("N%02d.md", i)
		lines := []string{"# Tasks"}
		var noteTags []string
		if tag := any("", "area/work", "home"); tag != "" {
			lines = append([]string{"---", "tags: [" + tag + "]", "---"}, lines...)
			noteTags = append(noteTags, tag)
		}
		for range rng.IntN(6) {
			task := aTask{path: p, mark: any(" ", " ", "x", "/", "-", "!"), text: any("Call Ann", "paint the Boat", "call the harbour", "appeler le café"), tags: slices.Clone(noteTags)}
			line := "- [" + task.mark + "] " + task.text
			if tag := any("", "", "area/work/boat", "Urgent", "home"); tag != "" {
				line, task.text = line+" #"+tag, task.text+" #"+tag
				task.tags = append(task.tags, tag)
			}
			if task.priority = any("", "", "high", "lowest"); task.priority != "" {
				line += map[string]string{"high": " ⏫", "lowest": " ⏬"}[task.priority]
			}
			for sign, date := range map[string]*string{"📅": &task.due, "⏳": &task.scheduled, "✅": &task.done} {
				if *date = any("", "", "2031-05-0"+fmt.Sprint(1+rng.IntN(5))); *date != "" {
					line += " " + sign + " " + *date
				}
			}
			lines = append(lines, line, any("", "some text", "  - a remark"))
			task.line = len(lines) - 1
			all = append(all, task)
		}
		files[p] = strings.Join(lines, "\n") + "\n"
	}
	return files, all
}

var plain = strings.NewReplacer("é", "e", "à", "a", "C", "c", "B", "b", "A", "a", "L", "l", "E", "e", "F", "f", "O", "o", "T", "t", "U", "u").Replace

// selects reports whether a task matches a query; it is the oracle.
func selects(q notes.TaskQuery, t aTask) bool {
	within := func(date string, d notes.TaskDates) bool {
		return (d.From == "" || date != "" && date >= d.From) && (d.Before == "" || date != "" && date < d.Before) && (!d.None || date == "")
	}
	hasTag := func(tag string) bool {
		return slices.ContainsFunc(t.tags, func(have string) bool {
			have, tag := strings.ToLower(have), strings.ToLower(strings.TrimPrefix(tag, "#"))
			return have == tag || strings.HasPrefix(have, tag+"/")
		})
	}
	isOpen := slices.Contains([]string{" ", "/", "!"}, t.mark)
	status := map[string]bool{"": isOpen, "open": isOpen, "all": true, "done": t.mark == "x", "in_progress": t.mark == "/", "cancelled": t.mark == "-", "!": t.mark == "!"}[q.Status]
	return status && within(t.due, q.Due) && within(t.scheduled, q.Scheduled) && within(t.done, q.Done) &&
		!slices.ContainsFunc(q.Tags, func(tag string) bool { return !hasTag(tag) }) &&
		(q.Text == "" || strings.Contains(plain(t.text), plain(q.Text))) &&
		(q.Priority == "" || cmp.Or(t.priority, "none") == q.Priority) &&
		(q.Folder == "" || strings.HasPrefix(t.path, q.Folder+"/")) && (q.Note == "" || t.path == q.Note) && (q.First == 0 || q.First <= t.line && t.line <= q.Last) && q.Scope.CanRead(t.path)
}

// TestTasks_BruteForce compares lists of tasks, with any combination of conditions and
// any page size, with an oracle that filters the tasks as written.
func TestTasks_BruteForce(t *testing.T) {
	notestest.SkipInShort(t)
	rng := rand.New(rand.NewPCG(31, 1))
	files, all := randomTasks(rng, 40)
	w := newWorld(t, files)
	any := func(list ...string) string { return list[rng.IntN(len(list))] }
	dates := func() (d notes.TaskDates) {
		switch rng.IntN(8) {
		case 0:
			d.From = any("2031-05-01", "2031-05-03")
		case 1:
			d.Before = any("2031-05-02", "2031-05-05")
		case 2:
			d.None = true
		}
		return d
	}
	found := 0
	for range 400 {
		q := notes.TaskQuery{Status: any("", "", "all", "open", "done", "in_progress", "cancelled", "!"), Due: dates(), Scheduled: dates(), Done: dates(),
			Text: any("", "", "", "call", "BOAT", "LE CAFE", "càll"), Priority: any("", "", "", "high", "lowest", "none"), Folder: any("", "", "", "Work", "Work/Old"),
			Sort: any("due", "scheduled", "priority", "path", "done"), Limit: 1 + rng.IntN(20)}
		if rng.IntN(3) == 0 {
			q.Tags = append(q.Tags, any("area", "#Area/Work", "urgent", "home", "are"))
		}
		if rng.IntN(6) == 0 {
			q.Tags = append(q.Tags, any("area/work/boat", "home"))
		}
		if rng.IntN(6) == 0 {
			q.Scope.Read = []string{any("Work", "Home")}
		}
		if rng.IntN(8) == 0 {
			for { // a note that the caller may read
				if q.Note = all[rng.IntN(len(all))].path; q.Scope.CanRead(q.Note) {
					break
				}
			}
		}
		if rng.IntN(6) == 0 {
			q.First, q.Last = 5, 5+rng.IntN(8)
		}
		var want, got []string
		for _, task := range all {
			if selects(q, task) {
				want = append(want, fmt.Sprintf("%s:%d", task.path, task.line))
			}
		}
		keys := map[string][3]string{}
		for _, task := range all {
			rank := map[string]string{"high": "1", "": "3", "lowest": "5"}[task.priority]
			last := func(date string) string { return cmp.Or(date, "~") }
			keys[fmt.Sprintf("%s:%d", task.path, task.line)] = map[string][3]string{
				"due": {last(task.due), rank}, "scheduled": {last(task.scheduled), last(task.due), rank}, "priority": {rank, last(task.due)}, "path": {task.path, fmt.Sprintf("%03d", task.line)}, "done": {last(task.done)},
			}[q.Sort]
		}
		pages := 0
		for more := true; more; pages++ {
			page, err := w.Tasks(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, len(want), page.Total, "%+v", q)
			require.LessOrEqual(t, len(page.Tasks), q.Limit)
			for _, task := range page.Tasks {
				got = append(got, fmt.Sprintf("%s:%d", task.Path, task.Line))
			}
			q.Cursor, more = page.Next, page.Next != ""
		}
		require.Equal(t, max(1, (len(want)+q.Limit-1)/q.Limit), pages, "%+v", q)
		require.ElementsMatch(t, want, got, "%+v", q)
		require.True(t, slices.IsSortedFunc(got, func(a, b string) int {
			x, y := keys[a], keys[b]
			if q.Sort == "done" { // newest first
				x, y = y, x
			}
			return slices.Compare(x[:], y[:])
		}), "%+v: %v", q, got)
		found += len(got)
	}
	assert.Greater(t, found, 1000, "the queries select something")
	for _, q := range []notes.TaskQuery{{Sort: "colour"}, {Status: "someday"}, {Priority: "urgent"}, {Cursor: "x"}, {Note: "Nowhere"}} {
		_, err := w.Tasks(t.Context(), q)
		require.Error(t, err, "%+v", q)
	}
}

// TestApply_WritesOnlyChangedParts checks that, after any changes of a long note, its
// tasks and links equal those in a new store, in the same order, and that changing one
// line writes few rows.
func TestApply_WritesOnlyChangedParts(t *testing.T) {
	notestest.SkipInShort(t)
	rng := rand.New(rand.NewPCG(7, 15))
	any := func(list ...string) string { return list[rng.IntN(len(list))] }
	line := func() string {
		return any("- [ ] call [[One]]", "- [x] call [[One#Part]] ✅ 2031-05-02", "- [ ] paint #home/boat 📅 2031-05-03", "# Heading", "see [[Two|it]] and [[#Heading]]", "- [/] paint ⏫", "text")
	}
	head, lines := "", make([]string, 150)
	for i := range lines {
		lines[i] = line()
	}
	text := func() string { return head + strings.Join(lines, "\n") + "\n" }
	files := map[string]string{"Long.md": text(), "One.md": "# Part\n"}
	w := newWorld(t, files)
	all := func(w *world) (lines []string) {
		for _, q := range []notes.TaskQuery{{}, {Sort: "priority"}, {Sort: "path", Status: "all"}, {Sort: "done", Status: "done"}, {Tags: []string{"home"}}, {Text: "PAINT"}} {
			q.Limit = 1000
			page, err := w.Tasks(t.Context(), q)
			require.NoError(t, err)
			lines = append(lines, fmt.Sprint(page.Total))
			for _, task := range page.Tasks {
				lines = append(lines, fmt.Sprint(task.Path, task.Line, task.Heading, task.Source, task.Status))
			}
		}
		report, err := w.Links(t.Context(), "Long", notes.LinkQuery{Direction: "out", Limit: 1000})
		require.NoError(t, err)
		for _, l := range slices.Concat(report.Outgoing, report.Unresolved) {
			lines = append(lines, fmt.Sprint(l.Line, l.Target, l.Anchor, l.To, l.NoAnchor))
		}
		return lines
	}
	changes := func() (n int) {
		require.NoError(t, w.Notes().Write(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRowContext(t.Context(), `SELECT total_changes()`).Scan(&n)
		}))
		return n
	}
	require.NoError(t, w.Notes().Write(t.Context(), func(tx *sql.Tx) error { // as earlier versions wrote them
		_, err := tx.ExecContext(t.Context(), `UPDATE tasks SET ordinal = (ordinal - 3) * 1024; UPDATE links SET ordinal = (ordinal - 3) * 1024`)
		return err
	}))
	for round := range 40 {
		at := rng.IntN(len(lines))
		few := false
		switch op := rng.IntN(8); {
		case round < 15:
			lines = slices.Insert(lines, 70, line())
		case op == 0:
			lines, few = append(lines, line()), true
		case op == 1:
			lines = slices.Insert(lines, 0, line())
		case op == 2:
			lines = slices.Delete(lines, at, min(at+1+rng.IntN(5), len(lines)))
		case op == 3:
			lines[at], lines[len(lines)-1-at] = line(), line()
		case op == 4:
			head = any("", "---\ntags: [home]\n---\n", "---\naliases: [x]\n---\n")
		case op == 5:
			lines = slices.Concat(lines[at:], lines[:at])
		default:
			if few = strings.HasPrefix(lines[at], "- [") && !strings.Contains(lines[at], "[["); few { // otherwise later rows get other ordinals
				lines[at] = any("- [ ] call", "- [x] call")
			} else {
				lines[at] = any("- [ ] call", "text")
			}
		}
		before := changes()
		w.advance(1e9)
		w.save("Long.md", text())
		if few { // there are 250 rows
			assert.Less(t, changes()-before, 80, "round %d", round)
		}
		files["Long.md"] = text()
		require.Equal(t, all(newWorld(t, files)), all(w), "round %d", round)
	}
	w.save("Two.md", "")
	files["Two.md"] = ""
	require.Equal(t, all(newWorld(t, files)), all(w), "a link that stayed leads to the new note")
	lines = nil
	w.save("Long.md", text())
	files["Long.md"] = text()
	require.Equal(t, all(newWorld(t, files)), all(w))
}

// TestTaskNotations checks that the notations are those of the newest notes, and that tasks
// without dates are not all read.
func TestTaskNotations(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		name, text  string
		done, dates tasks.Notation
	}{
		{"A.md", "- [ ] Milk\n", "", ""},
		{"B.md", "- [x] Ring [completion:: 2031-05-01]\n- [ ] Paint [due:: 2031-05-02]\n", tasks.Dataview, tasks.Dataview},
		{"C.md", "- [ ] Tar 📅 2031-05-01\n- [ ] Sew [scheduled:: 2031-05-01]\n", tasks.Dataview, tasks.Dataview},
		{"D.md", "- [x] Row ✅ 2031-05-01\n- [ ] Sail\n", tasks.Emoji, tasks.Emoji},
		{"E.md", strings.Repeat("- [ ] Milk\n", 9_998), tasks.Emoji, tasks.Emoji},
		{"F.md", "- [ ] Milk\n", "", ""},
	} {
		w.save(tt.name, tt.text)
		done, dates, err := w.TaskNotations(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []tasks.Notation{tt.done, tt.dates}, []tasks.Notation{done, dates}, tt.name)
	}
}

// TestTasks_TagsWithSpaces: a tag with spaces is one tag.
func TestTasks_TagsWithSpaces(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "- [ ] one #[[deep work]]", "B.md": "---\ntags: [home work]\n---\n- [ ] two", "C.md": "---\ntags: [deep]\n---\n- [ ] three #work"})
	for tags, want := range map[string][]string{"work": {"three"}, "deep": {"three"}, "deep work": {"one"}, "home": nil, "home work": {"two"}} {
		page, err := w.Tasks(t.Context(), notes.TaskQuery{Tags: []string{tags}})
		require.NoError(t, err)
		var got []string
		for _, task := range page.Tasks {
			got = append(got, strings.Fields(task.Text)[0])
		}
		assert.Equal(t, want, got, tags)
	}
}
