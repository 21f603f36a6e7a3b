package tasks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUpdate_RareForms covers rare forms of tasks that are special cases in the code.
func TestUpdate_RareForms(t *testing.T) {
	for _, test := range []struct{ src, text, status, due, want string }{
		// Marks and words.
		{"- [-] milk", "milk", "", "", "- [ ] milk"},
		{"- [!] milk", "milk", " ", "", "- [ ] milk"},
		{"- [/] milk", "milk", "", "", "- [x] milk"},
		{"- DONE milk\n- NOW a\n- TODO b\n- TODO c", "milk", "", "", "- TODO milk\n- NOW a\n- TODO b\n- TODO c"},
		{"- DOING milk", "milk", "in-progress", "", "- DOING milk"},
		// Completion dates.
		{"- [ ] milk ✅ 2020-01-01", "milk", "done", "", "- [x] milk ✅ 2026-02-16"},
		{"- [/] milk [completion:: 2020-01-01]", "milk", "done", "", "- [x] milk [completion:: 2026-02-16]"},
		{"- [-] milk ✅ 2020-01-01", "milk", "open", "", "- [ ] milk"},
		{"- [x] milk ^id [completion:: 2026-02-01]", "milk ^id", "cancelled", "", "- [-] milk [cancelled:: 2026-02-16] ^id"},
		{"- TODO milk ✅ 2020-01-01", "milk", "done", "", "- DONE milk"},
		{"- [ ] milk\n- [-] eggs [cancelled:: 2026-01-01]", "milk", "", "", "- [x] milk [completion:: 2026-02-16]\n- [-] eggs [cancelled:: 2026-01-01]"},
		// Selection by text.
		{"- [ ] milk\n- [ ] Milk", "Milk", "", "", "- [ ] milk\n- [x] Milk"},
		{"- [ ] Milk 📅 2026-02-20 x\n- [ ] milk 📅 2026-02-20 x y", "MILK 📅  2026-02-20 X", "", "", "- [x] Milk 📅 2026-02-20 x ✅ 2026-02-16\n- [ ] milk 📅 2026-02-20 x y"},
		{"- [ ] milk and eggs\n- [ ] bread", "AND", "", "", "- [x] milk and eggs\n- [ ] bread"},
		// Dates, in the notation of the task, else of other tasks, else the default one.
		{"- [ ] milk\n- TODO eggs\n  DEADLINE: <2026-03-01 Sun>", "milk", "", "2026-03-01", "- [ ] milk 📅 2026-03-01\n- TODO eggs\n  DEADLINE: <2026-03-01 Sun>"},
		{"- [ ] milk ⏳ 2026-02-01\n- [ ] eggs [due:: 2026-01-01]", "milk", "", "2026-03-01", "- [ ] milk ⏳ 2026-02-01 📅 2026-03-01\n- [ ] eggs [due:: 2026-01-01]"},
		{"- [ ] eggs [due:: 2026-01-01]\n- [ ] milk ⏳ 2026-02-01", "milk", "", "2026-03-01", "- [ ] eggs [due:: 2026-01-01]\n- [ ] milk ⏳ 2026-02-01 📅 2026-03-01"},
		{"- [ ] milk [#A]", "milk", "", "2026-03-01", "- [ ] milk [#A] 📅 2026-03-01"},
		{"- TODO milk\n  DEADLINE: <2026-03-01>", "milk", "", "2026-03-02", "- TODO milk\n  DEADLINE: <2026-03-02>"},
		{"- TODO milk\n    more", "milk", "", "2026-03-01", "- TODO milk\n    DEADLINE: <2026-03-01 Sun>\n    more"},
		{"- [ ] milk\t📅 2026-02-20", "milk", "", "none", "- [ ] milk"},
		{"- [ ] milk📅 2026-02-20 x", "milk", "", "none", "- [ ] milk x"},
		{"- [ ] milk", "milk", "", "none", "- [ ] milk"},
		{"- TODO milk\n  DEADLINE: <2026-03-01 Sun> SCHEDULED: <2026-03-02 Mon>", "milk", "", "none", "- TODO milk\n  SCHEDULED: <2026-03-02 Mon>"},
		{"- [ ] milk [due:: 2026-02-20 10:00]", "milk", "", "2026-03-01", "- [ ] milk [due:: 2026-03-01 10:00]"},
		{"- [ ] milk [done:: x] [DUE:: 2026-02-20]", "milk", "", "2026-03-01", "- [ ] milk [done:: x] [DUE:: 2026-03-01]"},
		{"- [x] milk [done:: 2026-02-20] y", "milk y", "open", "", "- [ ] milk y"},
		{"- [ ] milk [due:: 2026-02-20 📅 2026-03-01] x", "milk x", "", "none", "- [ ] milk x"},
		{"- TODO 📅 2026-02-20", "📅 2026-02-20", "done", "none", "- DONE"},
		{"- {{[[TODO]]}} [due:: 2026-02-20]", "[due:: 2026-02-20]", "done", "none", "- {{[[DONE]]}}"},
		{"- [x] 📅 2026-02-20- a", "📅 2026-02-20- a", "open", "none", "- [ ]- a"},
		// Cards of the Kanban plugin.
		{"- [ ] milk @{2026-02-20} @@{10:00}", "milk @@{10:00}", "", "2026-03-01", "- [ ] milk @{2026-03-01} @@{10:00}"},
		{"- [ ] milk @{2026-02-20}", "milk", "", "none", "- [ ] milk"},
		{"- [ ] milk\n- [ ] @{2026-02-20} eggs", "milk", "", "2026-03-01", "- [ ] milk @{2026-03-01}\n- [ ] @{2026-02-20} eggs"},
		{"- [ ] milk a@{2026-02-20}", "milk a@{2026-02-20}", "", "2026-03-01", "- [ ] milk a@{2026-02-20} 📅 2026-03-01"},
		{"- [ ] milk @{2026-02-31}", "milk @{2026-02-31}", "", "2026-03-01", "- [ ] milk @{2026-02-31} 📅 2026-03-01"}, // no such day
		{"- [ ] ask @[[2026-01-31]] 📅 2026-03-20", "ask @[[2026-01-31]]", "", "2026-04-01", "- [ ] ask @[[2026-01-31]] 📅 2026-04-01"},
		{"- [ ] milk 📅 2026-03-20 @{2026-01-31}", "milk @{2026-01-31}", "", "2026-04-01", "- [ ] milk 📅 2026-04-01 @{2026-01-31}"},
		// The next instance.
		{"- [ ] milk [repeat:: ] 🔁 every day 📅 2026-02-16", "milk", "", "", "- [ ] milk [repeat:: ] 🔁 every day 📅 2026-02-17\n- [x] milk [repeat:: ] 🔁 every day 📅 2026-02-16 ✅ 2026-02-16"},
		{"- TODO milk [repeat:: ]\n  SCHEDULED: <2026-02-10 Tue +1w>", "milk [repeat:: ]", "", "", "- TODO milk [repeat:: ]\n  SCHEDULED: <2026-02-17 Tue +1w>"},
		{"- [ ] eggs\n- [ ] milk [onCompletion:: ] 🏁 delete", "milk", "", "", "- [ ] eggs\n"},
		{"- TODO milk 🔁 every day 📅 2026-02-10", "milk", "", "", "- TODO milk 🔁 every day 📅 2026-02-11\n- DONE milk 🔁 every day 📅 2026-02-10"},
		{"- [ ] milk 🔁 every day 📅 2026-02-10\n  SCHEDULED: <2026-02-10 Tue>", "milk", "", "",
			"- [ ] milk 🔁 every day 📅 2026-02-11\n- [x] milk 🔁 every day 📅 2026-02-10 ✅ 2026-02-16\n  SCHEDULED: <2026-02-10 Tue>"},
		{"- [x] milk 🔁 every day 📅 2026-02-10", "milk", "", "2026-03-01", "- [x] milk 🔁 every day 📅 2026-03-01"},
		{"- [ ] milk 🔁 every day [id:: 🆔 ab] 📅 2026-02-10", "milk", "", "", "- [ ] milk 🔁 every day 📅 2026-02-11\n- [x] milk 🔁 every day [id:: 🆔 ab] 📅 2026-02-10 ✅ 2026-02-16"},
		{"- TODO [#A] pay rent\n  SCHEDULED: <2026-06-31 Tue +1w>", "pay rent", "", "", "- DONE [#A] pay rent\n  SCHEDULED: <2026-06-31 Tue +1w>"}, // no such day
		{"- TODO milk\n  SCHEDULED: <2026-06-31 Tue +1w>\n  DEADLINE: <2026-02-10 Tue +1w>", "milk", "", "", "- TODO milk\n  SCHEDULED: <2026-06-31 Tue +1w>\n  DEADLINE: <2026-02-17 Tue +1w>"},
		// Reopening: the instance is removed if completing the task on its date would create it.
		{"- [ ] milk 🔁 every day when done 📅 2026-02-11\n- [x] milk 🔁 every day when done 📅 2026-02-01 ✅ 2026-02-10", "milk 🔁 every day when done 📅 2026-02-01 ✅ 2026-02-10", "open", "",
			"- [ ] milk 🔁 every day when done 📅 2026-02-01"},
		{"- [ ] milk [repeat:: every week] [due:: 2026-02-17]\n- [x] milk [repeat:: every week] [due:: 2026-02-10] [completion:: 2026-02-16]",
			"milk [repeat:: every week] [due:: 2026-02-10] [completion:: 2026-02-16]", "open", "", "- [ ] milk [repeat:: every week] [due:: 2026-02-10]"},
		{"- [ ] milk 🔁 every week 📅 2026-02-17\n- [x] milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "milk 🔁 every week 📅 2026-02-10 ✅ 2026-02-16", "cancelled", "",
			"- [ ] milk 🔁 every week 📅 2026-02-17\n- [-] milk 🔁 every week 📅 2026-02-10 ❌ 2026-02-16"},
		{"- [ ] milk 🔁 every week 📅 2026-02-17\n- [-] milk 🔁 every week 📅 2026-02-10", "milk 🔁 every week 📅 2026-02-10", "open", "",
			"- [ ] milk 🔁 every week 📅 2026-02-17\n- [ ] milk 🔁 every week 📅 2026-02-10"},
	} {
		assert.Equal(t, test.want, update(t, test.src, Target{Text: test.text}, Change{Status: test.status, Due: test.due}, Options{}), test.src)
	}
}

