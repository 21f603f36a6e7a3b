package tasks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown/tasks"
)

var today = time.Date(2026, 2, 16, 8, 0, 0, 0, time.UTC)

// change changes the only task of a note, which consists of "- " and text.
func change(t *testing.T, text string, c tasks.Change) []string {
	t.Helper()
	src := "- " + text
	out, err := tasks.Update([]byte(src), []tasks.Place{{Line: 1, Start: 2, End: len(src)}}, tasks.Target{Line: 1}, c, tasks.Options{Today: today})
	require.NoError(t, err, text)
	var texts []string
	for _, line := range strings.Split(string(out), "\n") {
		texts = append(texts, strings.TrimPrefix(line, "- "))
	}
	return texts
}

// nextOf completes a recurring task that is due on the given day, and returns the due date
// of the next instance.
func nextOf(t *testing.T, rule, due string) string {
	t.Helper()
	lines := change(t, "[ ] a 🔁 "+rule+" 📅 "+due, tasks.Change{Status: "done"})
	require.Len(t, lines, 2, rule)
	next, ok := tasks.Parse(lines[0])
	require.True(t, ok, lines[0])
	assert.Equal(t, tasks.Open, next.Status)
	assert.Equal(t, []string{rule}, next.Values("repeat"))
	done, ok := tasks.Parse(lines[1])
	require.True(t, ok, lines[1])
	assert.Equal(t, []any{tasks.Done, due, "2026-02-16"}, []any{done.Status, done.Due, done.Done})
	return next.Due
}

// after returns the first day after from for which is returns true.
func after(from time.Time, is func(time.Time) bool) string {
	for day := from.AddDate(0, 0, 1); ; day = day.AddDate(0, 0, 1) {
		if is(day) {
			return day.Format(time.DateOnly)
		}
	}
}

// lastOf returns the number of the last day in the month of day.
func lastOf(day time.Time) int {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// months returns the same day n months later, or the last day of that month.
func months(from time.Time, n int) time.Time {
	first := time.Date(from.Year(), from.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(from.Day(), lastOf(first))-1)
}

// monday returns the first day of the week of day.
func monday(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// TestRecurrence compares the next day of many rules with one found by examining each day,
// or with the calendar.
func TestRecurrence(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 5))
		from := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(1500))
		due, n := from.Format(time.DateOnly), 2+r.IntN(9)
		check := func(rule, want string) {
			t.Helper()
			assert.Equal(t, want, nextOf(t, rule, due), "%s after %s", rule, due)
		}
		check("every day", from.AddDate(0, 0, 1).Format(time.DateOnly))
		check(fmt.Sprintf("every %d days", n), from.AddDate(0, 0, n).Format(time.DateOnly))
		check("every week", from.AddDate(0, 0, 7).Format(time.DateOnly))
		check(fmt.Sprintf("every %d weeks", n), from.AddDate(0, 0, 7*n).Format(time.DateOnly))
		check("every month", months(from, 1).Format(time.DateOnly))
		check(fmt.Sprintf("every %d months", n), months(from, n).Format(time.DateOnly))
		check("every year", months(from, 12).Format(time.DateOnly))
		check(fmt.Sprintf("every %d years", n), months(from, 12*n).Format(time.DateOnly))
		check("every weekday", after(from, func(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }))

		day, other := time.Weekday(r.IntN(7)), time.Weekday(r.IntN(7))
		on := func(d time.Time) bool { return d.Weekday() == day || d.Weekday() == other }
		check(fmt.Sprintf("every %s, %s", day, other), after(from, on))
		check(fmt.Sprintf("every week on %s", day), after(from, func(d time.Time) bool { return d.Weekday() == day }))
		check(fmt.Sprintf("every %d weeks on %s and %s", n, day, other), after(from, func(d time.Time) bool {
			weeks := int(monday(d).Sub(monday(from)).Hours()) / (7 * 24)
			return on(d) && weeks%n == 0
		}))
		date := 1 + r.IntN(28)
		check(fmt.Sprintf("every month on the %s", ordinal(date)), after(from, func(d time.Time) bool { return d.Day() == date }))
		check("every month on the last", after(from, func(d time.Time) bool { return d.Day() == lastOf(d) }))
		check("every month on the 31st", after(from, func(d time.Time) bool { return d.Day() == 31 }))
		which := 1 + r.IntN(4)
		check(fmt.Sprintf("every month on the %s %s", ordinal(which), day), after(from, func(d time.Time) bool { return d.Weekday() == day && (d.Day()-1)/7 == which-1 }))
		check(fmt.Sprintf("every month on the last %s", day), after(from, func(d time.Time) bool { return d.Weekday() == day && d.Day()+7 > lastOf(d) }))
		month := time.Month(1 + r.IntN(12))
		check(fmt.Sprintf("every %s on the %s", month, ordinal(date)), after(from, func(d time.Time) bool { return d.Month() == month && d.Day() == date }))
	}
}

