package daemon

import (
	"context"
	"errors"
	"fmt"
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
		return fmt.Errorf("let go of standard output: %w", err)
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
