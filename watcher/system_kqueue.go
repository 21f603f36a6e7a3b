//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package watcher

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func mountID(*os.File) uint64 { return 0 }

// entryBudget is half of the file descriptors that the process may have: with
// kqueue every entry of a watched directory costs one, and the rest of the
// program needs some.
func entryBudget() int {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return 1 << 10
	}
	return int(min(uint64(lim.Cur)/2, 1<<15))
}

// isLimit reports whether the error of a watch says that no more can be had.
func isLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lossOf says what an error of the source means: the loss of events.
func lossOf(err error) error { return fmt.Errorf("events were lost: %w", err) }

func watchRemedy(int) string {
	return "Here each watched file takes one of the process's file descriptors; " +
		"raise that limit (ulimit -n) or ignore large folders."
}

func instanceRemedy() string { return "Raise the limit on open files (ulimit -n)." }
