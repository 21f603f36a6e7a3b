package search

import (
	"strconv"
	"strings"
	"time"
)

// parseDay reads a day: 2026-01-31, 2026-01, 2026, a time as in RFC 3339,
// today, yesterday (heute, gestern), or an age such as 7d, 2w, 3m, 1y.
func parseDay(s string, now time.Time) (time.Time, bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch strings.ToLower(s) {
	case "today", "heute":
		return today, true
	case "yesterday", "gestern":
		return today.AddDate(0, 0, -1), true
	}
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, true
		}
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	n, err := strconv.Atoi(s[:len(s)-1])
	if err != nil || n < 0 || n > 10_000 {
		return time.Time{}, false
	}
	switch s[len(s)-1] {
	case 'd':
		return today.AddDate(0, 0, -n), true
	case 'w':
		return today.AddDate(0, 0, -7*n), true
	case 'm':
		return today.AddDate(0, -n, 0), true
	case 'y':
		return today.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
