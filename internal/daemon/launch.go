package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// LaunchCommand is the first argument by which the program's main function knows
// that it is to be the launcher, and calls LaunchMain with the rest, before it
// does anything else.
const LaunchCommand = "__launch"

// Start starts exe with args as a daemon that belongs to nobody: in a session of
// its own, a child of init, working directory "/", standard error in logFile,
// holding nothing open that this process or its host has open. The environment
// is kept. Paths in args must be absolute.
//
// The way there leads through a short-lived process, the launcher, so that a
// host that ends the tree of processes below it does not find the daemon. exe
// must call LaunchMain.
//
// Start returns when the daemon has reported through Startup: nil when it
// listens, a *StartError when it cannot; or when ctx ends, which leaves the
// daemon alone.
func Start(ctx context.Context, exe string, args []string, logFile string) error {
	exe, err := filepath.Abs(exe)
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	logFile, err = filepath.Abs(logFile)
	if err != nil {
		return fmt.Errorf("find the log file: %w", err)
	}
	pipe, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make the startup pipe: %w", err)
	}
	defer pipe.Close()
	launcher := exec.CommandContext(ctx, exe, append([]string{LaunchCommand, logFile, exe}, args...)...)
	launcher.Stdout = out
	launcher.Dir = rootDir()
	launcher.SysProcAttr = launcherAttributes()
	logged := size(logFile)
	err = launcher.Start()
	_ = out.Close() // the launcher has its own
	if err != nil {
		return fmt.Errorf("run the launcher: %w", err)
	}
	reported := make(chan error, 1)
	go func() { reported <- readReport(pipe) }()
	select {
	case err = <-reported:
	case <-ctx.Done():
		err = fmt.Errorf("the daemon did not start in time: %w", context.Cause(ctx))
	}
	_ = launcher.Wait() // it ended before the daemon reported, or the context ends it
	if errors.Is(err, errNoReport) {
		return &StartError{Message: fmt.Sprintf("%v; %s", err, lastWords(logFile, logged))}
	}
	return err
}

// LaunchMain is the launcher: it starts the program args[1] with the arguments
// args[2:] as a daemon whose standard error is the file args[0], and returns the
// exit code for this process without waiting for it.
func LaunchMain(args []string) int {
	if err := launch(args); err != nil {
		// To the pipe that the daemon would have reported on.
		_ = json.NewEncoder(os.Stdout).Encode(report{Error: err.Error()})
		return 1
	}
	return 0
}

func launch(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("the launcher needs a log file and a program")
	}
	logFile, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the log file: %w", err)
	}
	defer logFile.Close()
	closeOnExec()
	daemon := exec.Command(args[1], args[2:]...) //nolint:noctx // it is to outlive this process and every context in it
	daemon.Env = append(os.Environ(), startupEnv+"=1")
	daemon.Dir = rootDir()
	daemon.Stdout = os.Stdout
	daemon.Stderr = logFile
	if err := startDetached(daemon); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return daemon.Process.Release()
}
