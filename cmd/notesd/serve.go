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
		Args: takes(),
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
	cmd.Flags().String("http", "", "also serve MCP over HTTP at `addr`, as in 127.0.0.1:8931")
	cmd.Flags().DurationVar(&idleExit, "idle-exit", 0, "stop when nobody has used it for so long (0: never)")
	return cmd
}

// serve runs the daemon: the lock first, so that nothing ever waits for another
// process's database or index, then the store, then the socket.
func (a *app) serve(ctx context.Context, cfg *config.Config, idleExit time.Duration) error {
	lock, err := lockState(ctx, cfg)
	if err != nil {
		return err
	}
	logs, err := a.openLogs(cfg)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	s := newService(cfg, logs, watching)
	s.settings = a.running()
	return s.runLocked(ctx, lock, func(ctx context.Context) error {
		if !s.opens(ctx) {
			return nil // stopped; or the store cannot be opened, and that is the error
		}
		err := a.acceptAll(ctx, s, lock, idleExit)
		if errors.Is(err, daemon.ErrIdle) || errors.Is(err, daemon.ErrReplaced) || errors.Is(err, daemon.ErrStopped) {
			s.logs.Info("stopping", "reason", err)
			return nil
		}
		return err
	})
}

// openPatience is how long the socket waits for the store. A store that cannot be
// opened shows in that time, and whoever launched us is told why; one that takes
// longer, as a new one may, is waited for by the requests that need it.
const openPatience = 15 * time.Millisecond

// opens reports whether the service may be let at clients.
func (s *service) opens(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	_, _ = s.vault.get(soon)
	return ctx.Err() == nil
}

// lockPatience is how long a server waits for a command that has the vault to
// itself just now; one that takes longer serves others meanwhile.
const lockPatience = 20 * time.Second

// lockState takes the lock of the state directory. It does not wait for a
// process that serves.
func lockState(ctx context.Context, cfg *config.Config) (*daemon.Lock, error) {
	if err := makePrivate(cfg.State); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		lock, err := daemon.Acquire(ctx, cfg.State, identity())
		if err == nil {
			return claimed(cfg, lock)
		}
		var locked *daemon.LockedError
		if !errors.As(err, &locked) || locked.Holder.Socket != "" {
			return nil, lockProblem(err)
		}
		select {
		case <-time.After(turnPoll):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// accept serves clients on the socket until ctx ends or the server has its own
// reason to stop. It calls ready when the socket is there; url is where it can be
// reached over HTTP, if it can.
func (s *service) accept(ctx context.Context, lock *daemon.Lock, idleExit time.Duration, url string, ready func() error) error {
	listener, err := daemon.Listen(lock)
	if err != nil {
		return err
	}
	log := s.logs.Logger
	var remarks func(daemon.Hello) []string
	if s.settings != nil {
		remarks = s.settings.remarks
	}
	server := &daemon.Server{Remarks: remarks, Listener: listener, Lock: lock, Identity: identity(), Vault: config.RealPath(s.cfg.Vault.Path), IdleExit: idleExit, Logger: log}
	status := func() daemonStatus {
		return daemonStatus{Running: true, PID: os.Getpid(), Clients: server.Clients(), HTTP: url, TokenFile: tokenOf(s.cfg, url)}
	}
	s.daemon.Store(&status)
	log.Info("serving", "vault", s.cfg.Vault.Path, "state", s.cfg.State, "pid", os.Getpid(), "version", version())
	if err := ready(); err != nil {
		log.Warn("the start could not be reported", "err", err)
	}
	working, done := context.WithCancel(ctx)
	held := make(chan struct{})
	go func() {
		defer close(held)
		s.holdWhileEmbedding(working, server)
	}()
	defer func() { done(); <-held }()
	return server.Serve(ctx, func(ctx context.Context, session *daemon.Session) error {
		t := &mcp.LineTransport{In: session.Conn, Out: session.Conn}
		profile := s.profileOfHello(session.Hello)
		if s.settings != nil {
			defer s.settings.connected(profile.Remarks)()
		}
		return s.core.Serve(ctx, t, profile)
	})
}

// embeddingPoll is how often a daemon that might be idle looks whether passages
// wait to be embedded; far less than any idle time.
const embeddingPoll = 10 * time.Second

// holdWhileEmbedding keeps the server from being idle while there is work that
// can be done.
func (s *service) holdWhileEmbedding(ctx context.Context, server *daemon.Server) {
	tick := time.NewTicker(embeddingPoll)
	defer tick.Stop()
	release := func() {}
	for {
		vectors, _ := s.vectors.peek()
		now := func() {}
		if vectors != nil {
			if st := vectors.Status(); st.Pending > 0 && st.Trouble == "" {
				now = server.Hold()
			}
		}
		release()
		release = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			release()
			return
		}
	}
}

// acceptAll serves clients on the socket and, where that is configured, over
// HTTP. A daemon with an HTTP listener does not stop for being idle: its clients
// cannot start another.
func (a *app) acceptAll(ctx context.Context, s *service, lock *daemon.Lock, idleExit time.Duration) error {
	web, err := s.listenWeb(ctx)
	if err != nil && !a.startup.Launched() {
		return err
	}
	if err != nil { // the clients that had us launched do not need it
		s.logs.Error("there is no HTTP listener", "err", err)
	}
	if web == nil {
		return s.accept(ctx, lock, idleExit, "", a.startup.Ready)
	}
	s.logs.Info("serving over HTTP", "url", web.url, "token_file", tokenPath(s.cfg))
	ctx, done := context.WithCancel(ctx)
	defer done()
	served := make(chan error, 1)
	go func() {
		defer done()
		served <- web.handler.Serve(ctx, web.listener)
	}()
	err = s.accept(ctx, lock, 0, web.url, a.startup.Ready)
	done()
	return errors.Join(err, <-served)
}

// beside is a front that also accepts clients on the socket, so that a process
// that needs the vault for long keeps nobody else from it.
func (s *service) beside(lock *daemon.Lock, front func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, done := context.WithCancel(ctx)
		defer done()
		accepted := make(chan error, 1)
		go func() { accepted <- s.accept(ctx, lock, 0, "", func() error { return nil }) }()
		err := front(ctx)
		done()
		if acceptErr := <-accepted; acceptErr != nil {
			s.logs.Warn("other clients could not be served", "err", acceptErr)
		}
		return err
	}
}
