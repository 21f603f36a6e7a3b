// Package store keeps the data about a vault in two SQLite databases.
//
// notes.db is derived from the files: notes with their headings, tags, links
// and passages, and the feed of changes. It can be deleted at any time; the
// next scan rebuilds it. history.db cannot be rebuilt: it holds the journal of
// operations that change files, every version that notesd wrote, and the
// versions that other programs wrote and notesd read.
//
// A [Store] is safe for concurrent use. Reads see the last commit. Only package
// vault writes, under its own lock: [Store.Apply] commits a batch of changes in
// one transaction and appends them to the feed, [Journal.Begin] writes an
// operation to the journal before the first file changes, and [Journal.Finish]
// adds it to the history when it is complete.
package store
