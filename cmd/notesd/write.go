package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"notesd/internal/service"
	"notesd/mcp/tools"
	"notesd/notes"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// maxBody limits the size of a note read from standard input.
const maxBody = 16 << 20

func newCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new [flags] [TITLE]",
		Short: "Create a note",
		Long: `Create a note and print its path. The body comes from standard input. The file
is named after TITLE unless --path is given; an existing file is never replaced.`,
		Example: `  echo "Feed it twice a day." | notesd new --folder Recipes "Rye starter"
  notesd new --tag idea "Buy a boat" < /dev/null`,
		Args: func(cmd *cobra.Command, titles []string) error {
			if cmd.Flags().Changed("path") {
				return takes("[TITLE]")(cmd, titles)
			}
			return takes("TITLE")(cmd, titles)
		},
		RunE: func(cmd *cobra.Command, titles []string) error {
			body, err := a.body(cmd.Context())
			if err != nil {
				return err
			}
			args := given(cmd, "folder", "path", "template", "tag")
			args["content"] = body
			put(args, "title", strings.Join(titles, ""))
			return runTool(cmd, a, "create_note", args, a.printCreated)
		},
	}
	cmd.Flags().String("folder", "", "the `folder` of the new note")
	cmd.Flags().String("path", "", "the `path`, instead of a folder and the title")
	cmd.Flags().String("template", "", "start from this `note`, with its placeholders filled in")
	cmd.Flags().StringArray("tag", nil, "add this `tag`; repeatable")
	completes(cmd, "folder", a.offer(completeFolders))
	completes(cmd, "tag", a.offer(completeTags))
	return cmd
}

func (o *output) printCreated(res tools.CreateResult) { fmt.Fprintln(o.out, o.out.line(res.Path)) }

// inTerminal reports whether in is a terminal.
func inTerminal(in io.Reader) bool {
	f, ok := in.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// body reads standard input, or returns the error of ctx.
func (a *app) body(ctx context.Context) (string, error) {
	if inTerminal(a.in) {
		a.note("Type the note; end it with Ctrl-D on a separate line.")
	}
	var data []byte
	read := make(chan error, 1)
	go func() { // ends with standard input or the program
		var err error
		data, err = io.ReadAll(io.LimitReader(a.in, maxBody+1))
		read <- err
	}()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > maxBody {
		return "", service.Usagef("Split it into several notes.", "the note is longer than 16 MiB")
	}
	if !utf8.Valid(data) {
		return "", service.Usagef("Convert it first, for example with iconv.", "standard input is not UTF-8 text")
	}
	return string(data), nil
}

func appendCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "append [flags] NOTE",
		Short: "Append text to a note",
		Long: `Append standard input to a note, or to the section under a heading. NOTE may be
"today", for the daily note.`,
		Example: `  echo "- milk" | notesd append --heading Groceries Shopping.md
  notesd append --heading Log --create-heading today < entry.md`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			text, err := a.body(cmd.Context())
			if err != nil {
				return err
			}
			edit := given(cmd, "heading", "create-heading")
			edit["op"], edit["content"] = "append", text
			return a.edit(cmd, names[0], []any{edit})
		},
	}
	cmd.Flags().String("heading", "", "append to the section under this `heading`")
	cmd.Flags().Bool("create-heading", false, "create the heading if it does not exist")
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	completes(cmd, "heading", a.offer(completeHeadings))
	return cmd
}

// edit calls edit_note and prints the diff.
func (a *app) edit(cmd *cobra.Command, note string, edits []any) error {
	args := given(cmd, "dry-run")
	args["note"], args["edits"] = note, edits
	return a.withClient(cmd, func(ctx context.Context, c *client) error { return c.editWith(ctx, args) })
}

func (c *client) editWith(ctx context.Context, args map[string]any) error {
	return printCall(ctx, c, "edit_note", args, func(res tools.WriteResult) {
		fmt.Fprint(c.out, c.out.plain(res.Diff))
		switch {
		case res.Diff == "" || res.Unchanged:
			c.note(res.Path + " is unchanged.")
		case res.DryRun:
			c.note(nothingChanged)
		default:
			c.note(fmt.Sprintf("%s, revision %d; notesd undo %d reverts it", res.Path, res.Revision, res.Change))
		}
	})
}

