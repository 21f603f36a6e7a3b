package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/autostart"
	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/service"
)

func serviceCommand(a *app) *cobra.Command {
	actions := map[string]func(*loginService, context.Context) error{
		"install": (*loginService).install, "uninstall": (*loginService).uninstall, "status": (*loginService).status,
	}
	cmd := &cobra.Command{
		Use:   "service [flags] install|uninstall|status",
		Short: "Start the daemon at login",
		Long: `Have systemd, launchd or Windows start the vault's daemon now and at every
login. This is useful for the web page, or for HTTP without an assistant:
"notesd mcp" starts a daemon automatically. Each vault has its own service;
uninstall stops and removes it. On a Linux server, also run "loginctl
enable-linger": without it, systemd stops the daemon when you log out.`,
		Example: `  notesd service install --vault ~/Notes
  notesd service status --json`,
		Args:              takes("install, uninstall or status"),
		ValidArgsFunction: completeWords("install", "uninstall", "status"),
		RunE: func(cmd *cobra.Command, args []string) error {
			act, ok := actions[args[0]]
			if !ok {
				return service.Usagef("Use install, uninstall or status.", "service has no action %q", args[0])
			}
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			s, err := a.loginService(cfg)
			if err != nil {
				return err
			}
			return act(s, cmd.Context())
		},
	}
	return cmd
}

// loginService is the service that starts a vault's daemon at login, with the user's
// service manager.
type loginService struct {
	*app
	cfg    *config.Config
	system autostart.System
	mine   autostart.Service
}

func (a *app) loginService(cfg *config.Config) (*loginService, error) {
	server, err := a.server(cfg)
	if err != nil {
		return nil, err
	}
	env := hostEnv(a.env)
	system := autostart.System{OS: env.OS, Home: env.Home(), ConfigHome: env.Variable("XDG_CONFIG_HOME"), UID: os.Getuid(), Run: runManager}
	// XDG_STATE_HOME may not be set at login; Windows limits the length of the command.
	args := a.placeArgs(cfg, a.stateFlag != "" || runtime.GOOS != "windows")
	mine := autostart.Service{Vault: cfg.Vault.String(), State: cfg.State, Command: append([]string{server.Command, "serve", "--service"}, args...), Log: filepath.Join(cfg.State, service.DaemonLog)}
	return &loginService{app: a, cfg: cfg, system: system, mine: mine}, nil
}

// managerLimit is the timeout of a service manager command.
const managerLimit = 30 * time.Second

// runManager runs a service manager command without input.
func runManager(ctx context.Context, name string, args ...string) (string, error) {
	return runWithin(ctx, managerLimit, name, args...)
}

func runWithin(ctx context.Context, limit time.Duration, name string, args ...string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	run := exec.CommandContext(bounded, name, args...)
	run.WaitDelay = time.Second // for orphaned processes that keep the output open, as with Wine's reg
	out, err := run.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	case ctx.Err() == nil && bounded.Err() != nil:
		err = fmt.Errorf("no answer after %v; run it by hand to see what it waits for: %s %s", limit, name, strings.Join(args, " "))
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return string(out), fmt.Errorf("%s: %w", name, err)
	}
	return string(out), nil
}

func (s *loginService) install(ctx context.Context) error {
	if err := service.MakePrivate(s.cfg.State); err != nil {
		return err
	}
	err := s.system.Check(ctx)
	if err == nil {
		// The service's daemon needs the lock of a running daemon, whose clients reconnect.
		if _, err := daemon.Stop(ctx, s.cfg.State, service.HelloOf(s.cfg, daemon.KindRestart)); err != nil {
			return err
		}
		err = s.system.Install(ctx, s.mine)
	}
	if err != nil {
		return &service.Failure{Code: "failed", Message: "the service could not be installed: " + err.Error(), Hint: "Nothing was installed. The service manager needs a login session: log in at the machine; on Linux, \"loginctl enable-linger\" gives you one."}
	}
	connector, err := s.connector(s.cfg, service.HelloOf(s.cfg, daemon.KindStatus))
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // it would not start before the next login
		connector.Start = func(ctx context.Context) error {
			return daemon.Start(ctx, s.mine.Command[0], s.mine.Command[1:], s.mine.Log)
		}
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.Close(), s.status(ctx))
}

func (s *loginService) uninstall(ctx context.Context) error {
	removed, err := s.system.Uninstall(ctx, s.mine)
	if err != nil {
		return err
	}
	if removed {
		if _, err := daemon.Stop(ctx, s.cfg.State, service.HelloOf(s.cfg, daemon.KindRestart)); err != nil {
			return err
		}
	}
	text := "there was no service"
	if removed {
		text = "removed the service; assistants start a daemon when they need one"
	}
	return s.resultLine(map[string]any{"removed": removed}, text)
}

func (s *loginService) status(ctx context.Context) error {
	st, err := s.system.Status(ctx, s.mine)
	if err != nil {
		return err
	}
	document := struct {
		Name string `json:"name"`
		autostart.Status
	}{s.mine.Name(), st}
	return s.result(document, func() {
		if !st.Installed {
			fmt.Fprintf(s.out, "not installed: %s does not start a daemon for %s\n", st.Manager, s.out.line(s.cfg.Vault.String()))
			return
		}
		c := s.check(st)
		fmt.Fprintf(s.out, "%s\n%s\n", s.out.line(c.Text), s.out.path(st.Place))
		if c.Do != "" {
			fmt.Fprintln(s.out, s.out.line(c.Do))
		}
	})
}

// checkService returns doctor's check of the service, if it is installed.
func (a *app) checkService(ctx context.Context, cfg *config.Config) []check {
	s, err := a.loginService(cfg)
	if err != nil {
		return nil // built by go run
	}
	st, err := s.system.Status(ctx, s.mine)
	if err != nil {
		return []check{{"service", problem, err.Error(), "Allow this user to read the file."}}
	}
	if !st.Installed {
		return nil
	}
	return []check{s.check(st)}
}

func (s *loginService) check(st autostart.Status) check {
	c := check{Name: "service", State: fine, Text: fmt.Sprintf("%s starts %s at login", st.Manager, s.mine.Name())}
	switch {
	case !st.Current:
		c.State, c.Text, c.Do = remark, c.Text+", with another program or other arguments than this one would", "Run notesd service install to have it start this one."
	case st.Running:
		c.Text += ", and runs it"
	case st.Manager != "Windows":
		c.State, c.Text, c.Do = remark, c.Text+", and does not run it now", "The next client has it started. If it ended by itself, the log says why: notesd service install starts it again."
	}
	return c
}

// serviceWait is how long a daemon started by the service manager may take to listen.
// After that this program starts one itself, which reports what is wrong.
const serviceWait = 5 * time.Second

// startByManager makes the service manager start the daemon of a vault, if the service is
// installed, and reports whether the daemon listens.
func (a *app) startByManager(ctx context.Context, cfg *config.Config) bool {
	s, err := a.loginService(cfg)
	if err != nil || !s.system.CanStart(s.mine) || s.system.Start(ctx, s.mine) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, max(serviceWait, service.Waits.FirstScan))
	defer cancel()
	for poll := time.NewTicker(20 * time.Millisecond); ; {
		if _, err := daemon.Probe(ctx, cfg.State); err == nil {
			return true
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return false
		}
	}
}