// TestRules_RareForms covers rare spellings of recurrences, starting on Tuesday, 10
// February 2026.
func TestRules_RareForms(t *testing.T) {
	for text, want := range map[string]string{
		"every mon":                             "2026-02-16",
		"every Mondays":                         "2026-02-16",
		"every tuesday, thursday and saturday":  "2026-02-12",
		"every week on the tue":                 "2026-02-17",
		"every weekday":                         "2026-02-11",
		"every january":                         "2027-01-10",
		"every feb on the 3rd":                  "2027-02-03",
		"every january and  july on the 1st":    "2026-07-01",
		"every month on the 1st and the 15th":   "2026-02-15",
		"every month on the last day":           "2026-02-28",
		"every month on the last":               "2026-02-28",
		"every month on the monday":             "2026-02-16",
		"every month on the 2nd monday":         "2026-03-09",
		"every month on the last friday":        "2026-02-27",
		"every month on the 2nd last friday":    "2026-02-20",
		"every month on the second monday":      "2026-03-09",
		"every month on the first":              "2026-03-01",
		"every month on the third last friday":  "2026-02-13",
		"every month on the 5th monday":         "2026-03-30",
		"every 2 months on the 10th":            "2026-04-10",
		"every other month":                     "2026-04-10",
		"every february on the 1st friday":      "2027-02-05",
		"every 0 days":                          "",
		"every 1001 days":                       "",
		"every month on the 0th":                "",
		"every month on the 32nd":               "",
		"every month on the 0th monday":         "",
		"every month on the 6th monday":         "",
		"every month on the 31st day of summer": "",
		"every year on the 1st":                 "",
		"every week on the 1st":                 "",
		"every monday and july":                 "",
		"every blue moon":                       "",
		"every week and month":                  "",
		"every weekday and saturday":            "",
		"every week on the last":                "",
		"weekly":                                "",
	} {
		src := "- [ ] a [repeat:: " + text + "] [due:: 2026-02-10]"
		out, err := Update([]byte(src), placesOf(src), Target{Line: 1}, Change{}, Options{Today: monday})
		if want == "" {
			assert.ErrorIs(t, err, ErrInvalid, text)
			continue
		}
		if assert.NoError(t, err, text) {
			assert.Contains(t, string(out), "- [ ] a [repeat:: "+text+"] [due:: "+want+"]\n", text)
		}
	}
}

