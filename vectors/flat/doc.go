// Package flat stores vectors with one byte per dimension in a mapped file, and
// selects candidates for a query by the signs of the vectors.
//
// A [File] consists of a header and records of equal size. A record holds 16 bytes
// for the caller, the scale of the vector, a checksum, and one int8 for each
// dimension (see [PutVector] and [VectorOf]). The file is a cache: SQLite has every
// vector in higher precision, so the callers discard a file with another header
// and a record with a wrong checksum, and write them again.
//
// [Scan] compares the signs of a query, one bit per dimension, with the signs of
// every row, which takes one XOR and one population count for 64 dimensions. It
// returns the rows with the least Hamming distance, which the caller then scores
// with [Query.Dot].
//
// The package does not lock. Records may be read concurrently; every other method
// of a File needs exclusive access.
package flat
