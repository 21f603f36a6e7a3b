// Package notestest provides fixtures for tests and benchmarks: vaults written
// from a map, and generated vaults of any size. Only tests import it.
//
// A generated vault resembles a real one in the properties that matter to a search
// engine: word frequencies follow Zipf's law, lengths are log-normal, some notes have
// front matter, tags, tasks and code, and links prefer notes that already have links. It
// is determined by its [Spec], so that benchmarks of different runs and machines use the
// same notes.
package notestest
