// Package flat stores vectors with one byte per dimension in a mapped file, and finds
// those with the highest scores for a query.
//
// A [File] consists of a header and records of equal size. A record holds 16 bytes for
// the caller, the scale of the vector, a checksum, and one int8 for each dimension (see
// [PutVector] and [VectorOf]). The file is a cache: SQLite has every vector in higher
// precision, so callers discard a file with a different header, or a record with a wrong
// checksum, and write it again.
//
// A [Ranker] estimates the scores of all rows from their signs and the numbers of the
// query, and computes exact scores of those with the highest estimates. The expected
// error of an estimate determines how many rows are scored, so unstructured data costs
// time rather than recall.
//
// The package does no locking. Records may be read concurrently; all other methods of a
// File need exclusive access.
package flat
