package search

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"notesd/notes"
	"notesd/search/index"
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

// addDays lets the words of each day or month in the query, such as "January 6th", "6. Januar 2026"
// and "January 2026", also match it in digits, as in the names of daily notes.
func (r *request) addDays() {
	inDays := 0 // words
	for i := 0; i+1 < len(r.words); i++ {
		of := r.words[i : i+2]
		date, ok := dateIn(of[0], of[1])
		if !ok {
			continue
		}
		if day, any := strings.CutPrefix(date, anyYear); any && i+2 < len(r.words) && isYear(r.words[i+2].exact) && r.words[i+2].gap <= 1 {
			date = r.words[i+2].exact + day
			inDays++
			i++
		}
		for _, w := range of {
			t := &r.plan.Terms[w.term]
			t.Date, t.ForeignDate = date, of[0].exact == "mars" && !r.foreign // Mars 2020
		}
		inDays += len(of)
		i++
	}
	r.onlyDays = inDays > 0 && inDays == len(r.words)
}

// hasOnlyDays reports whether the query is a day that notes have in digits. This is known only after
// the ranking by words.
func (r *request) hasOnlyDays() bool {
	return r.onlyDays && slices.ContainsFunc(r.plan.Terms, func(t index.PlanTerm) bool { return t.Dated })
}

// anyYear is the beginning of a [index.PlanTerm.Date].
const anyYear = "20??"

var isYear = regexp.MustCompile(`^(?:1[89]|20)\d\d$`).MatchString

// dateIn returns the day of any year, or the month of a year, in two words that are at most a stop
// word apart, as [index.PlanTerm.Date]. A short name of a month must be English: "set", "gen" and
// "led" are seldom Italian or Czech months.
func dateIn(a, b queryWord) (string, bool) {
	month, number := a, b
	if month.exact[0] <= '9' {
		month, number = b, a
	}
	if month.exact[0] <= '9' || number.exact[0] > '9' || b.gap > 1 {
		return "", false
	}
	day := number.shown
	if isYear(number.exact) {
		day = "1"
	}
	t, ok := notes.ParseDate(day + " " + month.shown + " 2000")
	if english := strings.ToLower(t.Month().String()); !ok || len(month.exact) < 4 && month.exact != english[:3] && month.exact != "mai" {
		return "", false
	}
	if isYear(number.exact) {
		return number.exact + t.Format("01") + "??", true
	}
	return anyYear + t.Format("0102"), true
}
