package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/atomicfile"
	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/sqlite"
	"notesd/mcp"
	"notesd/migrations"
	"notesd/notes"
)

// The exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2 // wrong usage or configuration
	exitNotFound = 3
	exitConflict = 4
)

// failure is an error as it is shown.
type failure struct {
	Code       string   `json:"code"` // stable, for programs
	Message    string   `json:"message"`
	Hint       string   `json:"hint,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
	Diff       string   `json:"diff,omitempty"`

	exit int
}

func (f *failure) Error() string { return f.Message }

// exitCodes has the exit code for each code of a tool's failure and for the
// program's own; what is not in it failed.
var exitCodes = map[string]int{
	"usage":     exitUsage,
	"config":    exitUsage,
	"invalid":   exitUsage,
	"ambiguous": exitUsage,
	"not_found": exitNotFound,
	"exists":    exitConflict,
	"conflict":  exitConflict,
}

func exitCode(code string) int {
	if exit, ok := exitCodes[code]; ok {
		return exit
	}
	return exitFailed
}

// failureOf is the one mapping from errors to what is shown of them.
func failureOf(err error) *failure {
	f := &failure{Code: "failed", Message: err.Error()}
	var (
		shown   *failure
		domain  *notes.Error
		mistake *config.Error
		start   *daemon.StartError
		other   *daemon.VaultError
	)
	switch {
	case errors.As(err, &shown):
		f = shown
	case errors.As(err, &mistake):
		f.Code = "config"
		f.Hint = "notesd config --example prints every setting with its explanation."
	case errors.As(err, &domain):
		f.Code, f.Hint, f.Candidates, f.Diff = mcp.ErrorCode(err), domain.Hint, domain.Candidates, domain.Diff
	case errors.As(err, &other):
		f.Code, f.Message, f.Hint = "config", other.Error(), otherVaultHint
	case errors.Is(err, daemon.ErrLocked):
		f.Code = "locked"
		f.Hint = "One process serves a vault. Stop that one, or use it: commands and \"notesd mcp\" find it by themselves."
	case errors.Is(err, migrations.ErrNewer):
		f.Code = "newer"
	case errors.As(err, &start) && start.Code != 0:
		f.exit = start.Code
	case sqlite.IsFull(err):
		f.Code, f.Message = "disk_full", "the disk where notesd keeps its state is full"
		f.Hint = "Free some space there, or name another place with --state, and try again."
	case atomicfile.IsDiskFull(err):
		f.Code = "disk_full"
		f.Hint = "Free some space where the state is kept, or name another place for it with --state, and try again."
	case errors.Is(err, fs.ErrPermission):
		f.Code = "permission"
	}
	if f.exit == 0 {
		f.exit = exitCode(f.Code)
	}
	return f
}

// otherVaultHint is what to do about a state that belongs to another vault.
const otherVaultHint = "Each vault needs a state of its own: pass another with --state, or drop the state setting. " +
	"If this is the same vault, copied to a new place, delete " + vaultFile + " from that folder first."

// commandNames has, for the tools that messages name, what does the same in a
// shell.
var commandNames = strings.NewReplacer(
	"search_notes", "notesd search",
	"list_notes", "notesd list",
	"read_note", "notesd read",
	"create_note", "notesd new",
	"edit_note", "an editor",
	"move_note", "an editor",
	"note_history", "notesd history",
	"restore_note", "notesd restore",
	"list_tables", "notesd tables",
)

// forShell has a tool's failure name commands instead of tools.
func forShell(f *failure) *failure {
	f.Message, f.Hint = commandNames.Replace(f.Message), commandNames.Replace(f.Hint)
	return f
}

// usagef is a mistake in how a command was called.
func usagef(hint, format string, args ...any) error {
	return &failure{Code: "usage", Message: fmt.Sprintf(format, args...), Hint: hint}
}

// unwritten is the failure of a run whose output is lost, as on a full disk.
func unwritten(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &failure{Code: "failed", Message: fmt.Sprintf("standard output cannot be written: %v", err)}
}

// asUsage makes a mistake of what cobra found wrong with the command line.
func asUsage(err error, root *cobra.Command, args []string) error {
	var shown *failure
	if errors.As(err, &shown) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil || cmd == nil {
		cmd = root
	}
	message, hint := flagProblem(cmd, err)
	return usagef(hint, "%s", message)
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "See notesd -h."
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("Did you mean notesd %s?", strings.Join(near, " or notesd "))
	}
	return usagef(hint, "there is no command %q", name)
}

// report prints the failure of a run to standard error.
func (a *app) report(f *failure) {
	if a.json {
		_ = a.err.json(map[string]*failure{"error": f}) // there is nowhere left to say that it failed
		return
	}
	fmt.Fprintf(a.err, "%s %s\n", a.err.red("notesd:"), a.err.plain(f.Message))
	if f.Hint != "" {
		fmt.Fprintln(a.err, a.err.plain(f.Hint))
	}
	for _, c := range f.Candidates {
		fmt.Fprintln(a.err, "  "+a.err.plain(c))
	}
	if f.Diff != "" {
		fmt.Fprint(a.err, a.err.plain(f.Diff))
	}
}
