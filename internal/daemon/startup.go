package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

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
	Hint   string `json:"hint,omitempty"`
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

// readReport waits for the report of a launched daemon. The pipe ends without
// one when the daemon died.
func readReport(pipe io.Reader, logFile string) error {
	data, err := io.ReadAll(io.LimitReader(pipe, maxReport))
	if err != nil {
		return fmt.Errorf("wait for the daemon to start: %w", err)
	}
	var r report
	if json.Unmarshal(data, &r) != nil {
		return &StartError{Message: "the daemon died while it started; " + lastWords(logFile)}
	}
	if r.Error != "" {
		return &StartError{Message: r.Error, Code: r.Code, locked: r.Locked}
	}
	return nil
}

// lastWords returns the end of the log file, where a crash leaves its trace.
func lastWords(logFile string) string {
	const tail = 400
	f, err := os.Open(logFile)
	if err != nil {
		return "there is no log file " + logFile
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		_, _ = f.Seek(-tail, io.SeekEnd) // failing that, its beginning is shown
	}
	data, _ := io.ReadAll(io.LimitReader(f, tail))
	return fmt.Sprintf("the end of %s: %s", logFile, strings.ToValidUTF8(strings.TrimSpace(string(data)), "?"))
}
