// Package watcher tells its owner which files below one folder may have
// changed: it turns the file system's events into debounced batches of
// relative paths, or, when it cannot tell, into a request to scan everything.
// It stats and lists, and never opens a note.
//
// # Vocabulary
//
//   - The root is the folder that is watched, with everything below it.
//     Symbolic links are reported as the entries that they are, never followed
//     (but the root itself may be one).
//   - A [Batch] is a set of paths to look at again. It says where, never what:
//     the owner stats each path. A rescan is a batch that means "everything".
//   - A directory is watched when the kernel reports changes of its entries,
//     and polled when we compare listings of it from time to time. In one tree
//     some directories may be watched, others polled, and some both.
//   - A source is one instance of the kernel's notification service, by way of
//     fsnotify. It is closed and opened anew whenever events may have been
//     lost, because then nobody knows which directories it still sees.
//
// # What is promised
//
// After the last batch, the owner's view equals the disk if it treats each path
// so: nothing there (any more) means that whatever it knew at or below that
// path is gone; a file is to be read again, and nothing is below it; a directory means that what it
// knew below it may be gone and is to be checked, while every file that may be
// new or different below it is in the same batch or a later one. A batch may
// name paths that did not change, or that never existed for long enough to be
// seen. Events that come in quick succession make one batch.
//
// The first batch is a rescan, sent when the initial watches stand, so that an
// owner that scans on a rescan misses nothing between its scan and the first
// event. Lost events (a queue overflow, more paths than fit in a batch), a root
// that vanishes, comes back or is replaced by another folder, all become
// rescans; each gives its reason.
//
// # Two back ends
//
// Events are used where they can be relied upon. Directories are polled on
// file systems that other machines write to (NFS, SMB, 9p, FUSE and the like:
// the kernel reports local changes only, which are taken as a bonus), where the
// kernel's limit on watches is reached, and where a directory cannot be watched
// for another reason. [Status] says so, with the remedy, and what was polled
// for want of watches is watched as soon as there are some. A poll compares
// size, times and inode number of every file; its interval grows while nothing
// changes and with the time that a poll takes.
//
// The kernels differ. inotify (Linux) has a watch for each directory, and a
// limit on them. With kqueue (macOS, BSD) every file of a watched directory
// costs a file descriptor besides, so only as many directories are watched as
// half of the process's limit allows. Windows reports a whole tree through one
// handle on its root, which we read without fsnotify (see subtree); changes of
// the root's own name are noticed at the next look at it.
//
// # Concurrency
//
// [New] starts nothing; [Watcher.Run] owns every goroutine. For each source one
// goroutine drains the events and only queues them (a coalescing set with a
// bound and a one-slot signal), so that the kernel's queue stays short whatever
// the owner does. Run's own goroutine, the tracker, takes what is queued, stats
// it, watches new directories and then walks them (what was created in them
// before their watch is reported by nobody else), keeps the timers and calls
// emit. So emit is never called twice at a time, and while it blocks, changes
// go on being collected. Everything but the queue and the status is touched by
// the tracker alone.
package watcher
