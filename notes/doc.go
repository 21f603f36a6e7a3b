// Package notes is the domain that every other package shares: what a note is,
// how it is named, how it changes, and what callers may ask of a vault.
//
// # Vocabulary
//
// A vault is a folder of Markdown files. A [Note] is one of them; its path
// within the vault, in Unicode form NFC, is its name. An [Attachment] is
// another file that a note links to. A [Change] is one entry of the feed in
// which every change to the notes is recorded, and a [Follower] (text index,
// vectors, notifier) derives data from that feed. A [Scope] bounds what one
// caller may read and write, and a [Filter] selects notes.
//
// Package store keeps notes and their history in SQLite. Package vault keeps
// the store equal to the files and makes every write. This package imports
// neither: it has types, names and pure functions only.
//
// # Errors
//
// Whatever a caller can do something about is an [*Error], which wraps one of
// the sentinels ([ErrNotFound], [ErrConflict], …) and says what to do next.
package notes
