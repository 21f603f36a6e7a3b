package mcp

import (
	"fmt"
	"strings"

	"notesd/notes"
)

// findSection finds a heading by its text, or by the texts of the headings
// above it and its own, joined by " > ". The section reaches to the next
// heading of the same or a higher level.
func findSection(note *notes.Note, want string, total int) (first, last int, err error) {
	var found []int
	for i := range note.Headings {
		if headingMatches(note.Headings[:i+1], want) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return 0, 0, sectionError(note, want, found)
	}
	at := found[0]
	last = total
	for _, next := range note.Headings[at+1:] {
		if next.Level <= note.Headings[at].Level {
			last = next.Line - 1
			break
		}
	}
	return note.Headings[at].Line, last, nil
}

// headingMatches reports whether the last of headings is the one wanted.
func headingMatches(headings []notes.Heading, want string) bool {
	if sameHeading(headings[len(headings)-1].Text, want) {
		return true
	}
	parts := strings.Split(want, ">")
	level := 7
	for i := len(headings) - 1; i >= 0 && len(parts) > 0; i-- {
		if h := headings[i]; h.Level < level {
			if !sameHeading(h.Text, parts[len(parts)-1]) {
				if level == 7 {
					return false // the heading itself
				}
				continue
			}
			level, parts = h.Level, parts[:len(parts)-1]
		}
	}
	return len(parts) == 0
}

func sameHeading(a, b string) bool {
	plain := func(s string) string { return strings.Join(strings.Fields(strings.Trim(s, "# \t")), " ") }
	return strings.EqualFold(plain(a), plain(b))
}

func sectionError(note *notes.Note, want string, found []int) error {
	const most = 30
	e := &notes.Error{Op: "read", Path: note.Path, Err: notes.ErrNotFound,
		Detail: fmt.Sprintf("there is no heading %q", clip(oneLine(want), 100)), Hint: "Pass one of the note's headings, or lines."}
	if len(note.Headings) == 0 {
		e.Hint = "The note has no headings: read it whole, or pass lines."
	}
	if len(found) > 1 {
		e.Err, e.Detail, e.Hint = notes.ErrAmbiguous, fmt.Sprintf("%d headings are called %q", len(found), clip(oneLine(want), 100)), "Pass the headings above it too (\"Plan > Risks\"), or lines."
		for _, i := range found {
			e.Candidates = append(e.Candidates, fmt.Sprintf("%s (line %d)", headingPath(note.Headings[:i+1]), note.Headings[i].Line))
		}
		return e
	}
	for i := range note.Headings {
		if len(e.Candidates) < most {
			e.Candidates = append(e.Candidates, headingPath(note.Headings[:i+1]))
		}
	}
	return e
}

// headingPath joins the last heading with those above it.
func headingPath(headings []notes.Heading) string {
	path, level := "", 7
	for i := len(headings) - 1; i >= 0; i-- {
		if h := headings[i]; h.Level < level {
			level = h.Level
			if path == "" {
				path = h.Text
			} else {
				path = h.Text + " > " + path
			}
		}
	}
	return path
}
