// Command notesd serves a folder of Markdown notes over the Model Context Protocol, and
// has shell commands that do the same as its tools.
//
// # Structure
//
// A shell command is a client. It uses the vault's daemon if one is running, and
// otherwise runs a service in its own process, connected by an in-memory pipe;
// [app.withClient] hides the difference. Commands therefore contain no logic that tools
// lack: only how to form the request and how to print the result. The daemon's
// implementation is in package service.
//
// # Failures
//
// Commands return errors. [output.report] prints the error of a run, as text or JSON; the
// exit code is that of [service.FailureOf].
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
	_ "time/tzdata" // TZ counts in the container image too, which has no files of time zones

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"notesd/internal/daemon"
	"notesd/internal/service"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == daemon.LaunchCommand {
		os.Exit(daemon.LaunchMain(os.Args[2:]))
	}
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	os.Exit(a.main(os.Args[1:]))
}

// main runs the program and returns its exit code.
func (a *app) main(args []string) int {
	ctx, stop := a.untilSignal()
	defer stop()
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	caught, stopped := errors.AsType[signaled](context.Cause(ctx))
	switch {
	case a.out.failed != nil:
		err = unwritten(a.out.failed)
	case stopped && (errors.Is(err, context.Canceled) || errors.Is(err, sdk.ErrConnectionClosed)): // whichever was seen first
		err = &service.Failure{Code: "interrupted", Message: "interrupted", Exit: caught.exit()}
	}
	if err == nil {
		return service.ExitDone
	}
	if !a.started && a.out.failed == nil {
		a.json = slices.Contains(args, "--json")
		err = asUsage(err, root, args)
	}
	f := service.FailureOf(err)
	_ = a.startup.Fail(service.WithHint(err), f.Exit) // the launcher may be gone
	a.report(f)
	return f.Exit
}

// groups lists the commands in the order of the program's help.
var groups = []struct {
	title    string
	commands []func(*app) *cobra.Command
}{
	{"Assistants and the browser", []func(*app) *cobra.Command{setupCommand, mcpCommand, webCommand}},
	{"Find and read", []func(*app) *cobra.Command{searchCommand, whyCommand, relatedCommand, readCommand, listCommand, linksCommand, tagsCommand, tasksCommand, dailyCommand}},
	{"Write", []func(*app) *cobra.Command{newCommand, appendCommand, editCommand, moveCommand, deleteCommand}},
	{"Versions and backups", []func(*app) *cobra.Command{historyCommand, restoreCommand, undoCommand, exportCommand, backupCommand, forgetCommand}},
	{"State and settings", []func(*app) *cobra.Command{statusCommand, doctorCommand, indexCommand, configCommand, adoptCommand, tablesCommand}},
	{"The daemon", []func(*app) *cobra.Command{serveCommand, serviceCommand, restartCommand, stopCommand}},
	{"A team's notes", []func(*app) *cobra.Command{mirrorCommand, importCommand, teamCommand}},
	{"Other", []func(*app) *cobra.Command{evalCommand, completionCommand, versionCommand}},
}

// rootCommand returns the notesd command with all its subcommands.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "notesd",
		Short: "Your Markdown notes, for AI assistants and the shell",
		Example: `  notesd search --vault ~/Notes "what did I promise Anna"
  notesd setup --vault ~/Notes claude-desktop`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // so that RunE reports unknown commands
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.Version = service.Version()
	root.SetVersionTemplate(service.ThisBuild().String() + "\n")
	root.SuggestionsMinimumDistance = 2
	flags := root.PersistentFlags()
	flags.String("vault", "", "the `folder` of notes (default: $NOTESD_VAULT, settings)")
	flags.StringVar(&a.stateFlag, "state", "", "the `folder` for index and history")
	flags.StringVar(&a.configFile, "config", "", "the configuration `file`")
	flags.String("log-level", "", "log `level`: debug, info, warn or error")
	flags.String("log-file", "", "write the log to this `file`")
	completes(root, "log-level", completeWords("debug", "info", "warn", "error"))
	setHelp(root)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, command := range g.commands {
			cmd := command(a)
			cmd.GroupID = g.title
			if !slices.Contains([]string{"mcp", "serve", "mirror", "web", "completion"}, cmd.Name()) { // they have no result
				cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON document")
			}
			run := cmd.RunE
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				a.started, a.flags = true, cmd.Flags()
				return run(cmd, args)
			}
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(groups[len(groups)-1].title)
	return root
}

// stopTimeout limits a shutdown. After it, or on a second signal, the program exits at
// once; the next start repairs the files. Tests replace it.
var stopTimeout = 10 * time.Second

// untilSignal returns a context that is cancelled by the first stop signal. If the
// program has not stopped after stopTimeout, it exits. An interrupt while the user edits is
// meant for the editor: a terminal sends Ctrl-C to both.
func (a *app) untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var caught signaled
		for caught.Signal == nil || caught.Signal == os.Interrupt && a.editing.Load() {
			select {
			case caught.Signal = <-signals:
			case <-ctx.Done():
				return
			}
		}
		cancel(caught)
		select {
		case <-signals:
		case <-time.After(stopTimeout):
		}
		os.Exit(caught.exit())
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// signaled is the cause of a context that a signal has cancelled.
type signaled struct{ os.Signal }

func (s signaled) Error() string { return s.String() }

// exit returns the exit code after a signal, following shell convention: 128 plus its
// number, 130 for Ctrl-C.
func (s signaled) exit() int { return 128 + int(s.Signal.(syscall.Signal)) }
