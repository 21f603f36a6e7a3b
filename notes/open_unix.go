//go:build unix

package notes

import "syscall"

// openNonblock keeps a named pipe that looks like a note from blocking open.
const openNonblock = syscall.O_NONBLOCK
