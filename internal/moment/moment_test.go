package moment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestFormat(t *testing.T) {
	at := time.Date(2026, 2, 3, 16, 5, 9, 120e6, time.FixedZone("", 3600))
	for format, want := range map[string]string{
		"YYYY-MM-DD":             "2026-02-03",
		"YYYY/MM-MMMM/Do":        "2026/02-February/3rd",
		"gggg-[W]ww":             "2026-W06",
		"GG WW W Wo":             "26 06 6 6th",
		"dddd, MMM D YY":         "Tuesday, Feb 3 26",
		"ddd dd d do E e":        "Tue Tu 2 2nd 2 2",
		"HH:mm:ss.SSS":           "16:05:09.120",
		"h:mm A, hh a":           "4:05 PM, 04 pm",
		"H m s k kk":             "16 5 9 16 16",
		"[Q]Q Qo":                "Q1 1st",
		"DDD DDDo DDDD":          "34 34th 034",
		"M Mo Y":                 "2 2nd 2026",
		"Z ZZ":                   "+01:00 +0100",
		"X x":                    "1770131109 1770131109120",
		"LL LT":                  "February 3, 2026 4:05 PM",
		`[Today is] YYYY\Y [a]b`: "Today is 2026Y ab",
		"日YYYY年":                 "日2026年",
		"[":                      "[",
		"":                       "",
	} {
		assert.Equal(t, want, Format(at, format), format)
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 31: "31st"} {
		assert.Equal(t, want, Format(time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC), "Do"))
	}
	assert.Equal(t, "12 AM 24", Format(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "h A k"))
	assert.Equal(t, "2020-W53", Format(time.Date(2021, 1, 3, 0, 0, 0, 0, time.UTC), "gggg-[W]ww"), "the week's year")
}

func TestMatch(t *testing.T) {
	for _, test := range []struct{ format, text, want string }{
		{"YYYY-MM-DD", "2026-02-03", "2026-02-03"},
		{"YYYY-MM-DD", "2026-02-30", ""},
		{"YYYY-MM-DD", "2026-02-03 x", ""},
		{"YYYY/MM-MMMM/Do [of] MMM", "2026/02-february/3RD OF feb", "2026-02-03"},
		{"gggg-[W]ww", "2026-W06", "2026-02-02"},
		{"gggg-[W]ww", "2021-W53", ""},
		{"YY DDD", "26 34", "2026-02-03"},
		{"YYYY-[Q]Q", "2026-Q2", "2026-04-01"},
		{"YYYY", "2026", "2026-01-01"},
		{"YYYY", "0026", ""},
		{"LL", "February 3, 2026", "2026-02-03"},
		{"D. M. YYYY", "3. 2. 2026", "2026-02-03"},
		{"DD.MM.YYYY [(a]b)", "03.02.2026 (ab)", "2026-02-03"},
	} {
		day, ok := Weeks{}.Compile(test.format).Match(test.text)
		got := ""
		if ok {
			got = day.Format(time.DateOnly)
		}
		assert.Equal(t, test.want, got, "%s in %s", test.text, test.format)
	}
	_, ok := (*Pattern)(nil).Match("2026")
	assert.False(t, ok)
}

// A day formatted with a format is parsed as that day by its pattern.
func TestFormatAndMatchAgree(t *testing.T) {
	formats := []string{"YYYY-MM-DD", "YYYY/MM/Do MMMM", "DDDD YYYY", "dddd D MMM YYYY", "YY.M.D", "[Daily] YYYYMMDD", "LL", "gggg-[W]ww", "Qo YYYY", "Mo YYYY"}
	for day := time.Date(2019, 12, 20, 0, 0, 0, 0, time.Local); day.Year() < 2022; day = day.AddDate(0, 0, 1) {
		for i, format := range formats {
			want := day
			switch i {
			case 7:
				want = Weeks{}.Start(day)
			case 8:
				want = time.Date(day.Year(), time.Month(3*quarter(day)-2), 1, 0, 0, 0, 0, time.Local)
			case 9:
				want = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.Local)
			}
			text := Format(day, format)
			got, ok := Weeks{}.Compile(format).Match(text)
			assert.True(t, ok && got.Equal(want), "%s as %s is %s", text, format, got)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{"YYYY-MM-DD", "[a", `\`, "LLLL", "((", "\xff", "SSSSSSSSSS"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, format string) {
		text := Format(time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC), format)
		if day, ok := (Weeks{}).Compile(format).Match(text); ok {
			assert.True(t, day.Year() >= 1900 && day.Year() < 2250)
		}
	})
}
