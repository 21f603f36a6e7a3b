package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/desktop"
	"notesd/internal/httpserver"
	"notesd/internal/service"
	"notesd/internal/web"
)

func webCommand(a *app) *cobra.Command {
	var addr string
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "web [flags]",
		Short: "Open the notes in a browser",
		Long: `Open a web page with search, notes, links, history and changes. The daemon
serves it if it serves HTTP; otherwise this command does, on this machine only,
until Ctrl-C. The printed link is valid once and for five minutes; the browser
that opens it stays signed in for a month.`,
		Example: `  notesd web --vault ~/Notes
  notesd web --vault ~/Notes --no-open --addr 127.0.0.1:8930`,
		Args: takes(),
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg *config.Config) error {
			open := !noOpen && inTerminal(a.in)
			if !cmd.Flags().Changed("addr") && !cmd.Flags().Changed("read-only") {
				if served, err := a.servedPage(cmd.Context(), cfg, open); served || err != nil {
					return err
				}
			}
			return a.web(cmd.Context(), cfg, addr, open)
		}),
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "the local `address`; port 0 chooses a free one")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "print the link without opening a browser")
	cmd.Flags().Bool("read-only", false, "allow no changes")
	return cmd
}

// servedPage prints a link to the page of a daemon that serves HTTP, and reports whether
// there is such a daemon.
func (a *app) servedPage(ctx context.Context, cfg *config.Config, open bool) (served bool, err error) {
	conn, err := daemon.Dial(ctx, cfg.State, helloOf(a.loaded, daemon.KindCLI))
	if errors.Is(err, daemon.ErrNotRunning) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var link service.Link
	err = a.withSession(ctx, conn, &conn.Daemon, func(ctx context.Context, c *client) error {
		return c.method(ctx, service.MethodWeb, service.OwnerParams{}, &link)
	})
	if err != nil || link.URL == "" {
		return false, err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\nThe link works once. The daemon serves the page.\n", link.URL)
	if open {
		desktop.Launch(link.URL)
	}
	return true, err
}

// web serves the page until ctx is cancelled. Like a host, it is a client of the daemon:
// the relay starts one if necessary and reconnects when it is replaced.
func (a *app) web(ctx context.Context, cfg *config.Config, addr string, open bool) error {
	if host, _, err := net.SplitHostPort(addr); err != nil || !httpserver.IsLoopback(host) {
		return service.Usagef("Use 127.0.0.1:PORT. notesd serve --http serves other machines.", "%q is not a loopback address", addr)
	}
	if err := service.MakePrivate(cfg.State); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return &service.Failure{Code: "failed", Message: fmt.Sprintf("the page cannot be served: %v", err), Hint: "Without --addr, a free port is used."}
	}
	g, ctx := errgroup.WithContext(ctx)
	server := web.New(web.Options{
		Dial: func(context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			g.Go(func() error {
				if err := a.relay(ctx, cfg, allTools, theirs, theirs); err != nil && ctx.Err() == nil {
					a.remark(err.Error())
				}
				return theirs.Close() // the page opens a new session
			})
			return ours, nil
		},
		Vault: cfg.Vault.Title(), Version: service.Version(), Mode: cfg.Search.Mode, ReadOnly: cfg.Vault.ReadOnly,
	})
	link := "http://" + listener.Addr().String() + server.Link()
	fmt.Fprintf(a.stdout, "%s\nThe link works once. Ctrl-C stops the page.\n", link)
	if open {
		desktop.Launch(link)
	}
	g.Go(func() error {
		local := &http.Server{Handler: server.Local(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
		return httpserver.Serve(ctx, listener, local, func() { _ = server.Close() }) // the relay also ends with ctx
	})
	return g.Wait()
}
