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

// startupEnv tells a daemon that it was launched and that its standard output is
// the pipe to report on. It has no "NOTESD_" in front, so that it is not taken
// for a setting.
const startupEnv = "_NOTESD_LAUNCHED"

// maxReport bounds a startup report.
const maxReport = 64 << 10

// Startup is how a launched daemon tells its launcher's caller whether it came
// up. The zero value, of a daemon that was started by hand, reports to nobody.
type Startup struct {
	once sync.Once
	out  *os.File
}

// report is what goes through the pipe: one JSON object, then the end.
type report struct {
	Error  string `json:"error,omitempty"` // empty: the daemon listens
	Code   int    `json:"code,omitempty"`
	Locked bool   `json:"locked,omitempty"`
}

// StartError is why a daemon could not start, in its own words.
type StartError struct {
	Message string
	Code    int // the exit code that goes with it, 0 if the daemon gave none
	locked  bool
}

func (e *StartError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrLocked) hold when another daemon came first.
func (e *StartError) Is(target error) bool { return e.locked && target == ErrLocked }

// Inherited returns how to report the startup of this process. It is called
// once, before configuration is read from the environment and before any
// process is started.
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

// Ready reports that the daemon listens, and lets go of the pipe. Only the first
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
		// Whoever started us may be gone; then nobody misses the report.
		_ = json.NewEncoder(s.out).Encode(r)
		err = discardStdout()
	})
	return err
}

// errNoReport is that a launched daemon ended before it reported.
var errNoReport = errors.New("the daemon died while it started")

// readReport waits for the report of a launched daemon. The pipe ends without
// one when the daemon died.
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

// lastWords returns what a daemon that died said last in its log file: the
// reason of its crash, or else the end. Before offset it was silent.
func lastWords(logFile string, offset int64) string {
	const most, enough = 64 << 10, 400
	f, err := os.Open(logFile)
	if err != nil {
		return "there is no log file " + logFile
	}
	defer f.Close()
	data, _ := io.ReadAll(io.NewSectionReader(f, offset, most)) // what can be read is better than nothing
	said := strings.TrimSpace(string(data))
	for _, crash := range []string{"panic: ", "fatal error: "} {
		if i := strings.LastIndex(said, crash); i >= 0 && (i == 0 || said[i-1] == '\n') {
			said = said[i:]
			return logFile + " says: " + strings.ToValidUTF8(said[:min(len(said), enough)], "")
		}
	}
	return logFile + " ends: " + strings.ToValidUTF8(said[max(0, len(said)-enough):], "")
}