// TestUpdate_RareFormsRefused: errors name what is missing from a change or wrong with it.
func TestUpdate_RareFormsRefused(t *testing.T) {
	many := strings.Repeat("- [ ] a task\n", 8)
	for _, test := range []struct {
		src, says string
		at        Target
		change    Change
		kind      error
	}{
		{"- [ ] milk", "give the text of the task, or its line", Target{}, Change{}, ErrInvalid},
		{"- [ ] milk", "give the text of the task, or its line", Target{Line: 1, Text: "- [ ] "}, Change{}, ErrInvalid},
		{"text", "the note has no tasks", Target{Line: 1}, Change{}, ErrMissing},
		{"- [ ] milk", `on line 3; the note has "milk" (line 1)`, Target{Line: 3}, Change{}, ErrMissing},
		{many, `"a task" (line 8), "a task" (line 7), "a task" (line 6), "a task" (line 5), "a task" (line 4) and 3 more`, Target{Line: 9, Text: "b"}, Change{}, ErrMissing},
		{many, "(line 1)", Target{Text: "a task"}, Change{}, ErrAmbiguous},
		{"- [ ] milk and eggs", "", Target{Text: "an"}, Change{}, ErrMissing},
		{"- TODO milk", `status "/" is none of`, Target{Line: 1}, Change{Status: "/"}, ErrInvalid},
		{"- [ ] milk", `status "LATER" is none of`, Target{Line: 1}, Change{Status: "LATER"}, ErrInvalid},
		{"- [ ] milk", "due must be a date like 2026-01-31, or none", Target{Line: 1}, Change{Due: "tomorrow"}, ErrInvalid},
		{"- [ ] milk", "scheduled must be a date", Target{Line: 1}, Change{Scheduled: "2026-02-30"}, ErrInvalid},
		{"- TODO milk\n  SCHEDULED: <2026-02-01 Sun 7:00 .+1h>", "counts hours", Target{Line: 1}, Change{}, ErrInvalid},
		{"- TODO milk\n  SCHEDULED: <2026-02-01 Sun .+1001d>", "no interval from 1 to 1000", Target{Line: 1}, Change{}, ErrInvalid},
	} {
		out, err := Update([]byte(test.src), placesOf(test.src), test.at, test.change, Options{Today: monday})
		assert.Nil(t, out, test.src)
		require.ErrorIs(t, err, test.kind, test.src)
		assert.ErrorContains(t, err, test.says)
	}
}

