package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/daemon"
)

// statusWait is how long a status without a daemon takes in what has changed
// before it tells what is known.
const statusWait = 2 * time.Second

func statusCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [--json]",
		Short: "Tell what notesd knows, and what is wrong",
		Example: `  notesd status
  notesd status --json | jq .warnings`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.connect(cmd, daemon.KindStatus, func(ctx context.Context, c *client) error {
				latest := time.Now()
				if c.daemon == nil {
					latest = latest.Add(statusWait)
				}
				late := func(report) bool { return !time.Now().Before(latest) }
				r, err := a.untilIndexed(ctx, c, late)
				if err == nil && r.Semantic.Chunks == 0 { // what has been embedded is not loaded yet
					r, err = a.untilEmbedded(ctx, c, func(r report) bool { return r.Semantic.Chunks > 0 || late(r) })
				}
				if err != nil {
					return err
				}
				if a.json {
					return a.out.json(r)
				}
				a.printReport(r)
				return nil
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printReport(r report) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.out, "%s %s\n", a.out.dim(fmt.Sprintf("%-8s", name)), a.out.line(fmt.Sprintf(format, args...)))
	}
	row("vault", "%s", r.Vault)
	row("state", "%s, %s", r.State, size(r.Index.Bytes))
	if r.Daemon.Running {
		row("daemon", "process %d, version %s, %s", r.Daemon.PID, r.Version, count(r.Daemon.Clients, "client"))
		if r.Daemon.HTTP != "" {
			row("", "%s", r.Daemon.HTTP)
		}
	} else {
		row("daemon", "not running")
	}
	row("notes", "%s", thousands(r.Notes))
	row("index", "%s", r.Index.text())
	row("meaning", "%s", r.Semantic.text())
	if r.Watcher.State != "stopped" {
		row("watcher", "%s, %s", r.Watcher.State, count(r.Watcher.Directories+r.Watcher.Polled, "folder"))
	}
	if r.Skipped.Total > 0 {
		row("skipped", "%s", count(r.Skipped.Total, "file"))
		for _, f := range r.Skipped.Files {
			fmt.Fprintf(a.out, "         %s: %s\n", a.out.path(a.out.line(f.Path)), a.out.line(f.Reason))
		}
		if more := r.Skipped.Total - len(r.Skipped.Files); more > 0 {
			fmt.Fprintf(a.out, "         and %s more\n", thousands(more))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(a.out, "%s  %s\n", a.out.red("warning"), a.out.line(w))
	}
}

func (s indexStatus) text() string {
	if s.Ready {
		return fmt.Sprintf("%s, up to date", count(s.Notes, "note"))
	}
	parts := []string{fmt.Sprintf("%s so far", count(s.Notes, "note"))}
	if s.ToScan > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s read", thousands(s.Scanned), count(s.ToScan, "file")))
	}
	return strings.Join(parts, ", ")
}

func (s semanticStatus) text() string {
	if s.State == "off" {
		return "off"
	}
	text := fmt.Sprintf("%s, %s: %s of %s embedded", s.State, s.Model, thousands(s.Embedded), count(s.Chunks, "passage"))
	if s.RemainingSeconds > 0 {
		text += fmt.Sprintf(", about %v to go", time.Duration(s.RemainingSeconds)*time.Second)
	}
	if s.Answering != "" {
		text += "; until then " + s.Answering + " answers"
	}
	return text
}

// unavailable reports whether waiting will not help.
func (r report) unavailable() bool { return r.Unavailable != "" }
