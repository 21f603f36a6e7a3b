package terms

import (
	"regexp"
	"strings"
)

// amount matches an amount of a thousand or more, with the digits before and after the decimal sign.
// Other digits must not follow, as in 192.168.178.1.
var amount = regexp.MustCompile(`^([1-9]\d{0,2}(?:(?:,\d{3}){1,4}|(?:\.\d{3}){1,2}|(?:['’ \x{A0}\x{202F}]\d{3}){1,4})|[1-9]\d{3,})(?:[.,](\d\d))?(?:\D?$|[^\d.,'’ \x{A0}\x{202F}-]|\D\D)`)

// groups matches groups of digits that may be one number, such as that of a telephone or of an
// account, which begins with a country.
var groups = regexp.MustCompile(`^(?:[A-Za-z]{2})?\d+(?:(?:-|\) ?| ?/ ?|[ \x{A0}\x{202F}]\(?)\d+)+`)

// The least and the greatest length of such a number.
const (
	leastNumber = 7
	mostNumber  = 34
)

// Number returns the number that begins with a span and is written in groups, as one term: 1250 for
// 1,250.00, 01715550142 for 0171 / 555 0142.
func Number(text string, s Span) (t Term, ok bool) {
	if s.Classes&classDigit == 0 || s.Classes&ClassConnector == 0 && !strings.ContainsAny(text[s.End:min(s.End+4, len(text))], "0123456789") {
		return t, false // fast: most numbers have no groups
	}
	before := text[max(0, s.Start-2):s.Start]
	later := len(before) == 2 && isDigit(before[0])
	if later && s.End-s.Start == 3 && strings.ContainsAny(before[1:], " ,.'") {
		return t, false // the thousands of an amount
	}
	rest := ClipTo(text[s.Start:], 2*mostNumber)
	if m := amount.FindStringSubmatchIndex(rest); m != nil {
		whole, end := onlyWord(rest[:m[3]]), m[3]
		if m[4] >= 0 {
			end = m[5]
			if cents := rest[m[4]:end]; cents != "00" {
				whole += "." + cents
			}
		}
		if whole != rest[:end] {
			return Term{Text: whole, Start: s.Start, End: s.Start + end}, true
		}
	}
	if later || s.End-s.Start >= leastNumber { // or a number by itself, such as a date
		return t, false
	}
	written := groups.FindString(rest)
	number := strings.ToLower(onlyWord(strings.Replace(written, "(0)", "", 1)))
	return Term{Text: number, Start: s.Start, End: s.Start + len(written)},
		len(number) >= leastNumber && len(number) <= mostNumber
}

// onlyWord returns a word without its connectors and spaces.
func onlyWord(word string) string {
	return strings.Map(func(r rune) rune {
		if ClassOf(r)&ClassWord == 0 {
			return -1
		}
		return r
	}, word)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
