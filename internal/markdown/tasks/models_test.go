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

// placesIn returns the positions of the list items of a note, each including the indented
// lines below it.
func placesIn(src string) (places []tasks.Place) {
	start := 0
	for n, line := range strings.SplitAfter(src, "\n") {
		text := strings.TrimRight(line, "\r\n")
		if after, isItem := strings.CutPrefix(strings.TrimLeft(text, " "), "- "); isItem {
			end := start + len(text)
			places = append(places, tasks.Place{Line: n + 1, Start: end - len(after), End: end})
		} else if len(places) > 0 && strings.HasPrefix(text, "  ") {
			places[len(places)-1].End = start + len(text)
		}
		start += len(line)
	}
	return places
}

// TestLogseqRepeats compares the next date of repeated Logseq tasks with one found by
// stepping.
func TestLogseqRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range 3000 {
		from := time.Date(2020+rng.IntN(8), time.Month(1+rng.IntN(12)), 1+rng.IntN(31), 0, 0, 0, 0, time.UTC)
		kind, n, unit := one("+", "++", ".+"), 1+rng.IntN(40), one("d", "w", "m", "y")
		step := func(day time.Time, times int) time.Time {
			switch unit {
			case "d":
				return day.AddDate(0, 0, n*times)
			case "w":
				return day.AddDate(0, 0, 7*n*times)
			case "m":
				return months(day, n*times)
			}
			return months(day, 12*n*times)
		}
		day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
		want := step(from, 1)
		switch kind {
		case ".+":
			want = step(day, 1)
		case "++":
			for times := 1; !want.After(day); times++ {
				want = step(from, times)
			}
		}
		word, clock := one("SCHEDULED", "DEADLINE"), one("", " 09:30")
		stamp := func(day time.Time) string {
			return fmt.Sprintf("%s: <%s%s %s%d%s>", word, day.Format("2006-01-02 Mon"), clock, kind, n, unit)
		}
		mark := one("TODO", "TODO", "DOING", "NOW", "LATER", "WAITING")
		open := mark
		switch mark {
		case "DOING":
			open = "TODO"
		case "NOW":
			open = "LATER"
		}
		src := "- " + mark + " water the plants\n  " + stamp(from) + "\n  more\n- TODO other\n"
		out, err := tasks.Update([]byte(src), placesIn(src), tasks.Target{Line: 1}, tasks.Change{Status: "done"}, tasks.Options{Today: today})
		require.NoError(t, err, src)
		require.Equal(t, "- "+open+" water the plants\n  "+stamp(want)+"\n  more\n- TODO other\n", string(out), src)
	}
}

// TestSettings_Marks: for any statuses in the settings, a task that gets a status gets a
// mark with that status if there is one, preferably the first that clicking reaches. A
// task that already has the status keeps its mark.
func TestSettings_Marks(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	marks := []string{" ", "x", "/", "-", "!", "D", "◐", "✓", "a", "~"}
	statuses := []tasks.Status{tasks.Open, tasks.InProgress, tasks.Done, tasks.Cancelled, tasks.Other}
	usual := map[tasks.Status]string{tasks.Open: " ", tasks.InProgress: "/", tasks.Done: "x", tasks.Cancelled: "-"}
	clicked, fell := 0, 0
	for range 4000 {
		s := &tasks.Settings{}
		status := map[string]tasks.Status{" ": tasks.Open, "!": tasks.Open, "/": tasks.InProgress, "x": tasks.Done, "-": tasks.Cancelled} // marks that are not in the settings
		next := map[string]string{}
		for _, mark := range marks {
			if rng.IntN(2) == 0 {
				continue
			}
			m := tasks.MarkStatus{Mark: mark, Next: marks[rng.IntN(len(marks))], Status: statuses[rng.IntN(len(statuses))]}
			s.Statuses = append(s.Statuses, m)
			status[mark], next[mark] = m.Status, m.Next
		}
		rng.Shuffle(len(s.Statuses), func(i, j int) { s.Statuses[i], s.Statuses[j] = s.Statuses[j], s.Statuses[i] })
		was, want := marks[rng.IntN(len(marks))], statuses[rng.IntN(4)]
		src := "- [" + was + "] water the plants\n"
		out, err := tasks.Update([]byte(src), placesIn(src), tasks.Target{Line: 1}, tasks.Change{Status: string(want)}, tasks.Options{Today: today, Settings: s})
		require.NoError(t, err)
		got, _, _ := tasks.Marked(strings.TrimPrefix(string(out), "- "))
		is := func(mark string) tasks.Status {
			if status[mark] == "" {
				return tasks.Other
			}
			return status[mark]
		}
		form := fmt.Sprintf("[%s] to %s with %+v", was, want, s.Statuses)
		expected := ""
		for at, seen := was, map[string]bool{}; next[at] != "" && !seen[at]; at = next[at] { // click, click, …
			if is(at) == want {
				expected = at
				clicked++
				break
			}
			seen[at] = true
		}
		switch {
		case is(was) == want:
			expected = was
		case expected != "":
		case next[usual[want]] != "" && is(usual[want]) == want:
			expected = usual[want]
		default:
			expected = usual[want]
			if i := slices.IndexFunc(s.Statuses, func(m tasks.MarkStatus) bool { return m.Status == want }); i >= 0 {
				expected = s.Statuses[i].Mark
			} else {
				fell++
			}
		}
		require.Equal(t, expected, got, form)
	}
	assert.Positive(t, clicked)
	assert.Positive(t, fell)
}

