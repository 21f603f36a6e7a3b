// Package vectors keeps an embedding of every passage of the notes and finds
// the notes whose passages are nearest to a query.
//
// # Vocabulary
//
// An [Embedder] turns text into a vector of unit length. Every chunk of every
// note has one, kept in notes.db under the hash of the text that was embedded,
// so that an unchanged paragraph is never embedded twice, wherever it goes.
// The cosine of two vectors says how near two texts are in meaning; each model
// has its own idea of what is near, which scale.go makes comparable.
//
// # How the nearest are found
//
// The signs of each vector, one bit a dimension, lie in memory one row after
// another. A query compares its own signs with all of them, keeps the best
// thousand rows, and scores those with the vectors of one byte a dimension in
// the mapped file (package flat). For embeddings that is exact in effect: the
// benchmark measures the recall.
//
// # How vectors come to be
//
// [Index] follows the vault's change feed. A passage whose text has been
// embedded before is searchable at once. The others form the backlog, which is
// a query and no queue: the chunks in notes.db without an embedding.
// [Index.Run] embeds them, newest notes first, batch by batch: a batch is embedded, committed to
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
// # Concurrency
//
// Index.mu guards the spaces: readers search, Apply and Run write, each for
// microseconds; embedding happens outside it. Run owns the background work and
// the threads that it embeds on, whose priority is lowered where the system
// can.
package vectors
