package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"notesd/vectors/table"
)

// tableLine is a table as it is listed.
type tableLine struct {
	Name            string     `json:"name"`
	Dimension       int        `json:"dimension"`
	Metric          string     `json:"metric"`
	Rows            int        `json:"rows"`
	Created         time.Time  `json:"created"`
	Dropped         *time.Time `json:"dropped,omitempty"`
	RestorableUntil *time.Time `json:"restorable_until,omitempty"`
}

func lineOf(i table.Info) tableLine {
	l := tableLine{Name: i.Name, Dimension: i.Dimension, Metric: string(i.Metric), Rows: i.Rows, Created: i.Created}
	if !i.Dropped.IsZero() {
		until := i.RestorableUntil()
		l.Dropped, l.RestorableUntil = &i.Dropped, &until
	}
	return l
}

// listTables lists the tables in use, then those that can be restored.
func listTables(ctx context.Context, tables *table.Tables) ([]tableLine, error) {
	used, err := tables.List(ctx)
	if err != nil {
		return nil, err
	}
	dropped, err := tables.Dropped(ctx)
	if err != nil {
		return nil, err
	}
	lines := []tableLine{}
	for _, i := range append(used, dropped...) {
		lines = append(lines, lineOf(i))
	}
	return lines, nil
}

func restoreTable(ctx context.Context, tables *table.Tables, name string) (tableLine, error) {
	info, err := tables.Restore(ctx, name)
	return lineOf(info), err
}

func tablesCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tables [restore NAME]",
		Short: "List tables of vectors, or restore one",
		Long: `List the tables of vectors that assistants or you have made, and the dropped
ones that can be restored; or restore one, for seven days after it was dropped.`,
		Example: `  notesd tables
  notesd tables restore embeddings`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 || len(words) == 2 && words[0] == "restore" {
				return nil
			}
			return usagef("See notesd tables -h.", "tables takes nothing, or restore and a name")
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if len(words) == 2 {
					return a.restoreTable(ctx, c, words[1])
				}
				return a.listTables(ctx, c)
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) listTables(ctx context.Context, c *client) error {
	lines := []tableLine{}
	if err := c.ask(ctx, methodTables, ownerParams{}, &lines); err != nil {
		return err
	}
	if a.json {
		return a.out.json(map[string]any{"tables": lines})
	}
	for _, l := range lines {
		state := ""
		if l.Dropped != nil {
			state = "  dropped; can be restored until " + l.RestorableUntil.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(a.out, "%s  %s of %d, %s%s\n", a.out.bold(a.out.line(l.Name)), count(l.Rows, "vector"), l.Dimension, l.Metric, a.out.dim(state))
	}
	a.note(count(len(lines), "table"))
	return nil
}

func (a *app) restoreTable(ctx context.Context, c *client, name string) error {
	var l tableLine
	if err := c.ask(ctx, methodRestoreTable, ownerParams{Table: name}, &l); err != nil {
		return err
	}
	if a.json {
		return a.out.json(l)
	}
	_, err := fmt.Fprintf(a.out, "%s is back, with %s\n", a.out.line(l.Name), count(l.Rows, "vector"))
	return err
}
