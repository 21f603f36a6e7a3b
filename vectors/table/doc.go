// Package table stores tables of vectors for users and agents.
//
// The rows are stored in full precision in history.db. The first search of a table
// builds its searchable copy: a mapped file with one byte per number (package flat)
// and, in memory, 72 bytes for a row of 384 dimensions. These are the signs of the
// difference of the row from the mean of all rows (48 bytes), three float32 that
// turn signs into estimates of the score (12), and the row number (8), with some
// reserve for growth.
//
// A search reduces the rows in four steps, each of which reads more data of fewer
// rows: estimates from the signs of row and query, estimates from the signs of the
// row and the numbers of the query, scores from the bytes, and scores from the
// vectors in the database. The expected error of an estimate determines how many
// rows pass a step, so unstructured data costs time and not recall. Idle copies are
// unloaded, and the total memory of all copies is bounded.
//
// Each copy has a lock, which searches share and changes hold exclusively for
// microseconds. Tables.write serializes changes. [Tables.Run] unloads idle copies
// and deletes expired tables until its context ends.
package table