func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%10 == 1 && n != 11:
		suffix = "st"
	case n%10 == 2 && n != 12:
		suffix = "nd"
	case n%10 == 3 && n != 13:
		suffix = "rd"
	}
	return fmt.Sprint(n, suffix)
}

// TestRecurrence_WhenDone: a rule that counts from the day of completion does not depend
// on the due date, and preserves the distances between the dates of the task.
func TestRecurrence_WhenDone(t *testing.T) {
	for days := range 60 {
		due := today.AddDate(0, 0, 20-days)
		assert.Equal(t, "2026-02-23", nextOf(t, "every week when done", due.Format(time.DateOnly)))
		assert.Equal(t, "2026-03-16", nextOf(t, "every month when done", due.Format(time.DateOnly)))
		scheduled := due.AddDate(0, 0, -2).Format(time.DateOnly)
		lines := change(t, "[ ] a 🔁 every 3 days when done ⏳ "+scheduled+" 📅 "+due.Format(time.DateOnly), tasks.Change{Status: "done"})
		next, _ := tasks.Parse(lines[0])
		assert.Equal(t, []string{"2026-02-17", "2026-02-19"}, []string{next.Scheduled, next.Due}, "due %s", due)
	}
}

// part is one piece of a task's text with its meaning.
type part struct {
	emoji, dataview string
	name, value     string
}

var parts = []part{
	{"📅 2026-03-01", "[due:: 2026-03-01]", "due", "2026-03-01"},
	{"⏳ 2026-02-20", "(scheduled:: 2026-02-20)", "scheduled", "2026-02-20"},
	{"🛫 2026-02-18", "[start:: 2026-02-18]", "start", "2026-02-18"},
	{"➕ 2026-01-02", "[created:: 2026-01-02]", "created", "2026-01-02"},
	{"⏫", "[priority:: high]", "priority", "high"},
	{"🔁 every 2 weeks on Monday when done", "[repeat:: every 2 weeks on Monday when done]", "repeat", "every 2 weeks on Monday when done"},
	{"🆔 a-1", "[id:: a-1]", "id", "a-1"},
	{"⛔ b1,c2", "[dependsOn:: b1,c2]", "dependsOn", "b1,c2"},
}

// others are the fields of parts without the dates that a change sets.
var others = []string{"start", "created", "repeat", "id", "dependsOn"}

// TestParse_Parts parses tasks with parts in every order and notation.
func TestParse_Parts(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		const description = "Ring [[Ann]] about #boat at 10:00"
		text, values := description, map[string]string{}
		for _, i := range r.Perm(len(parts))[:r.IntN(len(parts)+1)] {
			p := parts[i]
			values[p.name] = p.value
			text += " " + []string{p.emoji, p.dataview}[r.IntN(2)]
		}
		if r.IntN(2) == 0 {
			text += " ^block-1"
		}
		got, ok := tasks.Parse("[ ] " + text)
		require.True(t, ok, text)
		assert.Equal(t, text, got.Text)
		assert.Equal(t, []string{description, values["due"], values["scheduled"], values["priority"]}, []string{got.Description, got.Due, got.Scheduled, got.Priority}, text)
		for i, value := range got.Values(others...) {
			assert.Equal(t, values[others[i]], value, text)
		}
	}
}

