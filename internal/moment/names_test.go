package moment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"notesd/internal/moment"
)

// TestNames: months and days have the names of moment.js in the user's language, and a
// format with them is read again.
func TestNames(t *testing.T) {
	day := time.Date(2024, 3, 4, 0, 0, 0, 0, time.Local)
	for _, c := range []struct{ locale, format, want string }{
		{"", "dddd, Do MMMM YYYY", "Monday, 4th March 2024"},
		{"am", "dddd D MMM YYYY", "Monday 4 Mar 2024"},
		{"de", "dddd, D. MMMM YYYY", "Montag, 4. März 2024"},
		{"de-ch", "D. MMMM YYYY", "4. März 2024"},
		{"de-ch", "YYYY-MM-DD ddd", "2024-03-04 Mo"},
		{"zh-hk", "YYYY-MM-DD dddd", "2024-03-04 星期一"},
		{"zh-mo", "YYYY-MM-DD ddd", "2024-03-04 週一"},
		{"es-mx", "DD-MMM-YYYY", "04-mar-2024"},
		{"pt-br", "dddd, D MMMM YYYY", "segunda-feira, 4 março 2024"},
		{"en-gb", "D MMMM YYYY", "4 March 2024"},
		{"de", "dd DD.MM.YYYY", "Mo 04.03.2024"},
		{"de", "YYYY-MM-DD ddd", "2024-03-04 Mo."},
		{"fr", "YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2024/03-mars/2024-03-04-lundi"},
		{"fr", "dddd Do MMMM YYYY", "lundi 4 mars 2024"},
		{"es", "Do [de] MMMM [de] YYYY", "4º de marzo de 2024"},
		{"ru", "D MMMM YYYY", "4 марта 2024"},
		{"ru", "YYYY MMMM DD", "2024 март 04"},
		{"cs", "D. MMMM YYYY", "4. března 2024"},
		{"cs", "YYYY MMMM DD.", "2024 březen 04."},
		{"es", "DD-MMM-YYYY", "04-mar-2024"},
		{"es", "DD MMM YYYY", "04 mar. 2024"},
		{"nl", "DD-MMM-YYYY", "04-mrt-2024"},
		{"nl", "YYYY/MMM-DD", "2024/mrt.-04"},
		{"tr", "D MMMM YYYY", "4 Mart 2024"},
		{"ja", "YYYY年MM月DD日(ddd)", "2024年03月04日(月)"},
		{"ko", "YYYY-MM-DD dddd", "2024-03-04 월요일"},
		{"zh-cn", "YYYY-MM-DD dddd", "2024-03-04 星期一"},
		{"zh-cn", "YYYY[年]MMMDo", "2024年3月4日"},
		{"vi", "D MMMM YYYY dddd", "4 tháng 3 2024 thứ hai"},
	} {
		w := moment.Weeks{Locale: c.locale}
		assert.Equal(t, c.want, w.Format(day, c.format))
		got, ok := w.Compile(c.format).Match(c.want)
		assert.True(t, ok, c.want)
		assert.Equal(t, day, got, c.want)
	}
	first := time.Date(2024, 5, 1, 0, 0, 0, 0, time.Local)
	assert.Equal(t, "1er mai 2024", moment.Weeks{Locale: "fr"}.Format(first, "Do MMMM YYYY"))
	assert.Equal(t, "1. Jänner 2024", moment.Weeks{Locale: "de-at"}.Format(first.AddDate(0, -4, 0), "D. MMMM YYYY"))
}

// The name of a month is that of no other month in another locale.
func TestMonthNamed(t *testing.T) {
	for _, locale := range []string{"", "de", "de-at", "fr", "es", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "sk", "hu", "ro", "bg", "ru", "uk", "el", "tr", "ca", "id", "vi", "th", "he", "ja", "ko", "zh-cn", "zh-tw", "ar", "hi"} {
		for month := time.January; month <= time.December; month++ {
			for _, format := range []string{"D MMMM", "MMMM", "MMM"} {
				name := moment.Weeks{Locale: locale}.Format(time.Date(2026, month, 3, 0, 0, 0, 0, time.Local), format)
				name = strings.TrimPrefix(name, "3 ")
				assert.Equal(t, month, moment.MonthNamed(name), "%s in %q", name, locale)
			}
		}
	}
	assert.Zero(t, moment.MonthNamed("Apollo"))
}

func TestLocaleOf(t *testing.T) {
	few := func(texts ...string) func() []string { return func() []string { return texts } }
	assert.Equal(t, "de", moment.LocaleOf("D. MMMM YYYY", few("1. April 2024", "2. März 2024", "5. August 2024")))
	assert.Equal(t, "de-at", moment.LocaleOf("D. MMMM YYYY", few("1. Jänner 2024", "2. März 2024")))
	assert.Equal(t, "de-ch", moment.LocaleOf("YYYY-MM-DD ddd", few("2024-03-04 Mo")))
	assert.Empty(t, moment.LocaleOf("D. MMMM YYYY", few("1. April 2024", "5. August 2024")), "English if it may be")
	assert.Empty(t, moment.LocaleOf("D. MMMM YYYY", few("Index", "4. Pluviôse 2024")))
	assert.Empty(t, moment.LocaleOf("YYYY-MM-DD", nil), "the same in all")
	assert.Equal(t, "cs", moment.LocaleOf("D. MMMM YYYY", few("5. ledna 2026", "4. března 2024")))
	assert.Equal(t, "zh-cn", moment.LocaleOf("YYYY-MM-DD dddd", few("2024-03-04 星期一")))
	assert.Equal(t, "pt-br", moment.LocaleOf("YYYY dddd D MMMM", few("2024 segunda-feira 4 março")))
}
