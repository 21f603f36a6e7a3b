// Package phrase shortens, cleans, compares and quotes names and texts for messages.
package phrase

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip shortens s to at most n bytes, at a rune boundary, and ends it with "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, max(n-len("…"), 0)) + "…"
}

// Cut truncates s to at most n bytes, at a rune boundary.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// OneLine makes a path, title or heading safe to show within a line: it replaces characters that
// are [Unsafe] with spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if Unsafe(r) {
			return ' '
		}
		return r
	}, s)
}

// Unsafe reports whether r is a control character, a line separator or a character that reorders
// the text around it. Marks of direction in Arabic and Hebrew names do not: without them, the name
// would be that of no note.
func Unsafe(r rune) bool {
	return unicode.IsControl(r) || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Quote returns what OneLine makes of a path, title or heading, in quotation marks. Unlike %q, it
// does not escape the joiners in Persian names and emoji, so that the name can be copied.
func Quote(s string) string { return `"` + strings.ReplaceAll(OneLine(s), `"`, `\"`) + `"` }

// Count returns a number with its noun: "1 row", "2 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// SnakeCase converts camelCase, kebab-case and "two words" to snake_case.
func SnakeCase(s string) string {
	var b strings.Builder
	previous := rune('_')
	for _, r := range s {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if unicode.IsLower(previous) || unicode.IsDigit(previous) {
				b.WriteByte('_')
			}
		}
		previous = r
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Nearest returns the name of which s is probably a misspelling, or "": a name of which s
// is a prefix or that is a prefix of s (at least three letters), or one whose edit
// distance is at most a third of its length.
func Nearest(s string, names []string) string {
	const long = 64
	best, bestDistance := "", -1
	for _, name := range names {
		d := long
		if len(s) <= long && len(name) <= long {
			d = Distance([]byte(s), []byte(name))
		}
		affix := min(len(s), len(name)) >= 3 && (strings.HasPrefix(name, s) || strings.HasPrefix(s, name))
		if (affix || d <= max(1, len(name)/3)) && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = name, d
		}
	}
	return best
}

// Distance returns the minimum number of insertions, deletions, substitutions and
// transpositions of adjacent elements that turn a into b (optimal string alignment).
func Distance[E comparable](a, b []E) int {
	n := len(b) + 1
	rows := make([]int, 3*n)
	prev2, prev, row := rows[:n], rows[n:2*n], rows[2*n:]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
