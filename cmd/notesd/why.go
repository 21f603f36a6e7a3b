package main

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/search"
)

func whyCommand(a *app) *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use:   "why [flags] NOTE QUERY…",
		Short: "Explain why a search finds a note, or does not",
		Long: `Explain the rank of a note among the hits of a query, or why it is not among
them: a filter, an exclusion or a phrase, words that it lacks, passages that
are not embedded yet or not near enough.`,
		Example: `  notesd why "Rye Bread" how long to proof rye
  notesd why --mode text Projects/Boat.md -- varnish -oil`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return nil
			}
			return takes("NOTE", "QUERY")(cmd, args)
		},
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := service.WhyParams{Note: args[0], Query: strings.Join(args[1:], " "), Mode: search.Mode(mode)}
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if err := c.embedFew(ctx, mode); err != nil {
					return err
				}
				res, err := sdk.CallCustomMethod[*service.WhyParams, *service.WhyResult](ctx, c.session, service.MethodWhy, &p)
				if err != nil {
					return rpcFailure(err)
				}
				if a.json {
					return a.out.json(res)
				}
				a.explain(res)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "`mode`: hybrid, text or semantic")
	completes(cmd, "mode", completeWords("hybrid", "text", "semantic"))
	a.jsonFlag(cmd)
	return cmd
}

// explain prints why a note is found.
func (o *output) explain(w *service.WhyResult) {
	if w.Found {
		fmt.Fprintf(o.out, "%s is number %d of %d, with the score %.3f\n", o.out.plain(w.Path), w.Rank, w.Total, w.Score)
	} else {
		fmt.Fprintf(o.out, "%s is not among the %s that the query finds\n", o.out.plain(w.Path), count(w.Total, "note"))
	}
	for _, reason := range w.Reasons {
		fmt.Fprintf(o.out, "  %s\n", o.out.plain(reason))
	}
	for _, part := range []struct {
		name    string
		clauses []string
	}{{"phrases", w.Read.Phrases}, {"without", w.Read.Without}, {"filters", w.Read.Filters}} {
		if len(part.clauses) > 0 {
			fmt.Fprintf(o.out, "%s: %s\n", part.name, o.out.plain(strings.Join(part.clauses, "  ")))
		}
	}
	for _, t := range w.Terms {
		has := "no "
		if t.Has {
			has = "yes"
		}
		fmt.Fprintf(o.out, "%s %8.3f  %s (in %s)\n", has, t.Weight, o.out.plain(t.Term), count(t.Notes, "note"))
	}
}
