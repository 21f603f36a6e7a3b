//go:build unix

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

// rootDir is where a daemon runs: it keeps no directory from being unmounted.
func rootDir() string { return "/" }

// launcherAttributes puts the launcher out of reach of signals to the host's
// process group and of its terminal.
func launcherAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// systemShell is the launcher where there is one; a variable for tests.
var systemShell = "/bin/sh"

// inBackground is what the shell does: it starts its arguments as a command, and
// ends without waiting for it, so that init becomes the parent of that.
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

// leaveLauncher gives a launched daemon a session of its own: it was started in
// the launcher's.
func leaveLauncher() {
	_, _ = syscall.Setsid() // fails only for a process that has one
}

// closeOnExec keeps descriptors that the host let this process inherit from
// reaching the launcher and the daemon: a pipe that the daemon held open would never end for its
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

// ignoreBrokenPipe makes writing a report that nobody waits for an error: on
// standard output a broken pipe would end the process.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// discardStdout puts the null device in the place of standard output.
func discardStdout() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("let go of standard output: %w", err)
	}
	defer null.Close()
	if err := dup2(int(null.Fd()), 1); err != nil {
		return fmt.Errorf("let go of standard output: %w", err)
	}
	return nil
}

// redirectStderr makes f standard error, for what the runtime writes there when
// the program crashes.
func redirectStderr(f *os.File) error {
	if err := dup2(int(f.Fd()), 2); err != nil {
		return fmt.Errorf("redirect standard error: %w", err)
	}
	return nil
}
