// Package flat keeps vectors of one byte a dimension in a mapped file and finds
// those that may be near a query by their signs.
//
// A [File] is a header and then records of equal size. A record holds 16 bytes
// that are its user's, the vector's scale, a checksum, and one int8 for each
// dimension (see [PutVector] and [VectorOf]). The file is a cache: every vector
// is in SQLite in more precision, so a file of another model, or a record with
// a wrong checksum, is discarded and written again.
//
// [Scan] compares the signs of a query, one bit a dimension, with the signs of
// every row (a XOR and a population count for 64 dimensions), and returns the
// rows that differ least. Callers then score these with [Query.Dot].
//
// The caller locks: records may be read concurrently, and everything else
// needs exclusive access.
package flat
