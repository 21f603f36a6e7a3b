package service

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
)

// ServeOptions configure a process that serves clients.
type ServeOptions struct {
	Loaded   *config.Loaded                 // the settings at the start
	Read     func() (*config.Loaded, error) // reads the current settings
	Startup  *daemon.Startup                // reports to the launching process
	Stderr   io.Writer                      // for the log, if no file is configured
	IdleExit time.Duration                  // a daemon exits when idle for this long; 0 means never
	Service  bool                           // a service manager started the process, and it logs as one launched for a client

	again bool // the daemon ran before, with other settings
}

// Serve runs the daemon. It takes the lock first, so that it never waits for the
// database or index of another process, then opens the store, then the socket. When the
// settings or the time zone have changed and the daemon is idle, it closes everything
// and starts again while still holding the lock.
func Serve(ctx context.Context, o ServeOptions) error {
	lock, err := lockState(ctx, o.Loaded.Config)
	if err != nil {
		return logFailure(o, err)
	}
	for again := true; again && err == nil; {
		again = false
		var s *Service
		if s, err = newServer(o); err != nil {
			break
		}
		err = s.runLogged(ctx, func(ctx context.Context) error {
			if !s.opens(ctx) {
				return nil // stopped, or the store cannot be opened and start returns why
			}
			ctx, restart := context.WithCancelCause(ctx)
			var watching sync.WaitGroup
			watching.Go(func() { s.restartWhenIdle(ctx, restart) })
			defer watching.Wait()
			defer restart(nil)
			err := s.acceptAll(ctx, lock, o)
			switch {
			case errors.Is(err, daemon.ErrUnended):
				return err
			case errors.Is(err, errSettings):
				later := s.settings.later()
				if again = later != nil && lock.InPlace(); again {
					later.Vault.Path, later.Vault.Folders, later.State = s.cfg.Vault.Path, s.cfg.Vault.Folders, s.cfg.State
					o.Loaded = later
				}
			case errors.Is(err, daemon.ErrIdle) || errors.Is(err, daemon.ErrReplaced) || errors.Is(err, daemon.ErrStopped):
			default:
				return err
			}
			s.logs.Info("stopping", "reason", err)
			return nil
		})
		if o.again = again; again {
			useZone(systemZone())
		}
	}
	return logFailure(o, releaseAfter(err, lock))
}

// openPatience is how long the socket waits for the store. A store that cannot be
// opened fails within that time, so the launcher gets the error. If opening takes
// longer, requests wait instead.
const openPatience = 15 * time.Millisecond

// opens waits briefly for the store and reports whether to accept clients.
func (s *Service) opens(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	_ = mcp.Await(soon, s.opened)
	return ctx.Err() == nil
}

// acceptAll serves clients on the socket and, if configured, over HTTP. A daemon with
// an HTTP listener does not exit when idle, because HTTP clients cannot start another.
func (s *Service) acceptAll(ctx context.Context, lock *daemon.Lock, o ServeOptions) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	serving, done := context.WithCancel(context.WithoutCancel(ctx)) // for HTTP, which outlives ctx while it drains
	defer done()
	web, err := s.listenWeb(serving)
	if err != nil && !o.Startup.Launched() && !o.again {
		return err
	}
	if err != nil { // the client that launched this daemon, and those that it serves, do not need HTTP
		s.logs.Error("there is no HTTP listener", "err", err)
		s.withoutHTTP = strings.TrimSuffix(WithHint(err).Error(), ".")
	}
	if web == nil {
		return s.accept(ctx, lock, &daemon.Server{IdleExit: o.IdleExit}, "", o.Startup.Ready)
	}
	s.logs.Info("serving over HTTP", "url", web.url, "token_file", tokenPath(s.cfg))
	s.page.Store(web)
	defer s.page.Store(nil)
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- web.handler.Serve(serving, web.listener)
	}()
	drained := done
	if web.node != nil {
		var running sync.WaitGroup
		running.Go(func() { web.node.run(serving) })
		defer func() { done(); running.Wait(); err = errors.Join(err, web.node.close()) }()
		drained = func() {
			timer := time.AfterFunc(drainFor, done)
			<-serving.Done()
			timer.Stop()
		}
	}
	defer context.AfterFunc(ctx, func() { s.draining.Store(true); drained() })()
	err = s.accept(ctx, lock, &daemon.Server{}, web.url, o.Startup.Ready)
	stop()
	err = errors.Join(err, <-served, web.page.Close())
	web.sessions.Wait()
	return err
}

