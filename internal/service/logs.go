package service

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
)

// The daemon's default log: enough for a week of problems, at most 40 MB.
const (
	DaemonLog  = "notesd.log"
	logBytes   = 10 << 20
	logsToKeep = 3
)

// Logs is the log of a process.
type Logs struct {
	*slog.Logger
	clients *mcp.ClientLog
	file    io.Closer
	apart   bool // in a file, separate from standard error
}

// Close closes the log file, if any.
func (l *Logs) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// OpenLogs opens the log of a process that serves: the configured file, a file in the
// state directory for a daemon in the background, or standard error. Clients receive
// records of the levels that they request.
func OpenLogs(cfg *config.Config, stderr io.Writer, background bool) (*Logs, error) {
	l := &Logs{clients: mcp.NewClientLog()}
	name := cfg.Log.File
	if name == "" && background {
		name = filepath.Join(cfg.State, DaemonLog)
	}
	out := stderr
	if name != "" {
		file, err := openLog(cfg, name)
		if err != nil {
			return nil, err
		}
		if background {
			if err := file.CaptureStderr(); err != nil {
				return nil, errors.Join(err, file.Close())
			}
		}
		l.file, out, l.apart = file, file, !background
	}
	handler := slog.NewTextHandler(out, &slog.HandlerOptions{Level: LevelOf(cfg.Log.Level)})
	l.Logger = slog.New(slog.NewMultiHandler(handler, l.clients))
	l.adopt()
	return l, nil
}

// logFailure logs why a service failed on Windows, where its command has no standard error
// to report it on, and returns the error.
func logFailure(o ServeOptions, err error) error {
	if err == nil || !o.Service || runtime.GOOS != "windows" {
		return err
	}
	logs, openErr := OpenLogs(o.Loaded.Config, o.Stderr, true)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	logs.Error("notesd failed", "err", err)
	return errors.Join(err, logs.Close())
}

func openLog(cfg *config.Config, name string) (*daemon.LogFile, error) {
	file, err := daemon.OpenLog(name, logBytes, logsToKeep)
	if err != nil && cfg.Log.File != "" {
		err = &Failure{Code: "config", Message: err.Error(), Hint: "Name another file with --log-file, or as file under [log] in notesd.toml."}
	}
	return file, err
}

// CheckLog returns a failure if the configured log file cannot be opened.
func CheckLog(cfg *config.Config) error {
	if cfg.Log.File == "" {
		return nil
	}
	file, err := openLog(cfg, cfg.Log.File)
	if err != nil {
		return err
	}
	return file.Close()
}

// adopt makes this the default log of the process, for libraries that do not accept a
// logger: Bleve reports a segment that it cannot open there.
func (l *Logs) adopt() {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(l.Logger) //nolint:forbidigo // libraries write to the default logger
}

// DiscardLogs returns a log that discards its records, for commands, which return their
// errors instead.
func DiscardLogs() *Logs {
	l := &Logs{Logger: slog.New(slog.DiscardHandler), clients: mcp.NewClientLog()}
	l.adopt()
	return l
}

// LevelOf returns the log level with the given name.
func LevelOf(name string) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(name)) // validated by package config
	return level
}
