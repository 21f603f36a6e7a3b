package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/daemon"
	"notesd/internal/mirror"
	"notesd/internal/service"
	"notesd/mcp"
)

// countWait is how long doctor, and status without a daemon, wait for indexing before
// they report.
const countWait = 5 * time.Second

func statusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status [flags]",
		Short: "Print the state of vault, index and daemon",
		Example: `  notesd status
  notesd status --json | jq .warnings`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.connect(cmd, daemon.KindStatus, !service.Watching, func(ctx context.Context, c *client) error {
				wait := time.Duration(0)
				if c.daemon == nil {
					wait = countWait
				}
				r, err := c.untilCounted(ctx, wait)
				if err != nil {
					return err
				}
				return a.result(r, func() { a.printReport(r) })
			})
		},
	}
}

// untilCounted returns the report once everything is indexed and the passages, which load
// later, are counted, or after the given wait.
func (c *client) untilCounted(ctx context.Context, wait time.Duration) (service.Report, error) {
	latest := time.Now().Add(wait)
	late := func(service.Report) bool { return !time.Now().Before(latest) }
	if r, err := c.untilIndexed(ctx, late); err != nil || late(r) {
		return r, err
	}
	return c.until(ctx, "", func(r service.Report, _ *meter) bool { return r.Counted() || r.Unavailable != "" || late(r) })
}

func (o *output) printReport(r service.Report) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(o.out, "%s %s\n", o.out.dim(fmt.Sprintf("%-8s", name)), o.out.line(fmt.Sprintf(format, args...)))
	}
	row("vault", "%s", r.Vault)
	row("state", "%s, %s", r.State, size(r.Index.Bytes))
	if r.Daemon.Running {
		row("daemon", "process %d, version %s, %s", r.Daemon.PID, r.Version, count(r.Daemon.Clients, "client"))
		if r.Daemon.HTTP != "" {
			row("", "%s, with the token in %s", r.Daemon.HTTP, r.Daemon.TokenFile)
		}
	} else {
		row("daemon", "not running")
	}
	for _, text := range clientTexts(r.Clients) {
		row("client", "%s", text)
	}
	if r.Log != "" {
		row("log", "%s", r.Log)
	}
	row("notes", "%s", thousands(r.Notes))
	row("index", "%s", indexText(r))
	row("meaning", "%s", semanticText(r))
	if r.Shared != nil {
		row("shared", "%s", sharedText(*r.Shared))
	}
	if r.Watcher.State != "stopped" {
		row("watcher", "%s (%s), %s", r.Watcher.State, r.Watcher.Backend, count(r.Watcher.Directories+r.Watcher.Polled, "folder"))
	}
	if r.Skipped.Total > 0 {
		row("skipped", "%s", count(r.Skipped.Total, "file"))
		for _, f := range r.Skipped.Files {
			fmt.Fprintf(o.out, "         %s: %s\n", o.out.path(f.Path), o.out.line(f.Reason))
		}
		if more := r.Skipped.Total - len(r.Skipped.Files); more > 0 {
			fmt.Fprintf(o.out, "         and %s more\n", thousands(more))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(o.out, "%s  %s\n", o.out.red("warning"), o.out.line(w))
	}
}

func sharedText(s mirror.Status) string {
	text := fmt.Sprintf("%s, in step up to change %s", s.Place, thousands(int(s.Seq)))
	if s.Fetching {
		text = s.Place + ", not all files are fetched yet"
	}
	if s.Pending > 0 {
		text += ", " + count(s.Pending, "file") + " pending"
	}
	return text
}

// clientTexts describes the connected clients. Sessions with the same client and bounds,
// such as the dozens that web pages open, share one text.
func clientTexts(clients []mcp.Client) (texts []string) {
	sessions, since := map[string]int{}, map[string]string{}
	for _, c := range clients { // oldest first
		if c.Command {
			continue
		}
		text := ""
		if c.ReadOnly {
			text += ", read-only"
		}
		if c.Tools != nil {
			text += ", tools " + strings.Join(c.Tools, " ")
		}
		if c.Read != nil {
			text += ", folders " + strings.Join(c.Read, " ")
		}
		name := strings.TrimSpace(c.Name + " " + c.Version)
		if sessions[name+text]++; sessions[name+text] == 1 {
			texts = append(texts, name+text)
			since[name+text] = name + " since " + c.Since.Local().Format("2006-01-02 15:04") + text
		}
	}
	for i, text := range texts {
		texts[i] = since[text]
		if n := sessions[text]; n > 1 {
			texts[i] += fmt.Sprintf(" (%d sessions)", n)
		}
	}
	return texts
}

func indexText(r service.Report) string {
	s := r.Index
	if r.Unavailable != "" {
		return count(r.Notes, "note") + ", as of the last scan"
	}
	if s.Ready {
		return fmt.Sprintf("%s, up to date", count(s.Notes, "note"))
	}
	if s.Scanned < s.ToScan {
		return fmt.Sprintf("building: %s of %s read, %s indexed", thousands(s.Scanned), count(s.ToScan, "file"), count(s.Notes, "note"))
	}
	return fmt.Sprintf("building: %s of %s indexed", thousands(s.Notes), count(max(r.Notes, s.Notes), "note"))
}

func semanticText(r service.Report) string {
	s := r.Semantic
	if s.State == "off" {
		return "off"
	}
	if s.Model == "" {
		return s.State + ": the model is chosen after the first scan"
	}
	if !r.Counted() {
		return fmt.Sprintf("%s, %s: the passages are not counted yet", s.State, s.Model)
	}
	text := fmt.Sprintf("%s, %s: %s of %s embedded", s.State, s.Model, thousands(s.Embedded), count(s.Chunks, "passage"))
	if s.RemainingSeconds > 0 {
		text += fmt.Sprintf(", about %v to go", time.Duration(s.RemainingSeconds)*time.Second)
	}
	if s.Answering != "" {
		text += "; until then " + s.Answering + " answers"
	}
	if s.Why != "" {
		text += "; chosen by language: " + s.Why
	}
	return text
}
