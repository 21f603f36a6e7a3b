package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// LaunchCommand is the first argument by which the program's main function knows
// that it is to be the launcher, and calls LaunchMain with the rest, before it
// does anything else.
const LaunchCommand = "__launch"

// Start starts exe with args as a detached daemon: in a session of its own, a
// child of init, working directory "/", standard error in logFile, without the
// open files of this process or its host. It keeps the environment. Paths in
// args must be absolute.
//
// A short-lived process, the launcher, starts the daemon, so that a host that
// kills its process tree does not reach it. The launcher is the system's
// shell, which starts ten times as fast as this program, or, where there is
// none, exe itself, which must call LaunchMain.
//
// Start returns when the daemon has reported through Startup: nil when it
// listens, a *StartError when it cannot. When ctx ends, Start returns and the
// daemon continues.
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
		err = errNoReport
	}
	if errors.Is(err, errNoReport) && ctx.Err() != nil { // which has ended the launcher
		err = fmt.Errorf("the daemon did not start in time: %w", context.Cause(ctx))
	}
	_ = launcher.Wait() // it ended before the daemon reported, or the context ends it
	if errors.Is(err, errNoReport) {
		return &StartError{Message: fmt.Sprintf("%v; %s", err, lastWords(logFile, logged))}
	}
	return err
}

// startLauncher starts the launcher. The daemon inherits the pipe for its
// report, the log file and the environment from it.
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

// ownLauncher returns this program as the launcher: it starts ten times as
// slowly as a shell, but always exists.
func ownLauncher(ctx context.Context, exe string, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, exe, append([]string{LaunchCommand, exe}, args...)...)
}

// LaunchMain is the launcher on systems without a shell. It starts the program
// args[0] with the arguments args[1:] as a daemon that inherits its streams,
// and returns the exit code for this process without waiting for the daemon.
func LaunchMain(args []string) int {
	if err := launch(args); err != nil {
		// The report goes to the pipe of the daemon.
		_ = json.NewEncoder(os.Stdout).Encode(report{Error: err.Error()})
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

// startupEnv marks a launched daemon, whose standard output is the pipe for
// its report. It has no "NOTESD_" in front, because it is not a setting.
const startupEnv = "_NOTESD_LAUNCHED"

// maxReport bounds a startup report.
const maxReport = 64 << 10

// Startup reports to the launcher's caller whether a launched daemon listens.
// The zero value, of a daemon that was started by hand, discards the report.
type Startup struct {
	once sync.Once
	out  *os.File
}

// report is the JSON object in the pipe.
type report struct {
	Error  string `json:"error,omitempty"` // empty: the daemon listens
	Code   int    `json:"code,omitempty"`
	Locked bool   `json:"locked,omitempty"`
}

// StartError is the reason that a daemon gave for not starting.
type StartError struct {
	Message string
	Code    int // the exit code that goes with it, 0 if the daemon gave none
	locked  bool
}

func (e *StartError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrLocked) hold when another daemon came first.
func (e *StartError) Is(target error) bool { return e.locked && target == ErrLocked }

// Inherited returns the Startup of this process. It is called once, before
// configuration is read from the environment and before any process is
// started.
func Inherited() *Startup {
	if os.Getenv(startupEnv) == "" {
		return &Startup{}
	}
	_ = os.Unsetenv(startupEnv) // fails only for names that are not valid
	leaveLauncher()
	ignoreBrokenPipe()
	return &Startup{out: os.Stdout}
}

// Launched reports whether this daemon was started by a launcher and not by
// hand.
func (s *Startup) Launched() bool { return s.out != nil }

// Ready reports that the daemon listens, and closes the pipe. Only the first
// call of Ready or Fail counts.
func (s *Startup) Ready() error { return s.send(report{}) }

// Fail reports why the daemon could not start and with what code it will exit.
func (s *Startup) Fail(err error, code int) error {
	return s.send(report{Error: err.Error(), Code: code, Locked: errors.Is(err, ErrLocked)})
}

func (s *Startup) send(r report) (err error) {
	s.once.Do(func() {
		if s.out == nil {
			return
		}
		// The caller of the launcher may be gone, and does not need the report
		// then.
		_ = json.NewEncoder(s.out).Encode(r)
		err = discardStdout()
	})
	return err
}

// errNoReport means that a launched daemon ended before its report.
var errNoReport = errors.New("the daemon exited while starting")

// readReport waits for the report of a launched daemon. The pipe ends without
// one if the daemon died.
func readReport(pipe io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(pipe, maxReport))
	if err != nil {
		return fmt.Errorf("wait for the daemon to start: %w", err)
	}
	var r report
	if json.Unmarshal(data, &r) != nil {
		return errNoReport
	}
	if r.Error != "" {
		return &StartError{Message: r.Error, Code: r.Code, locked: r.Locked}
	}
	return nil
}

// size returns the size of the file, 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// lastWords returns the end of the log of a daemon that died: from the reason
// of its crash if there is one. Its log starts at offset.
func lastWords(logFile string, offset int64) string {
	const most, enough = 64 << 10, 400
	f, err := os.Open(logFile)
	if err != nil {
		return "there is no log file " + logFile
	}
	defer f.Close()
	data, _ := io.ReadAll(io.NewSectionReader(f, offset, most)) // a part of the log is better than none
	said := strings.TrimSpace(string(data))
	for _, crash := range []string{"panic: ", "fatal error: "} {
		if i := strings.LastIndex(said, crash); i >= 0 && (i == 0 || said[i-1] == '\n') {
			said = said[i:]
			return logFile + " says: " + strings.ToValidUTF8(said[:min(len(said), enough)], "")
		}
	}
	return logFile + " ends: " + strings.ToValidUTF8(said[max(0, len(said)-enough):], "")
}