// TestUpdate_OneDate sets and removes each date of such tasks. Nothing else may change.
func TestUpdate_OneDate(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 7))
		text, notation := "[ ] Ring Ann", r.IntN(2)
		for _, i := range r.Perm(len(parts))[:1+r.IntN(4)] {
			text += " " + []string{parts[i].emoji, parts[i].dataview}[notation]
		}
		before, _ := tasks.Parse(text)
		for _, c := range []tasks.Change{{Due: "2026-04-05"}, {Scheduled: "2026-04-05"}} {
			lines := change(t, text, c)
			require.Len(t, lines, 1, text)
			got, ok := tasks.Parse(lines[0])
			require.True(t, ok, lines[0])
			assert.Equal(t, []any{before.Description, before.Priority, before.Values(others...), tasks.Open}, []any{got.Description, got.Priority, got.Values(others...), got.Status}, lines[0])
			if c.Due != "" {
				assert.Equal(t, []string{c.Due, before.Scheduled}, []string{got.Due, got.Scheduled}, lines[0])
			} else {
				assert.Equal(t, []string{before.Due, c.Scheduled}, []string{got.Due, got.Scheduled}, lines[0])
			}
			none := tasks.Change{Due: "none"}
			if c.Due == "" {
				none = tasks.Change{Scheduled: "none"}
			}
			removed := change(t, lines[0], none)
			if c.Due != "" && before.Due == "" || c.Due == "" && before.Scheduled == "" {
				assert.Equal(t, []string{text}, removed, "as before the date was set")
			}
		}
	}
}

// TestRank: as in the Tasks plugin, tasks without a priority are ranked between medium and
// low.
func TestRank(t *testing.T) {
	var ranks []int
	for _, mark := range []string{"🔺", "⏫", "🔼", "", "🔽", "⏬"} {
		task, ok := tasks.Parse("[ ] a " + mark)
		require.True(t, ok)
		ranks = append(ranks, task.Rank())
	}
	assert.True(t, slices.IsSorted(ranks), "%v", ranks)
	assert.Len(t, slices.Compact(ranks), 6)
}

// TestRecurrence_EndOfCalendar: years have four digits. Recurrence beyond that is
// rejected, and recurrence after centuries preserves the distances between dates.
func TestRecurrence_EndOfCalendar(t *testing.T) {
	complete := func(src string, day time.Time) (string, error) {
		out, err := tasks.Update([]byte(src), []tasks.Place{{Line: 1, Start: 2, End: len(src)}}, tasks.Target{Line: 1}, tasks.Change{Status: "done"}, tasks.Options{Today: day})
		return strings.TrimPrefix(strings.Split(string(out), "\n")[0], "- "), err
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		due := time.Date(9980+r.IntN(19), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
		if r.IntN(2) == 0 {
			due = due.AddDate(-r.IntN(9000), 0, 0)
		}
		scheduled := due.AddDate(0, 0, r.IntN(400)-200)
		n := 1 + r.IntN(1000)
		unit, want := "days", due.AddDate(0, 0, n)
		switch r.IntN(4) {
		case 1:
			unit, want = "weeks", due.AddDate(0, 0, 7*n)
		case 2:
			unit, want = "months", months(due, n)
		case 3:
			unit, want = "years", months(due, 12*n)
		}
		src := fmt.Sprintf("- [ ] a 🔁 every %d %s ⏳ %s 📅 %s", n, unit, scheduled.Format(time.DateOnly), due.Format(time.DateOnly))
		line, err := complete(src, today)
		if scheduled = scheduled.AddDate(0, 0, int((want.Unix()-due.Unix())/86400)); want.Year() > 9999 || scheduled.Year() > 9999 {
			require.ErrorIs(t, err, tasks.ErrInvalid, src)
			require.ErrorContains(t, err, "year", src)
			continue
		}
		require.NoError(t, err, src)
		next, ok := tasks.Parse(line)
		require.True(t, ok, line)
		require.Equal(t, []string{want.Format(time.DateOnly), scheduled.Format(time.DateOnly)}, []string{next.Due, next.Scheduled}, src)
	}
	last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for src, day := range map[string]time.Time{
		"- TODO a\n  DEADLINE: <9999-12-20 Mon +1m>": today, "- TODO a\n  DEADLINE: <9999-12-31 Fri ++1d>": last, "- TODO a\n  DEADLINE: <9999-12-31 Fri .+1d>": last,
		"- [ ] a 🔁 every month on the last Friday 📅 9999-12-31":                today,
		"- [ ] a 🔁 every day when done ⏳ 9999-01-01 🛫 0001-01-01 📅 9999-01-01": today,
	} {
		_, err := complete(src, day)
		require.ErrorIs(t, err, tasks.ErrInvalid, src)
	}
}
