package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/service"
)

// stopTimeout bounds a stop. After it, and on a second signal, the program
// exits at once; the next start repairs the files.
const stopTimeout = 10 * time.Second

// app is one run of the program.
type app struct {
	in     io.ReadCloser
	stdout io.WriteCloser // for the protocol
	output
	startup *daemon.Startup
	env     []string

	loaded    *config.Loaded // the settings, once they have been read
	read      func() (*config.Loaded, error)
	remarking sync.Mutex
	remarked  []string // remarks on them that have been printed

	configFile string
	stateFlag  string
	started    bool // the command line was understood
}

func newApp(in, out, err *os.File) *app {
	startup := daemon.Inherited() // first: it removes its variable from the environment
	env := os.Environ()
	return &app{in: in, stdout: out, output: output{out: newScreen(out, env), err: newScreen(err, env)}, startup: startup, env: env}
}

// main runs the program and returns its exit code.
func (a *app) main(args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	switch {
	case a.out.failed != nil:
		err = unwritten(a.out.failed)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = &service.Failure{Code: "interrupted", Message: "interrupted", Exit: exitOf(context.Cause(ctx))}
	}
	if err == nil {
		return service.ExitDone
	}
	if !a.started && a.out.failed == nil {
		a.json = slices.Contains(args, "--json")
		err = asUsage(err, root, args)
	}
	f := service.FailureOf(err)
	if f.Hint != "" {
		err = fmt.Errorf("%w. %s", err, f.Hint)
	}
	_ = a.startup.Fail(err, f.Exit) // the launcher may be gone
	a.report(f)
	return f.Exit
}

// untilSignal returns a context that ends with the first signal to stop. If
// the program does not stop then, it exits.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var caught signaled
		select {
		case caught.Signal = <-signals:
		case <-ctx.Done():
			return
		}
		cancel(caught)
		select {
		case <-signals:
		case <-time.After(stopTimeout):
		}
		os.Exit(exitOf(caught))
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// signaled is the cause of a context that a signal has cancelled.
type signaled struct{ os.Signal }

func (s signaled) Error() string { return s.String() }

// exitOf returns the exit code after a signal, as shells define it: 128 plus
// its number, 130 for Ctrl-C.
func exitOf(cause error) int {
	var s signaled
	if !errors.As(cause, &s) {
		return service.ExitFailed
	}
	if number, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return service.ExitFailed
}

// rootCommand returns notesd with all its commands.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "notesd",
		Short:         "Your Markdown notes, for AI assistants and the shell",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // so that RunE reports an unknown command
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
	flags.String("vault", "", "the `folder` of notes")
	flags.StringVar(&a.stateFlag, "state", "", "the `folder` for the index and the history")
	flags.StringVar(&a.configFile, "config", "", "the configuration `file`")
	flags.String("log-level", "", "the lowest `level`: debug, info, warn or error")
	flags.String("log-file", "", "write the log to this `file`")
	completes(root, "log-level", completeWords("debug", "info", "warn", "error"))
	setHelp(root)
	for _, command := range []func(*app) *cobra.Command{
		mcpCommand, serveCommand, mirrorCommand, webCommand, serviceCommand, stopCommand, restartCommand,
		searchCommand, linksCommand, relatedCommand, tagsCommand,
		appendCommand, editCommand, moveCommand, deleteCommand, whyCommand, readCommand, listCommand, newCommand, tasksCommand, dailyCommand,
		historyCommand, restoreCommand, undoCommand, exportCommand, forgetCommand, backupCommand, adoptCommand,
		indexCommand, statusCommand, doctorCommand, setupCommand,
		tablesCommand, evalCommand, configCommand, completionCommand, versionCommand,
	} {
		cmd := command(a)
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return run(cmd, args)
		}
		root.AddCommand(cmd)
	}
	return root
}

// output is where a command prints, and how.
type output struct {
	out  *screen // the same as stdout, for people
	err  *screen
	json bool // the command's --json
}

// jsonFlag gives a command --json.
func (o *output) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON document")
}

// takes returns a check that a command has exactly the named arguments.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := fmt.Sprintf("See %s -h.", cmd.CommandPath())
		if len(args) < len(names) {
			return service.Usagef(hint, "%s needs %s", cmd.Name(), strings.Join(names[len(args):], " and "))
		}
		if len(args) > len(names) {
			if len(names) > 0 {
				hint = "Put what has spaces in quotes."
			}
			return service.Usagef(hint, "%s does not take %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// needs checks that required flags were given.
func needs(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); !f.Changed {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return service.Usagef(fmt.Sprintf("See %s -h.", cmd.CommandPath()), "%s needs %s", cmd.Name(), strings.Join(missing, " and "))
}

// flagProblem returns what is wrong with a flag, and a hint.
func flagProblem(cmd *cobra.Command, err error) (message, hint string) {
	hint = fmt.Sprintf("See %s -h.", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(cmd, unknown, hint)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err.Error(), hint
	}
	kinds := map[string]string{"int": "a number", "bool": "true or false", "duration": "a duration, as 30m"}
	kind, ok := kinds[invalid.GetFlag().Value.Type()]
	if !ok {
		return err.Error(), hint
	}
	return fmt.Sprintf("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue()), hint
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError, hint string) (string, string) {
	if short := err.GetSpecifiedShortnames(); short != "" {
		if cmd.Name() == "search" {
			hint = "To search for notes without a word, put -- before the query: notesd search -- bread -rye"
		}
		return fmt.Sprintf("%s has no flag -%s", cmd.Name(), short), hint
	}
	name := err.GetSpecifiedName()
	if near := nearFlags(cmd, name); len(near) > 0 {
		hint = "Did you mean --" + strings.Join(near, " or --") + "?"
	}
	return fmt.Sprintf("%s has no flag --%s", cmd.Name(), name), hint
}

// nearFlags returns the flags that a misspelt name may mean. Cobra suggests
// only commands, so the flags are made commands of another root.
func nearFlags(cmd *cobra.Command, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return names.SuggestionsFor(name)
}
