// Package index ranks notes by the terms they have.
//
// An [Index] is a notes.Follower over a Bleve index with one document for each
// note. Bleve keeps postings in segments, and saves and merges those. Its
// analysis, scoring, stored fields and positions are not used: builder.go makes
// the terms and counts them, segmentwriter.go writes the counts as a segment,
// and score.go reads the postings and scores them (BM25F).
//
// # Segments
//
// The format of a segment is zap, version 17, as zap.md of
// github.com/blevesearch/zapx describes it; this package writes the parts that
// postings need and leaves reading, merging and saving to zapx. That costs about
// 300 lines and saves half of the CPU time and of the memory of a first index: 8 to
// 9 s and 230 to 290 MB for 10 000 notes of 66 MB, instead of 16 to 20 s and 550 MB
// when zapx makes the segments of the same counts. The price is a dependence on one
// version: a test fails when the module's version of zapx is another one than the
// code was written for, and compares every segment with the one that zapx itself
// makes of the same terms.
//
// # Flushing
//
// Apply counts terms at once. A segment is made of them and becomes part of the
// index when a search asks for it, when much has been counted, or a moment later
// (pending.go). Many small changes, such as a checkout of a thousand files, are
// then one segment, and no search misses what was applied before it. Only during
// a first index does a search see the segments that are there.
//
// The position in the feed is written with or after the notes that it covers,
// and both are saved soon after. A crash loses the latest notes together with
// their position, and the vault feeds them again. An unreadable index is set
// aside and built again, which takes seconds.
//
// # Concurrency
//
// All methods but those of notes.Follower may be called from any goroutine at
// any time. Bleve's goroutines belong to the Index and end in Close.
package index
