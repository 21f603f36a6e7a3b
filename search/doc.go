// Package search finds notes by what they say.
//
// # Vocabulary
//
// Package search/terms turns text into terms, and package search/index ranks
// notes by them. The same code makes the terms of notes, of queries and of the
// passages that are shown, so that what matches in one place matches in all.
//
// A query is any text. parseQuery reads it as a list of clauses (words,
// phrases, filters), which become a request: a plan, in terms of the index, and
// a notes.Filter (query.go). No text is an error but one of more than a hundred
// conditions; what is not a well-formed filter is words.
//
// A note is found in four steps (engine.go). The filter is resolved to a set of note ids,
// once, by the store. The index ranks the notes of the set that have any of
// the plan's terms, by BM25F over the fields. If the vault has
// vectors, their nearest neighbours are searched at the same time, and
// both orders are fused by their scores (fuse.go). The texts of the best are
// read, and words that stand together, or as they were asked for, move a note
// up (rescore.go). What has no word of the query and no near passage is no hit
// (weak.go). A hit is a note with its best passage, a chunk, and a snippet of
// it (passage.go).
//
// # Concurrency
//
// Engine.Search may be called from any goroutine at any time, also while the
// index is built. A search reads one snapshot of the index from beginning to
// end. The goroutine that asks the vectors belongs to its search and ends with
// it or at its time limit.
package search
