// Package vectors finds notes by meaning, and keeps tables of vectors for
// users and agents.
//
// # Vocabulary
//
// An [Embedder] turns text into a vector of unit length. Every chunk of every
// note has one, kept in notes.db under the hash of the text that was embedded,
// so that an unchanged paragraph is never embedded twice, wherever it goes.
// The cosine of two vectors says how near two texts are in meaning.
//
// # How the nearest are found
//
// The signs of each vector, one bit a dimension, lie in memory one row after
// another. A query compares its own signs with all of them (a XOR and a
// population count for 64 dimensions), keeps the best thousand rows, and
// scores those with vectors of one byte a dimension, which lie in a mapped
// file. For embeddings that is exact in effect: the benchmark measures the
// recall.
//
// # How vectors come to be
//
// [Index] follows the vault. What it is told of a note whose texts it knows is
// searchable at once; the rest waits in the backlog, which is not a queue but
// a fact: the chunks that notes.db has and no embedding for. [Index.Run] works
// it off, newest notes first, batch by batch: a batch is embedded, committed to
// SQLite, and then added to the mapped file, so killing the program costs at
// most the batch in hand, and a text whose vector was committed is never
// embedded again. A change of model builds a second space beside the one that
// answers, and takes its place when it is complete.
//
// Vectors of texts that no note has any more are kept for a while, and deleted,
// the longest unused first, when they are many.
//
// An embedder may be a program elsewhere (package endpoint has one), which can
// be away: then Run tries again, slower and slower, [Index.Status] says what is
// waited for, and a model of which nothing is known yet is a space only once
// its dimension is.
//
// # Tables
//
// [Tables] are vectors of users' and agents' own. The rows are kept in
// history.db, whole. A table's searchable copy, made at its first search, is a
// mapped file of one byte a number, and in memory, for each row, the signs of
// its difference from the mean of all, twelve bytes that turn signs into an
// estimate of the score, and eight for its number: 72 bytes a row of 384
// dimensions. A search narrows down in four steps, each reading more of fewer
// rows: estimates from signs of both sides, estimates from signs of the rows
// and the query's numbers, scores from bytes, scores from the vectors
// themselves. How many rows a step leaves follows from how much its estimates
// err, so that hard data costs time and not recall. Copies that nobody asks
// leave memory, and all together stay under a bound.
//
// # Concurrency
//
// Index.mu guards the spaces: readers search, Apply and Run write, each for
// microseconds; embedding happens outside it. Run owns the background work and
// the threads that it embeds on, whose priority is lowered where the system
// can. Each searchable copy of a table has a lock of its own, of the same
// kind; Tables.write puts changes in one order, and Tables.Run only tidies up.
package vectors
