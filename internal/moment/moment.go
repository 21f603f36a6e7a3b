// Package moment formats and parses dates in the format language of moment.js, which
// Obsidian and its plugins use to name periodic notes and fill templates:
// YYYY/MM/YYYY-MM-DD, gggg-[W]ww, dddd D MMMM. Text in brackets, and text that is not a
// token, is literal. Names of months and days are those of a locale, see [LocaleOf]. The
// tokens GGGG and WW use ISO 8601 weeks, gggg and ww those of the locale: see [Weeks].
//
// All functions are pure and safe for concurrent use.
package moment

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tokens matches the tokens of moment.js, the longest of each kind first.
var tokens = regexp.MustCompile(`(?s)\[[^\[\]]*\]|\\.|Mo|MM?M?M?|Do|DDDo|DD?D?D?|do|dd?d?d?|w[ow]?|W[oW]?|Qo?|YYYY|YY|Y|gggg|gg|GGGG|GG|` +
	`E|e|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|ZZ?|LTS|LT|LL?L?L?|.`)

// localized maps tokens to the formats they stand for.
var localized = map[string]string{
	"LT": "h:mm A", "LTS": "h:mm:ss A", "L": "MM/DD/YYYY", "LL": "MMMM D, YYYY",
	"LLL": "MMMM D, YYYY h:mm A", "LLLL": "dddd, MMMM D, YYYY h:mm A",
}

// Weeks is the week numbering of a locale, and its language. The zero value means ISO 8601
// and English.
type Weeks struct {
	First  time.Weekday // first day of the week
	DOY    int          // as in moment.js: week 1 contains January 7+First-DOY, which may be in December
	Locale string       `json:",omitempty"` // of the names, as in moment.js: de, zh-cn
}

// WeeksOf returns the weeks of a locale by its name in moment.js (en-gb, ja; "" if
// unknown). If first is the English name of a day, weeks start on it instead. Without a
// locale, weeks that start on Monday are those of ISO 8601, and for others week 1 is the
// week of January 1.
func WeeksOf(locale, first string) Weeks {
	w, known := localeWeeks[strings.ToLower(locale)]
	if !known && locale != "" {
		w, known = Weeks{First: time.Monday, DOY: 4}, true
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		switch {
		case !strings.EqualFold(first, day.String()):
		case known: // moment.js keeps DOY
			w.First = day
		case day != time.Monday:
			w = Weeks{First: day, DOY: 6 + int(day)}
		}
	}
	return w
}

// localeWeeks are the weeks of the locales of moment.js in which they are not those of
// ISO 8601.
var localeWeeks = func() map[string]Weeks {
	all := map[string]Weeks{}
	for weeks, locales := range map[Weeks]string{
		{First: time.Sunday, DOY: 12}:   "ar-kw",
		{First: time.Sunday, DOY: 6}:    "en en-us am-et ar-ps ar-sa bn bn-bd bo en-ca en-il en-in es-us fr-ca gu he hi id ja kn ko lo ml mn mr ne pa-in pt-br si ta te th zh-hk zh-mo zh-tw",
		{First: time.Sunday, DOY: 5}:    "dv",
		{First: time.Sunday, DOY: 4}:    "ar-dz en-au es-mx",
		{First: time.Sunday, DOY: 3}:    "gom-deva gom-latn",
		{First: time.Saturday, DOY: 12}: "ar ar-ly fa ku ps tzm tzm-latn",
		{First: time.Monday, DOY: 7}:    "az be bg bs cv eo eu hr hy-am jv ka kk ky me mk ms ms-my ro sl sr sr-cyrl sw tg tk tr ug-cn uk uz uz-latn",
	} {
		for locale := range strings.FieldsSeq(locales) {
			all[locale] = weeks
		}
	}
	return all
}()

// Day returns the start of a day: midnight, or 01:00 if the clocks go forward at
// midnight. Arguments outside their usual ranges are normalised as in [time.Date].
func Day(year int, month time.Month, day int, in *time.Location) time.Time {
	const noon = 12
	t := time.Date(year, month, day, 0, 0, 0, 0, in)
	if t.Day() != time.Date(year, month, day, noon, 0, 0, 0, in).Day() {
		_, t = t.ZoneBounds() // t is 23:00 of the day before
	}
	return t
}

// Start returns the start of the week of t.
func (w Weeks) Start(t time.Time) time.Time {
	if w.DOY == 0 {
		w.First = time.Monday
	}
	return Day(t.Year(), t.Month(), t.Day()-(int(t.Weekday()-w.First)+7)%7, t.Location())
}

// first returns the first day of the year's first week.
func (w Weeks) first(year int, in *time.Location) time.Time {
	if w.DOY == 0 {
		w.First, w.DOY = time.Monday, 4
	}
	return w.Start(Day(year, 1, 7+int(w.First)-w.DOY, in))
}

