package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
)

func serveCommand(a *app) *cobra.Command {
	var idleExit time.Duration
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run the daemon that shares one vault",
		Long: `Run the daemon that serves one vault to all clients, until it is stopped with
SIGTERM or Ctrl-C. It is seldom needed: "notesd mcp" starts one by itself.`,
		Example: `  notesd serve --vault ~/Notes
  notesd serve --vault ~/Notes --idle-exit 30m --log-level debug`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if idleExit < 0 {
				return usagef("0 never exits.", "--idle-exit must not be negative")
			}
			return a.serve(cmd.Context(), cfg, idleExit)
		},
	}
	cmd.Flags().DurationVar(&idleExit, "idle-exit", 0, "stop when nobody has used it for so long (0: never)")
	return cmd
}

// serve runs the daemon: the lock first, so that nothing ever waits for another
// process's database or index, then the store, then the socket.
func (a *app) serve(ctx context.Context, cfg *config.Config, idleExit time.Duration) (err error) {
	lock, err := lockState(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	logs, err := a.openLogs(cfg)
	if err != nil {
		return err
	}
	s := newService(cfg, logs)
	s.watcher = s.newWatcher()
	err = s.run(ctx, func(ctx context.Context) error {
		if _, err := s.vault.get(ctx); err != nil {
			return nil // stopped, or the store could not be opened, which is the error
		}
		return a.acceptSessions(ctx, s, lock, idleExit)
	})
	if err != nil {
		logs.Error("the daemon failed", "err", err)
	}
	return errors.Join(err, logs.close())
}

// acceptSessions listens on the socket until the daemon is to stop.
func (a *app) acceptSessions(ctx context.Context, s *service, lock *daemon.Lock, idleExit time.Duration) error {
	listener, err := daemon.Listen(lock)
	if err != nil {
		return err
	}
	log := s.logs.Logger
	server := &daemon.Server{Listener: listener, Lock: lock, Identity: identity(), IdleExit: idleExit, Logger: log}
	status := func() daemonStatus {
		return daemonStatus{Running: true, PID: os.Getpid(), Clients: server.Clients()}
	}
	s.daemon.Store(&status)
	log.Info("serving", "vault", s.cfg.Vault.Path, "state", s.cfg.State, "pid", os.Getpid(), "version", version())
	if err := a.startup.Ready(); err != nil {
		log.Warn("the start could not be reported", "err", err)
	}
	err = server.Serve(ctx, func(ctx context.Context, session *daemon.Session) error {
		return s.core.ServeLines(ctx, session.Conn, session.Conn, profileOfHello(session.Hello))
	})
	switch {
	case errors.Is(err, daemon.ErrIdle), errors.Is(err, daemon.ErrReplaced):
		log.Info("stopping", "reason", err)
		return nil
	case err == nil:
		log.Info("stopping", "reason", "a signal")
	}
	return err
}

// profileOfHello is how a client wants its session narrowed.
func profileOfHello(h daemon.Hello) mcp.Profile {
	p := mcp.Profile{ReadOnly: h.ReadOnly}
	if len(h.Tools) > 0 {
		p.Tools = h.Tools
	}
	if len(h.Scopes) > 0 {
		p.Read = h.Scopes
	}
	return p
}
