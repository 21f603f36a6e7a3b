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

// hidesNew reports whether fsnotify finds no new entries of a directory that come after abs
// in the alphabet: to find them it lists the directory, and it stops at an entry that it
// cannot open, such as a symlink to nothing.
func hidesNew(abs string) bool {
	_, err := os.Lstat(abs)
	return err == nil && unix.Access(abs, unix.R_OK) != nil
}

// entryBudget returns half of the process's limit on file descriptors, because with
// kqueue every entry of a watched directory costs one. The other half is for the rest
// of the program.
func entryBudget() int {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return 1 << 10
	}
	return int(min(uint64(lim.Cur)/2, 1<<15))
}

// isLimit reports whether adding a watch failed because a limit was reached.
func isLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// eventLoss wraps an error of the source; each means that events were lost.
func eventLoss(err error) error { return fmt.Errorf("events were lost: %w", err) }

func watchRemedy(int) string {
	return "On this system each watched file takes one of the process's file descriptors; " +
		"raise that limit (ulimit -n) or ignore large folders."
}

func instanceRemedy() string { return "Raise the limit on open files (ulimit -n)." }
