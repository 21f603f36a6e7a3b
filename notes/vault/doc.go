// Package vault keeps the store equal to a folder of notes and makes every
// change to that folder.
//
// # How a change travels
//
// A save in an editor and a tool's call end in the same place:
//
//	watcher, timer → Vault.Run → reconcile ┐
//	tools → Vault.Create, Edit, Move, …    ┴→ commit (notes.db, with a row in the feed)
//	                                          → followers, in order → published
//
// Reconcile makes the store equal to the disk, for some paths or for all. A
// write first enters the journal, then changes files durably, and then
// reconciles exactly those files, so that the next start finishes what a crash
// interrupted. The watcher's event for a write of notesd's own finds an equal
// hash and stops.
//
// The files read in this order: run.go (the loop), reconcile.go (one scan and what
// follows from it), scan.go (what differs), batch.go (what is committed), feeder.go (the
// followers). For writes: create.go, edit.go, move.go and restore.go (what is asked),
// operation.go (the one path of all of them, and how a file changes its content or its
// name), recover.go (what follows a crash).
//
// # Unmounted disks
//
// An unreadable folder never implies that its notes were deleted. A vault that
// is unmounted, replaced, unreadable or suddenly empty is an incident:
// operations fail with [notes.ErrUnavailable], and the store keeps everything
// until most notes are back. The same holds, for its own notes only, of a disk
// that is mounted inside the vault and of a folder that cannot be listed.
//
// # Concurrency
//
// Vault.mu is held while files or the store change: one writer at a time, for
// one operation or one batch. The feeder's lock is held while followers apply
// changes; it is taken after mu or alone, never before it. Reads take neither.
// Nothing waits for a client under a lock.
package vault
