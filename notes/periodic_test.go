package notes

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/moment"
)

func TestPeriodicParse(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 9*3600)) // a Sunday, and Saturday in UTC
	for s, want := range map[string]string{
		"today": "day 2026-03-01", "Yesterday": "day 2026-02-28", " tomorrow ": "day 2026-03-02",
		"heute": "day 2026-03-01", "Gestern": "day 2026-02-28", "morgen": "",
		"Aujourd’hui": "day 2026-03-01", "今日": "day 2026-03-01", "ayer": "day 2026-02-28", "Завтра": "day 2026-03-02", "Dün": "day 2026-02-28", "bugün": "day 2026-03-01", "Σήμερα": "day 2026-03-01", "غدًا": "day 2026-03-02", "आज": "day 2026-03-01", "कल": "", "mañana": "",
		"сьогодні": "day 2026-03-01", "אתמול": "day 2026-02-28", "فردا": "day 2026-03-02", "Hôm nay": "day 2026-03-01", "พรุ่งนี้": "day 2026-03-02", "včera": "day 2026-02-28", "idag": "day 2026-03-01",
		"this week": "week 2026-02-23", "last  week": "week 2026-02-16", "Next Week": "week 2026-03-02",
		"this month": "month 2026-03-01", "last month": "month 2026-02-01",
		"next quarter": "quarter 2026-04-01", "this quarter": "quarter 2026-01-01", "last year": "year 2025-01-01",
		"2026-02-16": "day 2026-02-16", "2026-W07": "week 2026-02-09", "2026w07": "week 2026-02-09", "2026-02": "month 2026-02-01",
		"2026-Q2": "quarter 2026-04-01", "2026q4": "quarter 2026-10-01", "Q1 2026": "quarter 2026-01-01", "2026-Q5": "", "Q2": "", "2026-Q2 2026": "",
		"February 2026": "month 2026-02-01", "feb. 2026": "month 2026-02-01", "März 2026": "month 2026-03-01", "Sprint 2026": "", "march on": "", "May 5": "",
		"16.02.2026": "day 2026-02-16", "6.2.2026": "day 2026-02-06", "02.16.2026": "", "16.02.26": "", "30.02.2026": "",
		"2026-02-30": "", "2026-W60": "", "2026-13": "", "2026": "", "todays": "", "week": "", "": "", "2026-02-16 Standup": "", "2026_02_16": "",
	} {
		p, ok := (&Periodic{}).Parse(s, now)
		got := ""
		if ok {
			got = string(p.Unit) + " " + p.Start.Format(time.DateOnly)
			assert.Equal(t, now.Location(), p.Start.Location())
			assert.True(t, p.End().After(p.Start))
		}
		assert.Equal(t, want, got, s)
	}
}

func TestPeriodicParsePast(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 9*3600)) // a Sunday
	for s, want := range map[string]string{
		"friday": "2026-02-27", "Last  Friday": "2026-02-27", "saturday": "2026-02-28", "last sunday": "2026-02-22", "monday": "2026-02-23",
		"last week": "2026-02-16", "yesterday": "2026-02-28", "next friday": "0001-01-01", "2019": "2019-01-01", "219": "0001-01-01",
		"0d": "2026-03-01", "1000d": "2023-06-05", "2w": "2026-02-15", "a week ago": "2026-02-22", "3 months": "2025-12-01", "1y": "2025-03-01", "2 Years ago": "2024-03-01",
		"and": "0001-01-01", "-7d": "0001-01-01", "12345d": "0001-01-01", "3m": "0001-01-01", "fridays": "0001-01-01", "last": "0001-01-01",
	} {
		p, ok := (&Periodic{}).ParsePast(s, now)
		assert.Equal(t, want != "0001-01-01", ok, s)
		if ok {
			assert.Equal(t, want, p.Start.Format(time.DateOnly), s)
		}
	}
}

func TestPeriodicParseDue(t *testing.T) {
	wednesday := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("", -9*3600))
	for s, want := range map[string]string{
		"friday": "2026-03-06", "This Friday": "2026-03-06", "wednesday": "2026-03-04", "tuesday": "2026-03-10",
		"next monday": "2026-03-09", "next friday": "2026-03-13", "next  Wednesday": "2026-03-11", "next sunday": "2026-03-15",
		"in 3 days": "2026-03-07", "in 1 day": "2026-03-05", "in a week": "2026-03-11", "in 2 months": "2026-05-04", "in a year": "2027-03-04",
		"last friday": "2026-02-27", "3 days ago": "2026-03-01", "tomorrow": "2026-03-05", "this week": "2026-03-02", "next week": "2026-03-09", "2026-05": "2026-05-01",
		"2026-12-01T00:00:00Z": "2026-12-01", "2026-12-01T23:59:59+02:00": "2026-12-01", "Dec 1, 2026": "2026-12-01",
		"": "", "next": "", "in 0 days": "", "in days": "", "3 days": "", "7d": "", "next fridays": "", "soon": "", "2019": "",
	} {
		p, ok := (&Periodic{}).ParseDue(s, wednesday)
		assert.Equal(t, want != "", ok, s)
		if ok {
			assert.Equal(t, want, p.Start.Format(time.DateOnly), s)
			assert.Equal(t, wednesday.Location(), p.Start.Location(), s)
		}
	}
	sundays := &Periodic{Weeks: moment.WeeksOf("en", "sunday")}
	p, ok := sundays.ParseDue("next sunday", wednesday)
	assert.True(t, ok)
	assert.Equal(t, "2026-03-08", p.Start.Format(time.DateOnly), "the first day of next week")
}

