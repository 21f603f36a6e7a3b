package moment

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed names.txt
var namesTable string

// names are what a locale calls months and days, Sunday first.
type names struct {
	locale               string
	months, alone, short []string // beside a day, alone, abbreviated
	days, short3, least  []string
	ordinal              string // follows a number
	first                string // follows 1, if that differs
}

// locales are those of names.txt: English, with the name "", and the others of moment.js.
// A line is the name | months | months without a day, if they differ | abbreviated months |
// days | abbreviated days | shortest days | what follows an ordinal number, or 1 and others.
var locales = sync.OnceValue(func() (all []names) {
	for line := range strings.Lines(namesTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		list := func(i int) []string { return strings.Split(f[i], "_") }
		n := names{locale: f[0], months: list(1), alone: list(1), short: list(3), days: list(4), short3: list(5), least: list(6)}
		if f[2] != "" {
			n.alone = list(2)
		}
		var differs bool
		if n.first, n.ordinal, differs = strings.Cut(f[7], ","); !differs {
			n.ordinal = n.first
		}
		all = append(all, n)
	}
	return all
})

// names returns those of the locale, else those of its language, else English ones.
func (w Weeks) names() *names {
	all := locales()
	language, _, _ := strings.Cut(w.Locale, "-")
	if language == "zh" {
		language = "zh-tw" // also zh-hk and zh-mo
	}
	for _, locale := range []string{w.Locale, language} {
		if i := slices.IndexFunc(all, func(n names) bool { return n.locale == locale }); i >= 0 {
			return &all[i]
		}
	}
	return &all[0]
}

// of returns the names that a token stands for, nil for other tokens.
func (n *names) of(token string) []string {
	switch token {
	case "MMMM":
		return n.alone
	case "MMM":
		return n.short
	case "dddd":
		return n.days
	case "ddd":
		return n.short3
	case "dd":
		return n.least
	}
	return nil
}

// besideDay matches formats in which a month has the form that it has beside a day.
var besideDay = regexp.MustCompile(`D[oD]?(\[[^\[\]]*\]|\s)+MMMM`)

// month returns the name of a month as moment.js writes it for a token of a format.
func (n *names) month(m time.Month, token, format string) string {
	if n.locale == "cs" {
		format = strings.ReplaceAll(format, "D.", "D") // "D. MMMM" is also beside a day
	}
	name := n.of(token)[m-1]
	switch {
	case token == "MMMM" && besideDay.MatchString(format):
		return n.months[m-1]
	case strings.Contains(format, "-MMM-") && (n.locale == "es" || n.locale == "nl"):
		return strings.TrimSuffix(name, ".")
	}
	return name
}

func (n *names) ordinalOf(number int) string {
	switch {
	case n.locale == "":
		return ordinal(number)
	case number == 1:
		return "1" + n.first
	}
	return strconv.Itoa(number) + n.ordinal
}

// monthNamed returns the number of the month with a name, with or without a final dot, in
// the locale or in English; 0 if there is none. In Hebrew, "in" is written together with it.
func (n *names) monthNamed(s string) int {
	s = strings.TrimPrefix(strings.TrimSuffix(s, "."), "ב")
	for _, list := range [][]string{n.months, n.alone, n.short, locales()[0].months, locales()[0].short} {
		if i := slices.IndexFunc(list, func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), s) }); i >= 0 {
			return i + 1
		}
	}
	return 0
}

// MonthNamed returns the month with a name, with or without a final dot, in any locale; 0 if
// there is none. No two locales differ.
func MonthNamed(s string) (month time.Month) {
	for _, n := range locales() {
		month = max(month, time.Month(n.monthNamed(s)))
	}
	return month
}

// samples is how many texts at most show their locale.
const samples = 20

// hasNames matches formats that depend on the locale.
var hasNames = regexp.MustCompile(`MMM|dd|Do`)

// LocaleOf returns the locale in which most of the texts are written with the format, ""
// for English or if none is. Obsidian names notes in the language that its user has
// chosen, and does not keep it in the vault.
func LocaleOf(format string, texts func() []string) string {
	if !hasNames.MatchString(format) {
		return ""
	}
	best, most, written := "", 0, texts()
	sample := make([]string, 0, samples)
	for i := 0; i < len(written); i += len(written)/samples + 1 {
		sample = append(sample, written[i])
	}
	for _, n := range locales() {
		w, count := Weeks{Locale: n.locale}, 0
		pattern := w.Compile(format)
		for _, text := range sample {
			if day, ok := pattern.Match(text); ok && w.Format(day, format) == text {
				count++
			}
		}
		if count > most {
			best, most = n.locale, count
		}
	}
	return best
}
