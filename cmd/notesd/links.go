package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/mcp/tools"
)

func linksCommand(a *app) *cobra.Command {
	var depth int
	cmd := &cobra.Command{
		Use:   "links [flags] NOTE",
		Short: "List the links of a note",
		Long: `List the outgoing links (->), the backlinks (<-, with the line) and the broken
links (??) of a note.`,
		Example: `  notesd links "Sourdough Starter"
  notesd links --direction in Projects/Boat.md`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			if cmd.Flags().Changed("depth") && (depth < 1 || depth > 3) {
				return service.Usagef("See notesd links -h.", "--depth must be 1 to 3")
			}
			args := given(cmd, "direction", "depth")
			args["note"] = names[0]
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				res, err := c.links(ctx, args)
				if err != nil {
					return err
				}
				return a.result(res, func() { a.printLinks(res) })
			})
		},
	}
	cmd.Flags().String("direction", "", "`direction`: both, out or in")
	cmd.Flags().IntVar(&depth, "depth", 0, "follow links to depth `n`, up to 3 (1)")
	completes(cmd, "direction", completeWords("both", "out", "in"))
	return cmd
}

// links fetches the links of a note, including all pages of its backlinks if requested.
func (c *client) links(ctx context.Context, args map[string]any) (res tools.LinksResult, err error) {
	for {
		before := res.Backlinks
		res = tools.LinksResult{}
		if err := c.call(ctx, "note_links", args, &res); err != nil {
			return res, err
		}
		res.Backlinks = slices.Insert(res.Backlinks, 0, before...) // not nil, which is null in JSON
		if res.Next == "" {
			return res, nil
		}
		args["cursor"] = res.Next
	}
}

func (o *output) printLinks(res tools.LinksResult) {
	for _, l := range res.Outgoing {
		fmt.Fprintf(o.out, "-> %s%s\n", o.out.path(l.Path), o.out.dim(fmt.Sprintf("  line %s%s", strings.Trim(fmt.Sprint(append([]int{l.Line}, l.Lines...)), "[]"), from(l.From))))
	}
	for _, l := range res.Backlinks {
		text := strings.TrimSpace(o.out.line(l.Context))
		if text != "" {
			text = "  " + o.out.dim(text)
		}
		fmt.Fprintf(o.out, "<- %s:%d%s\n", o.out.path(l.Path), l.Line, text)
	}
	for _, l := range res.Unresolved {
		why := "there is no such note"
		switch {
		case l.Ambiguous:
			why = "several files have this name"
		case l.Missing == "anchor":
			why = l.Path + " has no such heading or block"
		case len(l.Near) > 0:
			why = "a title or alias of " + strings.Join(l.Near, ", ") + "; link by file name"
		}
		target := l.Target
		if l.Anchor != "" {
			target += "#" + l.Anchor
		}
		fmt.Fprintf(o.out, "%s %s%s\n", o.out.red("??"), o.out.line(target), o.out.dim(fmt.Sprintf("  line %d, %s", l.Line, why)))
	}
	o.note(res.Notes...)
	shown := "%d out, %d in, %d broken"
	if res.Truncated {
		shown = "the first " + shown
	}
	o.note(fmt.Sprintf(shown, len(res.Outgoing), len(res.Backlinks), len(res.Unresolved)))
}

// from names the note that contains a link, unless it is the note itself ("").
func from(note string) string {
	if note == "" {
		return ""
	}
	return " of " + note
}

func relatedCommand(a *app) *cobra.Command {
	var text string
	cmd := &cobra.Command{
		Use:   "related [flags] [NOTE]",
		Short: "List notes related to a note or a text",
		Long: `List the notes most closely related to a note or a text, by content and by
links, with the reasons.`,
		Example: `  notesd related "Sourdough Starter"
  notesd related --limit 3 --text "flour, water and patience"`,
		Args: func(cmd *cobra.Command, names []string) error {
			switch {
			case text == "":
				return takes("NOTE")(cmd, names)
			case len(names) > 0:
				return service.Usagef("See notesd related -h.", "related takes a note or --text, not both")
			}
			return nil
		},
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			args := given(cmd, "text", "limit")
			put(args, "note", strings.Join(names, ""))
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if err := c.embedFew(ctx, ""); err != nil {
					return err
				}
				return printCall(ctx, c, "related_notes", args, func(res tools.RelatedResult) {
					for _, r := range res.Related {
						fmt.Fprintf(a.out, "%s  %s\n", a.out.path(r.Path), a.out.dim(strings.Join(r.Reasons, "; ")))
					}
					a.note(res.Notes...)
					a.note(count(len(res.Related), "note"))
				})
			})
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "find notes related to this `text`")
	cmd.Flags().Int("limit", 0, "at most `n` notes, up to 49 (10)")
	return cmd
}

func tagsCommand(a *app) *cobra.Command {
	var rename, to string
	cmd := &cobra.Command{
		Use:   "tags [flags]",
		Short: "List tags, or rename one",
		Long: `List all tags with their number of notes, the most frequent first, or rename a
tag and its nested tags in all notes, and in the links to headings with it.`,
		Example: `  notesd tags
  notesd tags --rename project --to work/project --dry-run`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (rename == "") != (to == "") {
				return service.Usagef("See notesd tags -h.", "--rename and --to belong together")
			}
			if rename != "" {
				args := given(cmd, "dry-run")
				args["tag"], args["to"] = rename, to
				return runTool(cmd, a, "rename_tag", args, a.printRenameTag)
			}
			return runOwner(cmd, a, service.MethodTags, service.OwnerParams{}, func(all service.Tags) {
				for _, t := range all.Tags {
					fmt.Fprintf(a.out, "%6d  #%s\n", t.Notes, a.out.line(t.Tag))
				}
				a.note(count(len(all.Tags), "tag"))
			})
		},
	}
	cmd.Flags().StringVar(&rename, "rename", "", "rename this `TAG`")
	cmd.Flags().StringVar(&to, "to", "", "the new name of the `TAG`")
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	return cmd
}

func (o *output) printRenameTag(res tools.RenameTagResult) {
	for _, p := range res.Changed {
		fmt.Fprintln(o.out, o.out.path(p))
	}
	if more := res.Total - len(res.Changed); more > 0 {
		o.note(fmt.Sprintf("… and %d more", more))
	}
	o.marked("changed or in use, tag not renamed in", res.Conflicts)
	o.marked("not updated, because it may use the tag:", res.Left)
	o.note(res.Notes...)
	if res.DryRun {
		o.dryRun(res.Diff)
		return
	}
	o.note(fmt.Sprintf("%s changed; notesd undo %d reverts it", count(res.Total, "note"), res.Change))
}
