package config

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const envPrefix = "NOTESD_"

// shortForms maps the variables whose names do not follow from a key.
var shortForms = map[string]string{"NOTESD_VAULT": "vault.path"}

// flagKeys maps the flags that are settings to their keys. Commands have other
// flags besides.
var flagKeys = map[string]string{
	"vault":     "vault.path",
	"state":     "state",
	"read-only": "vault.read_only",
	"http":      "http.addr",
	"log-level": "log.level",
	"log-file":  "log.file",
}

// environment holds the variables that are set. An empty variable counts as
// unset, because hosts pass omitted optional settings as empty variables.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name) // names are case-insensitive
		}
		if value == "" {
			delete(env, name) // the last of duplicates wins, as in the shell
		} else if name != "" {
			env[name] = value
		}
	}
	return env
}

// envEntries returns the settings in the environment and reports unknown
// variables with the prefix NOTESD_.
func (l *loader) envEntries() []entry {
	keys := make(map[string]string, len(settings)+len(shortForms))
	for _, s := range settings {
		keys[variable(s.key)] = s.key
	}
	for name, key := range shortForms {
		keys[name] = key
		if long := variable(key); l.env[name] != "" && l.env[long] != "" && l.env[name] != l.env[long] {
			l.report(Problem{
				Origin: name + " and " + long,
				Key:    key,
				Value:  show(l.env[name]) + " and " + show(l.env[long]),
				Detail: "has two different values",
				Hint:   "unset one of the variables",
			})
		}
	}
	var entries []entry
	for name, value := range l.env {
		if !strings.HasPrefix(name, envPrefix) || name == tierVariable || name == APIKeyVariable {
			continue
		}
		key, known := keys[name]
		if !known {
			l.report(Problem{Origin: name, Detail: "is not a known variable", Hint: suggest(name, variable)})
			continue
		}
		entries = append(entries, entry{key: key, value: value, origin: name})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.origin, b.origin) })
	return entries
}

// tierVariable selects the kernels of the built-in model, for tests and for
// debugging. It has no key, because all tiers give identical results.
const tierVariable = envPrefix + "BERT_TIER"

// APIKeyVariable holds the key of semantic.provider's API.
const APIKeyVariable = envPrefix + "SEMANTIC_API_KEY"

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
