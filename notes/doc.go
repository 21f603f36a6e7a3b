// Package notes defines the domain types that all other packages share: notes,
// their names, their changes, and the requests that a vault accepts.
//
// # Vocabulary
//
// A vault is a folder of Markdown files. A [Note] is one of them; its name is its
// path within the vault, in Unicode form NFC. An [Attachment] is another file
// that a note links to. A [Change] is one entry of the feed that records every
// change to the notes, and a [Follower] (text index, vectors, notifier) derives
// data from that feed. A [Scope] limits what a caller may read and write, and a
// [Filter] selects notes.
//
// Package store keeps notes and their history in SQLite. Package vault keeps the
// store consistent with the files and makes every write. This package imports
// neither: it contains only types, names and pure functions.
//
// # Errors
//
// An error that a caller can act on is an [*Error], which wraps one of the
// sentinels ([ErrNotFound], [ErrConflict], …) and says what to do next.
package notes
