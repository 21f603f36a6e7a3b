package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// historyResult is what note_history answers.
type historyResult struct {
	Revisions []revision `json:"revisions"`
	Next      string     `json:"next_cursor,omitempty"`
}

type revision struct {
	Revision  int64     `json:"revision"`
	Time      time.Time `json:"time"`
	Author    string    `json:"author"`
	Operation string    `json:"operation"`
	Path      string    `json:"path"`
	OldPath   string    `json:"old_path,omitempty"`
	Hash      string    `json:"hash,omitempty"`
	Size      int64     `json:"size"`
	Added     int       `json:"added"`
	Removed   int       `json:"removed"`
}

// historyPage is how many revisions are asked for at a time.
const historyPage = 200

func historyCommand(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "history [flags] NOTE",
		Short: "List the versions of a note",
		Long: `List the versions of a note, newest first: revision, time, what happened, lines
added and removed, and who did it. A deleted note is named by its path.`,
		Example: `  notesd history "Sourdough Starter"
  notesd history --json Projects/Boat.md | jq '.revisions[1].revision'`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			if limit < 0 {
				return usagef("0, or no --limit, lists all versions.", "--limit must not be negative")
			}
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				all, err := history(ctx, c, names[0], limit)
				if err != nil {
					return err
				}
				if a.json {
					return a.out.json(all)
				}
				a.printHistory(all.Revisions)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "at most `n` versions (all)")
	a.jsonFlag(cmd)
	return cmd
}

// history fetches page after page.
func history(ctx context.Context, c *client, note string, limit int) (historyResult, error) {
	all := historyResult{Revisions: []revision{}}
	for {
		page := historyResult{}
		query := map[string]any{"note": note, "limit": historyPage}
		if limit > 0 {
			query["limit"] = min(historyPage, limit-len(all.Revisions))
		}
		put(query, "cursor", all.Next)
		if err := c.call(ctx, "note_history", query, &page); err != nil {
			return all, err
		}
		all.Revisions = append(all.Revisions, page.Revisions...)
		all.Next = page.Next
		if page.Next == "" || len(page.Revisions) == 0 || limit > 0 && len(all.Revisions) >= limit {
			return all, nil
		}
	}
}

func (a *app) printHistory(revisions []revision) {
	number, author := 1, 1
	for _, r := range revisions {
		number = max(number, len(fmt.Sprint(r.Revision)))
		author = max(author, len(a.out.line(r.Author)))
	}
	for _, r := range revisions {
		where := a.out.path(a.out.line(r.Path))
		if r.OldPath != "" {
			where = a.out.path(a.out.line(r.OldPath)) + " → " + where
		}
		fmt.Fprintf(a.out, "%s  %s  %-7s  %6s  %-*s  %s\n",
			a.out.bold(fmt.Sprintf("%*d", number, r.Revision)), r.Time.Local().Format("2006-01-02 15:04:05"), a.out.line(r.Operation),
			strings.TrimSpace(fmt.Sprintf("+%d -%d", r.Added, r.Removed)), author, a.out.line(r.Author), where)
	}
	a.note(count(len(revisions), "version"))
}
