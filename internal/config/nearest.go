package config

import (
	"strings"

	"notesd/internal/phrase"
)

// suggest returns a hint with the known key that is nearest to an unknown one,
// or "" if none is near.
func suggest(unknown string) string {
	best, bestDistance := "", 1+len(unknown)/3 // a third of the letters may be wrong
	name := unknown[strings.LastIndexByte(unknown, '.')+1:]
	for _, s := range settings {
		distance := phrase.Distance(unknown, s.key)
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
