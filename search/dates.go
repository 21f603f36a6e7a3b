package search

import (
	"strconv"
	"time"

	"notesd/internal/moment"
	"notesd/notes"
)

// parseDay parses a day: the beginning of a period as [notes.Periodic.ParsePast] reads it, a
// year, a time in RFC 3339 format, or an age such as 7d, 2w, 3m, 1y.
func parseDay(s string, now time.Time) (time.Time, bool) {
	if p, ok := new(notes.Periodic).ParsePast(s, now); ok {
		return p.Start, true
	}
	if t, err := time.Parse("2006", s); err == nil {
		return moment.Day(t.Year(), 1, 1, now.Location()), true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	n, err := strconv.Atoi(s[:len(s)-1])
	if err != nil || n < 0 || n > 10_000 {
		return time.Time{}, false
	}
	year, month, day := now.Date()
	switch s[len(s)-1] {
	case 'd':
		day -= n
	case 'w':
		day -= 7 * n
	case 'm':
		month -= time.Month(n)
	case 'y':
		year -= n
	default:
		return time.Time{}, false
	}
	return moment.Day(year, month, day, now.Location()), true
}
