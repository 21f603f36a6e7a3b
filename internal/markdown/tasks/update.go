package tasks

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Reasons for rejecting a change; test for them with [errors.Is].
var (
	ErrMissing   = errors.New("there is no such task")
	ErrAmbiguous = errors.New("several tasks match")
	ErrInvalid   = errors.New("the task cannot be changed in this way")
)

// Place is the position of a task in a note.
type Place struct {
	Line       int // from 1
	Start, End int // bytes, from the mark to the end of the paragraph
}

// Target selects a task by its text, its line, or both. With both, the line selects
// among tasks with the same text. Text matches a task's Text or Description or, if no
// task matches as a whole, a part of its Text.
type Target struct {
	Line int
	Text string
}

// Change is a change to a task. The zero value toggles it: an open task becomes done,
// and a done or cancelled one becomes open.
type Change struct {
	// Status is "open", "done", "in_progress" or "cancelled", or a mark to set
	// verbatim, such as "/" or "LATER".
	Status string
	// Due and Scheduled are dates such as 2026-01-31; "none" removes the date.
	Due, Scheduled string
}

// Options provide the context that is not in the text of a note.
type Options struct {
	Today time.Time
	// Done is the notation of completion dates in other notes, and Dates that of their
	// other dates; "" if they have none.
	Done, Dates Notation
	Settings    *Settings // nil for a vault without the Tasks plugin
}

// Update changes one task of src and returns the new text. places are the positions of
// the tasks in src. The error wraps [ErrMissing], [ErrAmbiguous] or [ErrInvalid].
//
// A task that becomes done or cancelled gets the current date if the settings of the
// Tasks plugin say so or, without the plugin, if it has emoji fields or if other tasks
// of the note, or of the vault, have such dates, whose notation it uses. A task that is
// reopened loses the date. When a recurring task becomes done, its next instance is
// inserted above it, or below if the plugin is configured so; the dates of a repeated
// Logseq task move instead. Reopening the task removes that instance. A task with
// "🏁 delete" is removed when it becomes done.
func Update(src []byte, places []Place, at Target, c Change, opt Options) ([]byte, error) {
	n := &note{src: src, places: places, opt: opt}
	for _, p := range places {
		t, _ := Parse(string(src[p.Start:p.End])) // each place is that of a task
		t.Line, t.Status = p.Line, opt.Settings.StatusOf(t.Mark)
		n.tasks = append(n.tasks, t)
	}
	i, err := n.find(at, c)
	if err != nil {
		return nil, err
	}
	return n.change(i, c)
}

type note struct {
	src    []byte
	tasks  []Task
	places []Place
	opt    Options
}

var listItem = regexp.MustCompile(`^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+`)

// find returns the index of the target task.
func (n *note) find(at Target, c Change) (int, error) {
	text := strings.TrimSpace(at.Text[len(listItem.FindString(at.Text)):])
	_, size, _ := Marked(text)
	text = strings.TrimSpace(text[size:])
	folded := fold(text)
	if text == "" {
		if at.Line <= 0 || strings.TrimSpace(at.Text) != "" {
			return 0, fmt.Errorf("%w: give the text of the task, or its line", ErrInvalid)
		}
		if i := slices.IndexFunc(n.tasks, func(t Task) bool { return t.Line == at.Line }); i >= 0 {
			return i, nil
		}
		return 0, n.missing(fmt.Sprintf("on line %d", at.Line), at.Line)
	}
	whole := func(t *Task) bool { return fold(t.Text) == folded || fold(t.Description) == folded }
	for _, matches := range []func(t *Task) bool{
		func(t *Task) bool { return t.Line == at.Line && whole(t) },
		func(t *Task) bool { return t.Text == text },
		whole,
		func(t *Task) bool { return utf8.RuneCountInString(text) >= 3 && strings.Contains(fold(t.Text), folded) },
	} {
		var found, fitting []int
		for i := range n.tasks {
			t := &n.tasks[i]
			if !matches(t) {
				continue
			}
			if t.Line == at.Line {
				return i, nil
			}
			found = append(found, i)
			if t.Status.IsOpen() != (StatusNamed(c.Status) == Open) {
				fitting = append(fitting, i)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(fitting) == 1:
			return fitting[0], nil
		case len(found) > 1:
			return 0, fmt.Errorf("%w %q: %s; give the line as well", ErrAmbiguous, clip(text), n.list(found))
		}
	}
	return 0, n.missing(fmt.Sprintf("with the text %q", clip(text)), at.Line)
}

func fold(s string) string {
	return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(s), " ")))
}

func (n *note) missing(what string, near int) error {
	if len(n.tasks) == 0 {
		return fmt.Errorf("%w %s: the note has no tasks", ErrMissing, what)
	}
	all := make([]int, len(n.tasks))
	for i := range all {
		all[i] = i
	}
	distance := func(i int) int { return max(n.tasks[i].Line-near, near-n.tasks[i].Line) }
	slices.SortStableFunc(all, func(a, b int) int { return distance(a) - distance(b) })
	return fmt.Errorf("%w %s; the note has %s", ErrMissing, what, n.list(all))
}

