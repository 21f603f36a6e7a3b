package notes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/moment"
)

// dateLayouts are the date formats found in vaults.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", // as Jekyll and Git write them
	"2006-01-02 15:04", "2006-01-02", "2006/1/2", "2006.1.2", "2.1.2006", "2006年1月2日", "2006年1月2日 15:04", "2006년 1월 2일", "January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 January 2006 15:04",
	"Monday, January 2 2006, 3:04:05 pm", "Monday, January 2 2006", "January 2 2006", // as Obsidian's Linter writes them
	"January 2, 2006 3:04 PM", // as Notion writes them
}

// ordinal matches the suffix of an ordinal number, as in "January 3rd".
var ordinal = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`)

// namedMonth matches a day whose month has a name, as in "28. November 2026", "28 de noviembre de 2026"
// and "28 พ.ย. 2569".
var namedMonth = regexp.MustCompile(`^(\d{1,2})\.?(?: de)? ([\pL\pM]+(?:\.[\pL\pM]+)*)\.?(?: de)? (\d{4})`)

// vietnamese matches a day as in "28 tháng 11 năm 2026".
var vietnamese = regexp.MustCompile(`(?i)^(?:ng[àa]y )?(\d{1,2}) th[áa]ng (\d{1,2})(?:,| n[ăa]m)? (\d{4})$`)

// ParseDate parses a date as written in notes and queries, or as a link to a daily
// note, [[Daily/2026-01-31|Saturday]]. Without a zone it is local time. Of a range as Notion writes
// it, "May 1, 2026 → May 3, 2026", it returns the beginning.
func ParseDate(s string) (time.Time, bool) {
	s, _, _ = strings.Cut(plainDigits(s), " → ")
	s, isLink := linkTarget(strings.TrimSpace(s))
	if t, ok := parseDate(s); ok || !isLink {
		return t, ok
	}
	return parseDate(path.Base(s))
}

// plainDigits returns s with 0 to 9 for the digits of other scripts and for those of full width.
// Obsidian names daily notes with the digits of its language: ٢٠٢٦-٠١-٣١.
func plainDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		first := r
		for unicode.IsDigit(first - 1) { // in order in groups of ten
			first--
		}
		return '0' + (r-first)%10
	}, s)
}

// linkTarget returns the target if s is a wikilink, otherwise s.
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
	if !hasYear(s) { // most text; failing in every layout takes several microseconds
		return time.Time{}, false
	}
	s = ordinal.ReplaceAllString(s, "$1")
	s = vietnamese.ReplaceAllString(norm.NFC.String(s), "$1.$2.$3")
	for _, layout := range dateLayouts {
		t, err := time.ParseInLocation(layout, s, time.Local)
		if err != nil || t.Year() <= 0 || t.Year() >= 2250 { // beyond 2262, nanoseconds since 1970 overflow
			continue
		}
		if !strings.Contains(layout, "04") { // no time of day
			day, _ := time.Parse(layout, s) // as above
			t = moment.Day(day.Year(), day.Month(), day.Day(), time.Local)
		}
		return t, true
	}
	if m := namedMonth.FindStringSubmatch(s); m != nil {
		month, year := moment.MonthNamed(m[2]), m[3]
		if strings.ContainsFunc(m[2], func(r rune) bool { return unicode.Is(unicode.Thai, r) }) && year > "2400" {
			year = strconv.Itoa(atoi(year) - 543) // of the Buddhist era
		}
		if english := m[1] + " " + month.String() + " " + year + s[len(m[0]):]; month != 0 && english != s {
			return parseDate(english)
		}
	}
	return time.Time{}, false
}

// hasYear reports whether s contains four digits in a row, as all dateLayouts do.
func hasYear(s string) bool {
	digits := 0
	for i := 0; i < len(s) && digits < 4; i++ {
		if '0' <= s[i] && s[i] <= '9' {
			digits++
		} else {
			digits = 0
		}
	}
	return digits == 4
}

// frontMatterTime returns the date of the first of the keys that has one. Keys are
// compared ignoring case, spaces, '_' and '-'.
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
		value := folded[fieldKey(k)]
		if n, ok := value.(float64); ok { // as JSON has all numbers
			value = int64(n)
		}
		switch v := value.(type) {
		case string:
			if t, ok := ParseDate(v); ok && t.Year() >= 1700 {
				return t, true
			}
		case int64:
			if v >= 1e12 && v < 5e12 { // milliseconds since 1970, as in Dendron; a date in digits is greater or less
				return time.UnixMilli(v), true
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

// DateRules determine a note's date: the date in its front matter, else the day or week
// in its name, else the time of its last change or creation in the front matter, else
// the mtime of the file. The store keeps the rules by which its dates were set, to
// detect changes.
type DateRules struct {
	Version int          `json:"version"` // of the rules in this file
	Keys    []string     `json:"keys,omitempty"`
	Names   []NameFormat `json:"names,omitempty"`
	Weeks   moment.Weeks `json:"weeks,omitzero"` // weeks to which a name such as 2026-W07 refers
	Zone    string       `json:"zone,omitempty"` // the zone of days, as returned by [LocalZone]
}

// LocalZone identifies the system's time zone, which has no name in Go, by a hash of
// its UTC offsets over the years.
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

// DateRulesVersion must be increased whenever the date or creation time of the same note changes.
const DateRulesVersion = 11

// Of returns the note's date, and its creation time, which is zero if the note has
// none. The properties of a page that Notion exported count as front matter.
func (r *DateRules) Of(n *Note) (date, created time.Time) {
	values := n.FrontMatter
	if FromNotion(n.Path) {
		values = map[string]any{}
		maps.Copy(values, n.Inline)
		maps.Copy(values, n.FrontMatter)
	}
	named, isNamed := r.Named(n.Path)
	created, ok := frontMatterTime(values, "created", "date created", "created time", "date")
	if !ok && isNamed {
		created = named
	}
	if t, ok := frontMatterTime(values, append(slices.Clip(r.Keys), "date")...); ok {
		return t, created
	}
	if isNamed {
		return named, created
	}
	if t, ok := frontMatterTime(values, "updated", "modified", "date modified", "last edited time", "created", "date created", "created time"); ok {
		return t, created
	}
	return n.Modified, created
}

// Named returns the day, or the first day of the week, month, quarter or year, in the
// path of a periodic note.
func (r *DateRules) Named(notePath string) (time.Time, bool) {
	names := []string{Stem(notePath)}
	plain := plainDigits(names[0])
	if plain != names[0] {
		names = append(names, plain)
	}
	for i := range r.Names {
		for _, name := range names {
			if t, ok := r.Names[i].Match(name); ok {
				return t, true
			}
		}
	}
	name := path.Base(plain)
	for _, day := range []*regexp.Regexp{isoDay, endsInDay} {
		if m := day.FindStringSubmatch(name); m != nil && m[2] == m[4] {
			return moment.Parts{Year: atoi(m[1]), Month: atoi(m[3]), Day: atoi(m[5])}.Time()
		}
	}
	if m := isoWeek.FindStringSubmatch(name); m != nil {
		return moment.Parts{Year: atoi(m[1]), Week: atoi(m[2]), Weeks: r.Weeks}.Time()
	}
	return roamDay.Match(name)
}

// By default, a name that begins with a day (2026-02-16, 2026-02-16 Standup, 2026-02-16T10_30,
// Logseq's 2026_02_16) or a week (2026-W07), ends in a day (Blood test 2026-02-16), or is a day as
// Roam writes it (February 16th, 2026), has that date.
var (
	roamDay   = moment.Weeks{}.Compile(RoamNames)
	isoDay    = regexp.MustCompile(`^(\d{4})([-_.])(\d{2})([-_.])(\d{2})(?:$|[^0-9\pL]|T\d)`)
	endsInDay = regexp.MustCompile(`[^0-9\pL](\d{4})([-_.])(\d{2})([-_.])(\d{2})$`)
	isoWeek   = regexp.MustCompile(`^(\d{4})-?[Ww](\d{2})(?:$|[^0-9\pL])`)
)

// atoi converts a string of digits.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // on overflow the largest int, which is in no date
	return n
}

// A NameFormat describes how an app names its periodic notes.
type NameFormat struct {
	Folder string `json:"folder,omitempty"` // vault-relative
	Format string `json:"format"`           // of the path below the folder, for package moment: YYYY/MM/YYYY-MM-DD

	// Weeks are the weeks of the user's locale.
	Weeks moment.Weeks `json:"weeks,omitzero"`

	pattern *moment.Pattern
}

// Compile compiles the format. It must be called before Match.
func (f *NameFormat) Compile() { f.pattern = f.Weeks.Compile(f.Format) }

// Match parses a path without its extension.
func (f *NameFormat) Match(name string) (time.Time, bool) {
	if folder := FolderKey(f.Folder); folder != "" {
		if !strings.HasPrefix(Key(name), folder+"/") {
			return time.Time{}, false
		}
		name = strings.Join(strings.Split(name, "/")[strings.Count(folder, "/")+1:], "/")
	}
	return f.pattern.Match(name)
}

// Compile compiles the formats of names. It must be called before the rules are used.
func (r *DateRules) Compile() {
	for i := range r.Names {
		r.Names[i].Compile()
	}
}

// Equal reports whether the rules, as stored, are equal.
func (r *DateRules) Equal(other *DateRules) bool {
	a, errA := json.Marshal(r)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}
