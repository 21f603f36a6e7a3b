package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func forgetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget NOTE",
		Short: "Remove every trace of a deleted note",
		Long: `Remove every trace of a deleted note, named by its path: its versions, and what
was derived from them. This cannot be undone.`,
		Example: `  notesd forget Private/Letter.md
  notesd forget --json Private/Letter.md`,
		Args: takes("NOTE"),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				var n int
				if err := c.ask(ctx, methodForget, ownerParams{Note: names[0]}, &n); err != nil {
					return err
				}
				if a.json {
					return a.out.json(map[string]any{"note": names[0], "versions": n})
				}
				_, err := fmt.Fprintf(a.out, "forgotten, with %s\n", count(n, "version"))
				return err
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
