// Package table stores tables of vectors for users and agents.
//
// The rows are stored in full precision in history.db. The first search of a table
// builds its searchable copy: a mapped file with one byte per number and, in memory, 64
// bytes for a row of 384 dimensions (56 of a [flat.Ranker] and 8 for the row number),
// with some reserve for growth.
//
// A search takes the highest scores from the ranker and computes those that may be
// among the nearest again from the vectors in the database. Idle copies are
// unloaded, and the total memory of all copies is bounded.
//
// Each copy has a lock, which searches share and changes hold exclusively for
// microseconds. Tables.write serializes changes. A search during which rows were replaced
// may have missed them, and is repeated with Tables.write held. [Tables.Run] unloads idle
// copies and deletes expired tables until its context ends.
package table
