// Package watcher reports which files below a directory may have changed. It
// turns the events of the file system into debounced batches of relative paths
// or, when events may have been lost, into a request to scan everything. It
// stats and lists; it never opens a file.
//
// # Vocabulary
//
//   - The root is the directory being watched, with everything below it.
//     Symbolic links below it are reported but not followed; the root itself
//     may be one.
//   - The owner is the caller of [Watcher.Run]. Its function emit receives the
//     batches.
//   - A [Batch] is a set of paths that may have changed. The owner stats each of
//     them to learn what happened. A rescan is a batch that means "everything".
//   - A directory is watched if the kernel reports changes to its entries, and
//     polled if its listing is periodically compared with the previous one. One
//     tree can contain both kinds, and a directory can be both.
//   - A source is one instance of the kernel's notification service, usually an
//     fsnotify.Watcher. Whenever events may have been lost, the source is closed
//     and a new one is opened, because it is unknown which directories the old
//     one still watches.
//
// # Contract
//
// After the last batch, the owner's view equals the disk if the owner handles
// each path of a batch as follows:
//
//   - The path does not exist: everything known at or below it was deleted.
//   - The path is a file: read it, and drop everything known below the path.
//   - The path is a directory: stat the known files below it. Every file below
//     it that may be new or different is in the same batch or in a later one.
//
// A batch may name paths that did not change, and paths that existed only
// briefly. Events in quick succession make one batch.
//
// The first batch is a rescan. It is emitted after the initial watches are set, so
// an owner that scans on a rescan misses no change between its scan and the
// first event. A rescan with a reason also follows lost events (a queue
// overflow, more paths than fit in a batch) and a root that disappears,
// reappears or is replaced by another directory.
//
// # Back ends
//
// Events are used where they are reliable. A directory is polled if it is on a
// file system that other machines write to (NFS, SMB, 9p, FUSE and others, where
// the kernel reports local changes only), if the kernel's limit on watches is
// reached, or if it cannot be watched for another reason. [Status] explains
// each case with its remedy. A directory that was polled for lack of watches is
// watched once watches are available. A poll compares the size, times and inode
// number of every file; its interval grows while nothing changes and with the
// duration of a poll.
//
// The kernels differ. inotify (Linux) needs a watch for each directory and
// limits their number. With kqueue (macOS, BSD) every file of a watched
// directory also costs a file descriptor, so watches may use half of the process's
// limit, and an entry that cannot be opened hides new ones, so its directory is also
// polled. Windows reports a whole tree through one handle on its root; a rename of
// the root itself is detected by the next periodic check. A subtree turns this
// handle into a source, without fsnotify.
//
// # Concurrency
//
// [New] starts no goroutine; [Watcher.Run] owns all of them. Each source moves its
// events to a queue (a bounded, coalescing set with a one-slot signal) in a
// goroutine that does nothing else, so that the kernel's queue stays short
// even when the owner is slow. The goroutine of Run is the tracker. It takes
// events from the queue, stats their paths, watches new directories, keeps the
// timers and calls emit. It walks a new directory after it has set the watch,
// because the kernel does not report entries that were created before it. Calls
// of emit therefore never overlap, and changes are collected while one blocks.
// Only the queue and the status are shared; all other state belongs to the
// tracker.
package watcher
