package notes

import (
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/markdown/tasks"
)

// Task is a task in a note.
type Task struct {
	tasks.Task
	Path     string   // of the note; set in lists, like Hash
	Hash     string   // of the note's bytes
	Tags     []string // tags in its text
	NoteTags []string // tags in the note's front matter; not set in lists
}

// maxTaskSource is the limit, in bytes, for the stored source of a task.
const maxTaskSource = 2 << 10

// NewTask parses the source of a task.
func NewTask(source string) (Task, bool) {
	task, ok := tasks.Parse(markdown.Truncate(source, maxTaskSource))
	t := Task{Task: task}
	if ok && strings.Contains(task.Text, "#") {
		t.Tags = markdown.Parse([]byte("x " + task.Text)).Tags
	}
	return t, ok
}

// TasksOf returns the tasks of a note's text.
func TasksOf(data []byte, doc *markdown.Document) []Task {
	if len(doc.Tasks) == 0 {
		return nil
	}
	noteTags := markdown.Parse(data[:doc.BodyStart]).Tags
	list := make([]Task, 0, len(doc.Tasks))
	heading := 0
	for _, place := range doc.Tasks {
		for heading < len(doc.Headings) && doc.Headings[heading].Line < place.Line {
			heading++
		}
		t, ok := NewTask(string(data[place.Start:place.End]))
		if !ok {
			continue
		}
		if t.Line, t.NoteTags = place.Line, noteTags; heading > 0 {
			t.Heading = doc.Headings[heading-1].Text
		}
		list = append(list, t)
	}
	return list
}

// TaskQuery is a request for a page of tasks. Every field that is set must hold.
type TaskQuery struct {
	Note     string   // only tasks of this note, as accepted by Lookup
	Folder   string   // only tasks of notes in it and below
	Tags     []string // all of them, in the task's text or the note's front matter; a tag also matches its nested tags
	Status   string   // "open" (default), "in_progress", "done", "cancelled", "other", "all", or a mark
	Priority string   // highest, high, medium, low, lowest, or "none"
	Text     string   // part of its text, ignoring case

	First, Last int // only tasks that begin on these lines, unless First is 0

	Due, Scheduled, Done TaskDates

	Sort   string // "due" (default), "scheduled", "priority", "path", "done" (newest first)
	Limit  int    // 1 to 1000; 0 means 50
	Cursor string // TaskPage.Next of the previous page
	Scope  Scope
}

// TaskDates limits one date of a task. The zero value sets no limits.
type TaskDates struct {
	From, Before string // dates such as 2026-01-31; From is inclusive, Before is exclusive
	None         bool   // the task has no such date
}

// TaskPage is one page of tasks.
type TaskPage struct {
	Tasks []Task
	Total int    // of the whole list
	Next  string // "" on the last page
}
