package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func restoreCommand(a *app) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "restore [flags] NOTE REVISION",
		Short: "Bring back a version of a note",
		Long: `Bring back a version of a note, or a deleted note, as a new version: nothing is
lost by it. "notesd history" lists the revisions.`,
		Example: `  notesd restore "Sourdough Starter" 12
  notesd restore --dry-run Projects/Boat.md 7`,
		Args:              takes("NOTE", "REVISION"),
		ValidArgsFunction: a.offer(completeRevisions),
		RunE: func(cmd *cobra.Command, words []string) error {
			revision, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil || revision < 1 {
				return usagef("notesd history NOTE lists them.", "%q is not the number of a revision", words[1])
			}
			args := map[string]any{"note": words[0], "revision": revision}
			put(args, "dry_run", dryRun)
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if a.json {
					return a.printCall(ctx, c, "restore_note", args)
				}
				var res struct {
					Path     string `json:"path"`
					Revision int64  `json:"revision"`
					Diff     string `json:"diff"`
				}
				if err := c.call(ctx, "restore_note", args, &res); err != nil {
					return err
				}
				fmt.Fprint(a.out, a.out.plain(res.Diff))
				switch {
				case res.Diff == "":
					a.note(fmt.Sprintf("%s is as it was in revision %d already.", res.Path, revision))
				case !dryRun:
					a.note(fmt.Sprintf("%s is as it was in revision %d; this is revision %d.", res.Path, revision, res.Revision))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	a.jsonFlag(cmd)
	return cmd
}
