// Package tasks reads and changes the tasks of notes: their status, dates,
// priority and recurrence. It works on text and does not parse notes: the caller
// passes the positions of the tasks.
//
// # Notations
//
// A task is a list item with a checkbox, "- [ ] text", or one of Logseq's words,
// "- TODO text", which Roam writes "- {{[[TODO]]}} text". Its other properties are in its
// text, in one of these notations:
//
//   - emoji of Obsidian's Tasks plugin: 📅 due, ⏳ scheduled, 🛫 start, ✅ done,
//     ➕ created, ❌ cancelled, 🔁 recurrence, 🔺⏫🔼🔽⏬ priority, 🆔 id,
//     ⛔ ids of the tasks it depends on, 🏁 what happens to it on completion;
//   - fields of Dataview, [due:: 2026-01-31] or (due:: 2026-01-31), with the
//     names scheduled, start, completion, created, cancelled, repeat, priority,
//     id, dependsOn and onCompletion;
//   - due dates of the Kanban plugin, @{2026-01-31};
//   - Logseq's lines SCHEDULED: <2026-01-31 Sat> and DEADLINE: <2026-01-31 Sat
//     .+1w> below the text, and its priorities [#A] to [#C].
//
// Changes preserve the existing notation and every other byte of the note.
package tasks

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"notesd/internal/phrase"
)

// Status is the meaning of a task's mark.
type Status string

// The statuses. Other is the status of marks that are neither open nor done, such as
// [>] for a forwarded task or a theme's [i].
const (
	Open       Status = "open"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Cancelled  Status = "cancelled"
	Other      Status = "other"
)

// IsOpen reports whether the task remains to be done.
func (s Status) IsOpen() bool { return s == Open || s == InProgress }

// words are Logseq's task words, also as Roam writes the first and "DONE".
var words = func() map[string]Status {
	plain := map[string]Status{
		"TODO": Open, "LATER": Open, "WAITING": Open, "WAIT": Open,
		"DOING": InProgress, "NOW": InProgress, "IN-PROGRESS": InProgress,
		"DONE": Done, "CANCELED": Cancelled, "CANCELLED": Cancelled,
	}
	all := maps.Clone(plain)
	for word, status := range plain {
		all[roamOpen+word+roamClose] = status
	}
	return all
}()

// roamOpen and roamClose enclose a task word in Roam: {{[[TODO]]}}.
const roamOpen, roamClose = "{{[[", "]]}}"

// likeMark returns a task word as the task with the given mark writes it.
func likeMark(mark, word string) string {
	word = strings.TrimSuffix(strings.TrimPrefix(word, roamOpen), roamClose)
	if strings.HasPrefix(mark, roamOpen) {
		return roamOpen + word + roamClose
	}
	return word
}

// ofBox returns the status of the character in a checkbox.
func ofBox(mark byte) Status {
	switch mark {
	case ' ', '!', '?', '*', '<': // important, a question, starred, scheduled
		return Open
	case '/':
		return InProgress
	case 'x', 'X':
		return Done
	case '-':
		return Cancelled
	}
	return Other
}

// Marked returns the mark at the start of a list item's text, its size in bytes
// including brackets, and its status. The mark is "" if the item is not a task.
func Marked(text string) (mark string, size int, status Status) {
	if mark := box(text); mark != "" {
		return mark, len(mark) + 2, (*Settings)(nil).StatusOf(mark)
	}
	word := text[:min(len(text), len(roamOpen+"IN-PROGRESS"+roamClose)+1)]
	if i := strings.IndexAny(word, " \t\n"); i > 0 {
		if status, ok := words[word[:i]]; ok {
			return word[:i], i, status
		}
	}
	return "", 0, ""
}

// Task is one task, parsed from its text. Dates have the form 2026-01-31, or are "".
type Task struct {
	Line    int    // in the note, from 1
	Heading string // nearest heading above it, or ""
	Source  string // from the mark to the end of the paragraph

	Mark        string // " ", "x", "TODO"
	Status      Status
	Text        string // first line after the mark; identifies the task
	Description string // Text without the fields below
	Due         string
	Scheduled   string
	Done        string
	Priority    string // highest, high, medium, low, lowest, or ""

	fields []field // by position
}

// Notation is a notation for the fields of a task.
type Notation string

