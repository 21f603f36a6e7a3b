package search

import (
	"strings"
	"time"

	"notesd/notes"
)

// parseDay parses a day: the beginning of a period or an age as [notes.Periodic.ParsePast]
// reads it, an age in months such as 3m, or what [notes.ParseDate] accepts.
func parseDay(s string, now time.Time) (time.Time, bool) {
	if n, isAge := strings.CutSuffix(s, "m"); isAge {
		s = n + "month"
	}
	if p, ok := new(notes.Periodic).ParsePast(s, now); ok {
		return p.Start, true
	}
	return notes.ParseDate(s)
}
