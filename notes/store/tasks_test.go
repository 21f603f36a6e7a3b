package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// aTask is a task as it was written.
type aTask struct {
	path                 string
	line                 int
	mark, text, priority string
	due, scheduled, done string
	tags                 []string // of its text and of its note
}

// randomTasks writes notes with tasks in the emoji notation.
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
			task := aTask{path: p, mark: any(" ", " ", "x", "/", "-", "!"), text: any("Call Ann", "paint the Boat", "call the harbour"), tags: slices.Clone(noteTags)}
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

// selects is the oracle of queries.
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
		(q.Text == "" || strings.Contains(strings.ToLower(t.text), strings.ToLower(q.Text))) &&
		(q.Priority == "" || cmp.Or(t.priority, "none") == q.Priority) &&
		(q.Folder == "" || strings.HasPrefix(t.path, q.Folder+"/")) && (q.Note == "" || t.path == q.Note) && q.Scope.CanRead(t.path)
}

// TestTasks_BruteForce compares lists of tasks, by any conditions at once and in pages of
// any size, with what an oracle selects of the tasks as they were written.
func TestTasks_BruteForce(t *testing.T) {
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
			Text: any("", "", "", "call", "BOAT"), Priority: any("", "", "", "high", "lowest", "none"), Folder: any("", "", "", "Work", "Work/Old"),
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
			for { // a note that the query's caller may read
				if q.Note = all[rng.IntN(len(all))].path; q.Scope.CanRead(q.Note) {
					break
				}
			}
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
			if q.Sort == "done" { // the newest first
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