// The notations.
const (
	Emoji    Notation = "emoji"
	Dataview Notation = "dataview"
	Logseq   Notation = "logseq"
	Kanban   Notation = "kanban"
)

// field is one property of a task in its text.
type field struct {
	name       string
	notation   Notation
	start, end int // span in Source, including its emoji, brackets or key
	from, to   int // span of its value
}

// emoji maps the emoji of the Tasks plugin to field names.
var emoji = map[rune]string{
	'📅': "due", '📆': "due", '🗓': "due", '⏳': "scheduled", '⌛': "scheduled", '🛫': "start", '✅': "completion", '➕': "created", '❌': "cancelled",
	'🔁': "repeat", '🆔': "id", '⛔': "dependsOn", '🏁': "onCompletion",
	'🔺': "priority", '⏫': "priority", '🔼': "priority", '🔽': "priority", '⏬': "priority",
}

// names are the fields of Dataview; the first ones are dates.
var (
	names = []string{"due", "scheduled", "start", "completion", "created", "cancelled", "repeat", "priority", "id", "dependsOn", "onCompletion"}
	dates = names[:6]
)

// own maps field names to the emoji with which new fields are written.
var own = map[string]string{"due": "📅", "scheduled": "⏳", "created": "➕", "completion": "✅", "cancelled": "❌"}

var (
	signValue = map[string]*regexp.Regexp{
		"repeat":       regexp.MustCompile(`^\x{FE0F}?\s*([a-zA-Z0-9, !]*[a-zA-Z0-9!])`),
		"id":           regexp.MustCompile(`^\x{FE0F}?\s*([a-zA-Z0-9_-]+)`),
		"dependsOn":    regexp.MustCompile(`^\x{FE0F}?\s*([a-zA-Z0-9_-]+(?:\s*,\s*[a-zA-Z0-9_-]+)*)`),
		"onCompletion": regexp.MustCompile(`^\x{FE0F}?\s*([a-zA-Z]+)`),
		"priority":     regexp.MustCompile(`^\x{FE0F}?()`), // the emoji itself
	}
	signDate = regexp.MustCompile(`^\x{FE0F}?\s*(\d{4}-\d{2}-\d{2})`)
	inline   = regexp.MustCompile(`(?i)[\[(](` + strings.Join(names, "|") + `|done)::\s*([^\[\]()]*?)\s*[\])]`)
	stamp    = regexp.MustCompile(`(SCHEDULED|DEADLINE): <(\d{4}-\d{2}-\d{2})(?:[ \t]+\pL+\.?)?(?:[ \t]+\d{1,2}:\d{2})?(?:[ \t]+((?:\.\+|\+\+|\+)\d+[hdwmy]))?[^<>\n]*>`)
	card     = regexp.MustCompile(`(?:^|\s)(@\{(\d{4}-\d{2}-\d{2})\})`)
	letter   = regexp.MustCompile(`\[#([ABC])\]`)
	blockID  = regexp.MustCompile(`[ \t]+\^[a-zA-Z0-9-]+$`)
)

// Parse parses a task from source, its text from the mark on. It reports false if there
// is no mark.
func Parse(source string) (Task, bool) {
	mark, size, status := Marked(source)
	t := Task{Source: source, Mark: mark, Status: status}
	if mark == "" {
		return t, false
	}
	first := firstLine(source)
	t.Text = strings.TrimSpace(source[size:first])
	t.read(first)
	var rest strings.Builder
	at := size
	for _, f := range t.fields {
		if f.start < first {
			rest.WriteString(source[at:f.start])
			at = f.end
		}
	}
	rest.WriteString(source[at:first])
	t.Description = strings.Join(strings.Fields(withoutBlockID(strings.TrimRight(rest.String(), " \t"))), " ")
	return t, true
}

// withoutBlockID removes "^id" and the white space before it from the end of a line.
func withoutBlockID(line string) string {
	if strings.IndexByte(line, '^') < 0 {
		return line
	}
	return line[:len(line)-len(blockID.FindString(line))]
}

func firstLine(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return len(strings.TrimSuffix(s[:i], "\r"))
	}
	return len(s)
}

