package vectors

import "golang.org/x/sys/unix"

// lowerPriority gives the calling thread the lowest priority. On Linux niceness is
// a property of threads. A failure is harmless.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }
