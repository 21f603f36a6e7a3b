package vectors

import "golang.org/x/sys/unix"

// lowerPriority makes the calling thread give way to all others: on Linux
// niceness belongs to a thread. That it fails is no harm.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }
