package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/mcp/tools"
)

func historyCommand(a *app) *cobra.Command {
	var limit int
	var since string
	var diff []int
	cmd := &cobra.Command{
		Use:   "history [flags] [NOTE]",
		Short: "List the versions of a note",
		Long: `List the versions of a note, newest first: revision, time, kind of change, lines
added and removed, and author. To name a deleted note, use its path. For a
folder, list the latest changes in it; without NOTE, those of all notes.`,
		Example: `  notesd history "Sourdough Starter"
  notesd history --json Projects/Boat.md | jq '.revisions[1].revision'`,
		Args: func(cmd *cobra.Command, names []string) error {
			if diff == nil {
				return takes("[NOTE]")(cmd, names)
			}
			return takes("NOTE")(cmd, names)
		},
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			if diff != nil {
				return runTool(cmd, a, "note_history", map[string]any{"note": names[0], "diff": diff}, func(r tools.HistoryResult) { fmt.Fprint(a.out, a.out.plain(r.Diff)) })
			}
			query := map[string]any{}
			put(query, "note", strings.Join(names, ""))
			put(query, "since", since)
			if len(query) == 0 && limit == 0 {
				limit = newestChanges
			}
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				return printPages(ctx, c, "note_history", query, limit, "version", c.printHistory, func(r *tools.HistoryResult) listed[tools.Revision] {
					return listed[tools.Revision]{&r.Revisions, r.Next, r.Notes, 0}
				})
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "at most `n` versions (all of a note, 20 changes of all)")
	cmd.Flags().StringVar(&since, "since", "", "only since this `time`, such as yesterday or 36h")
	cmd.Flags().IntSliceVar(&diff, "diff", nil, "show the changes between revisions `n,m` of the note")
	return cmd
}

// newestChanges is the default number of changes shown across all notes.
const newestChanges = 20

func (o *output) printHistory(revisions []tools.Revision) {
	number, operation, author := 1, 1, 1
	for _, r := range revisions {
		operation = max(operation, len(r.Operation))
		number = max(number, len(fmt.Sprint(r.Revision)))
		author = max(author, utf8.RuneCountInString(o.out.line(r.Author)))
	}
	for _, r := range revisions {
		where, revision := o.out.path(r.Path), "-" // no version was kept
		if r.Revision > 0 {
			revision = fmt.Sprint(r.Revision)
		}
		if r.OldPath != "" {
			where = o.out.path(r.OldPath) + " → " + where
		}
		if r.Change != 0 {
			where += o.out.dim(fmt.Sprintf("  change %d", r.Change))
		}
		fmt.Fprintf(o.out, "%s  %s  %-*s  %6s  %-*s  %s\n",
			o.out.bold(fmt.Sprintf("%*s", number, revision)), localTime(r.Time), operation, o.out.line(r.Operation),
			strings.TrimSpace(fmt.Sprintf("+%d -%d", r.Added, r.Removed)), author, o.out.line(r.Author), where)
	}
}

func restoreCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore [flags] NOTE REVISION",
		Short: "Restore an earlier version of a note",
		Long: `Restore an earlier version of a note, or a deleted note, as a new version, so
that nothing is lost. "notesd history" lists the revisions.`,
		Example: `  notesd restore "Sourdough Starter" 12
  notesd restore --dry-run Projects/Boat.md 7`,
		Args:              takes("NOTE", "REVISION"),
		ValidArgsFunction: a.offer(completeRevisions),
		RunE: func(cmd *cobra.Command, words []string) error {
			revision, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil || revision < 1 {
				return service.Usagef("notesd history NOTE lists them.", "%q is not the number of a revision", words[1])
			}
			args := given(cmd, "dry-run")
			args["note"], args["revision"] = words[0], revision
			return runTool(cmd, a, "restore_note", args, func(res tools.WriteResult) {
				fmt.Fprint(a.out, a.out.plain(res.Diff))
				switch {
				case res.Diff == "":
					a.note(fmt.Sprintf("%s is as it was in revision %d already.", res.Path, revision))
				case res.DryRun:
					a.note(nothingChanged)
				default:
					a.note(fmt.Sprintf("%s is as it was in revision %d; this is revision %d.", res.Path, revision, res.Revision))
				}
			})
		},
	}
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	return cmd
}

func undoCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [flags] CHANGE",
		Short: "Undo a change in all notes that it affected",
		Long: `Undo a change made through notesd, such as a move or a tag rename, in all notes
that it affected. "notesd history" and the output of the change show its number.
Later changes of other sections are kept. Notes in which the same section was
changed are listed and left as they are. An undo can be undone.`,
		Example: `  notesd undo 17
  notesd undo --dry-run 17`,
		Args: takes("CHANGE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			change, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil || change < 1 {
				return service.Usagef("notesd history lists them.", "%q is not the number of a change", words[0])
			}
			args := given(cmd, "dry-run")
			args["change"] = change
			return runTool(cmd, a, "restore_note", args, func(res tools.WriteResult) {
				if res.OldPath != "" {
					fmt.Fprintf(a.out, "%s → ", a.out.path(res.OldPath))
				}
				for _, p := range append([]string{res.Path}, res.Relinked...) {
					fmt.Fprintln(a.out, a.out.path(p))
				}
				for _, p := range res.Conflicts {
					fmt.Fprintf(a.out, "changed since, not restored: %s\n", a.out.path(p))
				}
				switch {
				case res.DryRun:
					a.dryRun(res.Diff)
				case res.Change > 0:
					a.note(fmt.Sprintf("change %d is undone; notesd undo %d redoes it", change, res.Change))
				default:
					a.note(fmt.Sprintf("change %d is undone", change))
				}
			})
		},
	}
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	return cmd
}