func editCommand(a *app) *cobra.Command {
	var replace, with, section string
	var set, unset []string
	var list bool
	cmd := &cobra.Command{
		Use:   "edit [flags] NOTE",
		Short: "Change parts of a note",
		Long: `Edit parts of a note and print the diff. All flags of a call take effect, or
none. Without flags, open the note in $VISUAL or $EDITOR; changes saved
elsewhere meanwhile are never overwritten.`,
		Example: `  notesd edit --replace "due May 1" --with "due May 8" Projects/Boat.md
  notesd edit --set status=done --unset due "Paint the hull"`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			has := cmd.Flags().Changed
			if has("with") != has("replace") {
				return service.Usagef("See notesd edit -h.", "--replace and --with belong together")
			}
			if list {
				if has("replace") || has("section") || len(set)+len(unset) > 0 {
					return service.Usagef("Put all edits into the list.", "--edits takes no other edit")
				}
				text, err := a.body(cmd.Context())
				if err != nil {
					return err
				}
				var edits []any
				if err := json.Unmarshal([]byte(text), &edits); err != nil {
					return service.Usagef(`Write it as in [{"op":"append","content":"text"}].`, "standard input is not a JSON list of edits: %v", err)
				}
				return a.edit(cmd, names[0], edits)
			}
			edits, err := properties(set, unset)
			if err != nil {
				return err
			}
			if has("replace") {
				edit := given(cmd, "count")
				edit["op"], edit["old"], edit["new"] = "replace_text", replace, with
				edits = append(edits, edit)
			}
			if has("section") {
				text, err := a.body(cmd.Context())
				if err != nil {
					return err
				}
				edits = append(edits, map[string]any{"op": "replace_section", "heading": section, "content": text})
			}
			if len(edits) == 0 {
				return a.editInEditor(cmd, names[0])
			}
			return a.edit(cmd, names[0], edits)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&replace, "replace", "", "replace this `text`, which must occur once")
	flags.StringVar(&with, "with", "", "the replacement `text`")
	flags.Int("count", 0, "replace all `n` occurrences of the text")
	flags.StringVar(&section, "section", "", "replace the text under this `heading` with standard input")
	flags.StringArrayVar(&set, "set", nil, "set a front matter field to JSON or text, as `key=value`")
	flags.StringArrayVar(&unset, "unset", nil, "remove this `key` from the front matter")
	flags.BoolVar(&list, "edits", false, "read a JSON list of edits, as for the tool edit_note")
	flags.Bool("dry-run", false, "show what would change without changing anything")
	completes(cmd, "section", a.offer(completeHeadings))
	return cmd
}

// properties returns the edits that set and remove front matter keys.
func properties(set, unset []string) ([]any, error) {
	var edits []any
	for _, pair := range set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, service.Usagef("Write it as in --set status=done.", "--set %q is not key=value", pair)
		}
		edits = append(edits, map[string]any{"op": "set_front_matter", "key": key, "value": valueOf(text)})
	}
	for _, key := range unset {
		edits = append(edits, map[string]any{"op": "set_front_matter", "key": key, "value": nil})
	}
	return edits, nil
}

// valueOf returns the value that a text is as JSON. The text of a number that would be written
// differently, such as the version 1.10 or the hash 1e5, is text, as all other text.
func valueOf(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil || value == nil {
		return text
	}
	if number, ok := value.(float64); ok {
		_, err := strconv.ParseInt(text, 10, 64)
		if err != nil && strconv.FormatFloat(number, 'f', -1, 64) != text {
			return text
		}
	}
	return json.RawMessage(text) // a float64 does not have every whole number
}

// editInEditor opens a copy of the note in the user's editor and replaces the note by the
// result, unless the note has changed in the meantime. There is no session while the editor
// runs: without a daemon, it would lock the vault.
func (a *app) editInEditor(cmd *cobra.Command, note string) (err error) {
	editor := strings.TrimSpace(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	if editor == "" {
		return service.Usagef("Name what to change, as in notesd edit --replace OLD --with NEW, or set the variable EDITOR.", "there is no editor to open the note in")
	}
	var was tools.ReadResult
	if err := a.withClient(cmd, func(ctx context.Context, c *client) error {
		return c.call(ctx, "read_note", map[string]any{"note": note, "max_bytes": math.MaxInt32}, &was)
	}); err != nil {
		return err
	}
	if was.LineStart > 1 || was.LineEnd < was.TotalLines {
		return service.Usagef("Pass the note alone, or replace a section with --section.", "%s names a part of the note %s", note, was.Path)
	}
	dir, err := os.MkdirTemp("", "notesd-edit-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	file := filepath.Join(dir, path.Base(was.Path))
	if err := os.WriteFile(file, []byte(was.Content), 0o600); err != nil {
		return err
	}
	run := editorCommand(cmd.Context(), editor, file)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	a.editing.Store(true)
	err = run.Run()
	a.editing.Store(false)
	if err != nil {
		f := &service.Failure{Code: "failed", Message: fmt.Sprintf("the editor %s failed: %v", editor, err), Hint: "The note is unchanged. Set the variable EDITOR to another program."}
		// A signal that stops this program kills the editor, whose swap file may have more text.
		if text, err := os.ReadFile(file); cmd.Context().Err() != nil || err == nil && string(text) != was.Content {
			keep, f.Hint = true, "The note is unchanged. Your text is kept in "+file+"."
		}
		return f
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	args := given(cmd, "dry-run")
	args["note"], args["expected_hash"] = notes.URI(was.Path), was.Hash
	args["edits"] = []any{map[string]any{"op": "replace_all", "content": string(text)}}
	if err := a.withClient(cmd, func(ctx context.Context, c *client) error { return c.editWith(ctx, args) }); err != nil {
		keep = true
		f := *service.FailureOf(err)
		f.Hint = strings.TrimSpace(f.Hint + " Your text is kept in " + file + ".")
		return &f
	}
	return nil
}

// editorCommand returns the command that opens a file in the editor. Like git, it has a shell
// read the variable, which may contain quoted arguments.
func editorCommand(ctx context.Context, editor, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(editor), file)
		return exec.CommandContext(ctx, words[0], words[1:]...)
	}
	return exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file)
}

