package notes

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/moment"
)

// Unit is the length of the period that a periodic note covers.
type Unit string

// The units, shortest first.
const (
	Day     Unit = "day"
	Week    Unit = "week"
	Month   Unit = "month"
	Quarter Unit = "quarter"
	Year    Unit = "year"
)

// add returns the start of the day n units after t. If the month has no such day, it is the
// last day of the month, as in moment.js.
func (u Unit) add(t time.Time, n int) time.Time {
	year, month, day := t.Date()
	switch u {
	case Week:
		return Day.add(t, 7*n)
	case Month:
		month += time.Month(n)
	case Quarter:
		month += time.Month(3 * n)
	case Year:
		year += n
	default:
		return moment.Day(year, month, day+n, t.Location())
	}
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return moment.Day(year, month, min(day, last), t.Location())
}

// start returns the first moment of the unit that contains t.
func (u Unit) start(t time.Time) time.Time {
	month, day := t.Month(), t.Day()
	switch u {
	case Week:
		return moment.Weeks{}.Start(t)
	case Month:
		day = 1
	case Quarter:
		month, day = (month-1)/3*3+1, 1
	case Year:
		month, day = 1, 1
	}
	return moment.Day(t.Year(), month, day, t.Location())
}

// Period is one day, week, month, quarter or year.
type Period struct {
	Unit  Unit
	Start time.Time // its first moment, in the location of the time it was parsed with
}

// End returns the start of the next period.
func (p Period) End() time.Time { return p.Unit.add(p.Start, 1) }

// Periods parses words that name a period in a condition on a field; see [Periodic.Filter].
type Periods func(words string) (Period, bool)

