// Package pglog is the log of a vault that several nodes share, on PostgreSQL: its
// current files, and every change in the order of its commit.
//
// A write is a [notes.Batch]: changes to files, all or none, each conditional on the hash
// that the file had when the change was computed. Its transaction locks the vault's row,
// so batches of one vault are serialised, numbered without gaps, and become visible in
// the order of their numbers; there is no other lock. Contents are stored once per hash,
// compressed.
//
// A reader keeps a [Position] and requests the entries after it. If the log does not have
// the position, because it is another database or was restored from an older backup, the
// error is [ErrForeign]; the reader then gets all files from [Log.Snapshot].
//
// The log connects on first use and reconnects when the database is available again. It
// is safe for concurrent use.
package pglog
