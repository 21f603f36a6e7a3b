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

// SkipInShort skips a long test with -short: it runs in one goroutine, or its commands one
// after another, so the race detector finds nothing in it that other tests do not have.
func SkipInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing is concurrent in it that other tests do not have")
	}
}
