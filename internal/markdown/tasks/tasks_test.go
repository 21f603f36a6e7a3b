package tasks

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// placesOf returns the positions of the tasks in a text of list items, each including the
// lines below it that are not list items.
func placesOf(src string) []Place {
	var places []Place
	start := 0
	for i, line := range strings.SplitAfter(src, "\n") {
		marker := len(listItem.FindString(line))
		end := start + len(strings.TrimRight(line, "\r\n"))
		switch mark, _, _ := Marked(line[min(marker, len(line)):]); {
		case marker > 0 && mark != "":
			places = append(places, Place{Line: i + 1, Start: start + marker, End: end})
		case marker == 0 && len(places) > 0 && strings.TrimSpace(line) != "":
			places[len(places)-1].End = end
		}
		start += len(line)
	}
	return places
}

var monday = time.Date(2026, 2, 16, 22, 30, 0, 0, time.FixedZone("", -3600))

func update(t *testing.T, src string, at Target, c Change, opt Options) string {
	t.Helper()
	opt.Today = monday
	out, err := Update([]byte(src), placesOf(src), at, c, opt)
	require.NoError(t, err)
	return string(out)
}

func TestParse(t *testing.T) {
	parse := func(source string) Task {
		t.Helper()
		task, ok := Parse(source)
		require.True(t, ok, source)
		return task
	}
	task := parse("[ ] Ring the dentist #health ⏫ 🔁 every 6 months when done ➕ 2026-01-01 🛫 2026-02-01 ⏳ 2026-02-02 📅 2026-02-03 🆔 ab-1 ⛔ cd,ef ^b1\nmore")
	assert.Equal(t, []string{"every 6 months when done", "2026-01-01", "2026-02-01", "ab-1", "cd,ef"}, task.Values("repeat", "created", "start", "id", "dependsOn"))
	task.fields, task.Source = nil, ""
	assert.Equal(t, Task{Mark: " ", Status: Open, Priority: "high",
		Text:        "Ring the dentist #health ⏫ 🔁 every 6 months when done ➕ 2026-01-01 🛫 2026-02-01 ⏳ 2026-02-02 📅 2026-02-03 🆔 ab-1 ⛔ cd,ef ^b1",
		Description: "Ring the dentist #health", Scheduled: "2026-02-02", Due: "2026-02-03"}, task)

	task = parse("[-] a [due:: 2026-02-03T10:00] (Scheduled:: 2026-02-02) b [priority:: lowest] [repeat:: every day] [completion:: 2026-02-04] [cancelled::2026-02-05]")
	assert.Equal(t, []any{Cancelled, "a b", "2026-02-03", "2026-02-02", "lowest", "every day", "2026-02-04", "2026-02-05"},
		[]any{task.Status, task.Description, task.Due, task.Scheduled, task.Priority, task.value("repeat"), task.Done, task.value("cancelled")})

	task = parse("[ ] a [due:: 2026-02-03] 📅 2026-02-04 [priority:: low] ⏫")
	assert.Equal(t, []string{"2026-02-03", "low"}, []string{task.Due, task.Priority}, "the first takes effect, which a change of the date changes")

	task = parse("LATER [#A] Big thing\n  DEADLINE: <2021-05-29 Sat>\n  SCHEDULED: <2021-05-26 Wed 7:00 .+1d>")
	assert.Equal(t, []any{"LATER", Open, "[#A] Big thing", "Big thing", "2021-05-29", "2021-05-26", "high", ".+1d"},
		[]any{task.Mark, task.Status, task.Text, task.Description, task.Due, task.Scheduled, task.Priority, task.value("repeat")})

	task = parse("[x] a 📅\uFE0F 2026-02-30 ✅ soon [due:: x] 📅 2026-02-03 📅 2026-02-04")
	assert.Equal(t, []any{"2026-02-03", ""}, []any{task.Due, task.Done}, "what is no date is none, and the first counts")
	task = parse("[ ] call DEADLINE: <2026-02-10\n  Tue>")
	assert.Equal(t, []string{"", "call DEADLINE: <2026-02-10"}, []string{task.Due, task.Description}, "a stamp does not continue on the next line")
	for source, status := range map[string]Status{"[ ]": Open, "[/] a": InProgress, "[!] a": Open, "[X] a": Done, "[>] a": Other, "WAITING a": Open, "NOW a": InProgress, "CANCELLED a": Cancelled} {
		assert.Equal(t, status, parse(source).Status, source)
	}
	for _, source := range []string{"", "[]", "[a](b)", "[x]y", "[[x]]", "TODOs", "TODO", "todo x", "a [ ] b"} {
		_, ok := Parse(source)
		assert.False(t, ok, source)
	}
}

