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
	actions := map[string]func(context.Context, *config.Config) error{
		"install": a.installService, "uninstall": a.uninstallService, "status": a.serviceStatus,
	}
	cmd := &cobra.Command{
		Use:   "service [flags] install|uninstall|status",
		Short: "Keep the daemon running, from login on",
		Long: `Have systemd, launchd or Windows start the vault's daemon at every login of
yours, and now. It is for those who use the page or HTTP without an assistant:
"notesd mcp" starts a daemon by itself. Each vault has a service of its own;
uninstall stops it and leaves nothing.`,
		Example: `  notesd service install --vault ~/Notes
  notesd service status --json`,
		Args:              takes("install, uninstall or status"),
		ValidArgsFunction: completeWords("install", "uninstall", "status"),
		RunE: func(cmd *cobra.Command, args []string) error {
			act, ok := actions[args[0]]
			if !ok {
				return service.Usagef("There are install, uninstall and status.", "service does not know %q", args[0])
			}
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			return act(cmd.Context(), cfg)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// autostart returns the user's service manager and the vault's service.
func (a *app) autostart(cfg *config.Config) (autostart.System, autostart.Service, error) {
	server, err := a.server(cfg)
	if err != nil {
		return autostart.System{}, autostart.Service{}, err
	}
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	system := autostart.System{OS: runtime.GOOS, Home: lookup(a.env, home), ConfigHome: lookup(a.env, "XDG_CONFIG_HOME"), UID: os.Getuid(), Run: runManager}
	command := []string{server.Command, "serve", "--vault", cfg.Vault.Path}
	if a.stateFlag != "" || runtime.GOOS != "windows" { // a login may have no XDG_STATE_HOME; Windows takes no long command
		command = append(command, "--state", cfg.State)
	}
	if a.configFile != "" {
		file, err := filepath.Abs(a.configFile)
		if err != nil {
			return autostart.System{}, autostart.Service{}, err
		}
		command = append(command, "--config", file)
	}
	return system, autostart.Service{Vault: cfg.Vault.Path, State: cfg.State, Command: command, Log: filepath.Join(cfg.State, service.DaemonLog)}, nil
}

// runManager runs a command of the service manager.
func runManager(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return string(out), fmt.Errorf("%s: %w", name, err)
	}
	return string(out), nil
}

func (a *app) installService(ctx context.Context, cfg *config.Config) error {
	system, mine, err := a.autostart(cfg)
	if err != nil {
		return err
	}
	if err := service.MakePrivate(cfg.State); err != nil {
		return err
	}
	// The service's daemon needs the lock of one that runs; its clients stay.
	if _, err := daemon.Stop(ctx, cfg.State, service.HelloOf(cfg, daemon.KindRestart)); err != nil {
		return err
	}
	if err := system.Install(ctx, mine); err != nil {
		return &service.Failure{Code: "failed", Message: "the service could not be installed: " + err.Error(), Hint: "Nothing was left. The manager needs a session of yours: log in at the machine; on Linux, \"loginctl enable-linger\" gives you one."}
	}
	connector, err := a.connector(cfg, service.HelloOf(cfg, daemon.KindStatus))
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // it would start at the next login
		connector.Start = func(ctx context.Context) error {
			return daemon.Start(ctx, mine.Command[0], mine.Command[1:], mine.Log)
		}
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.Close(), a.serviceStatus(ctx, cfg))
}

func (a *app) uninstallService(ctx context.Context, cfg *config.Config) error {
	system, mine, err := a.autostart(cfg)
	if err != nil {
		return err
	}
	removed, err := system.Uninstall(ctx, mine)
	if err != nil {
		return err
	}
	if removed {
		if _, err := daemon.Stop(ctx, cfg.State, service.HelloOf(cfg, daemon.KindRestart)); err != nil {
			return err
		}
	}
	if a.json {
		return a.out.json(map[string]any{"removed": removed})
	}
	said := "there was no service"
	if removed {
		said = "removed the service; assistants start a daemon when they need one"
	}
	_, err = fmt.Fprintln(a.out, said)
	return err
}

func (a *app) serviceStatus(ctx context.Context, cfg *config.Config) error {
	system, mine, err := a.autostart(cfg)
	if err != nil {
		return err
	}
	st, err := system.Status(ctx, mine)
	if err != nil {
		return err
	}
	if a.json {
		return a.out.json(struct {
			Name string `json:"name"`
			autostart.Status
		}{mine.Name(), st})
	}
	if !st.Installed {
		_, err = fmt.Fprintf(a.out, "not installed: %s does not start a daemon for %s\n", st.Manager, a.out.line(cfg.Vault.Path))
		return err
	}
	c := serviceCheck(st, mine)
	_, err = fmt.Fprintf(a.out, "%s\n%s\n", a.out.line(c.Text), a.out.path(a.out.line(st.Place)))
	if err == nil && c.Do != "" {
		_, err = fmt.Fprintln(a.out, a.out.line(c.Do))
	}
	return err
}

// checkService returns doctor's check of the service, if there is one.
func (a *app) checkService(ctx context.Context, cfg *config.Config) []check {
	system, mine, err := a.autostart(cfg)
	if err != nil {
		return nil // a program that go run has built has none
	}
	st, err := system.Status(ctx, mine)
	if err != nil {
		return []check{{"service", problem, err.Error(), "Allow this user to read the file."}}
	}
	if !st.Installed {
		return nil
	}
	return []check{serviceCheck(st, mine)}
}

func serviceCheck(st autostart.Status, mine autostart.Service) check {
	c := check{Name: "service", State: fine, Text: fmt.Sprintf("%s starts %s at login", st.Manager, mine.Name())}
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

// serviceWait is how long a daemon that the manager starts may take to listen,
// before this program starts one itself, which reports what is wrong.
const serviceWait = 5 * time.Second

// startByManager has the service manager start the daemon of a vault that has a
// service, and reports whether it listens.
func (a *app) startByManager(ctx context.Context, cfg *config.Config) bool {
	system, mine, err := a.autostart(cfg)
	if err != nil || !system.Installed(mine) || system.Start(ctx, mine) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, serviceWait)
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