// In zones where clocks go forward at midnight, the skipped hour belongs to no day.
func TestDaysWithoutMidnight(t *testing.T) {
	days := map[string][]string{
		"America/Sao_Paulo": {"2018-11-04"}, "Africa/Cairo": {"2026-04-24"}, "America/Havana": {"2026-03-08"}, "Asia/Beirut": {"2026-03-29"},
		"America/Santiago": {"2026-09-06"}, "Asia/Tehran": {"2022-03-22"}, "Europe/Berlin": {"2026-03-29", "2026-10-25"},
	}
	before := time.Local
	t.Cleanup(func() { time.Local = before })
	for zone, list := range days {
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip("no time zones are installed: ", err)
		}
		time.Local = in
		for _, s := range list {
			noon, err := time.ParseInLocation("2006-01-02 15", s+" 12", in)
			require.NoError(t, err)
			for n, word := range []string{"tomorrow", "today", "yesterday"} {
				p, ok := (&Periodic{}).Parse(word, noon.AddDate(0, 0, n-1))
				assert.True(t, ok)
				assert.Equal(t, s, p.Start.Format(time.DateOnly), "%s, %s", word, zone)
				assert.Equal(t, noon.AddDate(0, 0, 1).Format(time.DateOnly), p.End().Format(time.DateOnly), "%s, %s", word, zone)
			}
			for _, written := range []string{s, noon.Format("January 2, 2006"), noon.Format("02.01.2006")} {
				day, ok := ParseDate(written)
				assert.True(t, ok)
				assert.Equal(t, s, day.Format(time.DateOnly), "%s, %s", written, zone)
				p, ok := (&Periodic{}).Parse(s, noon)
				assert.True(t, ok)
				assert.Equal(t, p.Start, day)
			}
			day, ok := (&DateRules{}).Named("Daily/" + s + ".md")
			assert.True(t, ok, "%s, %s", s, zone)
			assert.Equal(t, s, day.Format(time.DateOnly), zone)
			year, week := (moment.Weeks{}).Number(noon)
			p, ok := (&Periodic{}).Parse(fmt.Sprintf("%d-W%02d", year, week), noon)
			assert.True(t, ok)
			assert.False(t, noon.Before(p.Start) || !noon.Before(p.End()), "%s, %s", s, zone)
			assert.Equal(t, time.Monday, p.Start.Weekday(), "%s, %s", s, zone)
		}
	}
}

// Months, quarters and years added to the last day of a month stay in the month.
func TestAddedAtMonthEnds(t *testing.T) {
	date := func(s string) time.Time {
		day, err := time.Parse(time.DateOnly, s)
		require.NoError(t, err)
		return day
	}
	p := &Periodic{}
	for _, test := range []struct{ now, words, want string }{
		{"2026-01-31", "in a month", "2026-02-28"}, {"2026-01-31", "in 3 months", "2026-04-30"}, {"2026-12-31", "in 2 months", "2027-02-28"},
		{"2028-01-31", "in a month", "2028-02-29"}, {"2026-03-31", "a month ago", "2026-02-28"}, {"2028-02-29", "in a year", "2029-02-28"},
		{"2026-01-31", "next month", "2026-02-01"}, {"2026-01-31", "in a week", "2026-02-07"}, {"2026-01-31", "in 1 day", "2026-02-01"},
	} {
		due, ok := p.ParseDue(test.words, date(test.now))
		assert.True(t, ok, test)
		assert.Equal(t, test.want, due.Start.Format(time.DateOnly), test)
	}
	past, _ := p.ParsePast("1y", date("2028-02-29"))
	assert.Equal(t, "2027-02-28", past.Start.Format(time.DateOnly))
	past, _ = p.ParsePast("14 months ago", date("2026-03-31"))
	assert.Equal(t, "2025-01-31", past.Start.Format(time.DateOnly))
	assert.Equal(t, "2026-02", p.Fill("{{date-1M:YYYY-MM}}", "", date("2026-03-31")))
	assert.Equal(t, "2026-02-28", p.Fill("{{date+1Q}}", "", date("2025-11-30")))
}