// Number returns the number of the week of t and the year it belongs to.
func (w Weeks) Number(t time.Time) (year, week int) {
	start := w.Start(t)
	for year = t.Year() + 1; w.first(year, t.Location()).After(start); {
		year--
	}
	const halfDay = 12 // allows for a change of the clocks in between
	return year, 1 + (int(start.Sub(w.first(year, t.Location())).Hours())+halfDay)/(7*24)
}

// Format formats t in its own location, with ISO 8601 weeks.
func Format(t time.Time, format string) string { return Weeks{}.Format(t, format) }

// Format formats t in its own location.
func (w Weeks) Format(t time.Time, format string) string {
	names := w.names()
	return tokens.ReplaceAllStringFunc(format, func(token string) string {
		if long, ok := localized[token]; ok {
			return w.Format(t, long)
		}
		if token[0] == '[' && len(token) > 1 {
			return token[1 : len(token)-1]
		}
		if token[0] == '\\' && len(token) > 1 {
			return token[1:]
		}
		if token == "MMMM" || token == "MMM" {
			return names.month(t.Month(), token, format)
		}
		if strings.HasPrefix(token, "S") {
			return fmt.Sprintf("%09d", t.Nanosecond())[:len(token)]
		}
		return w.write(t, token, names)
	})
}

func (w Weeks) write(t time.Time, token string, names *names) string {
	isoYear, isoWeek := t.ISOWeek()
	weekYear, week := w.Number(t)
	twelve := (t.Hour()+11)%12 + 1
	years := map[byte]int{'Y': t.Year(), 'G': isoYear, 'g': weekYear}
	numbers := map[string]int{
		"Y": t.Year(), "Q": quarter(t), "M": int(t.Month()), "DDD": t.YearDay(), "D": t.Day(), "d": int(t.Weekday()), "e": int(t.Weekday()),
		"E": (int(t.Weekday())+6)%7 + 1, "w": week, "W": isoWeek, "H": t.Hour(), "h": twelve, "m": t.Minute(), "s": t.Second(),
	}
	if n, ok := numbers[token]; ok {
		return strconv.Itoa(n)
	}
	if stem, ok := strings.CutSuffix(token, "o"); ok && stem != "" {
		return names.ordinalOf(numbers[stem])
	}
	switch token {
	case "YYYY", "GGGG", "gggg":
		return fmt.Sprintf("%04d", years[token[0]])
	case "YY", "GG", "gg":
		return fmt.Sprintf("%02d", years[token[0]]%100)
	case "DDDD":
		return fmt.Sprintf("%03d", t.YearDay())
	case "dddd", "ddd", "dd":
		return names.of(token)[t.Weekday()]
	case "MM", "DD", "ww", "WW", "HH", "hh", "mm", "ss":
		return fmt.Sprintf("%02d", numbers[token[:1]])
	case "k", "kk":
		return fmt.Sprintf("%0*d", len(token), (t.Hour()+23)%24+1)
	case "A":
		return t.Format("PM")
	case "a":
		return t.Format("pm")
	case "X":
		return strconv.FormatInt(t.Unix(), 10)
	case "x":
		return strconv.FormatInt(t.UnixMilli(), 10)
	case "Z":
		return t.Format("-07:00")
	case "ZZ":
		return t.Format("-0700")
	}
	return token
}

func quarter(t time.Time) int { return (int(t.Month()) + 2) / 3 }

