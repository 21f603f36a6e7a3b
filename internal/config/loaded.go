package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"

	"notesd/internal/phrase"
)

// Loaded is a configuration with the origins of its values.
type Loaded struct {
	*Config
	// File is the path of the configuration file, which need not exist, or "" if there
	// is no home directory.
	File string
	// Unknown lists variables that look like settings, and settings of earlier versions.
	// They have no effect.
	Unknown []Problem

	merged  *koanf.Koanf
	origins map[string]origin
}

// Setting is a setting with its effective value and its origin.
type Setting struct {
	Key    string `json:"key"`    // "vault.read_only"
	Value  any    `json:"value"`  // a bool, int, string, []string or Folders; sizes and durations are strings
	Origin string `json:"origin"` // "FILE:LINE", a variable, a flag, "default", or "vault" for a state directory derived from the vault
}

// Settings returns every setting, sorted by key. Settings without a section come first,
// as TOML requires.
func (l *Loaded) Settings() []Setting {
	all := make([]Setting, len(settings))
	for i, s := range settings {
		all[i] = Setting{Key: s.key, Value: plain(l.merged.Get(s.key)), Origin: l.Origin(s.key)}
		if s.key == "state" && all[i].Value != l.State {
			all[i].Value, all[i].Origin = l.State, "vault"
		}
	}
	slices.SortStableFunc(all, func(a, b Setting) int {
		return cmp.Compare(strings.Count(a.Key, "."), strings.Count(b.Key, "."))
	})
	return all
}

// TOML returns the setting as a line of a configuration file, without its section.
func (s Setting) TOML() string {
	return s.Key[strings.LastIndexByte(s.Key, '.')+1:] + " = " + tomlText(s.Value)
}

// Passed is a daemon setting that a client passed, or an unknown variable.
type Passed struct {
	Key    string `json:"key"`    // empty for an unknown variable
	Value  string `json:"value"`  // in the form of Loaded.Text
	Remark string `json:"remark"` // why it has no effect, and what to do
}

// Passed returns the daemon settings that came from the environment or a flag, and
// variables that look like a misspelt setting. A daemon shared by several clients reads
// its settings only from the file.
func (l *Loaded) Passed() []Passed {
	var all []Passed
	for _, p := range l.Unknown {
		if p.Hint != "" {
			all = append(all, Passed{Remark: p.String()})
		}
	}
	if from := l.origins[keyOfAPI]; from.passed {
		all = append(all, Passed{Key: keyOfAPI, Value: l.Text(keyOfAPI), Remark: phrase.OneLine(fmt.Sprintf(
			"%s has no effect: the daemon, which all clients share, was started with another key or without one. Write the key to a file of yours and add api_key_file = \"THE FILE\" under [semantic] to %s, which the daemon reads when it is idle",
			from.place, l.File))})
	}
	for _, s := range settings {
		from := l.origins[s.key]
		if !from.passed || !isDaemons(s.key) {
			continue
		}
		section, name, _ := strings.Cut(s.key, ".")
		all = append(all, Passed{Key: s.key, Value: l.Text(s.key), Remark: phrase.OneLine(fmt.Sprintf(
			"%s has no effect: %s is a setting of the daemon, which all clients share. Add %s = %s under [%s] to %s, which the daemon reads when it is idle",
			from.place, s.key, name, tomlText(plain(l.merged.Get(s.key))), section, l.File))})
	}
	return all
}

// sessionKeys lists the settings of a session. Each client has its own values, from its
// flags, environment and file.
var sessionKeys = []string{"vault.read_only", "vault.read_only_folders", "vault.allow", "vault.tools", "search.mode", "search.limit", "limits.result_bytes", "prompts.folder"}

// processKeys lists the settings of the process that reads them.
var processKeys = []string{"state", "vault.path", "vault.folders", "log.level", "log.file"}

// isDaemons reports whether a setting belongs to the daemon, which all sessions share.
func isDaemons(key string) bool {
	return !slices.Contains(sessionKeys, key) && !slices.Contains(processKeys, key)
}

// Text returns the value of a setting as text, for comparison; for the API key it is a
// hash.
func (l *Loaded) Text(key string) string {
	if key != keyOfAPI {
		return fmt.Sprint(l.merged.Get(key))
	}
	sum := sha256.Sum256([]byte(l.Semantic.APIKey))
	return hex.EncodeToString(sum[:8])
}

// Origin returns the origin of a setting, in the form of [Setting].
func (l *Loaded) Origin(key string) string { return cmp.Or(l.origins[key].place, "default") }

// IsPassed reports whether a setting came from the environment or a flag.
func (l *Loaded) IsPassed(key string) bool { return l.origins[key].passed }

// Changed returns the sorted keys of the settings that differ in a configuration read
// later: those that apply to new sessions, and those of the daemon and the log, which a
// running daemon does not change. The vault and the state directory of a process never
// change.
func (l *Loaded) Changed(later *Loaded) (sessions, daemons []string) {
	for _, s := range settings {
		switch {
		case s.key == "vault.path" || s.key == "vault.folders" || s.key == "state" || reflect.DeepEqual(l.merged.Get(s.key), later.merged.Get(s.key)):
		case slices.Contains(sessionKeys, s.key):
			sessions = append(sessions, s.key)
		default:
			daemons = append(daemons, s.key)
		}
	}
	if l.Semantic.APIKey != later.Semantic.APIKey {
		daemons = append(daemons, keyOfAPI)
		slices.Sort(daemons)
	}
	return sessions, daemons
}
