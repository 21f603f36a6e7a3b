// Package store keeps what notesd knows of a vault in two SQLite databases.
//
// notes.db is derived from the files: notes with their headings, tags, links
// and passages, and the feed of changes. It can be deleted at any time; the
// next scan fills it again. history.db is precious, because nothing can rebuild
// it: the journal of operations that change files, every version that notesd
// wrote, and the versions of other programs that it found.
//
// A [Store] is safe for concurrent use. Reads see the last commit. Only package
// vault writes, under its own lock: [Store.Apply] makes one transaction of a
// batch of changes and appends them to the feed, and [Versions.Begin] and
// [Versions.Finish] put an operation into the journal before the first file
// changes, and into history when it is complete.
package store
