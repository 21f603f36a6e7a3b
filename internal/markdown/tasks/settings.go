package tasks

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Settings are those of a vault's Tasks plugin. The zero value, and nil, stand for a
// vault without the plugin.
type Settings struct {
	Statuses []MarkStatus `json:",omitempty"` // the first of a mark counts

	Dates       Notation `json:",omitempty"` // of the dates that the plugin adds; "" without the plugin
	NoDone      bool     `json:",omitempty"` // a task that is done gets no date
	NoCancelled bool     `json:",omitempty"` // the same of one that is cancelled
	Filter      string   `json:",omitempty"` // the plugin knows only tasks with this text; "" for all
	NextBelow   bool     `json:",omitempty"` // the next instance of a recurring task goes below the one that is done
}

// MarkStatus is what one mark in a checkbox means.
type MarkStatus struct {
	Mark   string // one character
	Next   string // the mark that clicking it sets
	Status Status
}

// PluginStatus returns the status that the Tasks plugin calls by a name, such as
// IN_PROGRESS. It returns Open for a name that it does not know, as the plugin does.
func PluginStatus(name string) Status {
	switch strings.ToUpper(name) {
	case "IN_PROGRESS":
		return InProgress
	case "DONE":
		return Done
	case "CANCELLED":
		return Cancelled
	case "NON_TASK", "EMPTY":
		return Other
	}
	return Open // TODO and ON_HOLD
}

// StatusOf returns what the mark of a task means.
func (s *Settings) StatusOf(mark string) Status {
	if status, ok := words[mark]; ok {
		return status
	}
	if i := s.index(mark); i >= 0 {
		return s.Statuses[i].Status
	}
	if len(mark) == 1 {
		return ofBox(mark[0])
	}
	return Other
}

func (s *Settings) index(mark string) int {
	if s == nil {
		return -1
	}
	return slices.IndexFunc(s.Statuses, func(m MarkStatus) bool { return m.Mark == mark })
}

// markFor returns the mark in a checkbox that gives a task with another mark the
// status: the first one that clicking leads to, else the first one.
func (s *Settings) markFor(mark string, status Status) string {
	for at, seen := mark, ""; !strings.Contains(seen, at); {
		i := s.index(at)
		if i < 0 {
			break
		}
		if s.Statuses[i].Status == status {
			return at
		}
		seen, at = seen+at, s.Statuses[i].Next
	}
	usual := map[Status]string{Open: " ", InProgress: "/", Done: "x", Cancelled: "-"}[status]
	if s == nil || s.index(usual) >= 0 && s.StatusOf(usual) == status {
		return usual
	}
	if i := slices.IndexFunc(s.Statuses, func(m MarkStatus) bool { return m.Status == status }); i >= 0 {
		return s.Statuses[i].Mark
	}
	return usual
}

// notation returns the notation of the date that the plugin gives a task of the
// status, and whether the plugin decides that.
func (s *Settings) notation(t *Task, status Status) (n Notation, decides bool) {
	switch {
	case s == nil || s.Dates == "":
		return "", false
	case status == Done && s.NoDone, status == Cancelled && s.NoCancelled, !strings.Contains(t.Text, s.Filter):
		return "", true
	}
	return s.Dates, true
}

// box returns the mark in the checkbox that a text begins with, "" if there is none.
func box(text string) string {
	if len(text) < 3 || text[0] != '[' {
		return ""
	}
	r, n := utf8.DecodeRuneInString(text[1:])
	if r == utf8.RuneError || strings.ContainsRune("\n\r[]^", r) || !strings.HasPrefix(text[1+n:], "]") {
		return ""
	}
	if rest := text[n+2:]; rest != "" && strings.IndexByte(" \t\n\r", rest[0]) < 0 {
		return ""
	}
	return text[1 : 1+n]
}
