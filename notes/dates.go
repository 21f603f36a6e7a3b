package notes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/moment"
)

// dateLayouts are the ways to write a date that vaults use.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006.01.02", "02.01.2006", "January 2, 2006", "Jan 2, 2006", "2 January 2006",
	"Monday, January 2 2006, 3:04:05 pm", "Monday, January 2 2006", "January 2 2006", // as Obsidian's Linter writes them
}

// ordinal is the end of a number that counts, as in "January 3rd".
var ordinal = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`)

// ParseDate reads a date as notes and queries write it, also as a link to a daily note,
// [[Daily/2026-01-31|Saturday]]. Without a zone it is local time.
func ParseDate(s string) (time.Time, bool) {
	s, isLink := linkTarget(strings.TrimSpace(s))
	if t, ok := parseDate(s); ok || !isLink {
		return t, ok
	}
	return parseDate(path.Base(s))
}

// linkTarget returns the target of the wikilink that s is, else s.
func linkTarget(s string) (target string, isLink bool) {
	inner, opened := strings.CutPrefix(s, "[[")
	inner, closed := strings.CutSuffix(inner, "]]")
	if !opened || !closed {
		return s, false
	}
	target, _, _ = strings.Cut(inner, "|")
	return strings.TrimSpace(target), true
}

func parseDate(s string) (time.Time, bool) {
	s = ordinal.ReplaceAllString(s, "$1")
	for _, layout := range dateLayouts {
		t, err := time.ParseInLocation(layout, s, time.Local)
		if err != nil || t.Year() <= 0 || t.Year() >= 2250 { // beyond 2262, nanoseconds since 1970 overflow
			continue
		}
		if !strings.Contains(layout, "04") { // it has no time
			day, _ := time.Parse(layout, s) // as above
			t = moment.Day(day.Year(), day.Month(), day.Day(), time.Local)
		}
		return t, true
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
		if f := fieldKey(k); f == k || folded[f] == nil {
			folded[f] = v
		}
	}
	for _, k := range keys {
		if s, ok := folded[fieldKey(k)].(string); ok {
			if t, ok := ParseDate(s); ok && t.Year() >= 1700 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// fieldKey folds the key of a field for comparison.
func fieldKey(k string) string {
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
	Weeks   moment.Weeks `json:"weeks,omitzero"` // that a name such as 2026-W07 counts
	Zone    string       `json:"zone,omitempty"` // in which days begin, as from [LocalZone]
}

// LocalZone identifies the system's time zone, for which Go has no name, by its
// distances from UTC over the years.
func LocalZone() string {
	offsets := fnv.New64a()
	for year := 1970; year < 2040; year++ {
		for month := time.January; month <= time.December; month++ {
			_, offset := time.Date(year, month, 1, 0, 0, 0, 0, time.Local).Zone()
			fmt.Fprintln(offsets, offset)
		}
	}
	return strconv.FormatUint(offsets.Sum64(), 16)
}

// DateRulesVersion is raised whenever the same note gets another date.
const DateRulesVersion = 2

// Of returns the note's date, and when it was created (zero: it does not say).
func (r *DateRules) Of(notePath string, frontMatter map[string]any, mtime time.Time) (date, created time.Time) {
	named, isNamed := r.Named(notePath)
	created, ok := frontMatterTime(frontMatter, "created", "date created", "date")
	if !ok && isNamed {
		created = named
	}
	if t, ok := frontMatterTime(frontMatter, append(slices.Clip(r.Keys), "date")...); ok {
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

// Named returns the day, or the first day of the week, month, quarter or
// year, that a periodic note's path names.
func (r *DateRules) Named(notePath string) (time.Time, bool) {
	name := Stem(notePath)
	for i := range r.Names {
		if t, ok := r.Names[i].Match(name); ok {
			return t, true
		}
	}
	name = path.Base(name)
	if m := isoDay.FindStringSubmatch(name); m != nil && m[2] == m[4] {
		return moment.Parts{Year: atoi(m[1]), Month: atoi(m[3]), Day: atoi(m[5])}.Time()
	}
	if m := isoWeek.FindStringSubmatch(name); m != nil {
		return moment.Parts{Year: atoi(m[1]), Week: atoi(m[2]), Weeks: r.Weeks}.Time()
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

// A NameFormat is how an app names its periodic notes.
type NameFormat struct {
	Folder string `json:"folder,omitempty"` // vault-relative
	Format string `json:"format"`           // of the path below the folder, as package moment reads it: YYYY/MM/YYYY-MM-DD

	// Weeks are those of the user's locale.
	Weeks moment.Weeks `json:"weeks,omitzero"`

	pattern *moment.Pattern
}

// Compile prepares the format, which matches nothing before.
func (f *NameFormat) Compile() { f.pattern = f.Weeks.Compile(f.Format) }

// Match reads a path without its extension.
func (f *NameFormat) Match(name string) (time.Time, bool) {
	if folder := FolderKey(f.Folder); folder != "" {
		if !strings.HasPrefix(Key(name), folder+"/") {
			return time.Time{}, false
		}
		name = strings.Join(strings.Split(name, "/")[strings.Count(folder, "/")+1:], "/")
	}
	return f.pattern.Match(name)
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
