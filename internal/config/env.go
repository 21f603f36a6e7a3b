package config

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"notesd/internal/phrase"
)

const envPrefix = "NOTESD_"

// shortForms maps the variables whose names are not derived from their keys: those
// spelled like a flag, and that of vault.allow, which restricts a session as those of
// flags do.
var shortForms = map[string]string{"NOTESD_VAULT": "vault.path", "NOTESD_READ_ONLY": "vault.read_only", "NOTESD_ALLOW": "vault.allow", "NOTESD_TOOLS": "vault.tools"}

// flagKeys maps the flags that are settings to their keys. Commands have other flags as
// well.
var flagKeys = map[string]string{
	"vault":     "vault.path",
	"state":     "state",
	"read-only": "vault.read_only",
	"tools":     "vault.tools",
	"http":      "http.addr",
	"log-level": "log.level",
	"log-file":  "log.file",
}

// environment holds the variables that are set. An empty variable counts as unset,
// because hosts pass omitted settings as empty variables.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name) // names are case-insensitive
		}
		if value == "" {
			delete(env, name) // the last duplicate wins, as in the shell
		} else if name != "" {
			env[name] = value
		}
	}
	return env
}

// envEntries returns the settings in the environment. An unknown variable with the
// prefix NOTESD_ is a warning rather than an error: packagers and containers set
// variables for their own purposes. Underscores in names are ignored, so that
// NOTESD_VAULT_READONLY does not leave a vault writable.
func (l *loader) envEntries() []entry {
	squeeze := func(name string) string { return strings.ReplaceAll(name, "_", "") }
	variables := maps.Clone(shortForms)
	for _, s := range settings {
		variables[variable(s.key)] = s.key
	}
	keys := make(map[string]string, len(variables))
	var names []string // without the prefix
	for name, key := range variables {
		keys[squeeze(name)] = key
		names = append(names, strings.TrimPrefix(name, envPrefix))
	}
	slices.Sort(names)
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		if !strings.HasPrefix(name, envPrefix) || name == tierVariable || name == APIKeyVariable {
			continue
		}
		key, known := keys[squeeze(name)]
		if !known {
			unknown := Problem{Origin: name, Detail: "is not a known variable and has no effect"}
			short := strings.TrimPrefix(name, envPrefix)
			near := phrase.Nearest(short, names)
			if i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, "_"+short) }); near == "" && i >= 0 {
				near = names[i] // without its section
			}
			if near != "" {
				unknown.Hint = "the nearest setting is " + envPrefix + near
			}
			l.unknown = append(l.unknown, unknown)
			continue
		}
		e := entry{key: key, value: l.env[name], origin: name}
		for _, other := range entries {
			if other.key == key && other.value != e.value {
				l.report(Problem{
					Origin: other.origin + " and " + name,
					Key:    key,
					Value:  show(other.value) + " and " + show(e.value),
					Detail: "has two different values",
					Hint:   "unset one of the variables",
				})
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// tierVariable selects the kernels of the built-in model, for tests and debugging. It
// has no key, because all tiers give identical results.
const tierVariable = envPrefix + "BERT_TIER"

// APIKeyVariable holds the key of semantic.provider's API.
const APIKeyVariable = envPrefix + "SEMANTIC_API_KEY"

// keyOfAPI represents the API key among the settings. The file cannot set it.
const keyOfAPI = "semantic.api_key"