func ordinal(n int) string {
	suffix := "th"
	if tens := n % 100 / 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// Pattern matches text written with a format. A nil Pattern matches nothing.
type Pattern struct {
	match *regexp.Regexp
	parts []string // the part of a date in each group of match
	weeks Weeks
	names *names
}

// patterns are the regular expressions of tokens and the parts of a date they match.
var patterns = map[string]struct{ part, pattern string }{
	"YYYY": {"year", `\d{4}`}, "gggg": {"year", `\d{4}`}, "GGGG": {"year", `\d{4}`}, "Y": {"year", `\d{4}`},
	"YY": {"shortYear", `\d{2}`}, "gg": {"shortYear", `\d{2}`}, "GG": {"shortYear", `\d{2}`},
	"Q": {"quarter", `[1-4]`}, "Qo": {"quarter", `[1-4]\pL*`},
	"MMMM": {"monthName", `\pL+`}, "MMM": {"monthName", `\pL+`}, "MM": {"month", `\d{2}`}, "M": {"month", `\d{1,2}`}, "Mo": {"month", `\d{1,2}\pL*`},
	"DDDD": {"yearDay", `\d{3}`}, "DDD": {"yearDay", `\d{1,3}`}, "DDDo": {"yearDay", `\d{1,3}\pL*`},
	"DD": {"day", `\d{2}`}, "D": {"day", `\d{1,2}`}, "Do": {"day", `\d{1,2}[\pL.º-]*`},
	"ww": {"week", `\d{2}`}, "WW": {"isoWeek", `\d{2}`}, "w": {"week", `\d{1,2}`}, "W": {"isoWeek", `\d{1,2}`}, "wo": {"week", `\d{1,2}\pL*`}, "Wo": {"isoWeek", `\d{1,2}\pL*`},
	"dddd": {"", `\pL+`}, "ddd": {"", `\pL+`}, "dd": {"", `\pL+`}, "do": {"", `\d\pL*`}, "d": {"", `\d`}, "e": {"", `\d`}, "E": {"", `\d`},
	"HH": {"", `\d{2}`}, "hh": {"", `\d{2}`}, "kk": {"", `\d{2}`}, "mm": {"", `\d{2}`}, "ss": {"", `\d{2}`},
	"H": {"", `\d{1,2}`}, "h": {"", `\d{1,2}`}, "k": {"", `\d{1,2}`}, "m": {"", `\d{1,2}`}, "s": {"", `\d{1,2}`},
	"A": {"", `\pL+`}, "a": {"", `\pL+`}, "X": {"", `\d+`}, "x": {"", `\d+`}, "Z": {"", `[-+]\d\d:\d\d`}, "ZZ": {"", `[-+]\d{4}`},
}

// Compile returns the pattern of a format. Matching ignores case.
func (w Weeks) Compile(format string) *Pattern {
	p := &Pattern{weeks: w, names: w.names()}
	var b strings.Builder
	b.WriteString(`(?i)^`)
	var add func(format string)
	add = func(format string) {
		for _, token := range tokens.FindAllString(format, -1) {
			t, ok := patterns[token]
			switch {
			case ok:
				b.WriteString("(")
				for _, name := range p.names.of(token) {
					b.WriteString(regexp.QuoteMeta(name) + "|")
				}
				if token == "MMMM" {
					b.WriteString(strings.Join(p.names.months, "|") + "|") // without special characters
				}
				b.WriteString(t.pattern + ")")
				p.parts = append(p.parts, t.part)
			case localized[token] != "":
				add(localized[token])
			case token[0] == '[' && len(token) > 1:
				b.WriteString(regexp.QuoteMeta(token[1 : len(token)-1]))
			case token[0] == '\\' && len(token) > 1:
				b.WriteString(regexp.QuoteMeta(token[1:]))
			default:
				b.WriteString(regexp.QuoteMeta(token))
			}
		}
	}
	add(format)
	p.match, _ = regexp.Compile(b.String() + `$`) // nil if it is too long or not UTF-8
	return p
}

// Match parses text and returns the day, or the first day of the week, month, quarter or
// year, at midnight local time. Years before 1900 and from 2250 on are not accepted.
func (p *Pattern) Match(text string) (time.Time, bool) {
	if p == nil || p.match == nil {
		return time.Time{}, false
	}
	groups := p.match.FindStringSubmatch(text)
	if groups == nil {
		return time.Time{}, false
	}
	var d Parts
	for i, part := range p.parts {
		text := groups[i+1]
		number, _ := strconv.Atoi(strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })) // a few digits, or none
		switch part {
		case "year":
			d.Year = number
		case "shortYear":
			d.Year = 2000 + number
		case "quarter":
			d.Quarter = number
		case "month":
			d.Month = number
		case "monthName":
			if m := p.names.monthNamed(text); m > 0 && d.Month == 0 {
				d.Month = m
			}
		case "isoWeek":
			d.Week, d.Weeks = number, Weeks{}
		case "week":
			d.Week, d.Weeks = number, p.weeks
		case "yearDay":
			d.YearDay = number
		case "day":
			d.Day = number
		}
	}
	return d.Time()
}

// Parts are the numbers of a date; 0 means absent.
type Parts struct {
	Year, Quarter, Month, Week, YearDay, Day int

	Weeks Weeks // numbering of Week
}

// Time returns the start, in local time, of the first day of the parts, and whether that
// day exists.
func (p Parts) Time() (time.Time, bool) {
	if p.Year < 1900 || p.Year >= 2250 {
		return time.Time{}, false
	}
	date := func(month, day int) time.Time {
		return Day(p.Year, time.Month(month), day, time.Local)
	}
	switch {
	case p.Month > 0 && p.Day > 0:
		t := date(p.Month, p.Day)
		return t, p.Month <= 12 && t.Day() == p.Day
	case p.YearDay > 0:
		t := date(1, p.YearDay)
		return t, t.Year() == p.Year
	case p.Week > 0:
		first := p.Weeks.first(p.Year, time.Local)
		start := Day(first.Year(), first.Month(), first.Day()+7*(p.Week-1), time.Local)
		_, week := p.Weeks.Number(start)
		return start, week == p.Week
	case p.Month > 0:
		return date(p.Month, 1), p.Month <= 12 && p.Day == 0
	case p.Quarter > 0:
		return date(3*p.Quarter-2, 1), true
	}
	return date(1, 1), p.Day == 0
}
