package notes_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/moment"
	"notesd/notes"
)

// anyDay returns a random local time from 1990 to 2069.
func anyDay(rng *rand.Rand) time.Time {
	return time.Date(1990+rng.IntN(80), time.Month(1+rng.IntN(12)), 1+rng.IntN(31), rng.IntN(24), rng.IntN(60), rng.IntN(60), 0, time.Local)
}

// From one daily note in folders by date, the names of all other days are inferred: the
// format yields the path of that note, and those of other days in the same form.
func TestNamesLike_OtherDays(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 21))
	for range 3000 {
		day, other := notes.Period{Unit: notes.Day}, notes.Period{Unit: notes.Day}
		noon := anyDay(rng)
		day.Start = moment.Day(noon.Year(), noon.Month(), noon.Day(), time.Local)
		noon = anyDay(rng)
		other.Start = moment.Day(noon.Year(), noon.Month(), noon.Day(), time.Local)
		write := func(p notes.Period, form []string) string {
			segments := make([]string, len(form))
			for i, f := range form {
				if segments[i] = f; strings.ContainsAny(f, "YM") && !strings.HasPrefix(f, "=") {
					segments[i] = moment.Format(p.Start, f)
				}
				segments[i] = strings.TrimPrefix(segments[i], "=")
			}
			return path.Join(segments...) + ".md"
		}
		form := []string{}
		for range rng.IntN(3) {
			form = append(form, "="+pick(rng, "Daily", "Journal [a]", "Tagebuch", "d", "Y"))
		}
		form = append(form, pick(rng, [][]string{nil, {"YYYY"}, {"YYYY", "MM"}, {"YYYY", "MM-MMMM"}, {"YYYY-MM"}}...)...)
		form = append(form, pick(rng, "YYYY-MM-DD", "YYYY_MM_DD"))
		one := write(day, form)
		if strings.ContainsAny(one, "[") {
			continue // a format cannot contain a literal bracket
		}
		names := notes.NamesLike(one, day.Start)
		require.Equal(t, one, notes.PeriodicNotes{NameFormat: names}.Path(day), "%v", form)
		require.Equal(t, write(other, form), notes.PeriodicNotes{NameFormat: names}.Path(other), "%v from %s", names, one)
		names.Compile()
		read, ok := names.Match(notes.Stem(write(other, form)))
		require.True(t, ok, "%v", names)
		require.Equal(t, other.Start, read)
	}
}

// The placeholders of a template are expanded correctly: a weekday is in the week of
// the note, days are added, and other text is unchanged.
func TestFill_Placeholders(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 22))
	for range 3000 {
		p := &notes.Periodic{}
		p.SetWeeks(pick(rng, "", "de", "en"), pick(rng, "", "monday", "sunday", "saturday"))
		at := anyDay(rng).UTC()
		fill := func(text string) string { return p.Fill(text, "My Title", at) }
		for day := time.Sunday; day <= time.Saturday; day++ {
			got, err := time.Parse(time.DateOnly, fill("{{"+pick(rng, "", " ")+strings.ToLower(day.String())+":YYYY-MM-DD}}"))
			require.NoError(t, err)
			require.Equal(t, day, got.Weekday())
			week := p.Weeks.Start(at)
			require.False(t, got.Before(week), "%s of %s", day, at)
			require.True(t, got.Before(week.AddDate(0, 0, 7)), "%s of %s", day, at)
		}
		n := rng.IntN(800) - 400
		day := moment.Day(at.Year(), at.Month(), at.Day(), time.UTC)
		require.Equal(t, day.AddDate(0, 0, n).Format(time.DateOnly), fill(fmt.Sprintf("{{date%+dd}}", n)))
		require.Equal(t, day.AddDate(0, 0, 7*n).Format(time.DateOnly), fill(fmt.Sprintf("{{date%+dw:YYYY-MM-DD}}", n)))
		require.Equal(t, day.AddDate(0, 0, -1).Format(time.DateOnly), fill("{{yesterday}}"))
		require.Equal(t, at.Format("15:04")+" My Title {{other}} <% tp %> {{date:", fill("{{time}} {{Title}} {{other}} <% tp %> {{date:"))
	}
}

