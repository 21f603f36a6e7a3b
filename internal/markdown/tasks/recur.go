package tasks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is a recurrence rule, which the Tasks plugin writes in English.
type rule struct {
	unit     string // day, week, month, year
	every    int
	weekdays []time.Weekday // days of the week
	nth      []nth          // weekdays of the month
	days     []int          // days of the month; -1 is the last
	months   []time.Month   // months of the year
	whenDone bool           // count from the day of completion
}

// nth is the n-th weekday of a month. Negative n counts from the last, which is -1;
// zero means every one.
type nth struct {
	n   int
	day time.Weekday
}

var (
	ruleText = regexp.MustCompile(`(?i)^every(?:\s+(\d+|other))?\s+([a-z]+)((?:\s*,?\s*(?:and\s+)?[a-z]+)*?)(?:\s+on\s+(?:the\s+)?(.+?))?(\s+when\s+done)?$`)
	dated    = regexp.MustCompile(`(?i)^every\s+(?:year\s+on\s+)?([a-z]+)\s+(\d)`)
	dayText  = regexp.MustCompile(`(?i)^(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?$`)
	nthText  = regexp.MustCompile(`(?i)^(?:([1-5])(?:st|nd|rd|th)\s+)?(last\s+)?([a-z]+)$`)
	ordinals = strings.NewReplacer("first", "1st", "second", "2nd", "third", "3rd")
	listText = regexp.MustCompile(`\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+`)
)

func parseRule(text string) (rule, error) {
	r := rule{every: 1}
	unknown := fmt.Errorf("the recurrence %q is not understood", clip(text))
	m := ruleText.FindStringSubmatch(dated.ReplaceAllString(strings.TrimSpace(text), "every $1 on the $2")) // every January 15
	if m == nil {
		return r, unknown
	}
	switch r.whenDone = m[5] != ""; {
	case strings.EqualFold(m[1], "other"):
		r.every = 2
	case m[1] != "":
		if r.every, _ = strconv.Atoi(m[1]); r.every < 1 || r.every > 1000 {
			return r, fmt.Errorf("the recurrence %q has no interval from 1 to 1000", clip(text))
		}
	}
	unit := strings.ToLower(m[2])
	names := append([]string{unit}, listText.Split(strings.ToLower(m[3]), -1)...)
	names = slices.DeleteFunc(names, func(s string) bool { return strings.TrimSpace(s) == "" })
	switch trimmed := strings.TrimSuffix(unit, "s"); {
	case len(names) == 1 && slices.Contains([]string{"day", "week", "month", "year"}, trimmed):
		r.unit = trimmed
	case len(names) == 1 && trimmed == "weekday":
		r.unit, r.weekdays = "week", workdays()
	default: // every Tuesday, every January and July on the 1st
		for _, name := range names {
			if d, ok := weekdayNamed(name); ok {
				r.unit, r.weekdays = "week", append(r.weekdays, d)
			} else if mo, ok := monthNamed(name); ok {
				r.unit, r.months = "year", append(r.months, mo)
			} else {
				return r, unknown
			}
		}
		if len(r.weekdays) > 0 && len(r.months) > 0 {
			return r, unknown
		}
	}
	return r, r.on(ordinals.Replace(strings.ToLower(strings.TrimSpace(m[4]))), unknown)
}

// on parses the text after "on the".
func (r *rule) on(text string, unknown error) error {
	if text == "" {
		return nil
	}
	monthly := r.unit == "month" || len(r.months) > 0
	for _, item := range listText.Split(text, -1) {
		item = strings.TrimPrefix(strings.TrimSpace(item), "the ")
		if day, ok := weekdayNamed(item); ok && r.unit == "week" {
			r.weekdays = append(r.weekdays, day)
		} else if (item == "weekday" || item == "weekdays") && r.unit == "week" {
			r.weekdays = append(r.weekdays, workdays()...)
		} else if m := nthText.FindStringSubmatch(item); m != nil && monthly && isWeekday(m[3]) {
			n, _ := strconv.Atoi(cmp.Or(m[1], "0")) // a digit
			if day, _ = weekdayNamed(m[3]); m[2] != "" {
				n = -max(n, 1)
			}
			r.nth = append(r.nth, nth{n, day})
		} else if m := dayText.FindStringSubmatch(item); m != nil && monthly {
			n, _ := strconv.Atoi(m[1]) // two digits
			r.days = append(r.days, n)
		} else if (item == "last" || item == "last day") && monthly {
			r.days = append(r.days, -1)
		} else {
			return unknown
		}
	}
	return nil
}

