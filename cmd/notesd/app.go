package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/phrase"
	"notesd/internal/service"
)

// app is one run of the program.
type app struct {
	in     io.ReadCloser
	stdout io.WriteCloser // for the protocol
	output
	startup *daemon.Startup
	env     []string

	loaded *config.Loaded // the settings, once read
	read   func() (*config.Loaded, error)

	configFile string
	stateFlag  string
	flags      *pflag.FlagSet // of the command
	started    bool           // the command line was valid
	editing    atomic.Bool    // the user's editor has the terminal
}

func newApp(in, out, err *os.File) *app {
	startup := daemon.Inherited() // first: it removes its variable from the environment
	return &app{in: in, stdout: out, output: output{out: newScreen(out), err: newScreen(err)}, startup: startup, env: os.Environ()}
}

// output is where and how a command prints.
type output struct {
	out  *screen // stdout, for text to be read by people
	err  *screen
	json bool // the command's --json

	noted sync.Map // remarks already printed; a relay that connects again repeats them
}

// takes returns a check for the named arguments: [NAME] is optional, NAME… may be
// repeated.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := fmt.Sprintf("See %s -h.", cmd.CommandPath())
		if len(args) < len(names) && !strings.HasPrefix(names[len(args)], "[") {
			switch names[len(args)] {
			case "CHANGE":
				hint = "notesd history lists them."
			case "REVISION":
				hint = "notesd history NOTE lists them."
			}
			return service.Usagef(hint, "%s needs %s", cmd.Name(), strings.TrimSuffix(strings.Join(names[len(args):], " and "), "…"))
		}
		if len(args) > len(names) && !strings.HasSuffix(strings.Join(names, ""), "…") {
			if len(names) > 0 {
				hint = "Quote arguments that contain spaces."
			}
			return service.Usagef(hint, "%s does not take %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// flagProblem returns the failure for an error in a flag.
func flagProblem(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("See %s -h.", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown, hint)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kinds := map[string]string{"int": "a number", "intSlice": "numbers, as 3,5", "bool": "true or false", "duration": "a duration, as 30m"}
		return service.Usagef(hint, "--%s must be %s, not %q", invalid.GetFlag().Name, kinds[invalid.GetFlag().Value.Type()], invalid.GetValue())
	}
	return service.Usagef(hint, "%v", err)
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError, hint string) error {
	if short := err.GetSpecifiedShortnames(); short != "" {
		if cmd.Name() == "search" {
			hint = "To search for notes without a word, put -- before the query: notesd search -- bread -rye"
		}
		return service.Usagef(hint, "%s has no flag -%s", cmd.Name(), short)
	}
	name := err.GetSpecifiedName()
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	if near := phrase.Nearest(name, flags); near != "" {
		hint = "Did you mean --" + near + "?"
	} else if !cmd.HasParent() && slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Flags().Lookup(name) != nil }) {
		hint = fmt.Sprintf("Write it after the command: notesd COMMAND --%s", name)
	}
	return service.Usagef(hint, "%s has no flag --%s", cmd.Name(), name)
}

// unwritten returns the failure for output that could not be written.
func unwritten(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return &service.Failure{Code: "failed", Message: fmt.Sprintf("standard output cannot be written: %v", err)}
}

// asUsage returns a failure for a cobra error about the command line.
func asUsage(err error, root *cobra.Command, args []string) error {
	if _, ok := errors.AsType[*service.Failure](err); ok {
		return err
	}
	cmd, rest, _ := root.Find(args)
	if i := slices.IndexFunc(rest, func(arg string) bool { return !strings.HasPrefix(arg, "-") }); cmd == root && i == 0 {
		return unknownCommand(root, rest[0])
	}
	return flagProblem(cmd, err)
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
		_ = o.err.json(map[string]*service.Failure{"error": f}) // if this fails, it cannot be reported either
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
