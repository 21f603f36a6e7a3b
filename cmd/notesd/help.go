package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// rootHelp is the help of the program as a whole. A test sees to it that no
// command is missing and that it fits a screen.
const rootHelp = `Your Markdown notes, for AI assistants and the shell.

Usage: notesd COMMAND [flags]

  mcp, serve              what an assistant launches · the daemon that they all share
  search QUERY…           find notes
  read, list, new         print a note · list notes · make one, its body from stdin
  history, restore        list the versions of a note · bring one back
  export, backup, adopt   the notes as they were · copy what cannot be rebuilt · after a rename
  forget, tables          erase a deleted note · tables of vectors, and restoring one
  index, status, doctor   bring the index up to date · what is known · what is wrong
  setup [HOST…]           register with Claude Desktop, Claude Code, Cursor, VS Code, Codex
  eval, version           measure retrieval on a judged set · which notesd this is

Flags of every command:
  --vault DIR             the folder of notes; else $NOTESD_VAULT or the configuration
  --state DIR             where the index and the history are kept
  --config FILE           instead of notesd.toml in your configuration directory
  --log-level LEVEL       debug, info, warn or error
  --log-file FILE         write the log there

Examples:
  notesd search --vault ~/Notes "what did I promise Anna"
  notesd setup --vault ~/Notes claude-desktop
`

// setHelp makes help short: what a command does, its own flags, two examples.
func setHelp(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if !cmd.HasParent() {
			fmt.Fprint(cmd.OutOrStdout(), rootHelp)
			return
		}
		fmt.Fprint(cmd.OutOrStdout(), commandHelp(cmd))
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		fmt.Fprint(cmd.OutOrStderr(), commandHelp(cmd))
		return nil
	})
}

func commandHelp(cmd *cobra.Command) string {
	var b strings.Builder
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\nUsage: %s\n", strings.TrimSpace(about), cmd.UseLine())
	if lines := flagLines(cmd.NonInheritedFlags()); len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
	b.WriteString("\nAlso: --vault, --state, --config, --log-level, --log-file (see notesd -h)\n")
	if cmd.Example != "" { // cobra's own command for completion has none
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	return b.String()
}

func flagLines(flags *pflag.FlagSet) []string {
	var names, texts []string
	width := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if value != "" {
			name += " " + strings.ToUpper(value)
		}
		names, texts = append(names, name), append(texts, text)
		width = max(width, len(name))
	})
	lines := make([]string, len(names))
	for i := range names {
		lines[i] = fmt.Sprintf("  %-*s  %s", width, names[i], texts[i])
	}
	return lines
}
