// Command notesd serves a folder of Markdown notes over the Model Context
// Protocol, and has commands for the shell that do what its tools do.
//
// # How it is put together
//
// [service] in wire.go is the program: every package meets every other there,
// in the order in which they start, in one errgroup. What faces the clients (a
// stdio session, the daemon's socket, a shell command) is its front, a function;
// when the front returns, the rest stops, in the reverse order.
//
// A shell command is a client. It asks the vault's daemon if there is one, and
// else runs a service of its own for as long as it takes, over a transport in
// memory; [app.withClient] hides the difference. So a command has no logic that
// a tool does not have, and each is one file: what it asks, and how it shows the
// answer.
//
// What is slow to open is opened behind the session: [late] is a value that is
// not there yet, and requests wait for it, so that initialize is answered at
// once whatever the size of the vault.
//
// # Failures
//
// Commands return errors; [app.report] prints the one error of a run, for people
// or as JSON, and errors.go has the table of exit codes.
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
