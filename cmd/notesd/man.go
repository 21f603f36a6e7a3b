package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/service"
)

// manPage is notesd(1) in the macros of man(7): what the helps of all commands
// say, on one page.
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

// roff escapes a text: no line of it is a request, and what is typed stays
// typed.
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
