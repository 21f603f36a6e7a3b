package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
)

func mcpCommand(a *app) *cobra.Command {
	var inProcess bool
	var tools string
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Serve MCP over stdio: what an assistant launches",
		Example: `  claude mcp add notes -- notesd mcp --vault ~/Notes
  notesd mcp --vault ~/Notes --read-only --tools search_notes,read_note`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			profile := mcp.Profile{Tools: toolList(tools)}
			if err := profile.Validate(); err != nil {
				return err
			}
			return a.mcpInProcess(cmd.Context(), cfg, profile)
		},
	}
	cmd.Flags().BoolVar(&inProcess, "in-process", false, "without a daemon, as in a container")
	cmd.Flags().Bool("read-only", false, "offer no tool that writes")
	cmd.Flags().StringVar(&tools, "tools", "", "offer these only: a `list` of names, or of default, read, write, all")
	return cmd
}

func toolList(flag string) []string {
	var names []string
	for _, name := range strings.Split(flag, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// mcpInProcess serves one client and the vault in this process.
func (a *app) mcpInProcess(ctx context.Context, cfg *config.Config, profile mcp.Profile) error {
	lock, err := lockState(ctx, cfg)
	if err != nil {
		return err
	}
	logs, err := a.openLogs(cfg)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	s := newService(cfg, logs)
	s.watcher = s.newWatcher()
	err = s.run(ctx, func(ctx context.Context) error {
		err := s.core.ServeLines(ctx, a.in, a.stdout, profile)
		if errors.Is(err, context.Canceled) {
			return nil // a signal: the client has been answered as far as there was time
		}
		return err
	})
	return errors.Join(err, logs.close(), lock.Release())
}

func lockState(ctx context.Context, cfg *config.Config) (*daemon.Lock, error) {
	if err := makePrivate(cfg.State); err != nil {
		return nil, err
	}
	return daemon.Acquire(ctx, cfg.State, identity())
}
