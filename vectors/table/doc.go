// Package table keeps tables of vectors for users and agents.
//
// The rows are kept whole in history.db. A table's searchable copy is made at
// its first search: a mapped file of one byte a number (package flat), and in
// memory, for each row, the signs of its difference from the mean of all rows,
// twelve bytes that turn signs into an estimate of the score, and eight for its
// number: 72 bytes for a row of 384 dimensions.
//
// A search narrows the rows in four steps, each of which reads more of fewer
// rows: estimates from the signs of both sides, estimates from the signs of the
// rows and the query's numbers, scores from bytes, and scores from the vectors
// themselves. The number of rows that a step keeps follows from the expected
// error of its estimates, so that data without structure costs time and not
// recall. Copies that are idle leave memory, and all copies together stay under
// a bound.
//
// Each searchable copy has a lock: searches share it, and changes hold it
// alone for microseconds. Tables.write orders the changes. [Tables.Run] removes
// idle copies and expired tables until its context ends.
package table
