package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached detaches a process from the console and the process group.
const detached = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP

// rootDir returns the working directory of a daemon, which must not keep another
// directory from being moved.
func rootDir() string {
	if root := os.Getenv("SystemRoot"); root != "" {
		return filepath.VolumeName(root) + `\`
	}
	return `C:\`
}

func launcherAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached}
}

// launcherCommand uses this program: no shell starts a process outside its job.
func launcherCommand(ctx context.Context, exe string, args []string) *exec.Cmd {
	return ownLauncher(ctx, exe, args)
}

// leaveLauncher is a no-op: startDetached does the work.
func leaveLauncher() {}

// startDetached starts the daemon outside the host's job object, which would end it
// together with the host. If the job forbids that, the daemon stays inside and ends
// with the host; the next relay starts another.
func startDetached(cmd *exec.Cmd) error {
	attributes := launcherAttributes()
	attributes.CreationFlags |= windows.CREATE_BREAKAWAY_FROM_JOB
	cmd.SysProcAttr = attributes
	err := cmd.Start()
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	again := exec.Command(cmd.Path, cmd.Args[1:]...)
	again.Env, again.Dir, again.Stdout, again.Stderr = cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr
	again.SysProcAttr = launcherAttributes()
	*cmd = *again
	return cmd.Start()
}

// closeOnExec is a no-op: a process inherits only explicitly listed handles.
func closeOnExec() {}

// ignoreBrokenPipe is a no-op: there is no such signal.
func ignoreBrokenPipe() {}

// discardStdout redirects standard output to the null device.
func discardStdout() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("close standard output: %w", err)
	}
	pipe := os.Stdout
	os.Stdout = null
	err = windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(null.Fd()))
	return errors.Join(err, pipe.Close())
}

// redirectStderr redirects standard error to f, for the runtime's crash output.
func redirectStderr(f *os.File) error {
	if err := windows.SetStdHandle(windows.STD_ERROR_HANDLE, windows.Handle(f.Fd())); err != nil {
		return fmt.Errorf("redirect standard error: %w", err)
	}
	os.Stderr = f
	return nil
}

// runtimeDir returns a directory with a short path inside the user's profile, whose
// access control list excludes others.
func runtimeDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "notesd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("runtime directory: %w", err)
	}
	return dir, nil
}

// owned and private rely on the location of the directories on Windows: below the
// user's profile, whose access control list is inherited.
func owned(string, fs.FileInfo) error { return nil }

func private(fs.FileInfo) bool { return true }

// isSocket reports whether the file is a socket, which Go reports as irregular or as a
// socket, depending on its version.
func isSocket(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSocket|fs.ModeIrregular) != 0
}

// refused reports whether no process listens at a socket.
func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// lockOffset is the position of the locked byte: far beyond the content, because other
// processes must read the content and cannot read a locked byte.
const lockOffset = 1 << 30

// tryLock acquires an exclusive lock on f. It ends with the process.
func tryLock(f *os.File) error {
	at := windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return errHeld
	default:
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}