// Every date format parses as the same date, alone, in a link, and with an ordinal.
func TestParseDate_Written(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 23))
	for range 3000 {
		at := anyDay(rng)
		for _, layout := range []string{"2006-01-02", "2006/01/02", "2006.01.02", "02.01.2006", "2.1.2006", "2006/1/2", "2006年1月2日", "2006年01月02日", "2006년 1월 2일", "January 2, 2006", "Jan 2, 2006", "2 January 2006", "Monday, January 2 2006", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", time.RFC3339Nano} {
			written := at.Format(layout)
			want, err := time.ParseInLocation(layout, written, time.Local)
			require.NoError(t, err)
			if !strings.Contains(layout, "15") {
				want = moment.Day(at.Year(), at.Month(), at.Day(), time.Local)
			}
			got, ok := notes.ParseDate(pick(rng, "", " ") + written)
			require.True(t, ok, written)
			require.True(t, want.Equal(got), "%s is %s", written, got)
			if layout == "2006-01-02" {
				for _, link := range []string{"[[" + written + "]]", "[[Daily/" + written + "|a day]]"} {
					got, ok = notes.ParseDate(link)
					require.True(t, ok && want.Equal(got), link)
				}
			}
		}
		suffix := map[int]string{1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}[at.Day()]
		if suffix == "" {
			suffix = "th"
		}
		got, ok := notes.ParseDate(at.Format("January 2") + suffix + at.Format(", 2006"))
		require.True(t, ok)
		require.Equal(t, at.Format(time.DateOnly), got.Format(time.DateOnly))
	}
	for _, text := range []string{"2026-01-31 10:00:00 +0530", "2026-01-31T10:00:00+0530"} {
		got, ok := notes.ParseDate(text)
		require.True(t, ok, text)
		assert.Equal(t, "2026-01-31T04:30:00Z", got.UTC().Format(time.RFC3339), text)
		n := notes.Parse("Post.md", []byte("---\ndate: "+text+"\n---\n"), time.Time{})
		date, _ := (&notes.DateRules{}).Of(n)
		assert.True(t, got.Equal(date), text)
	}
	for text, want := range map[string]string{ // in other languages, also with the time, as Notion exports them
		"28 ноября 2026": "2026-11-28 00:00", "28. November 2026": "2026-11-28 00:00", "28 de noviembre de 2026 9:05": "2026-11-28 09:05",
		"28 בנובמבר 2026": "2026-11-28 00:00", "28 พฤศจิกายน 2569": "2026-11-28 00:00", "28 พ.ย. 2569": "2026-11-28 00:00", "28 พฤศจิกายน 2026": "2026-11-28 00:00",
		"28 tháng 11 năm 2026": "2026-11-28 00:00", "ngày 28 tháng 11, 2026": "2026-11-28 00:00", "28 tháng 13 năm 2026": "",
		norm.NFD.String("Ngày 28 Tháng 11 năm 2026"): "2026-11-28 00:00",
		"3. März 2026 16:21":                         "2026-03-03 16:21", "5 déc. 2026": "2026-12-05 00:00", "28 Kasım 2026": "2026-11-28 00:00",
		"1 μαΐου 2026": "2026-05-01 00:00", "2026年11月28日 16:21": "2026-11-28 16:21",
		"28 listopada 2026": "2026-11-28 00:00", "28 Apollo 2026": "", "28. November 2026, Samstag": "", "31 февраля 2026": "", "2 weeks 2026": "",
	} {
		got, ok := notes.ParseDate(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, got.Format("2006-01-02 15:04"), text)
		}
	}
	for _, text := range []string{"", "today", "2026-02-30", "2026-13-01", "0000-01-01", "9999-01-01", "12", "[[2026-02-16", "2026-02-16x", "32.01.2026"} {
		_, ok := notes.ParseDate(text)
		assert.False(t, ok, text)
	}
}