// drainFor is how long a node keeps answering after the signal to stop. Meanwhile
// /readyz reports that it is stopping, so that a proxy moves clients to another node.
const drainFor = 3 * time.Second

// endSessions ends the sessions of all subjects; they can continue on another node.
func (n *node) endSessions() {
	var ending sync.WaitGroup
	for _, v := range n.opened() {
		ending.Go(v.handler.Close)
	}
	ending.Wait()
}

// ServeStdio returns a function that serves one client over a pair of streams, and other
// clients on the socket, until the first closes in. It must be called, because it releases the
// lock that ServeStdio takes.
func ServeStdio(ctx context.Context, o ServeOptions) (serve func(in io.ReadCloser, out io.WriteCloser) error, err error) {
	lock, err := lockState(ctx, o.Loaded.Config)
	if err != nil {
		return nil, err
	}
	s, err := newServer(o)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return func(in io.ReadCloser, out io.WriteCloser) error {
		return s.RunLocked(ctx, lock, s.Beside(lock, func(ctx context.Context) error {
			err := s.core.ServeLines(ctx, in, out, mcp.Profile{Tools: s.cfg.Vault.Tools})
			if errors.Is(err, context.Canceled) {
				return nil // stopped by a signal
			}
			return err
		}))
	}, nil
}

// Beside returns a front that also accepts clients on the socket, so that a
// long-running command does not lock them out of the vault.
func (s *Service) Beside(lock *daemon.Lock, front func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, done := context.WithCancel(ctx)
		defer done()
		accepted := make(chan error, 1)
		go func() {
			accepted <- s.accept(ctx, lock, &daemon.Server{Foreground: true}, "", func() error { return nil })
		}()
		err := front(ctx)
		done()
		if acceptErr := <-accepted; errors.Is(acceptErr, daemon.ErrUnended) {
			err = errors.Join(err, acceptErr)
		} else if acceptErr != nil {
			s.logs.Warn("other clients could not be served", "err", acceptErr)
		}
		return err
	}
}

// newServer returns a service that watches its vault, with its log open.
func newServer(o ServeOptions) (*Service, error) {
	logs, err := OpenLogs(o.Loaded.Config, o.Stderr, o.Startup.Launched() || o.Service)
	if err != nil {
		return nil, err
	}
	s := New(o.Loaded.Config, logs, Watching)
	s.settings = newRunningSettings(o.Loaded, o.Read)
	return s, nil
}

// accept serves clients on the socket until ctx ends or the server, whose other fields it
// sets, stops. It calls ready when the socket is open. url is the address for HTTP
// clients, or "".
func (s *Service) accept(ctx context.Context, lock *daemon.Lock, server *daemon.Server, url string, ready func() error) error {
	listener, err := daemon.Listen(lock)
	if err != nil {
		return err
	}
	log := s.logs.Logger
	if s.settings != nil {
		server.Remarks = s.settings.remarks
	}
	server.Listener, server.Lock, server.Identity, server.Vault = listener, lock, identity(), s.cfg.Vault.ID()
	server.Busy, server.Logger = s.embeds, log
	status := func() daemonStatus {
		st := daemonStatus{Running: true, PID: os.Getpid(), Clients: server.Clients(), HTTP: url, foreground: server.Foreground}
		if url != "" {
			st.TokenFile = tokenPath(s.cfg)
		}
		return st
	}
	s.daemon.Store(&status)
	log.Info("serving", "vault", s.cfg.Vault.String(), "state", s.cfg.State, "pid", os.Getpid(), "version", Version())
	if err := ready(); err != nil {
		log.Warn("the start could not be reported", "err", err)
	}
	return server.Serve(ctx, func(ctx context.Context, session *daemon.Session) error {
		profile := s.profileOfHello(session.Hello)
		if session.Hello.Kind != daemon.KindCLI {
			s.relays.Add(1)
			defer s.relays.Add(-1)
		}
		return s.core.ServeLines(ctx, session.Conn, session.Conn, profile)
	})
}

// embeds reports whether there are passages that can be embedded.
func (s *Service) embeds() bool {
	if !s.isOpen() || s.vectors == nil {
		return false
	}
	st := s.vectors.Status()
	return st.Pending > 0 && st.Trouble == ""
}

// Converse calls do with one end of an in-memory pipe and serves an owner session on
// the other.
func (s *Service) Converse(ctx context.Context, do func(ctx context.Context, conn net.Conn) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel()
	return do(ctx, s.pipe(ctx, &serving, mcp.Profile{Owner: true}))
}