// TestSettings_Dates: dates are added as the settings of the Tasks plugin say.
func TestSettings_Dates(t *testing.T) {
	for _, test := range []struct {
		settings   Settings
		done, gone string
	}{
		{Settings{Dates: Emoji}, "- [x] a #task ✅ 2026-02-16", "- [-] a #task ❌ 2026-02-16"},
		{Settings{Dates: Dataview}, "- [x] a #task [completion:: 2026-02-16]", "- [-] a #task [cancelled:: 2026-02-16]"},
		{Settings{Dates: Emoji, NoDone: true}, "- [x] a #task", "- [-] a #task ❌ 2026-02-16"},
		{Settings{Dates: Emoji, NoCancelled: true}, "- [x] a #task ✅ 2026-02-16", "- [-] a #task"},
		{Settings{Dates: Emoji, Filter: "#task"}, "- [x] a #task ✅ 2026-02-16", "- [-] a #task ❌ 2026-02-16"},
		{Settings{Dates: Emoji, Filter: "#todo"}, "- [x] a #task", "- [-] a #task"},
		{Settings{}, "- [x] a #task", "- [-] a #task"},
	} {
		assert.Equal(t, test.done, update(t, "- [ ] a #task", Target{Line: 1}, Change{Status: "done"}, Options{Settings: &test.settings}))
		if test.settings.NoDone {
			assert.Equal(t, test.done, update(t, "- [ ] a #task ✅ 2020-01-01", Target{Line: 1}, Change{Status: "done"}, Options{Settings: &test.settings}), "an old date is not kept")
		}
		assert.Equal(t, test.gone, update(t, "- [ ] a #task", Target{Line: 1}, Change{Status: "cancelled"}, Options{Settings: &test.settings}))
	}
}

