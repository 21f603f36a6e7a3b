package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/mcp/tools"
	"notesd/notes"
)

func tasksCommand(a *app) *cobra.Command {
	var limit int
	var set, setDue string
	cmd := &cobra.Command{
		Use:   "tasks [flags] [NOTE]",
		Short: "List tasks, or change one",
		Long: `List open tasks, the next due first. A date is today, friday, 2026-01-31,
"this week", overdue or none. --set and --set-due change the task if exactly
one is selected.`,
		Example: `  notesd tasks --due "this week" --folder Projects
  notesd tasks --text dentist --set done`,
		Args:              takes("[NOTE]"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			query := given(cmd, "folder", "tag", "status", "due", "due-before", "due-after", "scheduled", "done", "priority", "text", "sort")
			put(query, "note", strings.Join(names, ""))
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if set == "" && setDue == "" {
					return printPages(ctx, c, "list_tasks", query, limit, "task", c.printTasks, func(r *tools.TaskList) listed[tools.ListedTask] {
						return listed[tools.ListedTask]{&r.Tasks, r.Next, r.Warnings, r.Total}
					})
				}
				if set == "open" && query["status"] == nil {
					query["status"] = "done"
				}
				edit := map[string]any{"op": "toggle_task"}
				put(edit, "status", set)
				put(edit, "due", setDue)
				return c.setTask(ctx, query, edit)
			})
		},
	}
	flags := cmd.Flags()
	flags.String("folder", "", "only in notes of this `folder` and its subfolders")
	flags.StringArray("tag", nil, "only with this `tag`; repeatable")
	flags.String("status", "", "`status`: open, in_progress, done, cancelled or all")
	flags.String("due", "", "only due on this `date`")
	flags.String("due-before", "", "only due before this `day`")
	flags.String("due-after", "", "only due on or after this `day`")
	flags.String("scheduled", "", "only scheduled for this `date`")
	flags.String("done", "", "only completed on this `date`")
	flags.String("priority", "", "only with this `priority`: highest to lowest, or none")
	flags.String("text", "", "only containing this `text`")
	flags.String("sort", "", "`order`: due, scheduled, priority, path or done")
	flags.IntVar(&limit, "limit", 0, "at most `n` tasks (all)")
	flags.StringVar(&set, "set", "", "set the `status`: open, in_progress, done or cancelled")
	flags.StringVar(&setDue, "set-due", "", "set the due `day`, or none")
	statuses := completeWords("open", "in_progress", "done", "cancelled", "all")
	dates := completeWords("overdue", "today", "tomorrow", "this week", "next week", "none")
	for name, complete := range map[string]cobra.CompletionFunc{
		"folder": a.offer(completeFolders), "tag": a.offer(completeTags), "status": statuses, "set": completeWords("open", "in_progress", "done", "cancelled"),
		"due": dates, "scheduled": dates, "done": dates, "set-due": completeWords("today", "tomorrow", "next monday", "none"),
		"priority": completeWords("highest", "high", "medium", "low", "lowest", "none"), "sort": completeWords("due", "scheduled", "priority", "path", "done"),
	} {
		completes(cmd, name, complete)
	}
	return cmd
}

func (o *output) printTasks(page []tools.ListedTask) {
	for _, t := range page {
		mark := t.Mark
		if mark == "" && t.Status == "done" {
			mark = "x"
		}
		fmt.Fprintf(o.out, "[%1s] %s  %s\n", mark, o.out.line(t.Text), o.out.path(fmt.Sprintf("%s:%d", t.Path, t.Line)))
	}
}

// setTask changes the single task that matches the query.
func (c *client) setTask(ctx context.Context, query, edit map[string]any) error {
	var page tools.TaskList
	if err := c.call(ctx, "list_tasks", query, &page); err != nil {
		return err
	}
	if page.Total != 1 || len(page.Tasks) != 1 {
		f := &service.Failure{Code: "not_found", Message: "no task matches, so none was changed", Hint: "notesd tasks --status all shows those that are done, too."}
		if page.Total > 1 {
			f = &service.Failure{Code: "ambiguous", Message: count(page.Total, "task") + " would be changed", Hint: "Select one, by its --text or its NOTE:"}
			for _, t := range page.Tasks[:min(len(page.Tasks), 5)] {
				f.Hint += fmt.Sprintf("\n  %s:%d %s", c.out.line(t.Path), t.Line, c.out.line(t.Text))
			}
		}
		return f
	}
	task := page.Tasks[0]
	edit["line"], edit["text"] = task.Line, task.Text
	return c.editWith(ctx, map[string]any{"note": task.Path, "edits": []any{edit}})
}

func dailyCommand(a *app) *cobra.Command {
	var add, create bool
	var heading string
	cmd := &cobra.Command{
		Use:   "daily [flags] [DAY]",
		Short: "Print today's note, or append to it",
		Long: `Print the daily note of today or of DAY: yesterday, 2026-01-31, or a week ("this
week", 2026-W05). --append appends standard input, creating the note from the
vault's template if necessary; --create only creates it.`,
		Example: `  notesd daily yesterday
  echo "- 9:00 called Ann" | notesd daily --append --heading Log`,
		Args:              takes("[DAY]"),
		ValidArgsFunction: completeWords("today", "yesterday", "tomorrow", "this week", "last week"),
		RunE: func(cmd *cobra.Command, days []string) error {
			day := cmp.Or(strings.Join(days, ""), "today")
			if _, ok := new(notes.Periodic).Parse(day, time.Now()); !ok {
				return service.Usagef(`Write it as today, 2026-01-31, "this week" or 2026-W05.`, "%q is not a day or a week", day)
			}
			switch {
			case add && create:
				return service.Usagef("--append creates the note if necessary.", "--append and --create exclude each other")
			case create:
				return runTool(cmd, a, "create_note", map[string]any{"title": day, "content": ""}, a.printCreated)
			case add:
				body, err := a.body(cmd.Context())
				if err != nil {
					return err
				}
				edit := map[string]any{"op": "append", "content": body, "create_heading": heading != ""}
				put(edit, "heading", heading)
				return runTool(cmd, a, "edit_note", map[string]any{"note": day, "edits": []any{edit}}, func(res tools.WriteResult) { fmt.Fprintln(a.out, a.out.line(res.Path)) })
			}
			args := map[string]any{"note": day, "max_bytes": math.MaxInt32}
			put(args, "heading", heading)
			return runTool(cmd, a, "read_note", args, func(note tools.ReadResult) { fmt.Fprint(a.out, a.out.plain(note.Content)) })
		},
	}
	cmd.Flags().BoolVar(&add, "append", false, "append standard input to the note")
	cmd.Flags().BoolVar(&create, "create", false, "create the note")
	cmd.Flags().StringVar(&heading, "heading", "", "the section under this `heading`; --append creates it")
	return cmd
}
