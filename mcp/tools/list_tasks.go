package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
)

var listTasks = define(Tool{
	Name:        "list_tasks",
	Title:       "List tasks",
	Description: "List tasks of the notes, next due first. Use it for what is to do, due or done; edit_note toggle_task changes one.",
	output:      outputOf[TaskList](),
}, runListTasks)

type taskArgs struct {
	Note      string   `json:"note"`
	Folder    string   `json:"folder"`
	Tags      []string `json:"tags"`
	Status    string   `json:"status" doc:"open (default), done, all"`
	Due       string   `json:"due" doc:"overdue, today, this week, 2026-01-31, none"`
	DueBefore string   `json:"due_before"`
	DueAfter  string   `json:"due_after"`
	Scheduled string   `json:"scheduled"`
	Done      string   `json:"done"`
	Priority  string   `json:"priority"`
	Text      string   `json:"text"`
	Sort      string   `json:"sort" doc:"due, priority, path"`
	Limit     int      `json:"limit" min:"1"`
	Cursor    string   `json:"cursor"`
}

// A TaskList is the result of list_tasks.
type TaskList struct {
	Tasks    []ListedTask `json:"tasks"`
	Total    int          `json:"total"`
	Next     string       `json:"next_cursor,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
}

// A ListedTask is one task of a TaskList.
type ListedTask struct {
	Path      string   `json:"path"`
	Line      int      `json:"line"`
	Anchor    string   `json:"anchor"`
	Heading   string   `json:"heading,omitempty"`
	Text      string   `json:"text"`
	Status    string   `json:"status"`
	Mark      string   `json:"mark,omitempty"`
	Due       string   `json:"due,omitempty"`
	Scheduled string   `json:"scheduled,omitempty"`
	Done      string   `json:"done,omitempty"`
	Priority  string   `json:"priority,omitempty"`
	Tags      []string `json:"tags,omitempty"`
}

func runListTasks(ctx context.Context, in *invocation, a taskArgs) (Outcome, error) {
	selected := a
	selected.Cursor, selected.Limit, selected.Status = "", 0, cmp.Or(a.Status, "open")
	cursor, next, err := cursorOf(a.Cursor, selected)
	if err != nil {
		return Outcome{}, err
	}
	if a.Note == "" && notes.IsNoteName(a.Folder) { // passed as path, which means the folder
		if _, err := in.Vault.Lookup(ctx, a.Folder, in.Scope); !errors.Is(err, notes.ErrNotFound) {
			a.Note, a.Folder = a.Folder, ""
		}
	}
	filter, err := in.filter(a.Folder, a.Tags, "", "")
	if err != nil {
		return Outcome{}, err
	}
	if strings.EqualFold(a.Status, "overdue") && a.Due == "" { // said by due
		a.Status, a.Due = "", "overdue"
	}
	q := notes.TaskQuery{Note: a.Note, Folder: filter.Folder, Tags: filter.Tags, Status: a.Status, Priority: a.Priority, Text: a.Text,
		Sort: a.Sort, Limit: cmp.Or(a.Limit, 50), Cursor: cursor, Scope: in.Scope}
	if q.First, q.Last, err = in.taskLines(ctx, a.Note); err != nil {
		return Outcome{}, err
	}
	// Without a status, open tasks are listed, none of which was done on any day.
	if a.Done != "" && a.Done != "none" {
		q.Status, q.Sort = cmp.Or(q.Status, "done"), cmp.Or(q.Sort, "done")
	}
	if q.Due, err = in.taskDates("due", a.Due, a.DueAfter, a.DueBefore); err != nil {
		return Outcome{}, err
	}
	if q.Scheduled, err = in.taskDates("scheduled", a.Scheduled, "", ""); err != nil {
		return Outcome{}, err
	}
	if q.Done, err = in.taskDates("done", a.Done, "", ""); err != nil {
		return Outcome{}, err
	}
	page, err := in.Vault.Tasks(ctx, q)
	if err != nil {
		return Outcome{}, err
	}
	warnings := in.incomplete(ctx)
	if page.Total == 0 {
		why, err := in.whyNoTasks(ctx, q, filter)
		if err != nil {
			return Outcome{}, err
		}
		warnings = append(warnings, why...)
	}
	answer := func(n int) Outcome {
		out := TaskList{Tasks: make([]ListedTask, n), Total: page.Total, Next: next(page.Next), Warnings: in.remarks(warnings...)}
		for i, t := range page.Tasks[:n] {
			out.Tasks[i] = listedTask(t)
		}
		return Outcome{Structured: out, Text: taskText(out)}
	}
	out, err := fitPage(in.Limits.ResultBytes, len(page.Tasks), answer, func(n int) (int, error) {
		q.Limit = n
		page, err = in.Vault.Tasks(ctx, q)
		return len(page.Tasks), err
	})
	if err != nil {
		return Outcome{}, err
	}
	for _, t := range page.Tasks {
		in.Seen.listed(t.Path, t.Hash, t.Line) // toggle_task by line is conditional on it
	}
	return out, nil
}

// whyNoTasks explains an empty list: models often ask for open tasks when the task in question is
// done.
func (in *invocation) whyNoTasks(ctx context.Context, q notes.TaskQuery, filter notes.Filter) ([]string, error) {
	why, err := in.Vault.WhyNothing(ctx, filter)
	if err != nil {
		return nil, err
	}
	if q.Text != "" && q.Note == "" {
		if meta, err := in.Vault.Lookup(ctx, q.Text, in.Scope); err == nil { // "Atlas", for the tasks of the project
			why = append(why, "text is compared with each task; pass the name of a note as note: "+notes.Quote(meta.Path))
		}
	}
	if q.Status == "all" {
		return why, nil
	}
	q.Status, q.Limit = "all", 1 // often the task was completed
	others, err := in.Vault.Tasks(ctx, q)
	if others.Total > 0 {
		why = append(why, fmt.Sprintf("%s with another status; status all lists them", phrase.Count(others.Total, "task")))
	}
	return why, err
}

// taskLines returns the lines of the part of a note that a reference names, as in Plan#Risks, or
// zeros.
func (in *invocation) taskLines(ctx context.Context, ref string) (first, last int, err error) {
	if _, anchor := notes.SplitAnchor(ref); anchor == (notes.Anchor{}) {
		return 0, 0, nil
	}
	note, err := in.Vault.Read(ctx, ref, in.Scope)
	if err != nil {
		return 0, 0, err
	}
	part, remark, err := in.partOf(ctx, ref, note)
	if err != nil {
		return 0, 0, err
	}
	if remark != "" {
		in.remarked = append(in.remarked, remark)
	}
	var a readArgs
	a.narrow(part)
	return selectLines(note, len(linesOf(note.Content)), a)
}

// taskDates parses the arguments that bound a date of tasks. A word, which may name a day or
// a longer period, selects the dates in it; after and before add bounds, of which the
// narrower applies: after is inclusive, before exclusive, and of a longer period its first
// day counts. Dates are compared as text, since tasks have days like 2026-01-31.
func (in *invocation) taskDates(name, word, after, before string) (d notes.TaskDates, err error) {
	now, period := in.Now(), in.Vault.DuePeriod
	if name == "done" {
		period = in.Vault.PastPeriod
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "":
	case "none":
		d.None = true
	case "overdue":
		d.Before = now.Format(time.DateOnly)
	default:
		p, ok := period(word, now)
		if !ok {
			return d, usagef("%s must be overdue, today, friday, this week, a day like 2026-01-31, a week like 2026-W05, a month like 2026-01, or none, not %q", name, phrase.Clip(phrase.OneLine(word), 40))
		}
		d.From, d.Before = p.Start.Format(time.DateOnly), p.End().Format(time.DateOnly)
	}
	for _, bound := range []struct {
		name, word string
		date       *string
		later      int // 1: the later of two bounds applies; -1: the earlier
	}{{name + "_after", after, &d.From, 1}, {name + "_before", before, &d.Before, -1}} {
		if bound.word == "" {
			continue
		}
		p, ok := period(bound.word, now)
		if !ok {
			return d, usagef("%s must be a day like 2026-01-31, tomorrow, friday or \"in 3 days\", not %q", bound.name, phrase.Clip(phrase.OneLine(bound.word), 40))
		}
		if day := p.Start.Format(time.DateOnly); *bound.date == "" || cmp.Compare(day, *bound.date) == bound.later {
			*bound.date = day
		}
	}
	return d, nil
}

func listedTask(t notes.Task) ListedTask {
	out := ListedTask{Path: t.Path, Line: t.Line, Anchor: notes.PassageRef(t.Path, t.Hash, t.Line, t.Line), Heading: t.Heading, Text: t.Text, Status: string(t.Status),
		Due: t.Due, Scheduled: t.Scheduled, Done: t.Task.Done, Priority: t.Priority, Tags: t.Tags}
	if t.Mark != " " && t.Mark != "x" {
		out.Mark = t.Mark
	}
	return out
}

func taskText(out TaskList) string {
	lines := make([]string, len(out.Tasks))
	for i, t := range out.Tasks {
		mark := cmp.Or(t.Mark, map[string]string{"done": "x"}[t.Status], " ")
		lines[i] = fmt.Sprintf("%s:%d [%s] %s", phrase.OneLine(t.Path), t.Line, mark, phrase.OneLine(t.Text))
		for _, d := range []struct{ name, date string }{{"due", t.Due}, {"scheduled", t.Scheduled}} {
			if !strings.Contains(t.Text, d.date) { // Logseq writes dates below the first line
				lines[i] += ", " + d.name + " " + d.date
			}
		}
		if t.Heading != "" {
			lines[i] += " (" + phrase.OneLine(t.Heading) + ")"
		}
	}
	return fmt.Sprintf("%d of %s", len(lines), phrase.Count(out.Total, "task")) +
		phrase.FenceBelow("list", "tasks", strings.Join(lines, "\n")) + ending(out.Next, out.Warnings)
}