func TestNamesLike(t *testing.T) {
	day := time.Date(2026, 2, 16, 0, 0, 0, 0, time.Local)
	for p, want := range map[string]NameFormat{
		"2026-02-16.md":                      {Format: "YYYY-MM-DD"},
		"Daily/2026-02-16.md":                {Folder: "Daily", Format: "YYYY-MM-DD"},
		"journals/2026_02_16.md":             {Folder: "journals", Format: "YYYY_MM_DD"},
		"A/Log/2026/02/2026-02-16.md":        {Folder: "A/Log", Format: "YYYY/MM/YYYY-MM-DD"},
		"2026/02-February/x/2026-02-16.md":   {Format: "YYYY/MM-MMMM/[x]/YYYY-MM-DD"},
		"Daily/2025/2026-02-16.md":           {Folder: "Daily/2025", Format: "YYYY-MM-DD"},
		"Roam/February 16th, 2026.md":        {Folder: "Roam", Format: "MMMM Do, YYYY"},
		"Daily/2026-W08/2026-02-16.markdown": {Folder: "Daily", Format: "gggg-[W]ww/YYYY-MM-DD"},
	} {
		got := NamesLike(p, day)
		assert.Equal(t, want, got, p)
		assert.Equal(t, Stem(p)+".md", PeriodicNotes{NameFormat: got}.Path(Period{Day, day}))
	}
}

func TestFill(t *testing.T) {
	at := time.Date(2026, 2, 16, 9, 5, 0, 0, time.UTC) // a Monday
	p := &Periodic{}
	for template, want := range map[string]string{
		"# {{title}}\n{{date}} {{time}}":                  "# T $1 {{date}}\n2026-02-16 09:05",
		"{{date:dddd D MMMM}} {{ Date : YY }}":            "Monday 16 February 26",
		"{{time:HH[h]mm}}":                                "09h05",
		"[[{{yesterday}}]] [[{{tomorrow:YYYY/MM}}]]":      "[[2026-02-15]] [[2026/02]]",
		"{{date+1d:YYYY-MM-DD}} {{date-1M:YYYY-MM}}":      "2026-02-17 2026-01",
		"{{date+2y}} {{date-1Q}} {{date+1w}} {{date-1D}}": "2028-02-16 2025-11-16 2026-02-23 2026-02-15",
		"{{time+3h}} {{time-10m}} {{date-10h:DD HH}}":     "12:05 08:55 15 23",
		"{{sunday:MM-DD}} {{monday}}":                     "02-22 2026-02-16",
		"{{date+1z}} {{content}} <% tp.date.now() %>":     "{{date+1z}} {{content}} <% tp.date.now() %>",
		"{{date+99999999999999999999d}}{":                 "2299-11-30{",
	} {
		if template == "{{date+99999999999999999999d}}{" {
			assert.NotPanics(t, func() { p.Fill(template, "T", at) })
			continue
		}
		assert.Equal(t, want, p.Fill(template, "T $1 {{date}}", at), template)
	}
	p = &Periodic{DateFormat: "D.M.YY", TimeFormat: "h a"}
	assert.Equal(t, "16.2.26 9 am", p.Fill("{{date}} {{time}}", "", at))
	p.Notes = map[Unit]PeriodicNotes{Day: {NameFormat: NameFormat{Format: "YYYY-MM-DD dddd"}}}
	assert.Equal(t, "[[2026-02-15 Sunday]] [[2026-02-17 Tuesday]] 17.2.26 02", p.Fill("[[{{yesterday}}]] [[{{tomorrow}}]] {{tuesday}} {{today:MM}}", "", at), "links to daily notes")
}

// A day in the digits of another script, as Obsidian writes it in Arabic, Persian and Hindi, or in
// those of full width is the same day.
func TestParseDate_DigitsOfOtherScripts(t *testing.T) {
	for _, written := range []string{"٢٠٢٦-٠١-٣١", "۲۰۲۶-۰۱-۳۱", "२०२६-०१-३१", "２０２６-０１-３１", "２０２６年１月３１日", "٣١ يناير ٢٠٢٦", "31 जनवरी 2026"} {
		day, ok := ParseDate(written)
		assert.True(t, ok, written)
		assert.Equal(t, "2026-01-31", day.Format(time.DateOnly), written)
	}
	for _, name := range []string{"يوميات/٢٠٢٦-٠١-٣١.md", "डायरी/२०२६-०१-३१ बैठक.md"} {
		day, ok := (&DateRules{}).Named(name)
		assert.True(t, ok, name)
		assert.Equal(t, "2026-01-31", day.Format(time.DateOnly), name)
	}
	rules := DateRules{Names: []NameFormat{{Folder: "يوميات", Format: "DD-MM-YYYY"}}}
	rules.Names[0].Compile()
	_, ok := rules.Named("يوميات/٣١-٠١-٢٠٢٦.md")
	assert.True(t, ok)
}
