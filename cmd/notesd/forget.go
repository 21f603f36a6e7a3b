package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"notesd/notes"
)

func forgetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget NOTE",
		Short: "Remove every trace of a deleted note",
		Long: `Remove every trace of a deleted note: its versions, what was derived from them,
and damaged databases that were set aside. NOTE is its path, or a name that fits
no other; all deleted notes that ever had the path go. This cannot be undone.`,
		Example: `  notesd forget Private/Letter.md
  notesd forget --json Private/Letter.md`,
		Args: takes("NOTE"),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				var done notes.Forgotten
				if err := c.ask(ctx, methodForget, ownerParams{Note: names[0]}, &done); err != nil {
					return err
				}
				if a.json {
					return a.out.json(map[string]any{"note": names[0], "paths": done.Paths, "versions": done.Versions, "set_aside": append([]string{}, done.SetAside...)})
				}
				for _, p := range done.Paths {
					fmt.Fprintf(a.out, "forgotten: %s\n", a.out.path(a.out.line(p)))
				}
				for _, name := range done.SetAside {
					fmt.Fprintf(a.out, "removed: %s, which had been set aside\n", a.out.line(name))
				}
				_, err := fmt.Fprintln(a.out, count(done.Versions, "version"))
				return err
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
