package tasks

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// instance returns the source of the next instance of a recurring task, which has one
// line.
func (n *note) instance(t *Task) (string, error) {
	repeat := t.value("repeat")
	r, err := parseRule(repeat)
	if err != nil {
		return "", fmt.Errorf("%w: %w; change the line with replace_text", ErrInvalid, err)
	}
	today := time.Date(n.opt.Today.Year(), n.opt.Today.Month(), n.opt.Today.Day(), 0, 0, 0, 0, time.UTC)
	reference := today
	if date := cmp.Or(t.Due, t.Scheduled, t.value("start")); date != "" {
		reference, _ = time.Parse(time.DateOnly, date) // checked when it was read
	}
	from := reference
	if r.whenDone {
		from = today
	}
	next, ok := r.next(from)
	none := fmt.Errorf("%w: the recurrence %q has no day after %s and before the end of the year 9999", ErrInvalid, clip(repeat), from.Format(time.DateOnly))
	if !ok || !isDate(next) {
		return "", none
	}
	first := firstLine(t.Source)
	source := t.Source[:first]
	shift := daysBetween(reference, next)
	settings, dropped := n.opt.Settings, []string{"completion", "cancelled", "id", "dependsOn"}
	notation, _ := settings.notation(t, Open)
	if t.isWord() {
		notation = "" // the plugin does not read the task
	}
	if notation != "" && settings.NoScheduled && t.Due+t.value("start") != "" {
		dropped = append(dropped, "scheduled")
	}
	if notation != "" && !settings.Created {
		dropped = append(dropped, "created")
	}
	for _, f := range slices.Backward(t.fields) { // keeps the offsets of the others valid
		switch {
		case f.start >= first:
		case slices.Contains(dropped, f.name):
			source = remove(source, f)
		case slices.Contains([]string{"due", "scheduled", "start"}, f.name):
			day, _ := time.Parse(time.DateOnly, t.Source[f.from:f.to]) // checked when it was read
			if day = day.AddDate(0, 0, shift); !isDate(day) {
				return "", none
			}
			source = source[:f.from] + day.Format(time.DateOnly) + source[f.to:]
		case f.name == "created":
			source = source[:f.from] + today.Format(time.DateOnly) + source[f.to:]
		}
	}
	text := strings.TrimRight(source, " \t")
	source = withoutBlockID(text) + source[len(text):]
	if t.isWord() {
		return withMark(t, source, "TODO"), nil
	}
	if notation != "" && settings.Created {
		source, _ = n.setDate(Place{}, source, "created", today.Format(time.DateOnly), notation) // a date
	}
	return withMark(t, source, settings.markFor(settings.markFor(t.Mark, Done), Open)), nil
}

// move returns the source of a repeated Logseq task with its dates moved to the next
// ones. The task remains open.
func (n *note) move(t *Task) (string, error) {
	today := time.Date(n.opt.Today.Year(), n.opt.Today.Month(), n.opt.Today.Day(), 0, 0, 0, 0, time.UTC)
	source := t.Source
	for i, f := range slices.Backward(t.fields) {
		if f.name != "repeat" || f.notation != Logseq || i == 0 {
			continue
		}
		date := t.fields[i-1]                                             // in the same brackets
		from, _ := time.Parse(time.DateOnly, t.Source[date.from:date.to]) // checked when it was read
		day, err := repeated(t.Source[f.from:f.to], from, today)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		source = source[:date.from] + day.Format(time.DateOnly) + dayName(source[date.to:], day)
	}
	words := map[string]string{"DOING": "TODO", "IN-PROGRESS": "TODO", "NOW": "LATER"}
	if word := words[t.Mark]; word != "" {
		source = withMark(t, source, word)
	}
	return source, nil
}

// withoutInstance returns the note with the task reopened and its next instance removed.
// The line above or below is the instance if completing the task there again would
// yield the current note; otherwise withoutInstance returns nil.
func (n *note) withoutInstance(i int, source string) []byte {
	t, p := n.tasks[i], n.places[i]
	start := bytes.LastIndexByte(n.src[:p.Start], '\n') + 1
	open, ok := Parse(source)
	if !ok {
		return nil
	}
	open.Status = n.opt.Settings.StatusOf(open.Mark)
	above := bytes.LastIndexByte(n.src[:max(0, start-1)], '\n') + 1
	end := p.End                                  // end of the line below
	end += bytes.IndexByte(n.src[end:], '\n') + 1 // nothing at the end of the note
	end += firstLine(string(n.src[end:]))
	for _, cut := range [][2]int{{above, start}, {p.End, end}} {
		before := slices.Concat(n.src[:min(start, cut[0])], n.src[start:p.Start], []byte(source), n.src[max(p.End, cut[1]):])
		again := &note{src: before, opt: n.opt}
		if day, err := time.Parse(time.DateOnly, t.Done); err == nil {
			again.opt.Today = day
		}
		again.opt.Done = t.DoneNotation()
		at := min(start, cut[0]) + p.Start - start
		again.tasks, again.places = []Task{open}, []Place{{Line: t.Line, Start: at, End: at + len(source)}}
		if done, err := again.change(0, Change{Status: t.Mark}); err == nil && bytes.Equal(done, n.src) {
			return before
		}
	}
	return nil
}
