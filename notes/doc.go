// Package notes is the domain of notesd: the vault on disk, the store that
// mirrors it, and the one path by which either changes.
//
// # Vocabulary
//
// A vault is a folder of Markdown files. A [Note] is one of them, named by its
// vault-relative path. An [Attachment] is another file that a note links to.
// The [Store] holds what was derived from the files in
// SQLite, and history, which was not. A [Follower] (text index, vectors,
// notifier) derives more from the store and is fed from its change feed.
//
// # How a change travels
//
// Whatever happens, an editor's save or a tool's call, ends in one place:
//
//	watcher, timer → Vault.Reconcile ┐
//	tools → Vault.Create, Edit, …    ┴→ commit (notes.db, with a row in the feed)
//	                                    → followers, in order → published
//
// Reconcile makes the store equal to the disk for some paths or for all. A
// tool writes the file durably first and then has exactly those paths
// reconciled, so a crash between the two is repaired by the next Reconcile,
// and the watcher's echo of a write finds an equal hash and stops.
//
// # When the disk is away
//
// What cannot be looked at is not gone. A vault that is unmounted, replaced,
// unreadable or empty all of a sudden is an incident: operations fail with
// [ErrUnavailable], and everything known is kept until most of it is back. The
// same holds, for its own notes only, of a disk that is mounted inside the
// vault, and of a folder that cannot be listed.
//
// # Concurrency
//
// Vault.mu is held by whoever changes files or the store: one writer at a
// time, for the time of one operation or one batch. Vault.feedMu is held while
// followers are fed; it is taken after mu or alone, never before it. Reads
// take neither: they see the store's last commit. Nothing waits for a client
// under a lock.
package notes
