package search

import (
	"strconv"
	"strings"
	"time"

	"notesd/internal/moment"
)

// parseDay parses a day: 2026-01-31, 2026-01, 2026, a time in RFC 3339 format, today, yesterday
// (heute, gestern), or an age such as 7d, 2w, 3m, 1y.
func parseDay(s string, now time.Time) (time.Time, bool) {
	ago := func(years, months, days int) time.Time {
		return moment.Day(now.Year()-years, now.Month()-time.Month(months), now.Day()-days, now.Location())
	}
	switch strings.ToLower(s) {
	case "today", "heute":
		return ago(0, 0, 0), true
	case "yesterday", "gestern":
		return ago(0, 0, 1), true
	}
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return moment.Day(t.Year(), t.Month(), t.Day(), now.Location()), true
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
		return ago(0, 0, n), true
	case 'w':
		return ago(0, 0, 7*n), true
	case 'm':
		return ago(0, n, 0), true
	case 'y':
		return ago(n, 0, 0), true
	}
	return time.Time{}, false
}