func workdays() []time.Weekday { return []time.Weekday{1, 2, 3, 4, 5} }

func isWeekday(s string) bool {
	_, ok := weekdayNamed(s)
	return ok
}

func weekdayNamed(s string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); s == name || s == name[:3] || s == name+"s" {
			return d, true
		}
	}
	return 0, false
}

func monthNamed(s string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); s == name || s == name[:3] {
			return m, true
		}
	}
	return 0, false
}

// next returns the first day of the rule after from, or false if there is none. As in
// the Tasks plugin, a month without the day uses its last day: 31 January is followed
// by 28 February.
//
// For rules with days, next tries each day with has, so that rules of several days
// ("every 2 weeks on Monday, Friday") are not a special case. The search ends after the
// longest gap possible: eight years between two 29 Februaries around a year such as
// 1900, times the interval.
func (r rule) next(from time.Time) (time.Time, bool) {
	if r.unit == "month" && r.nth == nil && r.days == nil {
		return addMonths(from, r.every), true
	}
	if r.unit == "year" && r.months == nil {
		return addMonths(from, 12*r.every), true
	}
	limit := from.AddDate(max(8*r.every, 8)+1, 0, 0)
	for day := from.AddDate(0, 0, 1); day.Before(limit); day = day.AddDate(0, 0, 1) {
		if r.has(day, from) {
			return day, true
		}
	}
	return from, false // such as 31 February
}

// isDate reports whether the year of day has at most four digits.
func isDate(day time.Time) bool { return day.Year() >= 0 && day.Year() <= 9999 }

// daysBetween returns the number of days between two dates in UTC. A [time.Duration]
// would overflow after 292 years.
func daysBetween(from, to time.Time) int { return int((to.Unix() - from.Unix()) / (24 * 60 * 60)) }

func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, t.Location())
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1)
}

func (r rule) has(day, from time.Time) bool {
	days := daysBetween(from, day)
	switch r.unit {
	case "day":
		return days%r.every == 0
	case "week":
		if r.weekdays == nil {
			return days%(7*r.every) == 0
		}
		weeks := (days + (int(from.Weekday())+6)%7) / 7
		return weeks%r.every == 0 && slices.Contains(r.weekdays, day.Weekday())
	case "month":
		if ((day.Year()-from.Year())*12+int(day.Month()-from.Month()))%r.every != 0 {
			return false
		}
	default:
		if (day.Year()-from.Year())%r.every != 0 || !slices.Contains(r.months, day.Month()) {
			return false
		}
	}
	last := day.AddDate(0, 1, -day.Day()).Day()
	if r.nth == nil && r.days == nil {
		return day.Day() == from.Day()
	}
	if slices.ContainsFunc(r.nth, func(w nth) bool {
		return w.day == day.Weekday() && (w.n == 0 || (day.Day()-1)/7 == w.n-1 || (last-day.Day())/7 == -w.n-1)
	}) {
		return true
	}
	return slices.Contains(r.days, day.Day()) || slices.Contains(r.days, -1) && day.Day() == last
}

// repeated returns the next date of a Logseq task that is done today: for ".+1w", a
// week from today; for "+1w", a week from its date; for "++1w", the first date after
// today that is whole weeks from its date.
func repeated(repeater string, from, today time.Time) (time.Time, error) {
	kind := repeater[:strings.IndexAny(repeater, "0123456789")]
	n, _ := strconv.Atoi(repeater[len(kind) : len(repeater)-1]) // digits
	unit := repeater[len(repeater)-1]
	if n < 1 || n > 1000 {
		return from, fmt.Errorf("the repeater %s has no interval from 1 to 1000", repeater)
	}
	add := func(t time.Time, times int) time.Time {
		switch unit {
		case 'd':
			return t.AddDate(0, 0, n*times)
		case 'w':
			return t.AddDate(0, 0, 7*n*times)
		case 'm':
			return addMonths(t, n*times)
		}
		return addMonths(t, 12*n*times)
	}
	next := add(from, 1)
	switch {
	case unit == 'h':
		return from, fmt.Errorf("the repeater %s counts hours, which only Logseq does", repeater)
	case kind == ".+":
		next = add(today, 1)
	case kind == "++":
		for times := 2; !next.After(today); times++ {
			next = add(from, times)
		}
	}
	if !isDate(next) {
		return from, fmt.Errorf("the repeater %s leads from %s beyond the year 9999", repeater, from.Format(time.DateOnly))
	}
	return next, nil
}
