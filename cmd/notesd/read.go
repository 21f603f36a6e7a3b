package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
)

func readCommand(a *app) *cobra.Command {
	var heading, lines string
	cmd := &cobra.Command{
		Use:   "read [flags] NOTE",
		Short: "Print a note",
		Long: `Print a note, or part of it. NOTE is a path in the vault, a title, an alias, or
any name that only one note has.`,
		Example: `  notesd read "Sourdough Starter"
  notesd read --heading "Plan > Risks" Projects/Boat.md`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			args := map[string]any{"note": names[0], "max_bytes": math.MaxInt32}
			put(args, "heading", heading)
			put(args, "lines", lines)
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if a.json {
					return a.printCall(ctx, c, "read_note", args)
				}
				var note struct {
					Content string `json:"content"`
				}
				if err := c.call(ctx, "read_note", args, &note); err != nil {
					return err
				}
				_, err := fmt.Fprint(a.out, a.out.plain(note.Content))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&heading, "heading", "", "only the section under this `heading`")
	cmd.Flags().StringVar(&lines, "lines", "", "only these `lines`, as in 10-40")
	a.jsonFlag(cmd)
	return cmd
}
