package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// takes checks that a command has exactly the named arguments.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := fmt.Sprintf("See %s -h.", cmd.CommandPath())
		if len(args) < len(names) {
			return usagef(hint, "%s needs %s", cmd.Name(), strings.Join(names[len(args):], " and "))
		}
		if len(args) > len(names) {
			if len(names) > 0 {
				hint = "Put what has spaces in quotes."
			}
			return usagef(hint, "%s does not take %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// needs checks that flags which a command cannot do without were given.
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
	return usagef(fmt.Sprintf("See %s -h.", cmd.CommandPath()), "%s needs %s", cmd.Name(), strings.Join(missing, " and "))
}

// flagProblem says in our words what is wrong with a flag.
func flagProblem(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	kinds := map[string]string{"int": "a number", "bool": "true or false", "duration": "a duration, as 30m"}
	kind, ok := kinds[invalid.GetFlag().Value.Type()]
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue())
}
