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

// SkipInShort skips a long test with -short, because it runs in one goroutine: the race
// detector finds nothing in it that shorter tests do not have.
func SkipInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and nothing is concurrent in it")
	}
}