// Sections are compared with a line-by-line reading: each extends to the next heading
// of its level or a higher one, or to the rule above that, and each reference resolves to its own section.
func TestSections_Lines(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 24))
	for range 2000 {
		var lines []string
		var levels []int // level of each line; 0 if not a heading
		for n := range 1 + rng.IntN(14) {
			level := 0
			if rng.IntN(2) == 0 {
				level = 1 + rng.IntN(4)
				lines = append(lines, strings.Repeat("#", level)+" "+pick(rng, "Plan", "Risks", "plan", "A > B", "Ünï"))
			} else {
				lines = append(lines, pick(rng, "text", "", "- item", fmt.Sprint("line ", n), "***", "> quote", "`# code`"))
			}
			levels = append(levels, level)
		}
		note := notes.Parse("N.md", []byte(strings.Join(lines, "\n")), time.Time{})
		sections := note.Outline()
		refs := note.HeadingRefs()
		require.Len(t, refs, len(sections), "%q", lines)
		seen := map[string]bool{}
		i := 0
		for at, level := range levels {
			if level == 0 {
				continue
			}
			end := at + 1
			for end < len(levels) && (levels[end] == 0 || levels[end] > level) {
				end++
			}
			if end < len(levels) {
				rule := end - 1
				for lines[rule] == "" {
					rule--
				}
				if lines[rule] == "***" && levels[rule-1] == 0 {
					end = rule
				}
			}
			s := sections[i]
			require.Equal(t, []int{level, at + 1}, []int{s.Level, s.LineStart}, "%q", lines)
			want := strings.Join(lines[at:end], "\n")
			require.Equal(t, at+1+strings.Count(strings.TrimSuffix(note.Content[len(strings.Join(append(lines[:at:at], ""), "\n")):][:s.Bytes], "\n"), "\n"), s.LineEnd, "%q", lines)
			if end < len(lines) {
				want += "\n"
			}
			require.Len(t, want, s.Bytes, "%q", lines)
			first, last, err := note.Section(refs[i])
			require.NoError(t, err, "%q in %q", refs[i], lines)
			require.Equal(t, []int{s.LineStart, s.LineEnd}, []int{first, last}, "%q in %q", refs[i], lines)
			require.False(t, seen[refs[i]], "%q names two", refs[i])
			seen[refs[i]] = true
			i++
		}
	}
}

// The fields of a note's text are text, booleans or lists; a repeated key has all its
// values in order.
func TestInlineFields_All(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 25))
	for range 3000 {
		want := map[string][]any{}
		text := ""
		for range 1 + rng.IntN(6) {
			key := pick(rng, "status", "due", "who")
			var written string
			var values []any
			switch rng.IntN(5) {
			case 0:
				written, values = "open", []any{"open"}
			case 1:
				b := rng.IntN(2) == 0
				written, values = pick(rng, fmt.Sprint(b), strings.ToUpper(fmt.Sprint(b))), []any{b}
			case 2:
				written, values = "[[Ann]], [[Bob]]", []any{"[[Ann]]", "[[Bob]]"}
			case 3:
				written = pick(rng, `"a b", c"`, `"a", "`, `[[Ann]], Bob`)
				values = []any{written}
			default:
				written, values = `"a b", "c"`, []any{"a b", "c"}
			}
			text += key + ":: " + written + "\n\n"
			want[key] = append(want[key], values...)
		}
		got := notes.Parse("N.md", []byte(text), time.Time{}).Inline
		require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)), text)
		for key, values := range want {
			is, isList := got[key].([]any)
			if !isList {
				is = []any{got[key]}
			}
			require.Equal(t, values, is, "%s of %q", key, text)
		}
	}
}

// A quoted name is one line of valid text, and a short one is not altered.
func TestQuote_OneLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 26))
	for range 5000 {
		name := title(rng) + strings.Repeat(pick(rng, "x", "ä"), rng.IntN(2)*rng.IntN(400))
		quoted := notes.Quote(name)
		require.True(t, utf8.ValidString(quoted))
		require.False(t, strings.ContainsFunc(quoted, func(r rune) bool { return r < ' ' || r == 0x7f }), "%q", quoted)
		require.LessOrEqual(t, utf8.RuneCountInString(quoted), 203)
		if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) && utf8.RuneCountInString(name) <= 200 {
			require.Equal(t, `"`+name+`"`, quoted)
		}
	}
}
