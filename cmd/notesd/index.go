package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
)

// derivedFiles are what the state directory has that can be built again from the
// notes. The history is not among them.
var derivedFiles = []string{indexDir, "notes.db", "notes.db-wal", "notes.db-shm", "notes.db.closed"}

// indexResult is what "notesd index --json" prints.
type indexResult struct {
	Notes   int     `json:"notes"`
	Seq     uint64  `json:"seq"`
	Rebuilt bool    `json:"rebuilt"`
	Pending int     `json:"pending"` // passages that are not embedded yet
	Seconds float64 `json:"seconds"`
}

func indexCommand(a *app) *cobra.Command {
	var rebuild, wait bool
	cmd := &cobra.Command{
		Use:   "index [flags]",
		Short: "Bring the index up to date",
		Long: `Bring everything up to date with the notes on disk. It is seldom needed: every
command does, and a daemon keeps watch.`,
		Example: `  notesd index --vault ~/Notes
  notesd index --rebuild --wait`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			began := time.Now()
			return a.indexing(cmd, rebuild, wait, func(ctx context.Context, c *client) error {
				r, err := a.bringUpToDate(ctx, c)
				if err == nil && wait {
					r, err = a.untilEmbedded(ctx, c, nil)
				}
				if err != nil {
					return err
				}
				if r.unavailable() {
					return &failure{Code: "unavailable", Message: "the vault cannot be used: " + r.Unavailable}
				}
				if r.Trouble != "" {
					return troubled(r.Trouble)
				}
				return a.indexed(indexResult{
					Notes: r.Index.Notes, Seq: r.Index.Seq, Rebuilt: rebuild, Pending: r.Semantic.Pending,
					Seconds: time.Since(began).Seconds(),
				})
			})
		},
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "discard what was derived from the notes first; the history stays")
	cmd.Flags().BoolVar(&wait, "wait", false, "until the last passage is embedded, too")
	a.jsonFlag(cmd)
	return cmd
}

// troubled is the failure of a command that needs what cannot be taken in.
func troubled(why string) error {
	return &failure{Code: "failed", Message: "the notes cannot be taken in: " + why, Hint: "Your notes are as they were. notesd doctor says more; another place for the state can be named with --state."}
}

// bringUpToDate takes in what is on disk now, and returns the report of that.
func (a *app) bringUpToDate(ctx context.Context, c *client) (report, error) {
	r, err := a.untilIndexed(ctx, c, nil)
	if err != nil || c.daemon == nil {
		return r, err
	}
	var none any
	if err := c.ask(ctx, methodRescan, ownerParams{}, &none); err != nil { // what the watcher has not reported yet
		return r, err
	}
	return a.untilIndexed(ctx, c, nil)
}

func (a *app) indexed(r indexResult) error {
	if a.json {
		return a.out.json(r)
	}
	done := "indexed"
	if r.Rebuilt {
		done = "indexed anew"
	}
	fmt.Fprintf(a.out, "%s %s in %.1f s\n", count(r.Notes, "note"), done, r.Seconds)
	if r.Pending > 0 {
		a.note(count(r.Pending, "passage") + " are still to be embedded; --wait waits for them.")
	}
	return nil
}

// untilEmbedded waits until no passage waits to be embedded, or done says that it
// is enough. On a terminal it shows a bar.
func (a *app) untilEmbedded(ctx context.Context, c *client, done func(report) bool) (report, error) {
	tick := time.NewTicker(maxFreshPoll)
	defer tick.Stop()
	bar := &meter{screen: a.err, label: "Embedding"}
	defer bar.clear()
	told := false
	for began := time.Now(); ; {
		r, err := c.status(ctx)
		if err != nil || r.Semantic.Pending == 0 || done != nil && done(r) {
			return r, err
		}
		if waiting := r.Semantic.Waiting; waiting != "" && !told {
			bar.clear()
			a.note("search by meaning: " + waiting)
			told = true
		}
		if time.Since(began) > barAfter {
			bar.show(r.Semantic.Embedded, r.Semantic.Embedded+r.Semantic.Pending)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// indexing runs do with a session while the vault is being indexed, by the
// daemon, or by this process, which lets others at the vault meanwhile. With
// rebuild everything derived is discarded first; a daemon is stopped for it, and
// its clients come to us. wait says that the embeddings are waited for, too.
func (a *app) indexing(cmd *cobra.Command, rebuild, wait bool, do func(context.Context, *client) error) error {
	cfg, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if wait {
		hurry(cfg)
	}
	ctx := cmd.Context()
	var conn *daemon.Conn
	var lock *daemon.Lock
	if rebuild {
		lock, err = a.takeOver(ctx, cfg)
	} else {
		conn, lock, err = a.daemonOrLock(ctx, cfg, daemon.KindCLI)
	}
	if err != nil {
		return err
	}
	if conn != nil {
		return withDaemon(ctx, conn, do)
	}
	if rebuild {
		if err := discardDerived(cfg.State); err != nil {
			return errors.Join(err, lock.Release())
		}
	}
	logs, err := a.openCommandLogs(cmd, cfg)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	s := newService(cfg, logs, watching)
	return s.runLocked(ctx, lock, s.beside(lock, func(ctx context.Context) error {
		return s.withClient(ctx, do)
	}))
}

// hurry lets embedding have every processor, unless the user has said how many:
// somebody waits for this process, so it is no background work.
func hurry(cfg *config.Config) {
	if cfg.Semantic.Threads == 0 {
		cfg.Semantic.Threads = runtime.GOMAXPROCS(0)
	}
}

// takeOver stops the vault's daemon, if one runs, and takes its lock.
func (a *app) takeOver(ctx context.Context, cfg *config.Config) (*daemon.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for {
		conn, lock, err := a.daemonOrLock(ctx, cfg, daemon.KindStatus)
		if conn == nil {
			return lock, err
		}
		pid := conn.Daemon.PID
		if err := errors.Join(conn.Close(), terminate(pid)); err != nil {
			return nil, fmt.Errorf("stop the daemon (process %d): %w", pid, err)
		}
		select { // until it has said that it is closing
		case <-time.After(turnPoll):
		case <-ctx.Done():
			return nil, fmt.Errorf("stop the daemon (process %d): %w", pid, ctx.Err())
		}
	}
}

func discardDerived(dir string) error {
	for _, name := range derivedFiles {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("discard the old index: %w", err)
		}
	}
	return nil
}
