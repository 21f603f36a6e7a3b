package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/service"
	"notesd/internal/session"
	"notesd/mcp"
)

// A client is a shell command's session with the vault, served by the daemon or by this
// process.
type client struct {
	*app
	session *session.Session
	daemon  *daemon.Identity // nil if this process serves the vault
}

// withClient runs do with a session in which every change on disk has been indexed. A
// daemon keeps its index up to date and reports if it cannot; without a daemon, changes
// since the last command are indexed first.
func (a *app) withClient(cmd *cobra.Command, do func(context.Context, *client) error) error {
	return a.connect(cmd, daemon.KindCLI, !service.Watching, func(ctx context.Context, c *client) error {
		var r service.Report
		var err error
		if c.daemon != nil {
			r, _ = c.status(ctx) // without access to the status, problems show in the results
		} else if r, err = c.untilIndexed(ctx, nil); err != nil {
			return err
		}
		if r.Unavailable != "" {
			if err := c.away(r); err != nil {
				return err
			}
		}
		if c.daemon == nil && r.Trouble != "" {
			if r.Index.Notes == 0 {
				return troubled(r.Trouble)
			}
			a.note("changes on disk cannot be indexed: " + r.Trouble + ". This answer may be out of date.")
		}
		return do(ctx, c)
	})
}

// away reports that the vault cannot be read. It is an error if no note is indexed,
// because an empty result would be wrong.
func (c *client) away(r service.Report) error {
	if r.Notes == 0 {
		return &service.Failure{Code: "unavailable", Message: "the vault " + r.Vault + " cannot be read: " + r.Unavailable, Hint: "Restore the folder, or allow this user to read it; notesd doctor has details."}
	}
	c.note("the vault cannot be read now: " + r.Unavailable + ". This answer may be out of date.")
	return nil
}

// connect runs do with a session of the daemon or, if none is running, of a service in
// this process; see serveFor.
func (a *app) connect(cmd *cobra.Command, kind daemon.Kind, watching bool, do func(context.Context, *client) error) error {
	cfg, err := a.settings(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conn, lock, err := a.daemonOrLock(ctx, cfg, kind)
	if err != nil {
		return err
	}
	if conn != nil {
		return a.withSession(ctx, conn, &conn.Daemon, do)
	}
	return a.serveFor(cmd, cfg, lock, watching, do)
}

// serveFor runs do with a service in this process. If watching, the service also serves
// other clients in the meantime. It logs only if a flag or a setting asks for it.
func (a *app) serveFor(cmd *cobra.Command, cfg *config.Config, lock *daemon.Lock, watching bool, do func(context.Context, *client) error) error {
	logs := service.DiscardLogs()
	if cfg.Log.File != "" || cmd.Flags().Changed("log-level") {
		var err error
		if logs, err = service.OpenLogs(cfg, a.err, a.startup.Launched()); err != nil {
			return errors.Join(err, lock.Release())
		}
	}
	service.Hurry(cfg)
	s := service.New(cfg, logs, watching)
	front := func(ctx context.Context) error { return a.inMemory(ctx, s, do) }
	if watching {
		front = s.Beside(lock, front)
	}
	return s.RunLocked(cmd.Context(), lock, front)
}

// daemonOrLock returns a connection to the vault's daemon or, if none is running, the
// lock that allows this process to serve the vault. A command first replaces the daemon of
// an older program, which may lack its methods; a status does not.
func (a *app) daemonOrLock(ctx context.Context, cfg *config.Config, kind daemon.Kind) (*daemon.Conn, *daemon.Lock, error) {
	hello := helloOf(a.loaded, kind)
	var successor func(context.Context) error
	if kind != daemon.KindStatus {
		successor = func(ctx context.Context) error {
			connector, err := a.connector(cfg, hello)
			if err != nil {
				return err
			}
			return connector.Start(ctx)
		}
	}
	conn, lock, err := service.DialOrLock(ctx, cfg, hello, successor)
	if conn != nil {
		a.remark(conn.Remarks...)
	}
	return conn, lock, err
}

// helloOf returns the first line that a process with these settings sends to the daemon.
func helloOf(loaded *config.Loaded, kind daemon.Kind) daemon.Hello {
	hello := service.HelloOf(loaded.Config, kind)
	for _, p := range loaded.Passed() {
		hello.Passed = append(hello.Passed, daemon.Passed(p))
	}
	return hello
}

// inMemory runs do with a session of a service in this process.
func (a *app) inMemory(ctx context.Context, s *service.Service, do func(context.Context, *client) error) error {
	return s.Converse(ctx, func(ctx context.Context, conn net.Conn) error {
		return a.withSession(ctx, conn, nil, do)
	})
}

// withSession runs do with a session over a connection, which it closes. daemon is nil if
// this process serves the vault.
func (a *app) withSession(ctx context.Context, conn io.ReadWriteCloser, daemon *daemon.Identity, do func(context.Context, *client) error) error {
	methods := append([]string{mcp.MethodStatus, mcp.MethodWhy}, service.OwnerMethods...)
	s, err := session.Open(ctx, conn, "notesd", service.Version(), nil, methods...)
	if err != nil {
		return err
	}
	err = do(ctx, &client{app: a, session: s, daemon: daemon})
	return errors.Join(err, s.Close())
}

// status returns the report of "notesd status".
func (c *client) status(ctx context.Context) (r service.Report, err error) {
	err = c.method(ctx, mcp.MethodStatus, struct{}{}, &r)
	return r, err
}

// call calls a tool and decodes its result into out.
func (c *client) call(ctx context.Context, tool string, args map[string]any, out any) error {
	err := forShell(c.session.Call(ctx, tool, args, out))
	if f, ok := errors.AsType[*service.Failure](err); ok {
		// Refer to an argument by its flag, if the command has one.
		if name, rest, ok := strings.Cut(f.Message, " must "); ok && c.flags.Lookup(strings.ReplaceAll(name, "_", "-")) != nil {
			f.Message = "--" + strings.ReplaceAll(name, "_", "-") + " must " + rest
		}
	}
	return err
}

// method calls one of notesd's own methods and decodes its result into out.
func (c *client) method(ctx context.Context, name string, params, out any) error {
	return forShell(c.session.Method(ctx, name, params, out))
}

// printed gets a result and prints it: in full with --json, otherwise with show.
func printed[R any](c *client, get func(out any) error, show func(R)) error {
	var res R
	if err := get(&res); err != nil {
		return err
	}
	return c.result(res, func() { show(res) })
}

// printCall calls a tool and prints its result.
func printCall[R any](ctx context.Context, c *client, tool string, args map[string]any, show func(R)) error {
	return printed(c, func(out any) error { return c.call(ctx, tool, args, out) }, show)
}

// runTool runs printCall in a new session.
func runTool[R any](cmd *cobra.Command, a *app, tool string, args map[string]any, show func(R)) error {
	return a.withClient(cmd, func(ctx context.Context, c *client) error { return printCall(ctx, c, tool, args, show) })
}

// runOwner calls an owner's method in a new session and prints its result.
func runOwner[R any](cmd *cobra.Command, a *app, method string, p service.OwnerParams, show func(R)) error {
	return a.withClient(cmd, func(ctx context.Context, c *client) error {
		return printed(c, func(out any) error { return c.method(ctx, method, p, out) }, show)
	})
}

// put sets an argument of a tool, unless the value is empty, which means the tool's
// default.
func put(args map[string]any, name, value string) {
	if value != "" {
		args[name] = value
	}
}

// given returns the given flags among those named as arguments of a tool, with
// underscores for hyphens; a repeated tag becomes tags.
func given(cmd *cobra.Command, flags ...string) map[string]any {
	args := map[string]any{}
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		text := f.Value.String()
		if text == f.DefValue {
			continue
		}
		key := strings.ReplaceAll(name, "-", "_")
		switch f.Value.Type() {
		case "bool":
			args[key] = true
		case "int":
			args[key], _ = strconv.Atoi(text) // formatted by pflag
		case "stringArray":
			args[key+"s"] = f.Value.(pflag.SliceValue).GetSlice()
		default:
			if name == "folder" {
				text = folderName(text)
			}
			put(args, key, text)
		}
	}
	return args
}