// TestTargets: a task is selected by its text, or by a part that is unique. If several
// tasks match, a line is required, and it selects only among them.
func TestTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	words := []string{"water", "the", "plants", "Ring", "Ann", "report", "Öl"}
	outcomes := map[string]int{}
	for range 3000 {
		var lines, texts []string
		var open []bool
		for range 1 + rng.IntN(6) {
			var some []string
			for range 1 + rng.IntN(3) {
				some = append(some, words[rng.IntN(len(words))])
			}
			text := strings.Join(some, " ")
			open = append(open, rng.IntN(2) == 0)
			mark := "x"
			if open[len(open)-1] {
				mark = " "
			}
			texts, lines = append(texts, text), append(lines, "- ["+mark+"] "+text)
		}
		src := strings.Join(lines, "\n") + "\n"
		target := tasks.Target{Text: texts[rng.IntN(len(texts))]}
		if rng.IntN(3) == 0 {
			target.Text = strings.ToUpper(target.Text)
		}
		if rng.IntN(3) == 0 {
			parts := strings.Fields(target.Text)
			target.Text = parts[rng.IntN(len(parts))]
		}
		if rng.IntN(2) == 0 {
			target.Line = 1 + rng.IntN(len(lines))
		}
		var want []int // the matching tasks, by the first criterion with a match
		for _, fits := range []func(text string) bool{
			func(text string) bool { return text == target.Text },
			func(text string) bool { return strings.EqualFold(text, target.Text) },
			func(text string) bool {
				return len([]rune(target.Text)) >= 3 && strings.Contains(strings.ToLower(text), strings.ToLower(target.Text))
			},
		} {
			for i, text := range texts {
				if fits(text) {
					want = append(want, i)
				}
			}
			if at := slices.Index(want, target.Line-1); at >= 0 {
				want = want[at : at+1]
			}
			if len(want) > 1 { // of a done and an open task with the same text, the open one becomes done
				if still := slices.DeleteFunc(slices.Clone(want), func(i int) bool { return !open[i] }); len(still) == 1 {
					want = still
				}
			}
			if len(want) > 0 {
				break
			}
		}
		out, err := tasks.Update([]byte(src), placesIn(src), target, tasks.Change{Status: "done"}, tasks.Options{Today: today})
		form := fmt.Sprintf("%+v in\n%s", target, src)
		switch len(want) {
		case 0:
			require.ErrorIs(t, err, tasks.ErrMissing, form)
			outcomes["missing"]++
		case 1:
			require.NoError(t, err, form)
			lines[want[0]] = strings.Replace(lines[want[0]], "- [ ]", "- [x]", 1)
			require.Equal(t, strings.Join(lines, "\n")+"\n", string(out), form)
			outcomes["one"]++
		default:
			require.ErrorIs(t, err, tasks.ErrAmbiguous, form)
			outcomes["several"]++
		}
	}
	assert.Len(t, outcomes, 3, outcomes)
}
