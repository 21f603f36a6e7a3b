// Package search finds notes by what they say.
//
// # Vocabulary
//
// A term is what the index knows of a text: a word folded and stemmed, a part
// of a compound, an n-gram of a script without spaces (term.go, fold.go). A
// span is the stretch of text that terms are made of. The same code makes the
// terms of notes, of queries and of the passages that are shown, so that what
// matches in one place matches in all.
//
// A query is any text. parseQuery reads it as a list of clauses (words,
// phrases, filters; query.go), which become a request: a plan, in terms of the
// index, and a notes.Filter (request.go). No text is an error but one of more
// than a hundred conditions; what is not a well-formed filter is words.
//
// A note is found in four steps. The filter is resolved to a set of note ids,
// once, by the store. The index ranks the notes of the set that have any of
// the plan's terms, by BM25F over the fields (score.go). If the vault has
// vectors, the notes nearest in meaning were looked for at the same time, and
// both orders are fused by their scores (fuse.go). The texts of the best are
// read, and words that stand together, or as they were asked for, move a note
// up (rescore.go). What has no word of the query and no near passage is no hit
// (weak.go). A hit is a note with its best passage, a chunk, and a snippet of
// it (passage.go, snippet.go).
//
// # The index
//
// Index is a notes.Follower over a Bleve index of one document a note. Bleve
// keeps postings in segments, and saves and merges those; it stores no text and
// no positions, and its analysis and scoring are not used: builder.go makes the
// terms and counts them, segmentwriter.go writes what was counted as a segment
// of Bleve's format, score.go reads the postings.
//
// What is applied is counted at once, and settled, that is made a segment and
// part of the index, when a search asks, when it is much, or a moment later
// (settle.go): many small changes are then one segment, as a checkout of a
// thousand files is, and no search misses what was applied before it. Only
// while a build is at work (a first index) does a search see what there is.
//
// The position in the feed is written with or after the notes that it covers,
// and all of it is saved soon after, so a crash loses the latest notes together
// with their position, and the vault feeds them again. An index that cannot be
// read is set aside and built anew, which costs seconds.
//
// # Concurrency
//
// Engine.Search, and Index's methods but for those of notes.Follower, may be
// called from any goroutine at any time, also while the index is built. A
// search reads one snapshot of the index from beginning to end. Bleve's
// goroutines belong to the Index and end in Close; the one that asks for
// meaning belongs to its search and ends with it or its time limit.
package search