// read finds the fields on the first line, and Logseq's dates on any line.
func (t *Task) read(first int) {
	line := t.Source[:first]
	all := func(pattern *regexp.Regexp, text, having string) [][]int { // avoids most of the costly matching: few tasks have fields
		if !strings.Contains(text, having) {
			return nil
		}
		return pattern.FindAllStringSubmatchIndex(text, -1)
	}
	for at, r := range line {
		if r < utf8.RuneSelf || emoji[r] == "" {
			continue
		}
		name := emoji[r]
		after := at + utf8.RuneLen(r)
		if v := cmp.Or(signValue[name], signDate).FindStringSubmatchIndex(line[after:]); v != nil {
			f := field{name, Emoji, at, after + v[1], after + v[2], after + v[3]}
			if name == "priority" {
				f.from, f.to = at, after
			}
			t.add(f)
		}
	}
	for _, m := range all(inline, line, "::") {
		name := "completion" // which people also call done
		if i := slices.IndexFunc(names, func(known string) bool { return strings.EqualFold(known, line[m[2]:m[3]]) }); i >= 0 {
			name = names[i]
		}
		t.add(field{name, Dataview, m[0], m[1], m[4], m[5]})
	}
	for _, m := range all(stamp, t.Source, ": <") {
		name := "scheduled"
		if t.Source[m[2]:m[3]] == "DEADLINE" {
			name = "due"
		}
		before := len(t.fields)
		t.add(field{name, Logseq, m[0], m[1], m[4], m[5]})
		if m[6] >= 0 && len(t.fields) > before { // the date exists
			t.add(field{"repeat", Logseq, m[1], m[1], m[6], m[7]})
		}
	}
	for _, m := range all(card, line, "@{") {
		if _, has := t.field("due"); !has { // in another notation, which plugins read in all notes
			t.add(field{"due", Kanban, m[2], m[3], m[4], m[5]})
		}
	}
	for _, m := range all(letter, line, "[#") {
		t.add(field{"priority", Logseq, m[0], m[1], m[2], m[3]})
	}
	slices.SortStableFunc(t.fields, func(a, b field) int { return a.start - b.start })
	end := 0
	t.fields = slices.DeleteFunc(t.fields, func(f field) bool {
		within := f.start < end // an emoji in a Dataview field
		end = max(end, f.end)
		return within
	})
	t.Due, t.Scheduled, t.Done = t.value("due"), t.value("scheduled"), t.value("completion")
	for _, f := range t.fields {
		if f.name == "priority" {
			t.Priority = cmp.Or(t.Priority, priorityOf[t.Source[f.from:f.to]])
		}
	}
}

// priorityOf maps the notations of priorities to their names.
var priorityOf = map[string]string{
	"highest": "highest", "high": "high", "medium": "medium", "low": "low", "lowest": "lowest",
	"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest",
	"A": "high", "B": "medium", "C": "low",
}

// add adds a field, unless it should be a date and is not.
func (t *Task) add(f field) {
	if slices.Contains(dates, f.name) {
		f.to = min(f.to, f.from+len(time.DateOnly)) // a time may follow
		if _, err := time.Parse(time.DateOnly, t.Source[f.from:f.to]); err != nil {
			return
		}
	}
	t.fields = append(t.fields, f)
}

// value returns the value of the field with the given name, or "".
func (t *Task) value(name string) string {
	f, _ := t.field(name)
	return t.Source[f.from:f.to]
}

// field returns the first field with the given name that has a value.
func (t *Task) field(name string) (field, bool) {
	i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name && f.from < f.to }) // [repeat:: ] has none
	if i < 0 {
		return field{}, false
	}
	return t.fields[i], true
}

// isWord reports whether the task has a word instead of a checkbox.
func (t *Task) isWord() bool { return words[t.Mark] != "" }

// DateNotation returns the notation of the task's first date, or "".
func (t *Task) DateNotation() Notation {
	for _, f := range t.fields {
		if slices.Contains(dates, f.name) {
			return f.notation
		}
	}
	return ""
}

// DoneNotation returns the notation of the task's completion or cancellation date, or
// "".
func (t *Task) DoneNotation() Notation {
	for _, name := range []string{"completion", "cancelled"} {
		if f, ok := t.field(name); ok {
			return f.notation
		}
	}
	return ""
}

// Rank orders tasks by priority, highest first. As in the Tasks plugin, tasks without a
// priority are between medium and low. It is -1 if the priority is none of these.
func (t *Task) Rank() int {
	return slices.Index([]string{"highest", "high", "medium", "", "low", "lowest"}, t.Priority)
}

// clip shortens s for a message.
func clip(s string) string { return phrase.Clip(s, 80) }
