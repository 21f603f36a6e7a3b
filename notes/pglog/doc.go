// Package pglog is the log of a vault that several nodes share, on PostgreSQL: its
// files as they are now, and every change in the order of its commit.
//
// A write is a [notes.Batch]: changes to files, all or none, each conditional on the hash
// that the file had when the change was computed. Its transaction locks the vault's
// row, so batches of one vault are serial, numbered without gaps, and become visible
// in the order of their numbers; there is no second lock. Contents are kept once for
// each hash, compressed.
//
// A reader keeps a [Position] and asks for the entries after it. A position that the
// log does not have (another database, or one that was restored from an older
// backup) is [ErrForeign]; [Log.Snapshot] has all files then.
//
// The log connects when it is first used and works again when the database is back.
// It is safe for concurrent use.
package pglog
