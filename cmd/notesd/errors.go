package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"notesd/internal/service"

	"github.com/spf13/cobra"
)

// commandNames replaces the names of tools in messages by those of commands.
var commandNames = strings.NewReplacer(
	"search_notes", "notesd search",
	"list_notes", "notesd list",
	"list_tasks", "notesd tasks",
	"read_note", "notesd read",
	"create_note", "notesd new",
	"edit_note", "notesd edit",
	"move_note", "notesd move",
	"delete_note", "notesd delete",
	"note_links", "notesd links",
	"related_notes", "notesd related",
	"vault_overview", "notesd status",
	"note_history", "notesd history",
	"restore_note", "notesd restore",
	"list_tables", "notesd tables",
	"create_heading true", "--create-heading",
)

// forShell replaces the names of tools in a failure by those of commands.
func forShell(f *service.Failure) *service.Failure {
	f.Message, f.Hint = commandNames.Replace(f.Message), commandNames.Replace(f.Hint)
	return f
}

// unwritten returns the failure of a run whose output could not be written.
func unwritten(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &service.Failure{Code: "failed", Message: fmt.Sprintf("standard output cannot be written: %v", err)}
}

// asUsage returns a failure for cobra's error about the command line.
func asUsage(err error, root *cobra.Command, args []string) error {
	var shown *service.Failure
	if errors.As(err, &shown) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil || cmd == nil {
		cmd = root
	}
	message, hint := flagProblem(cmd, err)
	return service.Usagef(hint, "%s", message)
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "See notesd -h."
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("Did you mean notesd %s?", strings.Join(near, " or notesd "))
	}
	return service.Usagef(hint, "there is no command %q", name)
}

// report prints the failure of a run to standard error.
func (o *output) report(f *service.Failure) {
	if o.json {
		_ = o.err.json(map[string]*service.Failure{"error": f}) // its failure could not be reported either
		return
	}
	fmt.Fprintf(o.err, "%s %s\n", o.err.red("notesd:"), o.err.plain(f.Message))
	if f.Hint != "" {
		fmt.Fprintln(o.err, o.err.plain(f.Hint))
	}
	for _, c := range f.Candidates {
		fmt.Fprintln(o.err, "  "+o.err.plain(c))
	}
	if f.Diff != "" {
		fmt.Fprint(o.err, o.err.plain(f.Diff))
	}
}