func moveCommand(a *app) *cobra.Command {
	var keepLinks bool
	cmd := &cobra.Command{
		Use:   "move [flags] NOTE… TO",
		Short: "Move or rename a note or folder, or move several notes",
		Long: `Move or rename a note or folder and update the links to it. TO is the new path,
or a folder with a trailing slash. Several notes are moved into the folder TO as
one change: all of them or, if one cannot be moved, none.`,
		Example: `  notesd move "Rye starter" Recipes/
  notesd move --dry-run Inbox/Boat.md Inbox/Mast.md Projects/`,
		Args: takes("NOTE", "TO…"),
		ValidArgsFunction: a.offer(func(ctx context.Context, c *client, args []string, typed string) ([]string, error) {
			if len(args) == 0 {
				return completeNotes(ctx, c, args, typed)
			}
			folders, err := completeFolders(ctx, c, args, typed)
			if err != nil || len(folders) > 0 {
				return folders, err
			}
			return completeNotes(ctx, c, nil, typed)
		}),
		RunE: func(cmd *cobra.Command, words []string) error {
			args := given(cmd, "dry-run")
			last := len(words) - 1
			args["note"], args["to"], args["update_links"] = words[0], words[last], !keepLinks
			if last > 1 {
				args["notes"] = words[1:last]
			}
			return runTool(cmd, a, "move_note", args, a.printMove)
		},
	}
	cmd.Flags().BoolVar(&keepLinks, "keep-links", false, "do not update links to it")
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	return cmd
}

func (o *output) printMove(res tools.MoveResult) {
	if len(res.From) == 0 {
		fmt.Fprintf(o.out, "%s -> %s\n", o.out.path(res.OldPath), o.out.path(res.Path))
	}
	for i, from := range res.From {
		fmt.Fprintf(o.out, "%s -> %s\n", o.out.path(from), o.out.path(res.Moved[i]))
	}
	o.marked("links changed in", res.Relinked)
	o.marked("changed or in use, links not updated in", res.Conflicts)
	o.marked("not readable or writable, links not updated in", res.Left)
	if res.Title != "" {
		o.note(fmt.Sprintf("Its title is still %q; notesd edit changes it.", res.Title))
	}
	switch {
	case res.DryRun:
		o.dryRun(res.Diff)
	case res.Total > 0:
		o.note(fmt.Sprintf("%s moved; notesd undo %d moves them back", count(res.Total, "note"), res.Change))
	default:
		o.note(fmt.Sprintf("notesd undo %d moves it back", res.Change))
	}
}

// marked prints notes, each with a mark for its outcome.
func (o *output) marked(mark string, paths []string) {
	for _, p := range paths {
		fmt.Fprintf(o.out, "  %s %s\n", mark, o.out.path(p))
	}
}

const nothingChanged = "Nothing was changed."

// dryRun prints the effect of a change.
func (o *output) dryRun(diff string) {
	fmt.Fprint(o.out, o.out.plain(diff))
	o.note(nothingChanged)
}

func deleteCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete [flags] NOTE",
		Short: "Delete a note",
		Long: `Delete a note and list the notes that still link to it; --redirect points their
links to another note. "notesd restore" brings the note back, "notesd undo" also
the links; "notesd forget" erases every version.`,
		Example: `  notesd delete Inbox/Old.md
  notesd delete --redirect Projects/Boat.md "Boat ideas"`,
		Args:              takes("NOTE"),
		ValidArgsFunction: a.offer(completeNotes),
		RunE: func(cmd *cobra.Command, names []string) error {
			args := given(cmd, "redirect", "dry-run")
			args["note"] = names[0]
			return runTool(cmd, a, "delete_note", args, a.printDelete)
		},
	}
	cmd.Flags().String("redirect", "", "redirect links to this `note`")
	cmd.Flags().Bool("dry-run", false, "show what would change without changing anything")
	completes(cmd, "redirect", a.offer(completeNotes))
	return cmd
}

func (o *output) printDelete(res tools.DeleteResult) {
	verb := "deleted"
	if res.DryRun {
		verb = "would delete"
	}
	fmt.Fprintf(o.out, "%s: %s\n", verb, o.out.path(res.Path))
	o.marked("linked from", res.LinkedFrom)
	o.marked("links changed in", res.Relinked)
	o.marked("changed or in use, links not updated in", res.Conflicts)
	o.marked("not readable or writable, links not updated in", res.Left)
	o.marked("no such heading or block for links in", res.BrokenIn)
	switch {
	case res.DryRun:
		o.note(nothingChanged)
	case len(res.Relinked) > 0:
		o.note(fmt.Sprintf("notesd undo %d brings it back, and the links to it", res.Change))
	default:
		o.note(fmt.Sprintf("notesd undo %d brings it back", res.Change))
	}
}
