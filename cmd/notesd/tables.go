package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"notesd/internal/service"
)

func tablesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "tables [restore NAME]",
		Short: "List vector tables, or restore one",
		Long: `List the vector tables that you or your assistants created, and the dropped ones
that can still be restored. A dropped table can be restored for seven days.`,
		Example: `  notesd tables
  notesd tables restore embeddings`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 || len(words) == 2 && words[0] == "restore" {
				return nil
			}
			return service.Usagef("See notesd tables -h.", "tables takes no argument, or restore NAME")
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 2 {
				return runOwner(cmd, a, service.MethodRestoreTable, service.OwnerParams{Table: words[1]}, func(l service.TableLine) {
					fmt.Fprintf(a.out, "%s is back, with %s\n", a.out.line(l.Name), count(l.Rows, "vector"))
				})
			}
			return runOwner(cmd, a, service.MethodTables, service.OwnerParams{}, a.printTables)
		},
	}
}

func (o *output) printTables(all service.Tables) {
	for _, l := range all.Tables {
		state := ""
		if !l.Dropped.IsZero() {
			state = "  dropped; can be restored until " + l.RestorableUntil.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(o.out, "%s  %s of %d, %s%s\n", o.out.bold(l.Name), count(l.Rows, "vector"), l.Dimension, l.Metric, o.out.dim(state))
	}
	o.note(count(len(all.Tables), "table"))
}
