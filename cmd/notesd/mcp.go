package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/relay"
	"notesd/internal/service"
)

func mcpCommand(a *app) *cobra.Command {
	var inProcess bool
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Serve MCP over stdio, for an assistant to launch",
		Example: `  claude mcp add --scope user notes -- notesd mcp --vault ~/Notes
  notesd mcp --vault ~/Notes --read-only --tools search_notes,read_note`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.settings(cmd)
			if err == nil {
				err = service.MakePrivate(cfg.State)
			}
			if err == nil && a.loaded.IsPassed("log.file") {
				err = service.CheckLog(cfg)
			}
			if err != nil {
				a.refuse(cmd.Context(), err)
				return err
			}
			if inTerminal(a.in) {
				a.note("notesd mcp speaks MCP on standard input and output: it is for an assistant to launch. Register it with notesd setup; Ctrl-D ends this one.")
			}
			if inProcess {
				serve, err := service.ServeStdio(cmd.Context(), a.serveOptions())
				if err == nil {
					return serve(a.in, a.stdout)
				}
				if !errors.Is(err, daemon.ErrLocked) {
					a.refuse(cmd.Context(), err)
					return err
				}
				// Hosts may launch several containers with the same volume for the state.
			}
			return a.relay(cmd.Context(), cfg, !allTools, a.in, a.stdout)
		},
	}
	cmd.Flags().BoolVar(&inProcess, "in-process", false, "serve in this process, unless another one serves the vault")
	cmd.Flags().Bool("read-only", false, "offer only tools that read")
	cmd.Flags().String("tools", "", "offer only these tools: a `list` of names, or reader, writer, all")
	completes(cmd, "tools", completeTools)
	return cmd
}

// refuse answers the client's first request with the error. Hosts show an answer to the
// user, but not what a server that ends without one prints.
func (a *app) refuse(ctx context.Context, err error) {
	if inTerminal(a.in) {
		return
	}
	fail := func(context.Context, bool) (io.ReadWriteCloser, error) { return nil, service.WithHint(err) }
	_ = (&relay.Relay{In: a.in, Out: a.stdout, Dial: fail}).Run(ctx) // the caller reports err
}

// allTools requests a session with all tools, for the user's own use, ignoring
// vault.tools.
const allTools = true

// relay connects the client at in and out to the vault's daemon, starting one if
// necessary.
func (a *app) relay(ctx context.Context, cfg *config.Config, allTools bool, in io.ReadCloser, out io.WriteCloser) (err error) {
	log := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: service.LevelOf(cfg.Log.Level)}))
	if a.loaded.IsPassed("log.file") { // a log file set in the configuration file is the daemon's
		logs, err := service.OpenLogs(cfg, a.err, a.startup.Launched())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, logs.Close()) }()
		log = logs.Logger
	}
	loaded := a.loaded
	connector, err := a.connector(cfg, daemon.Hello{})
	if err != nil {
		return err
	}
	connector.Successor, connector.Logger = connector.Start, log
	dial := func(ctx context.Context, asked bool) (io.ReadWriteCloser, error) {
		if now, err := a.read(); err == nil { // the file may have changed
			now.Vault.Path, now.Vault.Folders, now.State, loaded = cfg.Vault.Path, cfg.Vault.Folders, cfg.State, now
		} else {
			log.Warn("the configuration cannot be read again, and is used as it was", "error", err)
		}
		c := *connector
		c.Lazy, c.Hello = !asked, helloOf(loaded, daemon.KindMCP)
		if allTools {
			c.Hello.Tools = nil
		}
		conn, err := c.Connect(ctx)
		if err != nil {
			return nil, service.WithHint(err) // not conn: a nil *Conn would be a non-nil interface
		}
		a.remark(conn.Remarks...)
		return conn, nil
	}
	r := &relay.Relay{In: in, Out: out, Dial: dial, Logger: log}
	return r.Run(ctx)
}
