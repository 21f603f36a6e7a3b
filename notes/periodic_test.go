package notes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPeriodicParse(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 9*3600)) // a Sunday, and Saturday in UTC
	for s, want := range map[string]string{
		"today": "day 2026-03-01", "Yesterday": "day 2026-02-28", " tomorrow ": "day 2026-03-02",
		"heute": "day 2026-03-01", "Gestern": "day 2026-02-28", "morgen": "",
		"this week": "week 2026-02-23", "last  week": "week 2026-02-16", "Next Week": "week 2026-03-02",
		"this month": "month 2026-03-01", "last month": "month 2026-02-01",
		"next quarter": "quarter 2026-04-01", "this quarter": "quarter 2026-01-01", "last year": "year 2025-01-01",
		"2026-02-16": "day 2026-02-16", "2026-W07": "week 2026-02-09", "2026w07": "week 2026-02-09", "2026-02": "month 2026-02-01",
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

func TestNamesLike(t *testing.T) {
	day := time.Date(2026, 2, 16, 0, 0, 0, 0, time.Local)
	for p, want := range map[string]NameFormat{
		"2026-02-16.md":                      {Format: "YYYY-MM-DD"},
		"Daily/2026-02-16.md":                {Folder: "Daily", Format: "YYYY-MM-DD"},
		"journals/2026_02_16.md":             {Folder: "journals", Format: "YYYY_MM_DD"},
		"A/Log/2026/02/2026-02-16.md":        {Folder: "A/Log", Format: "YYYY/MM/YYYY-MM-DD"},
		"2026/02-February/x/2026-02-16.md":   {Format: "YYYY/MM-MMMM/[x]/YYYY-MM-DD"},
		"Daily/2025/2026-02-16.md":           {Folder: "Daily/2025", Format: "YYYY-MM-DD"},
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
		"# {{title}}\n{{date}} {{time}}":              "# T $1 {{date}}\n2026-02-16 09:05",
		"{{date:dddd D MMMM}} {{ Date : YY }}":        "Monday 16 February 26",
		"{{time:HH[h]mm}}":                            "09h05",
		"[[{{yesterday}}]] [[{{tomorrow:YYYY/MM}}]]":  "[[2026-02-15]] [[2026/02]]",
		"{{date+1d:YYYY-MM-DD}} {{date-1M:YYYY-MM}}":  "2026-02-17 2026-01",
		"{{sunday:MM-DD}} {{monday}}":                 "02-22 2026-02-16",
		"{{date+1z}} {{content}} <% tp.date.now() %>": "{{date+1z}} {{content}} <% tp.date.now() %>",
		"{{date+99999999999999999999d}}{":             "2299-11-30{",
	} {
		if template == "{{date+99999999999999999999d}}{" {
			assert.NotPanics(t, func() { p.Fill(template, "T", at) })
			continue
		}
		assert.Equal(t, want, p.Fill(template, "T $1 {{date}}", at), template)
	}
	p = &Periodic{DateFormat: "D.M.YY", TimeFormat: "h a"}
	assert.Equal(t, "16.2.26 9 am", p.Fill("{{date}} {{time}}", "", at))
}
