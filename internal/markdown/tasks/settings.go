package tasks

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Settings are the settings of a vault's Tasks plugin. The zero value and nil mean a
// vault without the plugin.
type Settings struct {
	Statuses []MarkStatus `json:",omitempty"` // the first one with a mark takes effect

	Dates       Notation `json:",omitempty"` // notation of the dates that the plugin adds; "" without the plugin
	NoDone      bool     `json:",omitempty"` // do not date done tasks
	NoCancelled bool     `json:",omitempty"` // do not date cancelled tasks
	Filter      string   `json:",omitempty"` // the plugin ignores tasks without this text; "" for none
	NextBelow   bool     `json:",omitempty"` // insert the next instance of a recurring task below the done one
	Created     bool     `json:",omitempty"` // date the next instance with its creation; without this, it has no such date
	NoScheduled bool     `json:",omitempty"` // the next instance is not scheduled, if it has another date
}

// MarkStatus defines one mark in a checkbox.
type MarkStatus struct {
	Mark   string // one character
	Next   string // mark set by a click
	Status Status
}

// PluginStatus returns the status for a status type of the Tasks plugin, such as
// IN_PROGRESS. Like the plugin, it returns Open for an unknown type.
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

// StatusOf returns the status of a task's mark.
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

// markFor returns the mark that gives a task with the given mark the status: the first
// such mark that clicking reaches, else the usual one, else the first in the settings.
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

// notation returns the notation of the date that the plugin adds to a task with the
// status, or "" for none. decides is false without the plugin.
func (s *Settings) notation(t *Task, status Status) (n Notation, decides bool) {
	switch {
	case s == nil || s.Dates == "":
		return "", false
	case status == Done && s.NoDone, status == Cancelled && s.NoCancelled, !strings.Contains(t.Text, s.Filter):
		return "", true
	}
	return s.Dates, true
}

// box returns the mark in the checkbox at the start of text, or "" if there is none.
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
