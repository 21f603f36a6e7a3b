// Command notesd serves a folder of Markdown notes over the Model Context
// Protocol, and has commands for the shell that do what its tools do.
//
// # How it is put together
//
// A shell command is a client. It asks the vault's daemon if there is one, and
// else runs a service of its own for as long as it takes, over a pipe in memory;
// [app.withClient] hides the difference. So a command has no logic that a tool
// does not have: it says what it asks, and how it shows the answer. What makes a
// daemon is in package service.
//
// # Failures
//
// Commands return errors; [app.report] prints the one error of a run, for people
// or as JSON, with the exit code of [service.FailureOf].
package main

import (
	"os"

	"notesd/internal/daemon"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == daemon.LaunchCommand {
		os.Exit(daemon.LaunchMain(os.Args[2:]))
	}
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	os.Exit(a.main(os.Args[1:]))
}
