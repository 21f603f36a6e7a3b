package watcher

import "syscall"

// ctime returns the time of the last inode change in nanoseconds. Unlike mtime,
// a program cannot set it.
func ctime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
