package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"notesd/internal/service"
)

// setHelp replaces cobra's help by a shorter one: the purpose of a command, its own
// flags, two examples.
func setHelp(root *cobra.Command) {
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if !cmd.HasParent() {
			fmt.Fprint(cmd.OutOrStdout(), rootHelp(root))
			return
		}
		fmt.Fprint(cmd.OutOrStdout(), commandHelp(cmd))
	})
}

func helpCommand(root *cobra.Command) *cobra.Command {
	var manual bool
	cmd := &cobra.Command{
		Use:   "help [flags] [COMMAND]",
		Short: "Print the help of a command",
		Example: `  notesd help search
  notesd help --man | man -l -`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, cmd := range root.Commands() {
				if cmd.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(cmd.Name(), cmd.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			if manual {
				_, err := fmt.Fprint(cmd.OutOrStdout(), manPage(root))
				return err
			}
			if len(names) == 0 {
				return root.Help()
			}
			cmd, rest, err := root.Find(names)
			if err != nil || cmd == root || len(rest) > 0 {
				return unknownCommand(root, strings.Join(names, " "))
			}
			return cmd.Help()
		},
	}
	cmd.Flags().BoolVar(&manual, "man", false, "print a manual page for all commands")
	return cmd
}

// commandDoc is the content of -h and of the reference in docs for a command.
type commandDoc struct {
	Name     string // "notesd search"
	Usage    string // "notesd search [flags] QUERY…"
	Short    string // one line without a full stop
	About    string // sentences
	Flags    []flagDoc
	Examples []string // command lines
}

// flagDoc describes a flag.
type flagDoc struct {
	Name string // "--limit N"
	Text string
}

// docOf describes a command. Its flags are the command's own; global flags are listed
// with the root.
func docOf(cmd *cobra.Command) commandDoc {
	d := commandDoc{Name: cmd.CommandPath(), Short: cmd.Short, About: strings.TrimSpace(cmd.Long)}
	d.About = cmp.Or(d.About, cmd.Short+".")
	d.Flags = flagDocs(cmd.NonInheritedFlags())
	d.Usage = cmd.UseLine() // cobra includes flags only after they have been accessed, as above
	for line := range strings.Lines(cmd.Example) {
		d.Examples = append(d.Examples, strings.TrimSpace(line))
	}
	return d
}

func flagDocs(flags *pflag.FlagSet) (docs []flagDoc) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		docs = append(docs, flagDoc{Name: strings.TrimSpace("--" + f.Name + " " + strings.ToUpper(value)), Text: text})
	})
	return docs
}

func rootHelp(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage: notesd COMMAND [flags]\n", root.Short)
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n%s:\n", group.Title)
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				fmt.Fprintf(&b, "  %-10s  %s\n", cmd.Name(), cmd.Short)
			}
		}
	}
	b.WriteString("\nFlags of every command:\n")
	writeFlags(&b, flagDocs(root.PersistentFlags()))
	fmt.Fprintf(&b, "\nExamples:\n%s\n\nRun \"notesd COMMAND -h\" for more about a command.\n", root.Example)
	return b.String()
}

func commandHelp(cmd *cobra.Command) string {
	d := docOf(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s\n", d.About, d.Usage)
	if len(d.Flags) > 0 {
		b.WriteString("\n")
	}
	writeFlags(&b, d.Flags)
	b.WriteString("\nAlso: --vault, --state, --config, --log-level, --log-file (see notesd -h)\n")
	fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.Join(d.Examples, "\n  "))
	return b.String()
}

func writeFlags(b *strings.Builder, flags []flagDoc) {
	width := 0
	for _, f := range flags {
		width = max(width, len(f.Name))
	}
	for _, f := range flags {
		fmt.Fprintf(b, "  %-*s  %s\n", width, f.Name, f.Text)
	}
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version [flags]",
		Short: "Print the version",
		Example: `  notesd version
  notesd version --json`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error {
			return a.resultLine(service.ThisBuild(), service.ThisBuild().String())
		},
	}
}

// manPage returns notesd(1) with man(7) macros: the help of all commands on one page.
func manPage(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `.TH NOTESD 1 "" "notesd %s"
.SH NAME
notesd \- %s
.SH SYNOPSIS
.B notesd
.I command
.RI [ flags ]
.SH DESCRIPTION
notesd serves a folder of Markdown notes to AI assistants over the Model Context
Protocol, and has commands for the shell that do what its tools do.
.SH OPTIONS
These flags go with every command.
`, roff(service.Version()), roff(root.Short))
	for _, f := range flagDocs(root.PersistentFlags()) {
		manFlag(&b, f)
	}
	b.WriteString(".SH COMMANDS\n")
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		d := docOf(cmd)
		fmt.Fprintf(&b, ".SS %s\n", roff(d.Usage))
		for paragraph := range strings.SplitSeq(d.About, "\n\n") {
			fmt.Fprintf(&b, "%s\n.PP\n", roff(paragraph))
		}
		for _, f := range d.Flags {
			manFlag(&b, f)
		}
		fmt.Fprintf(&b, ".PP\n.EX\n%s\n.EE\n", roff(strings.Join(d.Examples, "\n")))
	}
	fmt.Fprintf(&b, `.SH EXIT STATUS
0 done, %d failed, %d wrong usage or configuration, %d not found, %d conflict.
.SH ENVIRONMENT
.B NOTESD_VAULT
is the folder of notes; every other setting of the configuration file is
.BI NOTESD_ SECTION _ KEY\fR.
.SH FILES
.I ~/.config/notesd/notesd.toml
has the settings;
.B notesd config
prints them with their origin, and
.B notesd status
names the folder of the index and the history.
`, service.ExitFailed, service.ExitUsage, service.ExitNotFound, service.ExitConflict)
	return b.String()
}

func manFlag(b *strings.Builder, f flagDoc) {
	name, value, _ := strings.Cut(f.Name, " ")
	fmt.Fprintf(b, ".TP\n.BI %s \" %s\"\n%s\n", roff(name), roff(value), roff(f.Text))
}

// roff escapes text, so that no line is a request and command lines can be copied.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, `"`, `\(dq`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