// TestSettings_NextInstance: the next instance has the dates that the settings of the Tasks
// plugin give it.
func TestSettings_NextInstance(t *testing.T) {
	for _, test := range []struct {
		settings  Settings
		src, next string
	}{
		{Settings{Dates: Emoji}, "- [ ] a 🔁 every day ➕ 2026-01-01 📅 2026-02-16", "- [ ] a 🔁 every day 📅 2026-02-17"},
		{Settings{Dates: Emoji, Created: true}, "- [ ] a 🔁 every day ➕ 2026-01-01 📅 2026-02-16", "- [ ] a 🔁 every day ➕ 2026-02-16 📅 2026-02-17"},
		{Settings{Dates: Emoji, Created: true}, "- [ ] a 🔁 every day 📅 2026-02-16  ^id", "- [ ] a 🔁 every day 📅 2026-02-17 ➕ 2026-02-16"},
		{Settings{Dates: Dataview, Created: true}, "- [ ] a [repeat:: every day]", "- [ ] a [repeat:: every day] [created:: 2026-02-16]"},
		{Settings{Dates: Emoji, Created: true, Filter: "#task"}, "- [ ] a 🔁 every day 📅 2026-02-16", "- [ ] a 🔁 every day 📅 2026-02-17"},
		{Settings{Dates: Emoji, Filter: "#task"}, "- [ ] a 🔁 every day ➕ 2026-01-01 📅 2026-02-16", "- [ ] a 🔁 every day ➕ 2026-02-16 📅 2026-02-17"},
		{Settings{Dates: Emoji, NoScheduled: true}, "- [ ] a 🔁 every day ⏳ 2026-02-15 📅 2026-02-16", "- [ ] a 🔁 every day 📅 2026-02-17"},
		{Settings{Dates: Emoji, NoScheduled: true}, "- [ ] a 🔁 every day 🛫 2026-02-10 ⏳ 2026-02-15", "- [ ] a 🔁 every day 🛫 2026-02-11"},
		{Settings{Dates: Emoji, NoScheduled: true}, "- [ ] a 🔁 every day ⏳ 2026-02-15", "- [ ] a 🔁 every day ⏳ 2026-02-16"},
		{Settings{Dates: Emoji, Created: true}, "- TODO a 🔁 every day 📅 2026-02-16", "- TODO a 🔁 every day 📅 2026-02-17"},
	} {
		out := update(t, test.src, Target{Line: 1}, Change{Status: "done"}, Options{Settings: &test.settings})
		next, _, _ := strings.Cut(out, "\n")
		assert.Equal(t, test.next, next, test.src)
		assert.Equal(t, test.src, update(t, out, Target{Line: 2}, Change{Status: "open"}, Options{Settings: &test.settings}), "the instance is removed again")
	}
}

// TestUpdate_ScheduleCard: the Kanban plugin has no date for it.
func TestUpdate_ScheduleCard(t *testing.T) {
	assert.Equal(t, "- [ ] milk @{2026-02-20} ⏳ 2026-03-01", update(t, "- [ ] milk @{2026-02-20}", Target{Line: 1}, Change{Scheduled: "2026-03-01"}, Options{}))
}

// TestMarked_NoTask: brackets and words that do not start a task.
func TestMarked_NoTask(t *testing.T) {
	for _, text := range []string{"", "[x", "[ab] c", "[x]c", "[xa b", "ax] b", "[] c", "[[] c", "[^] c", "[\n] c", "[\xff] c", "TODOs", "todo a", "TODO", "Todo a", "IN PROGRESS", "[a](b)", "{{[[TODO a", "{{[[embed]]}} a", "{{[[TODO]]}}"} {
		mark, size, status := Marked(text)
		assert.Equal(t, []any{"", 0, Status("")}, []any{mark, size, status}, "%q", text)
	}
	for text, want := range map[string]Status{"[ ]": Open, "[x]\ta": Done, "[é] a": Other, "IN-PROGRESS a": InProgress, "WAIT\ta": Open, "[<] a": Open, "[i] a": Other} {
		mark, size, status := Marked(text)
		assert.Equal(t, want, status, text)
		assert.Contains(t, text[:size], mark)
	}
}
