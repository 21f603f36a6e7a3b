package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/desktop"
	"notesd/internal/service"
	"notesd/mcp"
	"notesd/mcp/tools"
	"notesd/search"
)

// incomplete reports whether passages are still waiting to be embedded.
func incomplete(s tools.Semantic) bool {
	return s.Coverage < 1 && (s.State == search.StateBuilding || s.State == search.StateLate)
}

// maxHits is the maximum number of notes shown by one search.
const maxHits = 50

func searchCommand(a *app) *cobra.Command {
	var mode string
	var limit int
	var open bool
	cmd := &cobra.Command{
		Use:   "search [flags] QUERY…",
		Short: "Search the notes",
		Long: `Search notes by words and meaning, and show the best passage of each. A query is
plain words, and may contain: "exact phrase"  -word  prefix*
tag:project  path:Projects/  after:2026-01-01  before:2026-02-01  has:todo
Put -- before a query that contains -word.`,
		Example: `  notesd search how long to proof rye
  notesd search --limit 3 --json -- 'tag:bread "starter" -rye'`,
		Args: takes("QUERY…"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("limit") && (limit < 1 || limit > maxHits) {
				return service.Usagef("Filters narrow a search.", "--limit must be 1 to %d", maxHits)
			}
			query := given(cmd, "mode", "folder", "after", "before", "as-of", "tag", "limit", "explain")
			query["query"] = strings.Join(words, " ")
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if err := c.embedFew(ctx, mode); err != nil {
					return err
				}
				if open {
					return c.openBest(ctx, query)
				}
				return c.search(ctx, query)
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 0, "at most `n` notes, up to 50 (10)")
	flags.StringVar(&mode, "mode", "", "`mode`: hybrid, text or semantic")
	flags.String("folder", "", "only notes in this `folder` and its subfolders")
	flags.StringArray("tag", nil, "only notes with this `tag`; repeatable")
	flags.String("after", "", "only notes from this `date` on")
	flags.String("before", "", "only notes before this `date`")
	flags.String("as-of", "", "search the notes as of this `time`, by words")
	flags.Bool("explain", false, "explain why each note was found")
	flags.BoolVar(&open, "open", false, "open the best hit, in Obsidian if the vault belongs to it")
	completes(cmd, "mode", completeWords("hybrid", "text", "semantic"))
	completes(cmd, "folder", a.offer(completeFolders))
	completes(cmd, "tag", a.offer(completeTags))
	return cmd
}

// Without a daemon, a search first embeds the passages of a small vault or of a few
// changes. More than can be embedded in about fewWait would make every search slow; a
// daemon or notesd index --wait embeds those, and a note in the output says so.
const (
	fewPassages = 150 // per CPU
	fewWait     = 2 * time.Second
)

func (c *client) embedFew(ctx context.Context, mode string) error {
	if c.daemon != nil || mode == "text" {
		return nil
	}
	latest := time.Now().Add(max(fewWait, service.Waits.Semantic))
	few := fewPassages * max(2, runtime.GOMAXPROCS(0))
	_, err := c.untilEmbedded(ctx, func(r service.Report) bool {
		return r.Semantic.Pending > few || r.Semantic.Trouble != "" || time.Now().After(latest)
	})
	return err
}

func (c *client) search(ctx context.Context, query map[string]any) error {
	explain := query["explain"] != nil
	if !c.json {
		query["explain"] = true // returns the words to highlight
	}
	return printCall(ctx, c, "search_notes", query, func(res tools.SearchResult) {
		c.printHits(res, explain)
		if len(res.Results) == 0 {
			if r, err := c.status(ctx); err == nil && r.Index.Ready && r.Notes == 0 {
				c.note(noNotes)
			}
		}
		if c.daemon == nil && query["mode"] != "text" && incomplete(res.Semantic) {
			what := fmt.Sprintf("Semantic search covers %d %% of the passages so far; notesd index --wait embeds the rest.", int(100*res.Semantic.Coverage))
			if res.Semantic.Coverage == 0 { // a remark of the search already says so
				what = "notesd index --wait embeds the passages."
			}
			c.note(what)
		}
	})
}

func (o *output) printHits(res tools.SearchResult, explain bool) {
	for i, r := range res.Results {
		if i > 0 {
			fmt.Fprintln(o.out)
		}
		title := o.out.bold(r.Title)
		if r.Heading != "" && r.Heading != r.Title {
			title += o.out.dim(" › ") + o.out.line(r.Heading)
		}
		fmt.Fprintf(o.out, "%2d  %s\n", i+1, title)
		fmt.Fprintf(o.out, "    %s\n", o.out.path(fmt.Sprintf("%s:%d-%d", r.Path, r.LineStart, r.LineEnd)))
		for _, line := range wrap(o.out.line(r.Snippet), o.out.columns()-4) {
			fmt.Fprintf(o.out, "    %s\n", highlight(o.out, line, r.Why.Words()))
		}
		if explain {
			fmt.Fprintf(o.out, "    %s\n", o.out.dim(whyText(r.Why, r.Score)))
		}
	}
	o.note(searchSummary(res))
	o.note(res.Notes...)
}

// openBest opens the best hit of a search in the user's program for notes and prints its
// path.
func (c *client) openBest(ctx context.Context, query map[string]any) error {
	query["limit"] = 1
	var res tools.SearchResult
	if err := c.call(ctx, "search_notes", query, &res); err != nil {
		return err
	}
	if len(res.Results) == 0 {
		return &service.Failure{Code: "not_found", Message: "no notes match", Hint: "Search with fewer words."}
	}
	best := res.Results[0].Path
	dir, in := c.loaded.Vault.Place(best)
	target := cmp.Or(service.OpenLink(dir, in), filepath.Join(dir, filepath.FromSlash(in)))
	if err := desktop.Open(ctx, target, os.Stderr); err != nil {
		return &service.Failure{Code: "failed", Message: fmt.Sprintf("%s cannot be opened: %v", best, err)}
	}
	return c.resultLine(res.Results[0], c.out.line(best))
}

func searchSummary(res tools.SearchResult) string {
	if len(res.Results) == 0 {
		return "No notes match."
	}
	return countOf(len(res.Results), res.Total, "note")
}

func whyText(w search.Why, score float64) string {
	parts := []string{fmt.Sprintf("score %.3f", score)}
	if w.TextRank > 0 {
		parts = append(parts, fmt.Sprintf("text #%d (%.3f)", w.TextRank, w.TextScore))
	}
	if w.VectorRank > 0 {
		parts = append(parts, fmt.Sprintf("meaning #%d (%.3f)", w.VectorRank, w.VectorScore))
	}
	if len(w.Terms) > 0 {
		parts = append(parts, "matched "+strings.Join(w.Terms, ", "))
	}
	return strings.Join(parts, " · ")
}

func whyCommand(a *app) *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use:   "why [flags] NOTE QUERY…",
		Short: "Explain why a search does or does not find a note",
		Long: `Explain the rank of a note in the results of a query, or why it is missing: a
filter, an exclusion or a phrase, missing words, passages that are not embedded
yet or not close enough.`,
		Example: `  notesd why "Rye Bread" how long to proof rye
  notesd why --mode text Projects/Boat.md -- varnish -oil`,
		Args:              takes("NOTE", "QUERY…"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				mode := cmp.Or(mode, a.loaded.Search.Mode) // as in a search
				p := service.WhyParams{Note: args[0], Query: strings.Join(args[1:], " "), Mode: search.Mode(mode)}
				if err := c.embedFew(ctx, mode); err != nil {
					return err
				}
				return printed(c, func(out any) error { return c.method(ctx, mcp.MethodWhy, p, out) }, a.explain)
			})
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "`mode`: hybrid, text or semantic")
	completes(cmd, "mode", completeWords("hybrid", "text", "semantic"))
	return cmd
}

// explain prints why a note is or is not found.
func (o *output) explain(w service.WhyResult) {
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
	if len(w.Terms) > 0 {
		fmt.Fprintln(o.out, "whether it has each word, and the weight of the word:")
	}
	for _, t := range w.Terms {
		has := "no "
		if t.Has {
			has = "yes"
		}
		fmt.Fprintf(o.out, "  %s %8.3f  %s (in %s)\n", has, t.Weight, o.out.plain(t.Term), count(t.Notes, "note"))
	}
}
