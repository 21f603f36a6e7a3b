package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Stop stops the daemon of the state directory dir, for the reason in hello.Kind. Once
// the daemon has released its lock, Stop returns its process id, or 0 if none ran.
// After KindStop, a Lazy [Connector] does not start another.
func Stop(ctx context.Context, dir string, hello Hello) (pid int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stopTimeout)
	defer cancel()
	for {
		conn, err := Dial(ctx, dir, hello)
		switch {
		case err == nil:
			pid = conn.Daemon.PID
			err = conn.Close()
		case errors.Is(err, ErrNotRunning):
			if done, err := markStopped(ctx, dir, hello); done || err != nil {
				return 0, err
			}
			within(ctx.Done(), lockPoll) // until the starting daemon is listening
			continue
		default:
			return 0, err
		}
		if err == nil {
			err = awaitEnd(ctx, dir, pid)
		}
		if err != nil {
			return 0, fmt.Errorf("stop the daemon (process %d): %w", pid, err)
		}
		return pid, nil
	}
}

// markStopped records that the user wants no daemon, if none runs. It returns false
// while one is starting.
func markStopped(ctx context.Context, dir string, hello Hello) (done bool, err error) {
	if _, err := os.Stat(dir); err != nil || hello.Kind != KindStop {
		return true, ctx.Err()
	}
	turn, err := openLocked(filepath.Join(dir, startFile))
	if errors.Is(err, errHeld) {
		return false, ctx.Err()
	}
	if err != nil {
		return false, err
	}
	defer turn.Close()
	lock, err := Acquire(ctx, dir, NewIdentity(hello.Version, os.Getpid()))
	if locked, ok := errors.AsType[*LockedError](err); ok {
		return locked.Holder.Socket == "", ctx.Err() // done for a process that serves one command; not for a daemon that listens again
	}
	if err != nil {
		return false, err
	}
	return true, errors.Join(lock.setClosing(true), lock.Release())
}

// awaitEnd waits until the daemon with the given process id, which has been asked to
// stop, no longer holds the lock of dir.
func awaitEnd(ctx context.Context, dir string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for {
		f, err := openLocked(filepath.Join(dir, lockFile))
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, errHeld) {
			return fmt.Errorf("lock state directory: %w", err)
		}
		if holder, err := ReadHolder(dir); err == nil && holder.PID != pid {
			return nil // the next daemon holds it
		}
		if within(ctx.Done(), lockPoll) {
			return context.Cause(ctx)
		}
	}
}
