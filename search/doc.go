// Package search finds notes by their content.
//
// # Vocabulary
//
// Package search/terms turns text into terms, and package search/index ranks
// notes by them. The same code computes the terms of notes, queries and shown
// passages, so that they match consistently.
//
// A query is any text. parseQuery parses it into clauses (words, phrases,
// filters), which become a request: a plan in terms of the index, and a
// notes.Filter (query.go). Only a query with more than a hundred conditions is an
// error; text that is not a well-formed filter is searched as words.
//
// A search has four steps (engine.go). The store resolves the filter to a set of
// note ids. The index ranks the notes in that set that contain any of the plan's
// terms, by BM25F over the fields. If the vault has vectors, their nearest
// neighbours are searched concurrently, and both rankings are fused by score
// (fuse.go). The texts of the best notes are read, and notes in which the query's
// words are close together, or in the form and order of the query, are ranked higher
// (rescore.go). A note without a word of the query or a near passage is not a hit
// (weak.go). A hit is a note with its best passage, a chunk, and a snippet of it
// (passage.go).
//
// # Concurrency
//
// Engine.Search is safe for concurrent use, including while the index is being
// built. A search reads one snapshot of the index. The goroutine that queries the
// vectors belongs to its search and ends with it or at its time limit.
package search
