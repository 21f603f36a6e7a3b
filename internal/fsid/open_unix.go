//go:build unix

package fsid

import "syscall"

// OpenNonblock keeps a named pipe that looks like a note from blocking open.
const OpenNonblock = syscall.O_NONBLOCK

// KeepsUnlinked reports whether a file can still be read after its last name is gone.
const KeepsUnlinked = true
