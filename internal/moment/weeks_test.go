package moment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/moment"
)

// TestWeeks compares the weeks of locales with the output of moment.js 2.30.
func TestWeeks(t *testing.T) {
	days := strings.Fields("2026-12-31 2027-01-01 2027-01-02 2027-01-03 2027-01-04 2028-01-01 2028-01-02 2021-01-03 2023-01-01 2024-12-29 2024-12-30")
	for locale, want := range map[string]string{
		"en":           "2027-01 2027-01 2027-01 2027-02 2027-02 2028-01 2028-02 2021-02 2023-01 2025-01 2025-01",
		"en monday":    "2027-01 2027-01 2027-01 2027-01 2027-02 2028-01 2028-01 2021-01 2022-53 2024-52 2025-01",
		"en-gb":        "2026-53 2026-53 2026-53 2026-53 2027-01 2027-52 2027-52 2020-53 2022-52 2024-52 2025-01",
		"en-gb sunday": "2026-53 2026-53 2026-53 2027-01 2027-01 2027-52 2028-01 2021-01 2023-01 2025-01 2025-01",
		"de":           "2026-53 2026-53 2026-53 2026-53 2027-01 2027-52 2027-52 2020-53 2022-52 2024-52 2025-01",
		"JA":           "2027-01 2027-01 2027-01 2027-02 2027-02 2028-01 2028-02 2021-02 2023-01 2025-01 2025-01",
		"ar":           "2027-01 2027-01 2027-02 2027-02 2027-02 2028-01 2028-01 2021-02 2023-01 2025-01 2025-01",
		"ar-kw":        "2027-02 2027-02 2027-02 2027-03 2027-03 2028-01 2028-02 2021-03 2023-02 2025-02 2025-02",
		"ar-kw sunday": "2027-02 2027-02 2027-02 2027-03 2027-03 2028-01 2028-02 2021-03 2023-02 2025-02 2025-02",
		"ar-kw monday": "2027-02 2027-02 2027-02 2027-02 2027-03 2028-01 2028-01 2021-02 2023-01 2025-01 2025-02",
		"fa sunday":    "2027-02 2027-02 2027-02 2027-03 2027-03 2028-01 2028-02 2021-03 2023-02 2025-02 2025-02",
		"tr sunday":    "2027-01 2027-01 2027-01 2027-02 2027-02 2028-01 2028-02 2021-02 2023-02 2025-01 2025-01",
		"en saturday":  "2026-52 2026-52 2027-01 2027-01 2027-01 2028-01 2028-01 2021-01 2022-53 2024-52 2024-52",
		"tr Monday":    "2027-01 2027-01 2027-01 2027-01 2027-02 2028-01 2028-01 2021-01 2023-01 2024-52 2025-01",
		"en-au":        "2026-53 2026-53 2026-53 2027-01 2027-01 2027-52 2028-01 2021-01 2023-01 2025-01 2025-01",
		"uk":           "2027-01 2027-01 2027-01 2027-01 2027-02 2028-01 2028-01 2021-01 2023-01 2024-52 2025-01",
		"ro":           "2027-01 2027-01 2027-01 2027-01 2027-02 2028-01 2028-01 2021-01 2023-01 2024-52 2025-01",
		"es-mx":        "2026-53 2026-53 2026-53 2027-01 2027-01 2027-52 2028-01 2021-01 2023-01 2025-01 2025-01",
		"fr-ca":        "2027-01 2027-01 2027-01 2027-02 2027-02 2028-01 2028-02 2021-02 2023-01 2025-01 2025-01",
		"gom-latn":     "2026-52 2026-52 2026-52 2027-01 2027-01 2027-52 2028-01 2021-01 2023-01 2025-01 2025-01",
		// Without a locale, which moment.js does not support.
		"":        "2026-53 2026-53 2026-53 2026-53 2027-01 2027-52 2027-52 2020-53 2022-52 2024-52 2025-01",
		" monday": "2026-53 2026-53 2026-53 2026-53 2027-01 2027-52 2027-52 2020-53 2022-52 2024-52 2025-01",
		" sunday": "2027-01 2027-01 2027-01 2027-02 2027-02 2028-01 2028-02 2021-02 2023-01 2025-01 2025-01",
	} {
		name, first, _ := strings.Cut(locale, " ")
		weeks := moment.WeeksOf(name, first)
		var got []string
		for _, s := range days {
			day, err := time.ParseInLocation(time.DateOnly, s, time.Local)
			require.NoError(t, err)
			got = append(got, weeks.Format(day, "gggg-ww"))
			year, week := day.ISOWeek()
			assert.Equal(t, fmt.Sprintf("%04d-%02d", year, week), weeks.Format(day, "GGGG-WW"), locale)
		}
		assert.Equal(t, want, strings.Join(got, " "), locale)
	}
}

// TestWeeksRoundTrip parses each week it formats, over several leap years.
func TestWeeksRoundTrip(t *testing.T) {
	for _, weeks := range []moment.Weeks{{}, moment.WeeksOf("en", ""), moment.WeeksOf("en", "monday"), moment.WeeksOf("fa", ""), moment.WeeksOf("ar-kw", ""), moment.WeeksOf("tr", "sunday"), moment.WeeksOf("gom-latn", "saturday"), moment.WeeksOf("", "Wednesday")} {
		pattern := weeks.Compile("gggg-[W]ww")
		for day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.Local); day.Year() < 2029; day = day.AddDate(0, 0, 1) {
			start, ok := pattern.Match(weeks.Format(day, "gggg-[W]ww"))
			require.True(t, ok, day)
			require.Equal(t, weeks.Start(day), start)
		}
	}
}

func ExampleWeeks_Format() {
	day := time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC) // a Sunday
	fmt.Println(moment.WeeksOf("en-us", "").Format(day, "gggg-[W]ww"), moment.Format(day, "GGGG-[W]WW"))
	// Output: 2027-W02 2026-W53
}

func ExampleWeeks_Compile() {
	day, ok := moment.Weeks{}.Compile("YYYY/MM-MMMM/Do").Match("2026/02-February/16th")
	fmt.Println(day.Format(time.DateOnly), ok)
	// Output: 2026-02-16 true
}
