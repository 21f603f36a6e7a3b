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
// host that ends the tree of processes below it does not find the daemon. That
// is the system's shell, which starts ten times as fast as this program, or,
// where there is none, exe itself: it must call LaunchMain.
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
	logged := size(logFile)
	pipe, launcher, err := startLauncher(ctx, exe, args, logFile)
	if err != nil {
		return err
	}
	defer pipe.Close()
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

// startLauncher starts the launcher of a daemon, which inherits from it the pipe
// to report on, the log file and the environment.
func startLauncher(ctx context.Context, exe string, args []string, logFile string) (*os.File, *exec.Cmd, error) {
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log file: %w", err)
	}
	defer log.Close() // the launcher has its own
	pipe, out, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make the startup pipe: %w", err)
	}
	defer out.Close() // as above
	closeOnExec()
	launcher := launcherCommand(ctx, exe, args)
	launcher.Env = append(os.Environ(), startupEnv+"=1")
	launcher.Dir = rootDir()
	launcher.Stdout, launcher.Stderr = out, log
	launcher.SysProcAttr = launcherAttributes()
	if err := launcher.Start(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("run the launcher: %w", err), pipe.Close())
	}
	return pipe, launcher, nil
}

// ownLauncher has this program launch the daemon: it starts ten times as slowly
// as a shell, but is always there.
func ownLauncher(ctx context.Context, exe string, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, exe, append([]string{LaunchCommand, exe}, args...)...)
}

// LaunchMain is the launcher where the system has none: it starts the program
// args[0] with the arguments args[1:] as a daemon that has its streams, and
// returns the exit code for this process without waiting for it.
func LaunchMain(args []string) int {
	if err := launch(args); err != nil {
		// To the pipe that the daemon would have reported on.
		_ = json.NewEncoder(os.Stdout).Encode(report{Error: err.Error()})
		return 1
	}
	return 0
}

func launch(args []string) error {
	if len(args) == 0 {
		return errors.New("the launcher needs a program")
	}
	daemon := exec.Command(args[0], args[1:]...) //nolint:noctx // it is to outlive this process and every context in it
	daemon.Dir = rootDir()
	daemon.Stdout, daemon.Stderr = os.Stdout, os.Stderr
	if err := startDetached(daemon); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return daemon.Process.Release()
}
