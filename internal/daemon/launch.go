package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
)

// LaunchCommand is the first argument that makes the program the launcher: its main
// function must call LaunchMain with the remaining arguments before it does anything
// else.
const LaunchCommand = "__launch"

// Start starts exe with args as a detached daemon: in its own session, as a child of
// init, with working directory "/", standard error in logFile, and none of the open
// files of this process or its host. The daemon inherits the environment. The path exe and
// those in args must be absolute.
//
// A short-lived process, the launcher, starts the daemon, so that the daemon survives a
// host that kills its process tree. The launcher is the system's shell, which starts
// ten times as fast as this program, or, if there is none, exe itself, which must call
// LaunchMain.
//
// Start returns when the daemon has reported through Startup: nil if it is listening, a
// *StartError if it could not start. When ctx ends, Start returns and the daemon
// continues.
func Start(ctx context.Context, exe string, args []string, logFile string) error {
	if _, err := os.Stat(exe); errors.Is(err, fs.ErrNotExist) { // by an upgrade into another folder
		return fmt.Errorf("the program %s was removed while it ran; restart the assistant or command that uses it", exe)
	}
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
		err = errNoReport
	}
	_ = launcher.Wait() // exited before the daemon reported, or is killed by ctx
	switch {
	case !errors.Is(err, errNoReport):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("the daemon did not start in time: %w", context.Cause(ctx))
	}
	return fmt.Errorf("%w; see %s", err, logFile)
}

// startLauncher starts the launcher, from which the daemon inherits the pipe for its
// report, the log file and the environment.
func startLauncher(ctx context.Context, exe string, args []string, logFile string) (*os.File, *exec.Cmd, error) {
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log file: %w", err)
	}
	defer log.Close() // the launcher has its own descriptor
	pipe, out, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make the startup pipe: %w", err)
	}
	defer out.Close() // the launcher has its own descriptor of this, too
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

// ownLauncher returns this program as the launcher: it starts ten times slower than a
// shell, but always exists.
func ownLauncher(ctx context.Context, exe string, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, exe, append([]string{LaunchCommand, exe}, args...)...)
}

// LaunchMain is the launcher on systems without a shell. It starts the program args[0]
// with the arguments args[1:] as a daemon that inherits this process's streams. Without
// waiting for the daemon, it returns the exit code for this process.
func LaunchMain(args []string) int {
	if err := launch(args); err != nil {
		// Standard output is the pipe for the report.
		_ = json.NewEncoder(os.Stdout).Encode(StartError{Message: err.Error()})
		return 1
	}
	return 0
}

func launch(args []string) error {
	if len(args) == 0 {
		return errors.New("the launcher needs a program")
	}
	daemon := exec.Command(args[0], args[1:]...) //nolint:noctx // the daemon outlives this process
	daemon.Dir = rootDir()
	daemon.Stdout, daemon.Stderr = os.Stdout, os.Stderr
	if err := startDetached(daemon); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return daemon.Process.Release()
}

// startupEnv marks a launched daemon, whose standard output is the pipe for its report.
// It lacks the prefix "NOTESD_" because it is not a setting.
const startupEnv = "_NOTESD_LAUNCHED"

// maxReport bounds a startup report.
const maxReport = 64 << 10

// Startup reports to the launcher's caller whether a launched daemon is listening. The
// zero value, for a daemon started by hand, discards the report.
type Startup struct {
	once sync.Once
	out  *os.File
}

// StartError is the reason that a daemon did not start, and its report, as JSON. It is
// ErrLocked if another daemon came first.
type StartError struct {
	Message string `json:"error,omitempty"`  // empty in the report of a daemon that is listening
	Code    int    `json:"code,omitempty"`   // the exit code, or 0 if the daemon reported none
	Locked  bool   `json:"locked,omitempty"` // another daemon came first
}

func (e *StartError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrLocked) hold if another daemon came first.
func (e *StartError) Is(target error) bool { return target == ErrLocked && e.Locked }

// Inherited returns the Startup of this process. It must be called once, before
// configuration is read from the environment and before any process is started.
func Inherited() *Startup {
	if os.Getenv(startupEnv) == "" {
		return &Startup{}
	}
	_ = os.Unsetenv(startupEnv) // fails only for invalid names
	leaveLauncher()
	ignoreBrokenPipe()
	return &Startup{out: os.Stdout}
}

// Launched reports whether a launcher started this daemon.
func (s *Startup) Launched() bool { return s.out != nil }

// Ready reports that the daemon is listening, and closes the pipe. Only the first call
// of Ready or Fail has an effect.
func (s *Startup) Ready() error { return s.send(StartError{}) }

// Fail reports why the daemon could not start, and its exit code.
func (s *Startup) Fail(err error, code int) error {
	return s.send(StartError{err.Error(), code, errors.Is(err, ErrLocked)})
}

func (s *Startup) send(report StartError) (err error) {
	s.once.Do(func() {
		if s.out == nil {
			return
		}
		// Best effort: the launcher's caller may be gone.
		_ = json.NewEncoder(s.out).Encode(report)
		err = discardStdout()
	})
	return err
}

// errNoReport means that a launched daemon exited without a report.
var errNoReport = errors.New("the daemon exited while starting")

// readReport waits for the report of a launched daemon. If the daemon dies, the pipe
// ends without one.
func readReport(pipe io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(pipe, maxReport))
	if err != nil {
		return fmt.Errorf("wait for the daemon to start: %w", err)
	}
	report := &StartError{}
	if json.Unmarshal(data, report) != nil {
		return errNoReport
	}
	if report.Message == "" {
		return nil
	}
	return report
}
