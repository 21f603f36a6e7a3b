package watcher

import "syscall"

// ctime is when the inode last changed, in nanoseconds; unlike mtime it cannot
// be set back.
func ctime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
