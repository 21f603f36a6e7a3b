package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/service"
)

func serveCommand(a *app) *cobra.Command {
	var idleExit time.Duration
	var asService bool
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run the daemon of a vault",
		Long: `Run the daemon that serves a vault to all clients, until SIGTERM or Ctrl-C. This
is rarely needed: "notesd mcp" starts a daemon automatically.`,
		Example: `  notesd serve --vault ~/Notes
  notesd serve --vault ~/Notes --idle-exit 30m --log-level debug`,
		Args: takes(),
		RunE: a.configured(func(cmd *cobra.Command, _ []string, _ *config.Config) error {
			if idleExit < 0 {
				return service.Usagef("0 never exits.", "--idle-exit must not be negative")
			}
			o := a.serveOptions()
			o.IdleExit, o.Service = idleExit, asService
			return service.Serve(cmd.Context(), o)
		}),
	}
	cmd.Flags().String("http", "", "also serve MCP over HTTP at `addr`, such as 127.0.0.1:8931")
	cmd.Flags().DurationVar(&idleExit, "idle-exit", 0, "stop after this long without a client (0: never)")
	cmd.Flags().BoolVar(&asService, "service", false, "log as a service does")
	_ = cmd.Flags().MarkHidden("service") // for notesd service; it fails only for an unknown flag
	return cmd
}

func stopCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stop [flags]",
		Short: "Stop the vault's daemon",
		Long: `Stop the vault's daemon once it has answered all calls in flight. Clients stay
connected; their next call starts a new daemon.`,
		Example: `  notesd stop --vault ~/Notes
  notesd stop --json`,
		Args: takes(),
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg *config.Config) error {
			stopped, err := daemon.Stop(cmd.Context(), cfg.State, service.HelloOf(cfg, daemon.KindStop))
			if err != nil {
				return err
			}
			text := "no daemon is running"
			if stopped != 0 {
				text = fmt.Sprintf("stopped process %d", stopped)
			}
			return a.resultLine(map[string]any{"stopped": stopped}, text)
		}),
	}
}

func restartCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restart [flags]",
		Short: "Restart the vault's daemon with the current settings",
		Long: `Stop the vault's daemon once it has answered all calls in flight, and start a
new one with the current configuration. Clients stay connected. The new daemon
runs in the background and, without http.addr, stops 15 minutes after its last
client. To keep "notesd serve" or "notesd mirror" in its terminal or under your
service manager, with its flags, stop it and start it again there instead.`,
		Example: `  notesd restart --vault ~/Notes
  notesd restart --json`,
		Args: takes(),
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg *config.Config) error {
			ctx := cmd.Context()
			stopped, err := daemon.Stop(ctx, cfg.State, service.HelloOf(cfg, daemon.KindRestart))
			if err != nil {
				return err
			}
			started, err := a.startDaemon(ctx, cfg)
			if err != nil {
				return err
			}
			return a.resultLine(map[string]any{"stopped": stopped, "started": started}, fmt.Sprintf("started process %d", started))
		}),
	}
}

// startDaemon starts the vault's daemon unless one is running, and returns its process ID.
func (a *app) startDaemon(ctx context.Context, cfg *config.Config) (int, error) {
	connector, err := a.connector(cfg, service.HelloOf(cfg, daemon.KindStatus))
	if err != nil {
		return 0, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return 0, err
	}
	return conn.Daemon.PID, conn.Close()
}

// connector returns a connector to the vault's daemon that starts one if necessary.
func (a *app) connector(cfg *config.Config, hello daemon.Hello) (*daemon.Connector, error) {
	exe, err := program()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start the daemon: %w", err)
	}
	// All other settings come from the configuration file, because the daemon also serves
	// other clients.
	args := append([]string{"serve", "--idle-exit", launchedIdleExit.String()}, a.placeArgs(cfg, true)...)
	return &daemon.Connector{Dir: cfg.State, Hello: hello, Start: func(ctx context.Context) error {
		if a.startByManager(ctx, cfg) {
			return nil
		}
		return daemon.Start(ctx, exe, args, filepath.Join(cfg.State, service.DaemonLog))
	}}, nil
}

// launchedIdleExit is how long a daemon launched for a client keeps running without
// clients: longer than the pause between two questions.
const launchedIdleExit = 15 * time.Minute
