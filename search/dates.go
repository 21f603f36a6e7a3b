package search

import (
	"cmp"
	"fmt"
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

// addDays lets the words of each day or month in the query, such as "January 6th", "6. Januar 2026",
// "3月5日" and "January 2026", also match it in digits, as in the names of daily notes.
func (r *request) addDays() {
	inDays := 0 // words
	for i := 0; i < len(r.words); i++ {
		date, n := dateIn(r.words[i:])
		inDays += n
		foreign := r.words[i].exact == "mars" // Mars 2020
		for _, w := range r.words[i : i+n] {
			t := &r.plan.Terms[w.term]
			t.Date, t.ForeignDate = date, foreign && !r.foreign
		}
		i += max(0, n-1)
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

// inCharacters matches a day, a month, or both with a year, in Chinese, Japanese or Korean.
var inCharacters = regexp.MustCompile(`^(?:(\d{4})[年년])?(\d\d?)[月월](?:(\d\d?)[日号일])?`)

// dateIn returns the date at the beginning of words, as [index.PlanTerm.Date], and the number of its
// words; 0 if there is none.
func dateIn(words []queryWord) (date string, n int) {
	if t, ok := notes.ParseDate(words[0].shown); ok {
		return t.Format("20060102"), 1
	}
	run := ""
	for _, w := range words[:min(len(words), 6)] {
		run += w.exact
	}
	if m := inCharacters.FindStringSubmatch(run); m != nil && m[1]+m[3] != "" {
		year, n := cmp.Or(m[1], anyYear), 2
		if m[1] != "" {
			n += 2
		}
		if m[3] != "" {
			n += 2
		}
		return fmt.Sprintf("%s%02s%02s", year, m[2], cmp.Or(m[3], "??")), n
	}
	if len(words) == 1 {
		return "", 0
	}
	if len(words) > 2 && words[0].exact[0] <= '9' {
		if t, ok := notes.ParseDate(words[0].exact + " " + words[1].shown + " " + words[2].exact + " 2000"); ok { // 6 tháng 1
			year := 3
			if len(words) > 4 && words[3].exact == "nam" { // năm 2026
				year = 4
			}
			if len(words) > year && isYear(words[year].exact) {
				return words[year].exact + t.Format("0102"), year + 1
			}
			return anyYear + t.Format("0102"), 3
		}
	}
	if date = dayIn(words[0], words[1]); date == "" {
		return "", 0
	}
	if len(words) > 2 && words[2].gap <= 1 {
		year, day := words[2].exact, date
		if isYear(words[0].exact) { // 2026 January 6
			year, day = words[0].exact, dayIn(words[1], words[2])
		}
		if day, any := strings.CutPrefix(day, anyYear); any && isYear(year) {
			return year + day, 3
		}
	}
	return date, 2
}

// dayIn returns the day of any year, or the month of a year, in two words that are at most a stop
// word apart, as [index.PlanTerm.Date], or "".
func dayIn(a, b queryWord) string {
	month, number := a, b
	if month.exact[0] <= '9' {
		month, number = b, a
	}
	if month.exact[0] <= '9' || number.exact[0] > '9' || b.gap > 1 {
		return ""
	}
	day := number.exact
	if isYear(day) {
		day = "1"
	}
	t, ok := parseMonth(day, month)
	switch {
	case !ok:
		return ""
	case isYear(number.exact):
		return number.exact + t.Format("01") + "??"
	}
	return anyYear + t.Format("0102")
}

// parseMonth parses a day of a named month. A short name of a month must be English: "set", "gen" and
// "led" are seldom Italian or Czech months.
func parseMonth(day string, month queryWord) (time.Time, bool) {
	t, ok := notes.ParseDate(day + " " + month.shown + " 2000")
	english := strings.ToLower(t.Month().String())
	return t, ok && (len(month.exact) >= 4 || month.exact == english[:3] || month.exact == "mai")
}
