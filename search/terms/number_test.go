package terms_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/search/terms"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string][]string{
		"total 2.190,00 €, due":              {"2190"},
		"total 2,190.00 EUR":                 {"2190"},
		"total 2190,00":                      {"2190"},
		"total 2190,50":                      {"2190.50"},
		"23.740,50 € and 23,740.50":          {"23740.50", "23740.50"},
		"CHF 1'234'567.--":                   {"1234567"},
		"1 250 000,50 or 12 500":             {"1250000.50", "12500"},
		"IBAN DE89 3704 0044 0532 0130 00.":  {"de89370400440532013000"},
		"tel. 089 / 4477 1290. Last":         {"08944771290", "44771290"},
		"Phone +49 170 555 0199. Vegetarian": {"491705550199"},
		"or +49 (0)170 555-0199":             {"491705550199", "01705550199"},
		"call (555) 123-4567":                {"5551234567"},
		"call +1 (555) 123-4567":             {"15551234567", "5551234567"},
		"Dr. Feldmann, 089 8882 410. Crown on 26 in 2022, 780 € own share. Night guard worn out": {"0898882410"},
		"Dr. Feldmann, 089 8882 410. Crown":                          {"0898882410"},
		"978-0-374-27563-1 2024, 2026-11-29 10, 01715550142 12":      nil,
		"at 192.168.178.1, on 2026-11-29, 29.11.2026, 12,5 kg, 3.14": nil,
		"2,190\n3,200|5,190|6,200| 8,100–8,900":                      {"2190", "3200", "5190", "6200", "8100", "8900"},
		"row 123,456,789,123,456,789,123,456,789,123,456,789":        nil,
		"at 192.168.178.100, 0.125 mm":                               nil,
		"11 22 33 44 55 66 77 88 99 11 22 33 44 55 66 77 88 99":      nil,
		"in 2024 we, 1 2 3, version 1.2.345":                         nil,
	} {
		var got []string
		for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
			if n, ok := terms.Number(text, s); ok {
				got = append(got, n.Text)
			}
		}
		assert.Equal(t, want, got, text)
	}
}
