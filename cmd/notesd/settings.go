package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/atomicfile"
	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
)

// The daemon's own log, when no other is configured: enough for a week of
// trouble, bounded at 40 MB.
const (
	daemonLog  = "notesd.log"
	logBytes   = 10 << 20
	logsToKeep = 3
)

// settings reads the configuration for a command that needs a vault.
func (a *app) settings(cmd *cobra.Command) (*config.Config, error) {
	cfg, err := a.configuration(cmd)
	if err != nil {
		return nil, err
	}
	if cfg.Vault.Path != "" {
		return cfg, nil
	}
	vault := obsidianVault()
	if vault != "" && looks[cmd.Name()] {
		a.note("No vault is configured; this is " + vault + ", which has a .obsidian folder.")
		if err := cmd.Flags().Set("vault", vault); err != nil {
			return nil, err
		}
		return a.configuration(cmd)
	}
	f := &failure{
		Code:    "config",
		Message: "no vault is configured",
		Hint:    "Name the folder of your notes with --vault DIR, with the variable NOTESD_VAULT, or as path under [vault] in notesd.toml.",
	}
	if vault != "" {
		f.Hint = fmt.Sprintf("This folder is in an Obsidian vault: %s --vault %s", cmd.CommandPath(), quoted(vault))
	}
	return nil, f
}

// looks has the commands that change no note and serve nobody else. They use the
// Obsidian vault that they are called in when no vault is configured; a command
// that writes, or whose effect lasts, wants the vault named.
var looks = map[string]bool{
	"search": true, "read": true, "list": true, "history": true, "index": true, "status": true, "doctor": true, "export": true,
}

// obsidianVault is the Obsidian vault that the working directory is in, or "".
func obsidianVault() string {
	dir, err := os.Getwd()
	for err == nil {
		if isFolder(filepath.Join(dir, ".obsidian")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&()*;<>?`|~#") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// configuration reads the configuration. A daemon that was launched for a client
// does not take that client's environment for settings: it serves others, too. A
// key is no setting, and it may be nowhere else.
func (a *app) configuration(cmd *cobra.Command) (*config.Config, error) {
	a.read = func() (*config.Loaded, error) {
		return config.Read(config.Sources{File: a.configFile, Env: a.settingsEnv(), Flags: cmd.Flags()})
	}
	loaded, err := a.read()
	if err != nil {
		return nil, err
	}
	a.loaded = loaded
	return loaded.Config, nil
}

// settingsEnv is the environment as far as it holds settings.
func (a *app) settingsEnv() []string {
	env := a.env
	if a.startup.Launched() {
		env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
			return strings.HasPrefix(kv, "NOTESD_") && !strings.HasPrefix(kv, config.APIKeyVariable+"=")
		})
	}
	return env
}

// running are the settings of a process that goes on.
func (a *app) running() *runningSettings { return newRunningSettings(a.loaded, a.read) }

// passed are the daemon's settings among those that this process was given.
func (a *app) passed() []daemon.Passed {
	var passed []daemon.Passed
	for _, p := range a.loaded.Passed() {
		passed = append(passed, daemon.Passed(p))
	}
	return passed
}

// remark prints, once, what the daemon remarks on the settings of this process.
func (a *app) remark(conn *daemon.Conn) {
	for _, remark := range conn.Remarks {
		if !slices.Contains(a.remarked, remark) {
			a.remarked = append(a.remarked, remark)
			a.note(remark + ".")
		}
	}
}

// makePrivate makes the state directory, or takes others' permissions from it.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusableState(fmt.Errorf("the state directory cannot be made: %w", err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("make the state directory private: %w", err)
	}
	return nil
}

// unusableState adds to the failure of a state directory what to do about it.
func unusableState(err error) error {
	return &failure{Code: "state", Message: err.Error(), Hint: "Name a folder that you may write to with --state DIR or with the variable NOTESD_STATE."}
}

// lockProblem is the error of a lock, with what to do where the state directory
// cannot be written to.
func lockProblem(err error) error {
	if atomicfile.IsReadOnlyDisk(err) || errors.Is(err, fs.ErrPermission) {
		return unusableState(err)
	}
	return err
}

// logs is where a run's log goes.
type logs struct {
	*slog.Logger
	clients *mcp.ClientLog
	file    io.Closer
	apart   bool // standard error does not go there
}

func (l *logs) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// openLogs opens the log of a process that serves: the configured file, or
// standard error, or, for a launched daemon, a file in the state directory. It
// goes to clients as well, at the levels they ask for.
func (a *app) openLogs(cfg *config.Config) (*logs, error) {
	l := &logs{clients: mcp.NewClientLog()}
	name := cfg.Log.File
	if name == "" && a.startup.Launched() {
		name = filepath.Join(cfg.State, daemonLog)
	}
	out := io.Writer(a.err)
	if name != "" {
		file, err := daemon.OpenLog(name, logBytes, logsToKeep)
		if err != nil {
			return nil, unopenedLog(cfg, err)
		}
		if a.startup.Launched() {
			if err := file.CaptureStderr(); err != nil {
				return nil, errors.Join(err, file.Close())
			}
		}
		l.file, out, l.apart = file, file, !a.startup.Launched()
	}
	handler := slog.NewTextHandler(out, &slog.HandlerOptions{Level: levelOf(cfg.Log.Level)})
	l.Logger = slog.New(slog.NewMultiHandler(handler, l.clients))
	l.adopt()
	return l, nil
}

// unopenedLog is the failure of a log that cannot be opened, where the user has
// named it.
func unopenedLog(cfg *config.Config, err error) error {
	if cfg.Log.File == "" {
		return err
	}
	return &failure{Code: "config", Message: err.Error(), Hint: "Name another file with --log-file, or as file under [log] in notesd.toml."}
}

// adopt has the log take what libraries print with the standard one, for lack
// of another: Bleve does so of a segment that it cannot open.
func (l *logs) adopt() {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(l.Logger) //nolint:forbidigo // ours has one that was handed in; libraries know no other
}

// openCommandLogs opens the log of a shell command, which is silent unless it
// was asked for one: what goes wrong is the command's error.
func (a *app) openCommandLogs(cmd *cobra.Command, cfg *config.Config) (*logs, error) {
	if cfg.Log.File != "" || cmd.Flags().Changed("log-level") {
		return a.openLogs(cfg)
	}
	l := &logs{Logger: slog.New(slog.DiscardHandler), clients: mcp.NewClientLog()}
	l.adopt()
	return l, nil
}

func levelOf(name string) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(name)) // the configuration has checked it
	return level
}
