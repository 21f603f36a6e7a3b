package main

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"notesd/internal/service"
	"notesd/mcp/tools"
)

func completionCommand(a *app) *cobra.Command {
	shells := map[string]func(root *cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(a.out, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(a.out) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(a.out, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(a.out) },
	}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a shell completion script",
		Long: `Print a script that makes bash, zsh, fish or powershell complete commands,
flags, notes, tags, folders and revisions. Load it when the shell starts. In
bash, it needs the system's package bash-completion.`,
		Example: `  source <(notesd completion bash)
  notesd completion fish > ~/.config/fish/completions/notesd.fish`,
		Args:              takes("SHELL"),
		ValidArgsFunction: completeWords("bash", "zsh", "fish", "powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			generate, ok := shells[args[0]]
			if !ok {
				return service.Usagef("Use bash, zsh, fish or powershell.", "there is no completion for the shell %q", args[0])
			}
			return generate(cmd.Root())
		},
	}
}

// completeWords completes an argument from a fixed list.
func completeWords(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeTools completes the last name in a comma-separated list of tools.
func completeTools(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var lists []cobra.Completion
	for _, name := range append([]string{"reader", "writer", "all"}, tools.Names()...) {
		lists = append(lists, before+name)
	}
	return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completes registers the completion of a flag.
func completes(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag does not exist, a programming error
	}
}

// completionWait limits the duration of a completion, because the shell waits for it.
const completionWait = 3 * time.Second

// offer returns a completion with values from the vault. Errors yield no values, because
// a message would end up in the command line.
func (a *app) offer(ask func(ctx context.Context, c *client, args []string, typed string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), max(completionWait, service.Waits.FirstScan))
		defer cancel()
		cmd.SetContext(ctx)
		var values []string
		err := a.withClient(cmd, func(ctx context.Context, c *client) (err error) {
			values, err = ask(ctx, c, args, typed)
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveError
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNotes completes notes whose path or name starts with the typed text.
func completeNotes(ctx context.Context, c *client, args []string, typed string) ([]string, error) {
	if len(args) > 0 {
		return nil, nil
	}
	var values []string
	for _, word := range []string{"today", "yesterday", "tomorrow", "this week"} {
		if typed != "" && strings.HasPrefix(word, strings.ToLower(typed)) {
			values = append(values, word)
		}
	}
	begin := globEscape.Replace(typed)
	offered := map[string]bool{} // several patterns may match a path
	for _, pattern := range []string{begin + "*", begin + "*/**", "**/" + begin + "*"} {
		var page tools.ListResult
		if err := c.call(ctx, "list_notes", map[string]any{"glob": pattern, "limit": pageSize}, &page); err != nil {
			return nil, err
		}
		for _, n := range page.Notes {
			switch name := strings.TrimSuffix(path.Base(n.Path), ".md"); {
			case offered[n.Path]:
			case strings.HasPrefix(n.Path, typed):
				values = append(values, cobra.CompletionWithDesc(n.Path, n.Title))
			default:
				values = append(values, cobra.CompletionWithDesc(name, n.Path))
			}
			offered[n.Path] = true
		}
	}
	return values, nil
}

var globEscape = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, `\`, `\\`)

// completeRevisions completes revisions of the note in the first argument.
func completeRevisions(ctx context.Context, c *client, args []string, typed string) ([]string, error) {
	if len(args) != 1 {
		return completeNotes(ctx, c, args, typed)
	}
	var res tools.HistoryResult
	if err := c.call(ctx, "note_history", map[string]any{"note": args[0]}, &res); err != nil {
		return nil, err
	}
	var values []string
	for _, r := range res.Revisions {
		about := fmt.Sprintf("%s %s by %s", localTime(r.Time), r.Operation, r.Author)
		values = append(values, cobra.CompletionWithDesc(strconv.FormatInt(r.Revision, 10), about))
	}
	return values, nil
}

// completeHeadings completes headings of the note in the first argument.
func completeHeadings(ctx context.Context, c *client, args []string, typed string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	return c.complete(ctx, &sdk.CompleteReference{Type: "ref/prompt", Name: "summarize_note"}, "heading", typed, "note", args[0])
}

func completeTags(ctx context.Context, c *client, _ []string, typed string) ([]string, error) {
	return c.complete(ctx, &sdk.CompleteReference{Type: "ref/resource", URI: "notes://tags/{tag}"}, "tag", typed)
}

func completeFolders(ctx context.Context, c *client, _ []string, typed string) ([]string, error) {
	return c.complete(ctx, &sdk.CompleteReference{Type: "ref/prompt", Name: "summarize_notes"}, "folder", typed)
}

// complete returns the server's completions of an argument. given is the name and value
// of another argument.
func (c *client) complete(ctx context.Context, ref *sdk.CompleteReference, argument, typed string, given ...string) ([]string, error) {
	params := &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: argument, Value: typed}}
	if len(given) > 0 {
		params.Context = &sdk.CompleteContext{Arguments: map[string]string{given[0]: given[1]}}
	}
	res, err := c.session.Complete(ctx, params)
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}
