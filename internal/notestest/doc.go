// Package notestest has fixtures for tests and benchmarks: vaults written from a
// map, and generated ones of any size. Only tests import it.
//
// A generated vault is like a real one where that matters to a search engine:
// words follow Zipf's law, so a few are in nearly every note and most in hardly
// any; notes differ much in length; some have front matter, tags, tasks and code;
// links prefer notes that are linked already. It depends on nothing but its
// [Spec], so two runs, or two machines, measure the same notes.
package notestest
