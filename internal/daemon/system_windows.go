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

// detached cuts a process off the console and the process group.
const detached = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP

// rootDir is where a daemon runs: it keeps no other directory from being moved.
func rootDir() string {
	if root := os.Getenv("SystemRoot"); root != "" {
		return filepath.VolumeName(root) + `\`
	}
	return `C:\`
}

func launcherAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached}
}

// launcherCommand needs this program: no shell starts a process outside its job.
func launcherCommand(ctx context.Context, exe string, args []string) *exec.Cmd {
	return ownLauncher(ctx, exe, args)
}

// leaveLauncher has nothing to do: startDetached has seen to it.
func leaveLauncher() {}

// startDetached starts the daemon outside the host's job object, which would end
// it together with the host. Where the job forbids that, the daemon stays inside
// and ends with it; the next relay starts another.
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

// closeOnExec has nothing to do: a process inherits only the handles that are
// listed for it.
func closeOnExec() {}

// ignoreBrokenPipe has nothing to do: there is no signal for it.
func ignoreBrokenPipe() {}

// discardStdout puts the null device in the place of standard output.
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

// redirectStderr makes f standard error, for what the runtime writes there when
// the program crashes.
func redirectStderr(f *os.File) error {
	if err := windows.SetStdHandle(windows.STD_ERROR_HANDLE, windows.Handle(f.Fd())); err != nil {
		return fmt.Errorf("redirect standard error: %w", err)
	}
	os.Stderr = f
	return nil
}

// runtimeDir returns a directory with a short path inside the user's profile,
// whose access control list keeps others out.
func runtimeDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "notesd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("runtime directory: %w", err)
	}
	return dir, nil
}

// owned and private hold on Windows by where the directories lie: below the
// user's profile, whose access control list is inherited.
func owned(string, fs.FileInfo) error { return nil }

func private(fs.FileInfo) bool { return true }

// isSocket knows a socket by its being no regular file: Go reports AF_UNIX
// sockets as irregular or as sockets, depending on its version.
func isSocket(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSocket|fs.ModeIrregular) != 0
}

// refused reports whether no process listens at a socket.
func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// lockOffset is where the locked byte lies: far beyond the content, which other
// processes must be able to read, and a locked byte cannot be.
const lockOffset = 1 << 30

// tryLock takes the exclusive lock of f. It ends with the process.
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