func (n *note) list(tasks []int) string {
	var b strings.Builder
	for i, k := range tasks {
		if i == 5 {
			fmt.Fprintf(&b, " and %d more", len(tasks)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q (line %d)", clip(n.tasks[k].Text), n.tasks[k].Line)
	}
	return b.String()
}

// StatusNamed returns the status with the given name, or "" if s is not a name.
func StatusNamed(s string) Status {
	switch strings.ToLower(s) {
	case "open", "todo", "to do", "incomplete", "pending", "not done":
		return Open
	case "in_progress", "in-progress", "in progress", "doing":
		return InProgress
	case "done", "complete", "completed", "finished":
		return Done
	case "cancelled", "canceled":
		return Cancelled
	}
	return ""
}

// mark returns the mark and status of the task after the change.
func (n *note) mark(t *Task, c Change) (string, Status, error) {
	if _, known := words[c.Status]; known && t.isWord() {
		return likeMark(t.Mark, c.Status), words[c.Status], nil
	}
	if mark := box("[" + c.Status + "]"); mark != "" && !t.isWord() {
		return mark, n.opt.Settings.StatusOf(mark), nil
	}
	status := StatusNamed(c.Status)
	switch {
	case c.Status == "" && c.Due+c.Scheduled != "":
		status = t.Status
	case c.Status == "" && (t.Status == Done || t.Status == Cancelled):
		status = Open
	case c.Status == "":
		status = Done
	case status == "":
		return "", "", fmt.Errorf("%w: status %q is none of open, done, in_progress, cancelled, nor a mark of such tasks", ErrInvalid, clip(c.Status))
	}
	if status == t.Status {
		return t.Mark, status, nil
	}
	if !t.isWord() {
		return n.opt.Settings.markFor(t.Mark, status), status, nil
	}
	word := map[Status]string{Open: "TODO", InProgress: "DOING", Done: "DONE", Cancelled: "CANCELED"}[status]
	later := 0 // Logseq users choose one of two sets of words
	for _, other := range append(slices.Clone(n.tasks), *t, *t) {
		switch other.Mark {
		case "LATER", "NOW":
			later++
		case "TODO", "DOING", "IN-PROGRESS":
			later--
		}
	}
	if later > 0 {
		word = strings.NewReplacer("TODO", "LATER", "DOING", "NOW").Replace(word)
	}
	return likeMark(t.Mark, word), status, nil
}

func (n *note) change(i int, c Change) ([]byte, error) {
	t, p := n.tasks[i], n.places[i]
	mark, status, err := n.mark(&t, c)
	if err != nil {
		return nil, err
	}
	source := t.Source
	for _, date := range [][2]string{{"due", c.Due}, {"scheduled", c.Scheduled}} {
		if date[1] == "" {
			continue
		}
		if source, err = n.setDate(p, source, date[0], date[1], n.dateNotation(&t)); err != nil {
			return nil, err
		}
	}
	if status == t.Status {
		source = withMark(&t, source, mark)
		return n.put(p, source), nil
	}
	if changed, ok := Parse(source); ok { // not if there was nothing but a date behind the mark
		changed.Status, t = t.Status, changed
	}
	next := ""
	if status == Done && t.value("repeat") != "" {
		f, _ := t.field("repeat")
		if f.notation == Logseq {
			if source, err = n.move(&t); err != nil {
				return nil, err
			}
			return n.put(p, source), nil // the task remains open
		}
		if next, err = n.instance(&t); err != nil {
			return nil, err
		}
	}
	today := n.opt.Today.Format(time.DateOnly)
	source = withMark(&t, source, mark)
	notation := n.doneNotation(&t, status)
	dated := map[Status]string{Done: "completion", Cancelled: "cancelled"}[status]
	if notation == "" {
		dated = ""
	}
	for _, name := range []string{"completion", "cancelled"} {
		if name != dated {
			source, _ = n.setDate(p, source, name, "none", "") // has no error
		}
	}
	if dated != "" {
		if source, err = n.setDate(p, source, dated, today, notation); err != nil {
			return nil, err
		}
	}
	start := bytes.LastIndexByte(n.src[:p.Start], '\n') + 1
	if next != "" {
		next = string(n.src[start:p.Start]) + next
	}
	if status == Done && strings.EqualFold(t.value("onCompletion"), "delete") {
		return n.without(p, start, next), nil
	}
	out := n.put(p, source)
	end := p.Start + len(source)
	switch {
	case next != "" && n.opt.Settings != nil && n.opt.Settings.NextBelow:
		return slices.Concat(out[:end], []byte(n.lineEnd()+next), out[end:]), nil
	case next != "":
		return slices.Concat(out[:start], []byte(next+n.lineEnd()), out[start:]), nil
	case t.Status == Done && status.IsOpen() && t.value("repeat") != "":
		if out := n.withoutInstance(i, source); out != nil {
			return out, nil
		}
	}
	return out, nil
}

// without returns the note with the lines of a task removed or, if next is not empty,
// replaced by next.
func (n *note) without(p Place, start int, next string) []byte {
	end := p.End
	if next == "" {
		end += bytes.IndexByte(n.src[end:], '\n') + 1 // nothing at the end of the note
	}
	return slices.Concat(n.src[:start], []byte(next), n.src[end:])
}

// withMark returns the source of a task with another mark.
func withMark(t *Task, source, mark string) string {
	if t.isWord() {
		return mark + source[len(t.Mark):]
	}
	return "[" + mark + source[1+len(t.Mark):]
}

func (n *note) put(p Place, source string) []byte {
	return slices.Concat(n.src[:p.Start], []byte(source), n.src[p.End:])
}

func (n *note) lineEnd() string {
	if i := bytes.IndexByte(n.src, '\n'); i > 0 && n.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// doneNotation returns the notation of the date to add to a task that gets the status,
// or "" for none.
func (n *note) doneNotation(t *Task, status Status) Notation {
	if t.isWord() {
		return "" // Logseq does not add one
	}
	if notation, decides := n.opt.Settings.notation(t, status); decides {
		return notation
	}
	if slices.ContainsFunc(t.fields, func(f field) bool { return f.notation == Emoji }) {
		return Emoji
	}
	dated := false
	for _, other := range n.tasks {
		if notation := other.DoneNotation(); notation != "" {
			return notation
		}
		dated = dated || other.Status == Done
	}
	if dated {
		return "" // the note's other done tasks have none
	}
	return n.opt.Done
}

// dateNotation returns the notation of a new date of the task.
func (n *note) dateNotation(t *Task) Notation {
	if notation := t.DateNotation(); notation != "" {
		return notation
	}
	if t.isWord() {
		return Logseq
	}
	for _, other := range n.tasks {
		if notation := other.DateNotation(); notation != "" && notation != Logseq {
			return notation
		}
	}
	if n.opt.Dates == Dataview {
		return Dataview
	}
	return Emoji
}

// setDate changes a date in the source of a task, adds it in the given notation, or
// removes it if date is "none".
func (n *note) setDate(p Place, source, name, date string, notation Notation) (string, error) {
	t, _ := Parse(source)
	f, has := t.field(name)
	if date == "none" {
		return remove(source, f), nil // an empty span if there is no such field
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return "", fmt.Errorf("%w: %s must be a date like 2026-01-31, or none, not %q", ErrInvalid, name, clip(date))
	}
	if has {
		if f.notation == Logseq {
			return source[:f.from] + date + dayName(source[f.to:], day), nil
		}
		return source[:f.from] + date + source[f.to:], nil
	}
	first := firstLine(source)
	if notation == Logseq {
		indent := "  "
		if lines := strings.SplitN(source, "\n", 3); len(lines) > 1 {
			indent = lines[1][:len(lines[1])-len(strings.TrimLeft(lines[1], " \t"))]
		} else {
			line := n.src[bytes.LastIndexByte(n.src[:p.Start], '\n')+1:]
			indent = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) + indent
		}
		word := map[string]string{"due": "DEADLINE", "scheduled": "SCHEDULED"}[name]
		return source[:first] + n.lineEnd() + indent + word + ": <" + day.Format("2006-01-02 Mon") + ">" + source[first:], nil
	}
	text := " " + own[name] + " " + date
	switch {
	case notation == Dataview:
		text = " [" + name + ":: " + date + "]"
	case notation == Kanban && name == "due": // the plugin has no other dates
		text = " @{" + date + "}"
	}
	at := len(withoutBlockID(strings.TrimRight(source[:first], " \t")))
	return source[:at] + text + source[at:], nil
}

var weekday = regexp.MustCompile(`^\s+\pL+\.?`)

// dayName returns rest, the text after a Logseq date, with its weekday, if any, changed
// to that of day.
func dayName(rest string, day time.Time) string {
	if name := weekday.FindString(rest); name != "" {
		return " " + day.Weekday().String()[:3] + rest[len(name):]
	}
	return rest
}

// remove removes a field with the space before it, or its whole line if it has its own.
func remove(source string, f field) string {
	start, end := f.start, f.end
	if before := strings.TrimRight(source[:start], " \t"); strings.HasSuffix(before, "\n") {
		after := source[end : end+firstLine(source[end:])]
		if strings.TrimSpace(after) == "" {
			start = len(strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r"))
			return source[:start] + source[end+len(after):]
		}
	}
	if start > 0 && (source[start-1] == ' ' || source[start-1] == '\t') {
		start--
	}
	return source[:start] + source[end:]
}
