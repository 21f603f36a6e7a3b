package mcp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// snakeCase turns camelCase, kebab-case and "two words" into snake_case.
func snakeCase(s string) string {
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

// nearest returns the name that s is probably a misspelling of, or "": one that
// begins with s or s with it (three letters at least), or one within a third of
// its length in edits.
func nearest(s string, names []string) string {
	best, bestDistance := "", -1
	for _, name := range names {
		d := editDistance(s, name)
		affix := min(len(s), len(name)) >= 3 && (strings.HasPrefix(name, s) || strings.HasPrefix(s, name))
		if (affix || d <= max(1, len(name)/3)) && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = name, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance in bytes, of names that are short.
func editDistance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := diagonal
			if a[i-1] != b[j-1] {
				substitute++
			}
			diagonal = row[j]
			row[j] = min(row[j]+1, row[j-1]+1, substitute)
		}
	}
	return row[len(b)]
}

// plural is how many of something there are: "1 row", "2 rows".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
