//go:build unix

package notes

import "syscall"

// openNonblock keeps a named pipe that looks like a note from blocking open.
const openNonblock = syscall.O_NONBLOCK

// keepsUnlinked: a file can be read on after its last name is gone.
const keepsUnlinked = true
