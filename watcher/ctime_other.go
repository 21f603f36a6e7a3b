//go:build unix && !linux && !darwin

package watcher

import "syscall"

// ctime returns 0: the field has other names on these systems, and stamps do
// without it.
func ctime(*syscall.Stat_t) int64 { return 0 }
