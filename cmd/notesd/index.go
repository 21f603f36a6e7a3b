package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/daemon"
	"notesd/internal/service"
)

// indexResult is the output of "notesd index --json".
type indexResult struct {
	Notes   int     `json:"notes"`
	Seq     uint64  `json:"seq"`
	Rebuilt bool    `json:"rebuilt"`
	Pending int     `json:"pending"` // passages not embedded yet
	Seconds float64 `json:"seconds"`
}

func indexCommand(a *app) *cobra.Command {
	var rebuild, wait bool
	cmd := &cobra.Command{
		Use:   "index [flags]",
		Short: "Bring the index up to date",
		Long: `Bring all derived data up to date with the notes on disk. This is rarely needed:
every command does so, and the daemon watches for changes.`,
		Example: `  notesd index --vault ~/Notes
  notesd index --rebuild --wait`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			began := time.Now()
			do := func(ctx context.Context, c *client) error {
				r, err := c.bringUpToDate(ctx)
				if err == nil && wait {
					r, err = c.untilEmbedded(ctx, nil)
				} else if err == nil {
					r, err = c.untilCounted(ctx, countWait)
				}
				if err != nil {
					return err
				}
				if r.Unavailable != "" {
					return &service.Failure{Code: "unavailable", Message: "the vault cannot be used: " + r.Unavailable}
				}
				if r.Trouble != "" {
					return troubled(r.Trouble)
				}
				return a.indexed(indexResult{
					Notes: r.Index.Notes, Seq: r.Index.Seq, Rebuilt: rebuild, Pending: r.Semantic.Chunks - r.Semantic.Embedded,
					Seconds: time.Since(began).Seconds(),
				})
			}
			if rebuild {
				return a.rebuild(cmd, do)
			}
			return a.connect(cmd, daemon.KindCLI, service.Watching, do)
		},
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "first discard all derived data; the history is kept")
	cmd.Flags().BoolVar(&wait, "wait", false, "also wait until all passages are embedded")
	return cmd
}

// troubled returns the failure of a command that requires indexing, which is impossible.
func troubled(why string) error {
	return &service.Failure{Code: "failed", Message: "the notes cannot be indexed: " + why, Hint: "Your notes are unchanged. notesd doctor has details; --state chooses another place for the state."}
}

// bringUpToDate indexes the changes on disk and returns the report afterwards.
func (c *client) bringUpToDate(ctx context.Context) (service.Report, error) {
	r, err := c.untilIndexed(ctx, nil)
	if err != nil || c.daemon == nil && r.Shared == nil {
		return r, err
	}
	var none any
	if err := c.method(ctx, service.MethodRescan, service.OwnerParams{}, &none); err != nil { // for changes that the watcher has not reported yet
		return r, err
	}
	return c.untilIndexed(ctx, nil)
}

func (o *output) indexed(r indexResult) error {
	return o.result(r, func() {
		done := "indexed"
		if r.Rebuilt {
			done = "indexed again"
		}
		fmt.Fprintf(o.out, "%s %s in %.1f s\n", count(r.Notes, "note"), done, r.Seconds)
		if r.Pending > 0 {
			o.note(count(r.Pending, "passage") + " not embedded yet; --wait waits until they are.")
		}
	})
}

// untilEmbedded waits until all passages are embedded or done returns true. On a terminal
// it shows a progress bar.
func (c *client) untilEmbedded(ctx context.Context, done func(service.Report) bool) (service.Report, error) {
	said := false
	return c.until(ctx, "Embedding", func(r service.Report, bar *meter) bool {
		if r.Semantic.Pending == 0 || done != nil && done(r) {
			return true
		}
		if waiting := r.Semantic.Trouble; waiting != "" && !said {
			bar.clear()
			c.note("semantic search: " + waiting)
			said = true
		}
		bar.set(r.Semantic.Embedded, r.Semantic.Embedded+r.Semantic.Pending)
		return false
	})
}

// rebuild runs do while this process indexes the vault again and serves it to other clients.
// It first stops any daemon, which it starts again afterwards, and discards all derived data.
func (a *app) rebuild(cmd *cobra.Command, do func(context.Context, *client) error) error {
	cfg, err := a.settings(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	lock, ran, err := service.TakeOver(ctx, cfg)
	if err != nil {
		return err
	}
	if err := service.DiscardDerived(ctx, cfg.State); err != nil {
		return errors.Join(err, lock.Release())
	}
	err = a.serveFor(cmd, cfg, lock, service.Watching, do)
	if ran {
		_, startErr := a.startDaemon(context.WithoutCancel(ctx), cfg) // also if the user interrupts the command
		err = errors.Join(err, startErr)
	}
	return err
}
