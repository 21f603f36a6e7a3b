package notestest

import "testing"

// Rounds returns how many of n rounds a randomized test runs: all, or a fifth of them
// with -short, which .ci/run passes to the slow run with the race detector.
func Rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}