func TestUpdate(t *testing.T) {
	for _, test := range []struct{ src, text, status, due, want string }{
		{"- [ ] milk\n", "milk", "", "", "- [x] milk\n"},
		{"* [x] milk\r\n", "milk", "", "", "* [ ] milk\r\n"},
		{"> 1. [ ] milk  \n", "milk", "done", "", "> 1. [x] milk  \n"},
		{"- [x] milk", "milk", "done", "", "- [x] milk"},
		{"- [ ] milk", "milk", "/", "", "- [/] milk"},
		{"- [/] milk", "milk", "cancelled", "", "- [-] milk"},
		{"- TODO milk", "milk", "", "", "- DONE milk"},
		{"- DONE milk", "milk", "", "", "- TODO milk"},
		{"- DONE milk\n- NOW eggs", "milk", "", "", "- LATER milk\n- NOW eggs"},
		{"- LATER milk", "milk", "doing", "", "- NOW milk"},
		{"- DONE milk", "milk", "WAITING", "", "- WAITING milk"},
		{"- {{[[TODO]]}} milk [[Ann]]", "milk [[Ann]]", "", "", "- {{[[DONE]]}} milk [[Ann]]"},
		{"    - {{[[DONE]]}} milk", "milk", "open", "", "    - {{[[TODO]]}} milk"},
		{"- {{[[TODO]]}} milk", "milk", "DONE", "", "- {{[[DONE]]}} milk"},
		{"- {{[[TODO]]}} milk", "milk", "{{[[DONE]]}}", "", "- {{[[DONE]]}} milk"},
		{"- TODO milk", "milk", "{{[[DONE]]}}", "", "- DONE milk"},
		// Completion dates.
		{"- [ ] milk 📅 2026-02-20 ^id", "milk", "", "", "- [x] milk 📅 2026-02-20 ✅ 2026-02-16 ^id"},
		{"- [x] milk 📅 2026-02-20 ✅ 2026-02-16 ^id", "milk", "", "", "- [ ] milk 📅 2026-02-20 ^id"},
		{"- [ ] milk\n- [x] eggs ✅ 2026-01-01", "milk", "", "", "- [x] milk ✅ 2026-02-16\n- [x] eggs ✅ 2026-01-01"},
		{"- [ ] milk\n- [x] eggs [completion:: 2026-01-01]", "milk", "", "", "- [x] milk [completion:: 2026-02-16]\n- [x] eggs [completion:: 2026-01-01]"},
		{"- [ ] milk [due:: 2026-02-20]", "milk", "", "", "- [x] milk [due:: 2026-02-20]"},
		{"- [ ] milk ⏫", "milk", "cancelled", "", "- [-] milk ⏫ ❌ 2026-02-16"},
		{"- [-] milk ⏫ ❌ 2026-02-01", "milk", "done", "", "- [x] milk ⏫ ✅ 2026-02-16"},
		// Other dates.
		{"- [ ] milk", "milk", "", "2026-03-01", "- [ ] milk 📅 2026-03-01"},
		{"- [ ] milk ^a", "milk", "", "2026-03-01", "- [ ] milk 📅 2026-03-01 ^a"},
		{"- [ ] milk 📅 2026-02-20 x", "milk", "", "2026-03-01", "- [ ] milk 📅 2026-03-01 x"},
		{"- [ ] milk 📅 2026-02-20 x", "milk", "", "none", "- [ ] milk x"},
		{"- [ ] milk (due:: 2026-02-20)", "milk", "", "2026-03-01", "- [ ] milk (due:: 2026-03-01)"},
		{"- [ ] milk\n- [ ] eggs [due:: 2026-01-01]", "milk", "", "2026-03-01", "- [ ] milk [due:: 2026-03-01]\n- [ ] eggs [due:: 2026-01-01]"},
		{"\t- TODO milk", "milk", "", "2026-03-01", "\t- TODO milk\n\t  DEADLINE: <2026-03-01 Sun>"},
		{"\t- TODO milk\r\n\t  DEADLINE: <2026-03-01 Sun 8:00>\r\n", "milk", "", "2026-03-02", "\t- TODO milk\r\n\t  DEADLINE: <2026-03-02 Mon 8:00>\r\n"},
		{"- TODO milk\n  DEADLINE: <2026-03-01 Sun>\n  id:: 1", "milk", "", "none", "- TODO milk\n  id:: 1"},
		{"- [ ] milk", "milk", "done", "2026-03-01", "- [x] milk 📅 2026-03-01 ✅ 2026-02-16"},
		// Recurrence.
		{"- [ ] milk 🔁 every week 📅 2026-02-10", "milk", "", "", "- [ ] milk 🔁 every week 📅 2026-02-17\n- [x] milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16"},
		{"- [ ] milk 🔁 every week 📅 2026-02-17\n- [x] milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "open", "", "- [ ] milk 🔁 every week 📅 2026-02-10"},
		{"- [ ] milk 🔁 every week 📅 2026-02-24\n- [x] milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "open", "", "- [ ] milk 🔁 every week 📅 2026-02-24\n- [ ] milk 🔁 every week 📅 2026-02-10"},
		{"a\r\n  - [/] milk 🔁 every day when done ➕ 2026-01-01 ⏳ 2026-02-09 📅 2026-02-10 🆔 x ⛔ y ^b\r\n", "milk", "", "",
			"a\r\n  - [ ] milk 🔁 every day when done ➕ 2026-02-16 ⏳ 2026-02-16 📅 2026-02-17\r\n  - [x] milk 🔁 every day when done ➕ 2026-01-01 ⏳ 2026-02-09 📅 2026-02-10 🆔 x ⛔ y ✅ 2026-02-16 ^b\r\n"},
		{"- [ ] milk [repeat:: every month] [due:: 2026-01-31]", "milk", "", "", "- [ ] milk [repeat:: every month] [due:: 2026-02-28]\n- [x] milk [repeat:: every month] [due:: 2026-01-31]"},
		{"- [ ] milk 🔁 every day", "milk", "cancelled", "", "- [-] milk 🔁 every day ❌ 2026-02-16"},
		{"- NOW milk\n  SCHEDULED: <2026-02-01 Sun 7:00 .+1d>", "milk", "", "", "- LATER milk\n  SCHEDULED: <2026-02-17 Tue 7:00 .+1d>"},
		{"- TODO milk\n  SCHEDULED: <2026-02-01 Sun ++1w>\n  DEADLINE: <2026-02-03 Tue +1m>", "milk", "", "", "- TODO milk\n  SCHEDULED: <2026-02-22 Sun ++1w>\n  DEADLINE: <2026-03-03 Tue +1m>"},
	} {
		t.Run(test.src, func(t *testing.T) {
			assert.Equal(t, test.want, update(t, test.src, Target{Text: test.text}, Change{Status: test.status, Due: test.due}, Options{}))
		})
	}
	assert.Equal(t, "- [x] a ✅ 2026-02-16", update(t, "- [ ] a", Target{Line: 1}, Change{}, Options{Done: Emoji}))
	assert.Equal(t, "- [x] a\n- [x] b", update(t, "- [ ] a\n- [x] b", Target{Line: 1}, Change{}, Options{Done: Emoji}), "the note's own tasks have no dates")
	assert.Equal(t, "- [ ] a [scheduled:: 2026-02-20]", update(t, "- [ ] a", Target{Line: 1}, Change{Scheduled: "2026-02-20"}, Options{Dates: Dataview}))
}

func TestTarget(t *testing.T) {
	src := "- [ ] Ring the dentist 📅 2026-02-20\n- [ ] Buy milk\n- [x] Buy  eggs\n- [ ] buy eggs\n- [ ] Twice\n- [ ] Twice\n- [ ] Cafe\u0301\n- [x] Buy milk 📅 2026-02-20\n"
	for _, test := range []struct {
		at   Target
		c    Change
		line int // line that changes
		err  error
		says string
	}{
		{at: Target{Text: "Ring the dentist 📅 2026-02-20"}, line: 1},
		{at: Target{Text: "ring the  DENTIST"}, line: 1},
		{at: Target{Text: "dentist"}, line: 1},
		{at: Target{Text: "- [ ] Buy milk", Line: 1}, line: 2},
		{at: Target{Text: "* [x] Buy milk"}, line: 2},
		{at: Target{Line: 2}, line: 2},
		{at: Target{Text: "buy eggs"}, line: 4},
		{at: Target{Text: "buy eggs", Line: 3}, line: 3},
		{at: Target{Text: "- [x] Buy milk", Line: 8}, line: 8},
		{at: Target{Text: "milk", Line: 8}, line: 8},
		{at: Target{Text: "eggs"}, line: 4},
		{at: Target{Text: "BUY EGGS"}, c: Change{Status: "open"}, line: 3},
		{at: Target{Text: "Twice", Line: 6}, line: 6},
		{at: Target{Text: "Café"}, line: 7},
		{at: Target{Text: "Twice", Line: 9}, err: ErrAmbiguous, says: `"Twice" (line 5), "Twice" (line 6); give the line as well`},
		{at: Target{Text: "buy"}, err: ErrAmbiguous, says: "line 4"},
		{at: Target{Text: "bu"}, err: ErrMissing},
		{at: Target{Text: "garden", Line: 2}, err: ErrMissing, says: `with the text "garden"; the note has "Buy milk" (line 2), "Ring`},
		{at: Target{Line: 9}, err: ErrMissing, says: "on line 9"},
		{at: Target{}, err: ErrInvalid},
		{at: Target{Text: "- [ ] "}, err: ErrInvalid},
		{at: Target{Line: 2}, c: Change{Status: "perhaps"}, err: ErrInvalid, says: `status "perhaps" is none of`},
		{at: Target{Line: 2}, c: Change{Status: "TODO!"}, err: ErrInvalid},
		{at: Target{Line: 2}, c: Change{Status: "]"}, err: ErrInvalid},
		{at: Target{Line: 2}, c: Change{Due: "2026-02-30"}, err: ErrInvalid, says: "due must be a date"},
	} {
		out, err := Update([]byte(src), placesOf(src), test.at, test.c, Options{Today: monday})
		if test.err != nil {
			assert.ErrorIs(t, err, test.err, "%v", test)
			assert.ErrorContains(t, err, test.says)
			continue
		}
		require.NoError(t, err, "%v", test.at)
		before, after := strings.Split(src, "\n"), strings.Split(string(out), "\n")
		for i := range before {
			assert.Equal(t, i+1 != test.line, before[i] == after[i], "line %d for %v", i+1, test.at)
		}
	}
	_, err := Update([]byte("a"), nil, Target{Text: "milk"}, Change{}, Options{})
	require.ErrorContains(t, err, "the note has no tasks")
}

func TestRules(t *testing.T) {
	for _, test := range []struct{ rule, from, want string }{
		{"every day", "2026-02-28", "2026-03-01"},
		{"every 3 days", "2026-02-27", "2026-03-02"},
		{"every other day", "2026-02-27", "2026-03-01"},
		{"every week", "2026-02-16", "2026-02-23"},
		{"every 2 weeks", "2026-02-16", "2026-03-02"},
		{"every week on Monday", "2026-02-18", "2026-02-23"},
		{"every week on Tuesday, Friday", "2026-02-17", "2026-02-20"},
		{"every 2 weeks on Monday and Wednesday", "2026-02-18", "2026-03-02"},
		{"Every Tuesday", "2026-02-17", "2026-02-24"},
		{"every Monday, Thursday", "2026-02-16", "2026-02-19"},
		{"every weekday", "2026-02-20", "2026-02-23"},
		{"every weekday", "2026-02-21", "2026-02-23"},
		{"every month", "2026-01-31", "2026-02-28"},
		{"every 3 months", "2025-11-30", "2026-02-28"},
		{"every month on the 1st", "2026-02-16", "2026-03-01"},
		{"every month on the 15th, 31st", "2026-02-16", "2026-03-15"},
		{"every month on the 31st", "2026-01-31", "2026-03-31"},
		{"every month on the last", "2026-01-31", "2026-02-28"},
		{"every month on the 2nd Tuesday", "2026-02-10", "2026-03-10"},
		{"every month on the last Friday", "2026-02-16", "2026-02-27"},
		{"every 2 months on the 1st Wednesday", "2026-02-04", "2026-04-01"},
		{"every year", "2024-02-29", "2025-02-28"},
		{"every 2 years", "2026-02-16", "2028-02-16"},
		{"every January on the 15th", "2026-02-16", "2027-01-15"},
		{"every April and December on the 1st and 24th", "2026-04-01", "2026-04-24"},
		{"every February on the 29th", "2024-02-29", "2028-02-29"},
		{"every week when done", "2026-02-16", "2026-02-23"},
		{"every month on the 1st when done", "2026-02-16", "2026-03-01"},
		{"every 2 weeks on Monday when done", "2026-02-18", "2026-03-02"},
		{"every week on Sunday", "2021-04-25", "2021-05-02"},
		{"every 3 weeks on Friday", "2026-02-20", "2026-03-13"},
		{"every month on the 2nd last Friday", "2026-02-16", "2026-02-20"},
		{"every 6 months on the 2nd Wednesday", "2026-02-11", "2026-08-12"},
		{"every month on the 2nd Wednesday and 4th Wednesday", "2026-02-11", "2026-02-25"},
		{"every month on the 1st, last Friday", "2026-02-16", "2026-02-27"},
		{"every month on Monday", "2026-02-16", "2026-02-23"},
		{"every February on the last", "2026-02-28", "2027-02-28"},
		{"every week on weekday", "2026-02-13", "2026-02-16"},
		{"every 2 weeks on weekdays", "2026-02-13", "2026-02-23"},
		{"every January 15", "2026-01-13", "2026-01-15"},
		{"every year on January 15th when done", "2026-01-15", "2027-01-15"},
		{"every week 3", "2026-02-16", "no"},
		{"every month on the last weekday", "2026-02-16", "no"}, // the plugin takes it for the last day
		{"every February on the 30th", "2026-02-16", ""},
		{"every month on the 7th last Friday", "2026-02-16", "no"},
		{"every month on the 0th Friday", "2026-02-16", "no"},
		{"every month on the last blue moon", "2026-02-16", "no"},
		{"every week for 3 times", "2026-02-16", "no"},
		{"every week until 2027", "2026-02-16", "no"},
		{"every blue moon", "2026-02-16", "no"},
		{"every week on the 3rd", "2026-02-16", "no"},
		{"every day on Monday", "2026-02-16", "no"},
		{"every 0 days", "2026-02-16", "no"},
		{"every 99999999999 days", "2026-02-16", "no"},
		{"every month on the 32nd", "2026-02-16", "no"},
		{"every month on the 6th Monday", "2026-02-16", "no"},
		{"weekly", "2026-02-16", "no"},
		{"every Monday and March", "2026-02-16", "no"},
	} {
		from, err := time.Parse(time.DateOnly, test.from)
		require.NoError(t, err)
		r, err := parseRule(test.rule)
		if test.want == "no" {
			assert.Error(t, err, test.rule)
			continue
		}
		require.NoError(t, err, test.rule)
		next, ok := r.next(from)
		assert.Equal(t, test.want != "", ok, test.rule)
		if ok {
			assert.Equal(t, test.want, next.Format(time.DateOnly), test.rule)
		}
		assert.Equal(t, strings.Contains(test.rule, "when done"), r.whenDone)
	}
	for _, test := range []struct{ src, says string }{
		{"- [ ] a 🔁 every blue moon", "blue moon\" is not understood; change the line with replace_text"},
		{"- [ ] a 🔁 every February on the 30th", "no day after 2026-02-16"},
		{"- [ ] a 🔁 every 1000 years\n  SCHEDULED: <9000-02-10 Tue>", "no day after 9000-02-10"},
		{"- TODO a\n  SCHEDULED: <2026-02-01 Sun .+1h>", "hours"},
		{"- TODO a\n  SCHEDULED: <2026-02-01 Sun .+0d>", "interval"},
	} {
		_, err := Update([]byte(test.src), placesOf(test.src), Target{Text: "a"}, Change{}, Options{Today: monday})
		require.ErrorIs(t, err, ErrInvalid, test.src)
		assert.ErrorContains(t, err, test.says)
		assert.NotContains(t, err.Error(), "set its mark", "a mark of done tasks has the same error")
	}
}

// plugin contains settings of the Tasks plugin with the statuses of a theme.
var plugin = &Settings{
	Dates: Emoji, NextBelow: true, Filter: "task",
	Statuses: []MarkStatus{
		{" ", "x", Open}, {"x", " ", Done}, {"!", "D", Open}, {"D", "!", Done}, {"◐", "✓", InProgress}, {"✓", "◐", Done}, {"~", "x", Cancelled}, {"i", "i", Other}, {"/", "x", Open}, {"!", "!", Other},
	},
}

// TestSettings changes tasks of a vault with the Tasks plugin.
func TestSettings(t *testing.T) {
	for _, test := range []struct{ src, status, want string }{
		{"- [ ] task", "", "- [x] task ✅ 2026-02-16"},
		{"- [!] task", "", "- [D] task ✅ 2026-02-16"},
		{"- [D] task ✅ 2026-02-10", "", "- [!] task"},
		{"- [◐] task", "done", "- [✓] task ✅ 2026-02-16"},
		{"- [✓] task", "in_progress", "- [◐] task"},
		{"- [ ] task", "in_progress", "- [◐] task"},
		{"- [ ] task", "cancelled", "- [~] task ❌ 2026-02-16"},
		{"- [ ] task", "✓", "- [✓] task ✅ 2026-02-16"},
		{"- [/] task", "open", "- [/] task"},
		{"- [i] task", "open", "- [ ] task"},
		{"- [ ] other", "", "- [x] other"},
		{"- [!] task 🔁 every day 📅 2026-02-16", "", "- [D] task 🔁 every day 📅 2026-02-16 ✅ 2026-02-16\n- [!] task 🔁 every day 📅 2026-02-17"},
	} {
		src := test.src + "\n- [ ] last"
		out, err := Update([]byte(src), placesOf(src), Target{Line: 1}, Change{Status: test.status}, Options{Today: monday, Settings: plugin})
		require.NoError(t, err)
		assert.Equal(t, test.want+"\n- [ ] last", string(out), test.src)
	}
	quiet := &Settings{Dates: Dataview, NoDone: true}
	for status, want := range map[string]string{"done": "- [x] a", "cancelled": "- [-] a [cancelled:: 2026-02-16]"} {
		out, err := Update([]byte("- [ ] a"), placesOf("- [ ] a"), Target{Line: 1}, Change{Status: status}, Options{Today: monday, Settings: quiet})
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
	for name, want := range map[string]Status{"TODO": Open, "ON_HOLD": Open, "IN_PROGRESS": InProgress, "done": Done, "CANCELLED": Cancelled, "NON_TASK": Other, "EMPTY": Other, "?": Open} {
		assert.Equal(t, want, PluginStatus(name))
	}
}

// TestOnCompletion: a completed task with "🏁 delete" is removed, and nothing else.
func TestOnCompletion(t *testing.T) {
	for src, want := range map[string]string{
		"- [ ] a\n- [ ] b 🏁 delete\n- [ ] c\n":                            "- [ ] a\n- [ ] c\n",
		"- [ ] b 🏁 Delete":                                                ``,
		"- [ ] a\r\n  - [ ] b [onCompletion:: delete]\r\n    more\r\n- c": "- [ ] a\r\n- c",
		"- [ ] b 🏁 keep":                                                  "- [x] b 🏁 keep ✅ 2026-02-16",
		"- [ ] b 🔁 every day 🏁 delete 📅 2026-02-16\n- [ ] c":              "- [ ] b 🔁 every day 🏁 delete 📅 2026-02-17\n- [ ] c",
	} {
		out, err := Update([]byte(src), placesOf(src), Target{Text: "b"}, Change{Status: "done"}, Options{Today: monday})
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
		again, err := Update([]byte(src), placesOf(src), Target{Text: "b"}, Change{Status: "cancelled"}, Options{Today: monday})
		require.NoError(t, err)
		assert.Contains(t, string(again), "[-] b", "only what is done is removed")
	}
}

// generate returns a list of tasks with different texts in all notations.
func generate(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	eol := pick("\n", "\r\n")
	var b strings.Builder
	for i := range 1 + r.IntN(6) {
		indent := pick("", "  ", "\t", "> ")
		text := "task " + string(rune('a'+i)) + pick("", "  two", " #tag/x", " 日本", " `📅`", "  ")
		b.WriteString(indent + pick("- ", "* ", "+ ", "1. ", "12) "))
		if r.IntN(4) == 0 {
			b.WriteString(pick("TODO", "DOING", "DONE", "LATER", "NOW", "WAITING", "CANCELED", "IN-PROGRESS") + " " + pick("", "[#A] ") + text)
			if r.IntN(2) == 0 {
				b.WriteString(eol + indent + "  " + pick("SCHEDULED", "DEADLINE") + ": <2026-02-0" + pick("1", "9") + pick(" Sun", "") + pick("", " 7:00") + ">")
			}
		} else {
			b.WriteString("[" + pick(" ", "x", "X", "/", "-", ">", "!") + "] " + text)
			for range r.IntN(4) {
				b.WriteString(pick(" 📅 2026-02-20", " [due:: 2026-02-20]", " ⏫", " ➕ 2026-01-01", " (scheduled:: 2026-02-01)", " ⏳ 2026-02-02", " [priority:: high]",
					" 🔁 every week", " 🔁 every month on the 1st when done", " 🆔 a1", " [[link|x]]"))
			}
		}
		b.WriteString(pick("", " ^b"+string(rune('a'+i)), "  ") + pick(eol, eol, eol+eol))
	}
	text := b.String()
	return text[:len(text)-r.IntN(2)*len(eol)]
}

// TestCompleteAndReopen: completing an open task and restoring its mark gives the same
// bytes. For [ ] and TODO, reopening without a mark does too.
func TestCompleteAndReopen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 3000 {
		src := generate(r)
		opt := Options{Today: monday, Done: []Notation{"", Emoji, Dataview}[r.IntN(3)], Settings: []*Settings{nil, {Dates: Emoji, NextBelow: true}, {NoDone: true, Dates: Dataview}}[r.IntN(3)]}
		for _, p := range placesOf(src) {
			task, _ := Parse(src[p.Start:p.End])
			if !task.Status.IsOpen() {
				continue
			}
			done, err := Update([]byte(src), placesOf(src), Target{Line: p.Line}, Change{Status: "done"}, opt)
			require.NoError(t, err, src)
			require.NotEqual(t, src, string(done))
			line := p.Line + strings.Count(string(done), "\n") - strings.Count(src, "\n") // moved down by its next instance
			if opt.Settings != nil && opt.Settings.NextBelow {
				line = p.Line
			}
			status := task.Mark
			if status == " " {
				status = "open"
			}
			again, err := Update(done, placesOf(string(done)), Target{Line: line}, Change{Status: status}, opt)
			require.NoError(t, err, string(done))
			require.Equal(t, src, string(again), string(done))
			changed++
		}
	}
	assert.Greater(t, changed, 3000)
}

func FuzzUpdate(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(generate(r), "done", "2026-03-01", 1)
	}
	f.Add("- [ ] ^a\n", "", "none", 1)
	f.Add("- [ ] call DEADLINE: <2026-02-10\n  Tue 10:00\n  .+1w> SCHEDULED: <2026-02-10 Tue +1w>\n", "done", "none", 1)
	f.Fuzz(func(t *testing.T, src, status, due string, line int) {
		places := placesOf(src)
		out, err := Update([]byte(src), places, Target{Line: line}, Change{Status: status, Due: due}, Options{Today: monday, Done: Emoji})
		if err != nil {
			return
		}
		var at Place
		for _, p := range places {
			if p.Line == line {
				at = p
			}
		}
		start := strings.LastIndexByte(src[:at.Start], '\n') + 1
		assert.True(t, strings.HasSuffix(string(out), src[at.End:]), "nothing behind the task changes")
		above := strings.LastIndexByte(strings.TrimSuffix(src[:start], "\n"), '\n') + 1 // perhaps its next instance
		assert.True(t, strings.HasPrefix(string(out), src[:above]), "nothing above it changes")
	})
}
