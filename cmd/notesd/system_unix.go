//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// terminate asks a process to stop.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// isOpenToOthers reports whether others than the owner have any right to a file.
func isOpenToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
