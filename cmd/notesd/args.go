package main

import (
	"errors"
	"fmt"
	"strings"

	"notesd/internal/service"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
