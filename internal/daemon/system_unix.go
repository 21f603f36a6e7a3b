//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rootDir is the working directory of a daemon, which keeps no file system
// busy.
func rootDir() string { return "/" }

// launcherAttributes detaches the launcher from the host's process group and
// terminal.
func launcherAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// systemShell is the launcher where there is one; a variable for tests.
var systemShell = "/bin/sh"

// inBackground is the script of the shell: it starts its arguments as a
// command and ends without waiting for it, so that init becomes its parent.
const inBackground = `"$0" "$@" &`

func launcherCommand(ctx context.Context, exe string, args []string) *exec.Cmd {
	if _, err := os.Stat(systemShell); err != nil {
		return ownLauncher(ctx, exe, args)
	}
	return exec.CommandContext(ctx, systemShell, append([]string{"-c", inBackground, exe}, args...)...)
}

// startDetached starts the daemon. When the launcher ends, init becomes its
// parent.
func startDetached(cmd *exec.Cmd) error { return cmd.Start() }

// leaveLauncher moves a launched daemon from the launcher's session into its
// own.
func leaveLauncher() {
	_, _ = syscall.Setsid() // fails only for a process that has one
}

// closeOnExec keeps descriptors that this process inherited from the launcher
// and the daemon: a pipe that the daemon held open would never end for its
// reader.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a system without it; Go's own descriptors are marked anyway
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// ignoreBrokenPipe makes writing to a closed pipe an error: on standard output
// the signal would end the process.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// discardStdout puts the null device in the place of standard output.
func discardStdout() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("close standard output: %w", err)
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), 1); err != nil {
		return fmt.Errorf("close standard output: %w", err)
	}
	return nil
}

// redirectStderr makes f standard error, for what the runtime writes there when
// the program crashes.
func redirectStderr(f *os.File) error {
	if err := unix.Dup2(int(f.Fd()), 2); err != nil {
		return fmt.Errorf("redirect standard error: %w", err)
	}
	return nil
}

// sharedTemp is where the runtime directory goes on a system without one. It is
// not os.TempDir, which is itself too long a path on macOS and differs between
// processes of one user.
const sharedTemp = "/tmp"

// runtimeDir returns a directory with a short path that only the user can enter,
// and creates it if need be.
func runtimeDir() (string, error) {
	return runtimeDirIn(os.Getenv("XDG_RUNTIME_DIR"), sharedTemp)
}

// runtimeDirIn returns a directory below the user's own runtime directory if
// that is one, and else below the one that all users share.
func runtimeDirIn(own, shared string) (string, error) {
	if info, err := os.Stat(own); filepath.IsAbs(own) && err == nil && owned(own, info) == nil && private(info) {
		if dir := filepath.Join(own, "notesd"); len(dir)+maxKeyName <= maxSocketPath {
			return dir, securePrivateDir(dir)
		}
	}
	dir := filepath.Join(shared, "notesd-"+strconv.Itoa(os.Geteuid()))
	return dir, securePrivateDir(dir)
}

// securePrivateDir creates dir for the user alone, or checks that it is so. In a
// directory that everybody writes to, another user may have put something else
// there first, a symbolic link above all; that is refused and never repaired,
// since what lies in it cannot be trusted.
func securePrivateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("runtime directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("runtime directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("runtime directory: %s is not a directory; remove it", dir)
	}
	if err := owned(dir, info); err != nil {
		return fmt.Errorf("runtime directory: %w", err)
	}
	if !private(info) {
		return fmt.Errorf("runtime directory: others can enter %s (mode %04o); remove it", dir, info.Mode().Perm())
	}
	return nil
}

// owned returns an error unless the user owns the file.
func owned(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to you (user %d)", path, st.Uid, os.Geteuid())
	}
	return nil
}

// private reports whether only the owner can enter the directory.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

func isSocket(info fs.FileInfo) bool { return info.Mode()&fs.ModeSocket != 0 }

// refused reports whether no process listens at a socket, or too many wait for
// it, which Linux reports at once.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN)
}

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// tryLock takes the exclusive lock of f. It belongs to the open file, so it
// ends with the process, and a child does not inherit it: the file is
// close-on-exec.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		default:
			return fmt.Errorf("flock %s: %w", f.Name(), err)
		}
	}
}
