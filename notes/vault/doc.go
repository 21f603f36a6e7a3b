// Package vault keeps the store consistent with a folder of notes and makes every
// change to that folder.
//
// # Data flow
//
// A save in an editor and a tool call end in the same commit:
//
//	watcher, timer → Vault.Run → reconcile ┐
//	tools → Vault.Create, Edit, Move, …    ┴→ commit (notes.db, with a row in the feed)
//	                                          → followers, in order → published
//
// Reconcile updates the store to match the disk, for some paths or for all. A
// write is first added to the journal, then changes files durably, and then
// reconciles exactly those files, so that the next start can complete it after a
// crash. The watcher's event for notesd's own write finds an equal hash and is
// ignored.
//
// Read the files in this order: run.go (the loop), reconcile.go (which paths), scan.go
// (finding differences from the store) with walk.go (listing the folder), incident.go and
// mounts.go (which of them show that the folder or a disk in it is gone), batch.go (committing
// them), feeder.go (the followers).
//
// For writes: create.go, edit.go (also renamed tags), move.go (also deletion) and restore.go
// (the requests), relink.go and headings.go (the links that follow a move or a renamed
// heading), guard.go (what may be written), operation.go (the common path), place.go (how a
// file's content or name changes), displaced.go (the files that it replaced), recover.go
// (recovery after a crash), problem.go (errors for the caller).
//
// # Unmounted disks
//
// An unreadable folder never implies that its notes were deleted. A vault that
// is unmounted, replaced, unreadable or suddenly empty is an incident:
// operations fail with [notes.ErrUnavailable], and the store keeps everything
// until most notes are back. A disk mounted inside the vault, and a folder that
// cannot be listed, are handled the same way, for their own notes only.
//
// # Concurrency
//
// Vault.mu is held while files or the store change: one writer at a time, for
// one operation or one batch. The feeder's lock is held while followers apply
// changes; it is taken after mu or alone, never before it. Reads take neither.
// No lock is held while waiting for a client.
package vault
