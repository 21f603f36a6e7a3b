package config

import "strings"

// suggest returns a hint with the known key that is nearest to an unknown one,
// or "" if none is near.
func suggest(unknown string) string {
	best, bestDistance := "", 1+len(unknown)/3 // a third of the letters may be wrong
	name := unknown[strings.LastIndexByte(unknown, '.')+1:]
	for _, s := range settings {
		distance := editDistance(unknown, s.key)
		if s.key[strings.LastIndexByte(s.key, '.')+1:] == name {
			distance = min(distance, 1) // the right name in the wrong section
		}
		if distance <= bestDistance && (best == "" || distance < bestDistance) {
			best, bestDistance = s.key, distance
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// editDistance returns the least number of insertions, deletions, substitutions
// and transpositions of adjacent bytes that turn a into b (optimal string
// alignment).
func editDistance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
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
