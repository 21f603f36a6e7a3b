// Package index ranks notes by the terms they contain.
//
// An [Index] is a notes.Follower over a Bleve index with one document for each
// note. Bleve keeps postings in segments, and saves and merges those. Its
// analysis, scoring, stored fields and positions are not used: builder.go extracts
// and counts the terms, segmentwriter.go writes the counts as a segment, and
// score.go reads and scores the postings (BM25F).
//
// # Segments
//
// The format of a segment is zap, version 17, as zap.md of
// github.com/blevesearch/zapx describes it; this package writes the parts
// needed for postings and leaves reading, merging and saving to zapx. This takes
// about 300 lines and halves the CPU time and memory of a first index: 8 to 9 s and
// 230 to 290 MB for 10 000 notes (66 MB), instead of 16 to 20 s and 550 MB if zapx
// builds the segments from the same counts. The drawback is a dependence on one
// version: a test fails if the module's version of zapx is not the one the code was
// written for, and compares every segment with the one that zapx builds from the
// same terms.
//
// # Flushing
//
// Apply counts terms at once. The counts are flushed to a segment of the index by
// the next search, when there are many of them, or after a short delay
// (pending.go). Many small changes, such as a checkout of a thousand files,
// therefore become one segment, and a search sees everything applied before it.
// Only during a first index does a search use just the segments that exist.
//
// The position in the feed is written with or after the notes that it covers,
// and both are saved soon after. A crash loses the latest notes together with
// their position, and the vault feeds them again. An unreadable index is
// rebuilt, which takes seconds.
//
// # Concurrency
//
// All methods except those of notes.Follower are safe for concurrent use. Bleve's
// goroutines belong to the Index and end in Close.
package index
