package notes

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the ways to write a date that vaults use.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006.01.02", "02.01.2006", "January 2, 2006", "Jan 2, 2006", "2 January 2006",
	"Monday, January 2 2006, 3:04:05 pm", "Monday, January 2 2006", "January 2 2006", // as Obsidian's Linter writes them
}

// ordinal is the end of a number that counts, as in "January 3rd".
var ordinal = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`)

// ParseDate reads a date as notes and queries write it. Without a zone it is
// local time.
func ParseDate(s string) (time.Time, bool) {
	s = strings.Trim(strings.TrimSpace(s), "[]") // [[2026-01-31]] links a daily note
	s = ordinal.ReplaceAllString(s, "$1")
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil && t.Year() > 0 && t.Year() < 2250 {
			return t, true // beyond 2262, nanoseconds since 1970 overflow
		}
	}
	return time.Time{}, false
}

// frontMatterTime returns the first of the keys that holds a date. Keys are
// compared without regard to case, spaces, '_' and '-'.
func frontMatterTime(values map[string]any, keys ...string) (time.Time, bool) {
	if len(values) == 0 {
		return time.Time{}, false
	}
	folded := make(map[string]any, len(values))
	for k, v := range values {
		if f := dateKey(k); f == k || folded[f] == nil {
			folded[f] = v
		}
	}
	for _, k := range keys {
		if s, ok := folded[dateKey(k)].(string); ok {
			if t, ok := ParseDate(s); ok && t.Year() >= 1700 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

func dateKey(k string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(k))
}

// DateRules say what a note's date is: the front matter's date, else the day
// or week that its name gives, else what the front matter says of its last
// change or its creation, else the file's mtime. The store keeps the rules that
// its dates were made with, so that other ones are noticed.
type DateRules struct {
	Version int          `json:"version"` // of the rules in this file
	Keys    []string     `json:"keys,omitempty"`
	Names   []NameFormat `json:"names,omitempty"`
}

// DateRulesVersion is raised whenever the same note gets another date.
const DateRulesVersion = 1

// Of returns the note's date, and when it was created (zero: it does not say).
func (r *DateRules) Of(notePath string, frontMatter map[string]any, mtime time.Time) (date, created time.Time) {
	named, isNamed := r.fromName(notePath)
	created, ok := frontMatterTime(frontMatter, "created", "date created", "date")
	if !ok {
		created = named
	}
	if t, ok := frontMatterTime(frontMatter, append(r.Keys[:len(r.Keys):len(r.Keys)], "date")...); ok {
		return t, created
	}
	if isNamed {
		return named, created
	}
	if t, ok := frontMatterTime(frontMatter, "updated", "modified", "date modified", "created", "date created"); ok {
		return t, created
	}
	return mtime, created
}

// fromName returns the day, or the first day of the week, month, quarter or
// year, that a periodic note's path names.
func (r *DateRules) fromName(notePath string) (time.Time, bool) {
	name := Stem(notePath)
	for i := range r.Names {
		if t, ok := r.Names[i].Match(name); ok {
			return t, true
		}
	}
	name = path.Base(name)
	if m := isoDay.FindStringSubmatch(name); m != nil && m[2] == m[4] {
		return dateParts{year: atoi(m[1]), month: atoi(m[3]), day: atoi(m[5])}.time()
	}
	if m := isoWeek.FindStringSubmatch(name); m != nil {
		return dateParts{year: atoi(m[1]), week: atoi(m[2])}.time()
	}
	return time.Time{}, false
}

// A name that begins with a day (2026-02-16, 2026-02-16 Standup, Logseq's
// 2026_02_16) or a week (2026-W07) has its date by default.
var (
	isoDay  = regexp.MustCompile(`^(\d{4})([-_.])(\d{2})([-_.])(\d{2})(?:$|[^0-9\pL])`)
	isoWeek = regexp.MustCompile(`^(\d{4})-?[Ww](\d{2})(?:$|[^0-9\pL])`)
)

// atoi is for strings of digits.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // too many: 0 or the largest, neither of which is a date
	return n
}

// dateParts are the numbers found in a name; 0 is absent.
type dateParts struct{ year, month, day, week, yearDay, quarter int }

func (p dateParts) time() (time.Time, bool) {
	if p.year < 1900 || p.year >= 2250 {
		return time.Time{}, false
	}
	date := func(month, day int) time.Time {
		return time.Date(p.year, time.Month(month), day, 0, 0, 0, 0, time.Local)
	}
	switch {
	case p.month > 0 && p.day > 0:
		t := date(p.month, p.day)
		return t, p.month <= 12 && t.Day() == p.day
	case p.yearDay > 0:
		t := date(1, p.yearDay)
		return t, t.Year() == p.year
	case p.week > 0:
		fourth := date(1, 4) // of January lies in week 1
		monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7+7*(p.week-1))
		_, week := monday.ISOWeek()
		return monday, week == p.week
	case p.month > 0:
		return date(p.month, 1), p.month <= 12 && p.day == 0
	case p.quarter > 0:
		return date(3*p.quarter-2, 1), true
	}
	return date(1, 1), p.day == 0
}

// A NameFormat is how an app names its periodic notes.
type NameFormat struct {
	Folder string `json:"folder,omitempty"` // vault-relative
	Format string `json:"format"`           // of the path below the folder, in the language of moment.js: YYYY/MM/YYYY-MM-DD

	pattern *regexp.Regexp
	parts   []string // what each group of the pattern is
}

// momentTokens are those of moment.js that names are made of, with the pattern
// of each and the part of a date that it gives; the longest come first.
var momentTokens = []struct{ token, part, pattern string }{
	{"YYYY", "year", `\d{4}`}, {"gggg", "year", `\d{4}`}, {"GGGG", "year", `\d{4}`},
	{"MMMM", "monthName", `\pL+`}, {"DDDD", "yearDay", `\d{3}`}, {"dddd", "", `\pL+`},
	{"MMM", "monthName", `\pL+`}, {"DDD", "yearDay", `\d{1,3}`}, {"ddd", "", `\pL+`},
	{"YY", "shortYear", `\d{2}`}, {"gg", "shortYear", `\d{2}`}, {"GG", "shortYear", `\d{2}`},
	{"MM", "month", `\d{2}`}, {"DD", "day", `\d{2}`}, {"dd", "", `\pL+`}, {"Do", "ordinalDay", `\d{1,2}\pL*`},
	{"ww", "week", `\d{2}`}, {"WW", "week", `\d{2}`}, {"wo", "", `\d{1,2}\pL*`},
	{"HH", "", `\d{2}`}, {"hh", "", `\d{2}`}, {"mm", "", `\d{2}`}, {"ss", "", `\d{2}`},
	{"M", "month", `\d{1,2}`}, {"D", "day", `\d{1,2}`}, {"d", "", `\d`},
	{"w", "week", `\d{1,2}`}, {"W", "week", `\d{1,2}`}, {"Q", "quarter", `[1-4]`},
	{"H", "", `\d{1,2}`}, {"h", "", `\d{1,2}`}, {"m", "", `\d{1,2}`}, {"s", "", `\d{1,2}`}, {"A", "", `\pL+`}, {"a", "", `\pL+`},
}

// Compile makes the pattern. Text in brackets stands for itself, and so does
// what is no token.
func (f *NameFormat) Compile() {
	var b strings.Builder
	b.WriteString(`(?i)^`)
	f.parts = nil
next:
	for rest := f.Format; rest != ""; {
		if literal, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(literal, "[") {
			b.WriteString(regexp.QuoteMeta(literal[1:]))
			rest = after
			continue
		}
		for _, t := range momentTokens {
			if after, ok := strings.CutPrefix(rest, t.token); ok {
				b.WriteString("(" + t.pattern + ")")
				f.parts = append(f.parts, t.part)
				rest = after
				continue next
			}
		}
		size := 1
		for size < len(rest) && rest[size]&0xC0 == 0x80 {
			size++
		}
		b.WriteString(regexp.QuoteMeta(rest[:size]))
		rest = rest[size:]
	}
	f.pattern, _ = regexp.Compile(b.String() + `$`) // nil, and matches nothing, if it is too long
}

// Match reads a path without its extension.
func (f *NameFormat) Match(name string) (time.Time, bool) {
	if folder := FolderKey(f.Folder); folder != "" {
		if !strings.HasPrefix(Key(name), folder+"/") {
			return time.Time{}, false
		}
		name = strings.Join(strings.Split(name, "/")[strings.Count(folder, "/")+1:], "/")
	}
	if f.pattern == nil {
		return time.Time{}, false
	}
	groups := f.pattern.FindStringSubmatch(name)
	if groups == nil {
		return time.Time{}, false
	}
	var p dateParts
	for i, part := range f.parts {
		text := groups[i+1]
		switch part {
		case "year":
			p.year = atoi(text)
		case "shortYear":
			p.year = 2000 + atoi(text)
		case "month":
			p.month = atoi(text)
		case "monthName":
			if m := monthNamed(text); m > 0 && p.month == 0 {
				p.month = m
			}
		case "day":
			p.day = atoi(text)
		case "ordinalDay":
			p.day = atoi(strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' }))
		case "week":
			p.week = atoi(text)
		case "yearDay":
			p.yearDay = atoi(text)
		case "quarter":
			p.quarter = atoi(text)
		}
	}
	return p.time()
}

// monthNamed returns the month with an English name, or with its first three
// letters; 0 if there is none.
func monthNamed(s string) int {
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); strings.EqualFold(s, name) || strings.EqualFold(s, name[:3]) {
			return int(m)
		}
	}
	return 0
}

// Compile prepares the formats of names; the rules are used after that.
func (r *DateRules) Compile() {
	for i := range r.Names {
		r.Names[i].Compile()
	}
}

// Equal compares what the store keeps of the rules.
func (r *DateRules) Equal(other *DateRules) bool {
	a, errA := json.Marshal(r)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}
