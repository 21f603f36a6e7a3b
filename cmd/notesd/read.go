package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/mcp/tools"
)

func readCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "read [flags] NOTE",
		Short: "Print a note",
		Long: `Print a note or part of it. NOTE is a path in the vault, a title, an alias or
any unambiguous name; today, yesterday or a date names a daily note.`,
		Example: `  notesd read "Sourdough Starter"
  notesd read --heading "Plan > Risks" Projects/Boat.md`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			args := given(cmd, "heading", "lines", "as-of", "revision", "outline")
			args["note"], args["max_bytes"] = names[0], math.MaxInt32
			return runTool(cmd, a, "read_note", args, func(note tools.ReadResult) {
				fmt.Fprint(a.out, a.out.plain(note.Content))
				for _, h := range note.Outline {
					fmt.Fprintf(a.out, "%d-%d  %s %s\n", h.LineStart, h.LineEnd, strings.Repeat("#", h.Level), a.out.line(h.Heading))
				}
				a.note(note.Notes...)
			})
		},
	}
	cmd.Flags().String("heading", "", "only the section under this `heading`")
	cmd.Flags().String("lines", "", "only these `lines`, such as 10-40")
	cmd.Flags().String("as-of", "", "as it was at this `time`, such as 2026-05 or 36h")
	cmd.Flags().Int("revision", 0, "revision `n`, as listed by notesd history")
	cmd.Flags().Bool("outline", false, "only the headings, with their lines")
	completes(cmd, "heading", a.offer(completeHeadings))
	completes(cmd, "revision", a.offer(completeRevisions))
	return cmd
}

// pageSize is the number of items that a command asks for at a time. A tool whose pages are
// shorter returns as many as they may have.
const pageSize = 500

func listCommand(a *app) *cobra.Command {
	var limit int
	var where string
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List notes",
		Long:  "List notes, newest first, with date, size, path and tags.",
		Example: `  notesd list --folder Projects --tag open
  notesd list --where 'due<2026-02-01' --json`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := given(cmd, "folder", "after", "before", "glob", "tag", "sort", "as-of", "orphans", "broken-links")
			if where != "" {
				fields, err := condition(where)
				if err != nil {
					return err
				}
				query["where"] = fields
			}
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				return printPages(ctx, c, "list_notes", query, limit, "note", c.printList, func(r *tools.ListResult) listed[tools.ListedNote] {
					return listed[tools.ListedNote]{&r.Notes, r.Next, r.Warnings, r.Total}
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.String("folder", "", "only notes in this `folder` and its subfolders")
	flags.String("after", "", "only notes from this `date` on")
	flags.String("before", "", "only notes before this `date`")
	flags.String("glob", "", "only paths matching this `pattern`, such as Projects/**")
	flags.StringArray("tag", nil, "only notes with this `tag`; repeatable")
	flags.StringVar(&where, "where", "", "only notes matching this `condition`: key=value or JSON")
	flags.Bool("orphans", false, "only notes without links in either direction")
	flags.Bool("broken-links", false, "only notes with broken links")
	flags.String("sort", "", "`order`: date, modified, created, title, path or size")
	flags.IntVar(&limit, "limit", 0, "at most `n` notes (all)")
	flags.String("as-of", "", "as of this `time`, such as 2026-05 or 36h")
	completes(cmd, "sort", completeWords("date", "modified", "created", "title", "path", "size"))
	completes(cmd, "folder", a.offer(completeFolders))
	completes(cmd, "tag", a.offer(completeTags))
	return cmd
}

// condition parses --where: one comparison, such as due<2026-02-01, or a JSON object.
func condition(text string) (map[string]any, error) {
	m := comparison.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(text, "{") {
		var where map[string]any
		if err := json.Unmarshal([]byte(text), &where); err != nil {
			return nil, service.Usagef(`Write it as in --where 'status=open' or --where '{"status":"open"}'.`, "--where is neither a comparison nor a JSON object: %s", text)
		}
		return where, nil
	}
	var value any
	if json.Unmarshal([]byte(m[3]), &value) != nil {
		value = m[3]
	}
	operator := map[string]string{"=": "eq", "!=": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}[m[2]]
	return map[string]any{m[1]: map[string]any{operator: value}}, nil
}

var comparison = regexp.MustCompile(`^\s*([^=<>!]+?)\s*(=|!=|<=?|>=?)\s*([^=<>]+?)\s*$`)

// listed is a page of a list, independent of the field names in a tool's result.
type listed[T any] struct {
	items   *[]T
	next    string // cursor of the next page
	remarks []string
	total   int // 0: unknown
}

// printPages fetches the pages of a tool's list, up to limit items (0: all), and prints
// each page, or all of them as one document.
func printPages[R, T any](ctx context.Context, c *client, tool string, query map[string]any, limit int, noun string, show func([]T), open func(*R) listed[T]) error {
	if limit < 0 {
		return service.Usagef("0, or no --limit, lists all "+noun+"s.", "--limit must not be negative")
	}
	all := []T{}
	for {
		query["limit"] = pageSize
		if limit > 0 {
			query["limit"] = min(pageSize, limit-len(all))
		}
		var res R
		if err := c.call(ctx, tool, query, &res); err != nil {
			return err
		}
		p := open(&res)
		all = append(all, *p.items...)
		if !c.json {
			show(*p.items)
		}
		if query["cursor"] = p.next; p.next != "" && len(*p.items) > 0 && (limit == 0 || len(all) < limit) {
			continue
		}
		if *p.items = all; c.json {
			return c.out.json(res)
		}
		c.note(countOf(len(all), p.total, noun))
		c.note(p.remarks...)
		return nil
	}
}

func (o *output) printList(page []tools.ListedNote) {
	for _, n := range page {
		tags, broken := "", ""
		if len(n.Tags) > 0 {
			tags = "  " + o.out.dim("#"+strings.Join(n.Tags, " #"))
		}
		if len(n.Broken) > 0 {
			broken = "  ?? " + strings.Join(n.Broken, ", ")
		}
		fmt.Fprintf(o.out, "%s  %8s  %s%s%s\n", n.Date, size(n.Size), o.out.path(n.Path), tags, broken)
	}
}