var (
	relativePeriod = regexp.MustCompile(`^(this|last|next) (week|month|quarter|year)$`)
	pastDay        = regexp.MustCompile(`^(?:(\d{1,4}) ?|an? )(d|w|y|day|week|month|year)s?( ago)?$`)
	comingDay      = regexp.MustCompile(`^in (?:(\d{1,4}) ?|an? )(day|week|month|year)s?$`)
	weekPeriod     = regexp.MustCompile(`^(\d{4})-?w(\d{2})$`)
	quarterPeriod  = regexp.MustCompile(`^(?:(\d{4})-?q([1-4])|q([1-4])[- ](\d{4}))$`)
	monthPeriod    = regexp.MustCompile(`^(\d{4})-(\d{2})$`)
	monthName      = regexp.MustCompile(`^([\pL\pM]+\.?) (\d{4})$`)
	dottedDay      = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})$`)
)

// dayWords are yesterday, today and tomorrow in English, German, Spanish, French, Italian,
// Portuguese, Dutch, Swedish, Polish, Czech, Russian, Ukrainian, Greek, Turkish, Arabic, Hebrew,
// Persian, Hindi, Thai, Vietnamese, Japanese, Chinese and Korean, except words that also mean the
// morning, and the one Hindi word for both other days.
var dayWords = [][]string{
	strings.Fields("yesterday gestern ayer hier ieri ontem gisteren igår wczoraj včera вчера вчора χθες χτες dün أمس אתמול دیروز เมื่อวาน เมื่อวานนี้ hôm_qua 昨日 昨天 어제"),
	strings.Fields("today heute hoy aujourd'hui aujourd’hui oggi hoje vandaag idag dziś dzisiaj dnes сегодня сьогодні σήμερα bugün اليوم היום امروز आज วันนี้ hôm_nay 今日 今天 오늘"),
	strings.Fields("tomorrow demain domani amanhã imorgon jutro zítra завтра αύριο yarın غدا غدًا מחר فردا พรุ่งนี้ ngày_mai 明日 明天 내일"),
}

func foldWords(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// Parse parses words that name a period: today, yesterday, tomorrow (see dayWords), this
// week, last month, next year, 2026-02-16, 16.2.2026, 2026-W07, 2026-Q1, Q1 2026, 2026-02,
// February 2026. Days are in the location of now, and weeks are those of the user's locale.
func (p *Periodic) Parse(s string, now time.Time) (Period, bool) {
	s = foldWords(s)
	day := Day.start(now)
	if n := slices.IndexFunc(dayWords, func(words []string) bool { return slices.Contains(words, strings.ReplaceAll(s, " ", "_")) }); n >= 0 {
		return Period{Day, Day.add(day, n-1)}, true
	}
	if m := relativePeriod.FindStringSubmatch(s); m != nil {
		unit := Unit(m[2])
		start := unit.start(now)
		if unit == Week {
			start = p.Weeks.Start(now)
		}
		return Period{unit, unit.add(start, slices.Index([]string{"last", "this", "next"}, m[1])-1)}, true
	}
	unit, parts := Day, moment.Parts{}
	if m := weekPeriod.FindStringSubmatch(s); m != nil {
		unit, parts = Week, moment.Parts{Year: atoi(m[1]), Week: atoi(m[2]), Weeks: p.Weeks}
	} else if m := quarterPeriod.FindStringSubmatch(s); m != nil {
		unit, parts = Quarter, moment.Parts{Year: atoi(m[1] + m[4]), Month: 3*atoi(m[2]+m[3]) - 2}
	} else if m := monthPeriod.FindStringSubmatch(s); m != nil {
		unit, parts = Month, moment.Parts{Year: atoi(m[1]), Month: atoi(m[2])}
	} else if m := monthName.FindStringSubmatch(s); m != nil && moment.MonthNamed(m[1]) != 0 {
		unit, parts = Month, moment.Parts{Year: atoi(m[2]), Month: int(moment.MonthNamed(m[1]))}
	} else if m := dottedDay.FindStringSubmatch(s); m != nil {
		parts = moment.Parts{Year: atoi(m[3]), Month: atoi(m[2]), Day: atoi(m[1])}
	} else if m := isoDay.FindStringSubmatch(s); m != nil && len(s) == len(time.DateOnly) && m[2] == "-" && m[4] == "-" {
		parts = moment.Parts{Year: atoi(m[1]), Month: atoi(m[3]), Day: atoi(m[5])}
	}
	t, ok := parts.Time()
	return Period{unit, moment.Day(t.Year(), t.Month(), t.Day(), now.Location())}, ok
}

// ParsePast parses what [Periodic.Parse] accepts, a year, the name of a weekday, with or
// without "last", which means the most recent such day before today, and the age of a day:
// 7d, 1y, 2 weeks, a month ago.
func (p *Periodic) ParsePast(s string, now time.Time) (Period, bool) {
	s = foldWords(s)
	if m := pastDay.FindStringSubmatch(s); m != nil {
		unit := map[string]Unit{"w": Week, "week": Week, "month": Month, "y": Year, "year": Year}[m[2]] // else Day
		n := 1
		if m[1] != "" {
			n = atoi(m[1])
		}
		return Period{Day, unit.add(now, -n)}, true
	}
	if t, err := time.ParseInLocation("2006", s, now.Location()); err == nil {
		return Period{Year, Year.start(t)}, true
	}
	name := strings.TrimPrefix(s, "last ")
	for back := 1; back <= 7; back++ {
		if day := Day.add(Day.start(now), -back); strings.ToLower(day.Weekday().String()) == name {
			return Period{Day, day}, true
		}
	}
	return p.Parse(s, now)
}

// Filter returns the parser of the words for periods in conditions on fields, for one goroutine.
// It parses them as ParseDue does, but a date with a time is no period: a condition may compare
// times of one day. It keeps what it has parsed, because a condition is compared with many notes.
func (p *Periodic) Filter(now time.Time) Periods {
	type parsed struct {
		period Period
		ok     bool
	}
	known := map[string]parsed{}
	return func(words string) (Period, bool) {
		w, seen := known[words]
		if !seen {
			if _, isDate := ParseDate(words); isDate {
				w.period, w.ok = p.Parse(words, now)
			} else {
				w.period, w.ok = p.ParseDue(words, now)
			}
			known[words] = w
		}
		return w.period, w.ok
	}
}

// ParseDue parses what [Periodic.Parse] accepts, and a day as people name one when something is
// due: the name of a weekday, which is today at the earliest; with "next", the day of next week;
// "in 3 days"; the past with "last" or "ago", as [Periodic.ParsePast] does; and what [ParseDate]
// accepts, of which the day counts as it is written, whatever its zone.
func (p *Periodic) ParseDue(s string, now time.Time) (Period, bool) {
	if period, ok := p.Parse(s, now); ok {
		return period, true
	}
	if at, ok := ParseDate(s); ok {
		return Period{Day, moment.Day(at.Year(), at.Month(), at.Day(), now.Location())}, true
	}
	s = foldWords(s)
	today := Day.start(now)
	if m := comingDay.FindStringSubmatch(s); m != nil {
		return Period{Day, Unit(m[2]).add(today, max(atoi(m[1]), 1))}, m[1] != "0"
	}
	if strings.HasPrefix(s, "last ") || strings.HasSuffix(s, " ago") {
		return p.ParsePast(s, now)
	}
	from, name := today, strings.TrimPrefix(s, "this ")
	if next, ok := strings.CutPrefix(s, "next "); ok {
		from, name = Week.add(p.Weeks.Start(now), 1), next
	}
	for n := range 7 {
		if day := Day.add(from, n); strings.ToLower(day.Weekday().String()) == name {
			return Period{Day, day}, true
		}
	}
	return Period{}, false
}

// PeriodicNotes describes how a vault names and creates the periodic notes of one unit.
type PeriodicNotes struct {
	NameFormat
	Template string // path of the template note, with or without .md; "" if none
}

// Path returns the path of the note for a period.
func (n PeriodicNotes) Path(p Period) string {
	return path.Join(strings.Trim(n.Folder, "/"), n.Weeks.Format(p.Start, n.Format)) + ".md"
}

// Periodic holds the settings of the vault's app for periodic notes and templates.
type Periodic struct {
	Notes      map[Unit]PeriodicNotes
	Templates  string // folder of templates; "" if not set
	DateFormat string // of {{date}} in a template
	TimeFormat string // of {{time}}
	Weeks      moment.Weeks
}

// SetWeeks sets the weeks to those of a locale in moment.js, with a different first day
// if first is not "". The locale "system-default" counts as unknown.
func (p *Periodic) SetWeeks(locale, first string) {
	locale = strings.TrimPrefix(locale, "system-default")
	p.Weeks = moment.WeeksOf(locale, first)
	p.Weeks.Locale = strings.ToLower(locale)
}

// SetLanguage infers the language of months and days from the names of existing notes,
// unless it is known.
func (p *Periodic) SetLanguage(format string, names func() []string) {
	if p.Weeks.Locale == "" {
		p.Weeks.Locale = moment.LocaleOf(format, names)
	}
}

// DefaultNames are the formats for the names of periodic notes if no app sets another.
var DefaultNames = map[Unit]string{Day: "YYYY-MM-DD", Week: "gggg-[W]ww", Month: "YYYY-MM", Quarter: "YYYY-[Q]Q", Year: "YYYY"}

// NamesLike infers the name format from the path of a daily note and its day:
// Daily/2026/2026-02-16.md yields the folder Daily and the format YYYY/YYYY-MM-DD.
func NamesLike(notePath string, day time.Time) NameFormat {
	segments := strings.Split(Stem(notePath), "/")
	last := len(segments) - 1
	format := DefaultNames[Day]
	for _, other := range []string{"YYYY_MM_DD", RoamNames} {
		if moment.Format(day, other) == segments[last] {
			format = other
		}
	}
	fixed := 0
	for i, s := range segments[:last] {
		at := slices.IndexFunc(folderFormats, func(f string) bool { return moment.Format(day, f) == s })
		if at < 0 {
			segments[i] = "[" + s + "]"
			if fixed == i {
				fixed++
			}
			continue
		}
		segments[i] = folderFormats[at]
	}
	folder := strings.Split(Stem(notePath), "/")[:fixed]
	return NameFormat{Folder: strings.Join(folder, "/"), Format: strings.Join(append(segments[fixed:last], format), "/")}
}

// RoamNames is the format of the names of Roam's daily notes.
const RoamNames = "MMMM Do, YYYY"

// folderFormats are common formats of the folders that contain daily notes.
var folderFormats = []string{"YYYY", "YYYY-MM", "MM", "MM-MMMM", "MM MMMM", "MMMM", "MM-MMM", "MMM", "gggg-[W]ww", "[W]ww", "[Q]Q"}

var placeholder = regexp.MustCompile(`(?i)\{\{\s*(date|time|title|yesterday|today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\s*([-+]\d+[a-z])?\s*(?::([^{}]*))?\}\}`)

// shiftUnits maps the letters after a number in a placeholder to units.
var shiftUnits = map[byte]Unit{'y': Year, 'Y': Year, 'q': Quarter, 'Q': Quarter, 'M': Month, 'w': Week, 'W': Week, 'd': Day, 'D': Day}

// Fill expands a template: {{title}}, {{date}}, {{date:FORMAT}}, {{time}},
// {{time:FORMAT}}, and, as in the Periodic Notes plugin, {{yesterday}} and {{tomorrow}} as
// names of daily notes, {{monday:FORMAT}} to {{sunday}} of the week, and {{date+1d}}.
// Everything else, including Templater commands, is left unchanged.
func (p *Periodic) Fill(template, title string, at time.Time) string {
	return placeholder.ReplaceAllStringFunc(template, func(s string) string {
		m := placeholder.FindStringSubmatch(s)
		word, shift, format := strings.ToLower(m[1]), m[2], strings.TrimSpace(m[3])
		t := at
		day := slices.Index([]string{"yesterday", "today", "tomorrow"}, word)
		switch {
		case word == "title":
			return title
		case day >= 0:
			t = t.AddDate(0, 0, day-1)
		case strings.HasSuffix(word, "day"):
			for t = t.AddDate(0, 0, -int(t.Weekday()-p.Weeks.Start(t).Weekday()+7)%7); !strings.EqualFold(t.Weekday().String(), word); {
				t = t.AddDate(0, 0, 1)
			}
		}
		if shift != "" {
			n, _ := strconv.Atoi(shift[:len(shift)-1]) // digits
			n = max(-99_999, min(n, 99_999))
			switch unit := shift[len(shift)-1]; {
			case shiftUnits[unit] != "":
				t = shiftUnits[unit].add(t, n)
			case unit == 'h' || unit == 'H':
				t = t.Add(time.Duration(n) * time.Hour)
			case unit == 'm':
				t = t.Add(time.Duration(n) * time.Minute)
			default:
				return s
			}
		}
		switch {
		case format != "":
		case word == "time" && p.TimeFormat != "":
			format = p.TimeFormat
		case word == "time":
			format = "HH:mm"
		case day >= 0 && p.Notes[Day].Format != "":
			format = p.Notes[Day].Format
		case p.DateFormat != "":
			format = p.DateFormat
		default:
			format = DefaultNames[Day]
		}
		return p.Weeks.Format(t, format)
	})
}
