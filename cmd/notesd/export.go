package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"notesd/notes"
)

func exportCommand(a *app) *cobra.Command {
	var asOf string
	cmd := &cobra.Command{
		Use:   "export --as-of TIME DIR",
		Short: "Write the folder of notes as it was",
		Long: `Write the notes as they were at a moment into another folder, which must be
empty or not exist. TIME is a date, a date with a time, or how long ago: 36h,
90m.`,
		Example: `  notesd export --as-of 2026-01-31 ~/notes-in-january
  notesd export --as-of 2h /tmp/before-the-accident`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if err := needs(cmd, "as-of"); err != nil {
				return err
			}
			at, err := moment(asOf, time.Now())
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(dirs[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", dirs[0], err)
			}
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				var n int
				if err := c.ask(ctx, methodExport, ownerParams{AsOf: at, Dir: dir}, &n); err != nil {
					return err
				}
				if a.json {
					return a.out.json(map[string]any{"notes": n, "dir": dir, "as_of": at})
				}
				_, err := fmt.Fprintf(a.out, "%s, as of %s, in %s\n", count(n, "note"), at.Local().Format(time.DateTime), a.out.line(dir))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&asOf, "as-of", "", "the moment: a date, a date with a `time`, or an age")
	a.jsonFlag(cmd)
	return cmd
}

// moment reads a time in the past: a date or time as notes write it, or an age.
func moment(text string, now time.Time) (time.Time, error) {
	if at, ok := notes.ParseDate(text); ok {
		return at, nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	return time.Time{}, usagef("Write 2026-01-31, 2026-01-31T18:00 or 36h.", "--as-of %q is not a time", text)
}
