package config

import (
	"github.com/spf13/pflag"
)

func flagEntries(flags *pflag.FlagSet) []entry {
	if flags == nil {
		return nil
	}
	var entries []entry
	flags.Visit(func(f *pflag.Flag) {
		if key, ok := flagKeys[f.Name]; ok {
			entries = append(entries, entry{key: key, value: f.Value.String(), origin: "--" + f.Name})
		}
	})
	return entries
}