// folderName normalises a folder's name, such as ./Recipes/ from shell completion.
func folderName(arg string) string {
	if arg = path.Clean(filepath.ToSlash(arg)); arg == "." {
		return ""
	}
	return arg
}

// Progress is polled after freshPoll, then at growing intervals: most scans are
// immediate, and polling should not slow down the others. Operations that take minutes,
// such as embedding, are polled every maxPoll.
const (
	freshPoll    = 2 * time.Millisecond
	maxFreshPoll = 100 * time.Millisecond
	maxPoll      = time.Second
)

// barAfter is the delay before a progress bar appears.
const barAfter = 300 * time.Millisecond

// until polls the report until enough returns true, and returns the last report. A progress
// bar with the label appears after barAfter if enough sets its values.
func (c *client) until(ctx context.Context, label string, enough func(service.Report, *meter) bool) (service.Report, error) {
	bar := &meter{screen: c.err, label: label}
	defer bar.clear()
	began := time.Now()
	for wait := freshPoll; ; wait = min(wait*3/2, max(maxFreshPoll, time.Since(began)/60), maxPoll) {
		r, err := c.status(ctx)
		if err != nil || enough(r, bar) {
			return r, err
		}
		if time.Since(began) > barAfter {
			bar.show()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// untilIndexed waits until everything is indexed, indexing is impossible, or done returns
// true, and returns the last report. On a terminal it shows a progress bar.
func (c *client) untilIndexed(ctx context.Context, done func(service.Report) bool) (service.Report, error) {
	return c.until(ctx, "Indexing", func(r service.Report, bar *meter) bool {
		// Reading and indexing run one after the other and take about equally long.
		bar.set((r.Index.Scanned+min(r.Index.Notes, r.Index.ToScan))/2, r.Index.ToScan)
		return r.Index.Ready || r.Unavailable != "" || r.Trouble != "" || done != nil && done(r)
	})
}
