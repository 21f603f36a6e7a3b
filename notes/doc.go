// Package notes is the domain of notesd: the vault on disk, the store that
// mirrors it, and the one path by which either changes.
//
// # Vocabulary
//
// A vault is a folder of Markdown files. A [Note] is one of them, named by its
// vault-relative path. The [Store] holds what was derived from the files in
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
// # Concurrency
//
// Vault.mu is held by whoever changes files or the store: one writer at a
// time, for the time of one operation or one batch. Vault.feedMu is held while
// followers are fed; it is taken after mu or alone, never before it. Reads
// take neither: they see the store's last commit. Nothing waits for a client
// under a lock.
package notes
