package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"notesd"
	"notesd/internal/config"
)

func configCommand(a *app) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use:   "config [flags]",
		Short: "Print the settings and where they come from",
		Long: `Print every setting as it counts now, each with its origin: the configuration
file and line, a variable, a flag or the default. The output is a valid
configuration file, and so is that of --example, which documents every setting.`,
		Example: `  notesd config --vault ~/Notes
  notesd config --example > ~/.config/notesd/notesd.toml`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if example {
				_, err := fmt.Fprint(a.out, notesd.ExampleConfig)
				return err
			}
			all, err := config.Explain(config.Sources{File: a.configFile, Env: a.env, Flags: cmd.Flags()})
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(map[string]any{"settings": all})
			}
			a.printSettings(all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print the documented file with the defaults")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printSettings(all []config.Effective) {
	const column = 36 // of the origins
	section := ""
	for _, e := range all {
		if s, _, ok := strings.Cut(e.Key, "."); ok && s != section {
			section = s
			fmt.Fprintf(a.out, "\n%s\n", a.out.bold("["+s+"]"))
		}
		line := a.out.line(e.TOML())
		origin := a.out.dim("# " + a.out.line(e.Origin))
		if e.Origin != "default" {
			origin = a.out.mark("# " + a.out.line(e.Origin))
		}
		fmt.Fprintf(a.out, "%-*s %s\n", column, line, origin)
	}
}
