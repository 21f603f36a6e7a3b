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

// rootDir returns the working directory of a daemon, which must not keep a file system
// busy.
func rootDir() string { return "/" }

// launcherAttributes detaches the launcher from the host's process group and terminal.
func launcherAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// systemShell is the launcher if it exists. Tests replace it.
var systemShell = "/bin/sh"

// inBackground is the launcher's script: it starts its arguments as a command and exits
// without waiting, so that init becomes the parent of the command.
const inBackground = `"$0" "$@" &`

func launcherCommand(ctx context.Context, exe string, args []string) *exec.Cmd {
	if _, err := os.Stat(systemShell); err != nil {
		return ownLauncher(ctx, exe, args)
	}
	return exec.CommandContext(ctx, systemShell, append([]string{"-c", inBackground, exe}, args...)...)
}

// startDetached starts the daemon. When the launcher exits, init becomes its parent.
func startDetached(cmd *exec.Cmd) error { return cmd.Start() }

// leaveLauncher moves a launched daemon from the launcher's session to its own.
func leaveLauncher() {
	_, _ = syscall.Setsid() // fails only if the process leads a session already
}

// closeOnExec keeps the launcher and the daemon from inheriting this process's
// descriptors: the reader of a pipe that the daemon held open would never see its end.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // not on this system; Go's own descriptors are close-on-exec anyway
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// ignoreBrokenPipe makes writing to a closed pipe an error. On standard output, SIGPIPE
// would otherwise end the process.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// discardStdout redirects standard output to the null device.
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

// redirectStderr redirects standard error to f, for the runtime's crash output.
func redirectStderr(f *os.File) error {
	if err := unix.Dup2(int(f.Fd()), 2); err != nil {
		return fmt.Errorf("redirect standard error: %w", err)
	}
	return nil
}

// sharedTemp is the parent of the runtime directory on a system without one. It is not
// os.TempDir, whose path is too long on macOS and differs between processes of one
// user.
const sharedTemp = "/tmp"

// runtimeDir returns a directory with a short path that only the user can enter,
// creating it if necessary.
func runtimeDir() (string, error) {
	return runtimeDirIn(os.Getenv("XDG_RUNTIME_DIR"), sharedTemp)
}

// runtimeDirIn returns a directory below the user's own runtime directory if that is
// suitable, and otherwise below the shared one.
func runtimeDirIn(own, shared string) (string, error) {
	if info, err := os.Stat(own); filepath.IsAbs(own) && err == nil && owned(own, info) == nil && private(info) {
		if dir := filepath.Join(own, "notesd"); len(dir)+maxKeyName <= maxSocketPath {
			return dir, securePrivateDir(dir)
		}
	}
	dir := filepath.Join(shared, "notesd-"+strconv.Itoa(os.Geteuid()))
	return dir, securePrivateDir(dir)
}

// securePrivateDir creates dir for the user alone, or checks that it is private. In a
// world-writable directory, another user may have created something else there first,
// such as a symbolic link. That is an error and never repaired, because its content
// cannot be trusted.
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

// private reports whether only the owner has access to the directory.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

func isSocket(info fs.FileInfo) bool { return info.Mode()&fs.ModeSocket != 0 }

// refused reports whether no process listens at a socket, or its queue is full, for
// which Linux reports EAGAIN.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN)
}

// hungUp reports whether the peer closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// tryLock acquires an exclusive lock on f. The lock belongs to the open file
// description, so it ends with the process, and children do not inherit it because the
// file is close-on-exec.
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
