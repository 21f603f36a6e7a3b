package store

import (
	"notesd/internal/textdiff"
)

// ShortDiff returns a unified diff of two texts, truncated to diffMaxBytes.
func ShortDiff(old, new []byte, name string) string {
	return textdiff.Unified(old, new, name, diffContext, diffMaxBytes)
}

// Diffs in results are shortened for reading; history has the whole change.
const (
	diffContext  = 2
	diffMaxBytes = 4000
)
