// Package vectors stores an embedding of every passage of the notes and finds the
// notes whose passages are semantically nearest to a query.
//
// # Vocabulary
//
//   - An [Embedder] turns text into a vector of unit length. The cosine of two
//     vectors is a measure of the semantic similarity of the texts. Its scale
//     depends on the model; see [notes.SemanticHit].
//   - A passage or chunk is a part of a note with its own vector. The vectors are
//     stored in notes.db under the hash of their text, so an unchanged paragraph is
//     not embedded again when it moves.
//   - A slot is a record of the mapped cache file, which holds the vector of a text.
//   - A space holds the vectors of one model. The serving space answers queries. A
//     change of the model builds a second space, which replaces the serving one when
//     it is complete.
//
// # Search
//
// A query gets its candidates from a ranker (package flat), which uses 56 bytes of memory per
// passage and the vectors in the mapped file: the nearest few passages with very high
// probability, and a thousand by estimates. A note is as near as its nearest passage.
//
// # Embedding
//
// [Index] follows the change feed of the vault. A passage whose text was embedded
// before is searchable at once. The notes with other passages form the backlog. It
// is not persistent: at the start it is computed as the chunks in notes.db without
// an embedding. [Index.Run] embeds the backlog: edited notes first, then the first
// passage of every other note, the newest and most linked first, then the rest. The
// number of threads follows the load of the machine and the latency of searches. Run
// embeds a batch, commits it to SQLite, and then adds it to the mapped file. Killing the
// program therefore loses at most the current batch, and a committed text is never
// embedded again.
//
// Vectors of texts that no note contains are kept, because a text that was cut is often
// pasted or restored. If there are many, they are deleted at the next start.
//
// An embedder may be a remote program (see package endpoint), which can be
// unavailable. Run then retries with increasing pauses, and [Index.Status] reports
// the cause. The dimension of a remote model is unknown until its first answer, and
// the model has no space until then.
//
// # Concurrency
//
// Index.mu guards the spaces. Searches hold it for reading; Apply and Run hold it
// for writing, for microseconds, and never while they embed. Index.writing, which is
// locked before it, orders the writes of Run and Reset. Run owns the background work and
// its threads, whose priority it lowers where the system permits that.
package vectors
