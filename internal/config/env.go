package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const envPrefix = "NOTESD_"

// shortForms are the variables that do not follow from their key's name.
var shortForms = map[string]string{"NOTESD_VAULT": "vault.path"}

// flagKeys are the flags that are settings; a command's other flags are its
// own business.
var flagKeys = map[string]string{
	"vault":     "vault.path",
	"state":     "state",
	"read-only": "vault.read_only",
	"http":      "http.addr",
	"log-level": "log.level",
	"log-file":  "log.file",
}

// environment is the variables that are set. One set to nothing counts as
// unset: hosts fill in an optional setting that the user left out that way.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name) // names have no case there
		}
		if value == "" {
			delete(env, name) // of duplicates the last counts, as for the shell
		} else if name != "" {
			env[name] = value
		}
	}
	return env
}

// envEntries returns the settings among the variables, and reports those that
// look like one and are not.
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
			l.report(unknownVariable(name))
			continue
		}
		entries = append(entries, entry{key: key, value: value, origin: name})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.origin, b.origin) })
	return entries
}

// tierVariable forces the kernels of the built-in model, for tests and for
// looking into trouble. It is no setting: every tier gives the same bits.
const tierVariable = envPrefix + "BERT_TIER"

// APIKeyVariable holds the key of semantic.provider's API.
const APIKeyVariable = envPrefix + "SEMANTIC_API_KEY"

func unknownVariable(name string) Problem {
	p := Problem{Origin: name, Detail: "is not a known variable"}
	guess := strings.ToLower(strings.TrimPrefix(name, envPrefix))
	best := len(guess)/3 + 2
	for _, s := range settings {
		if d := editDistance(guess, strings.ReplaceAll(s.key, ".", "_")); d < best {
			best, p.Hint = d, fmt.Sprintf("did you mean %s?", variable(s.key))
		}
	}
	return p
}

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
