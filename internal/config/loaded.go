package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"
)

// Loaded is a configuration with the origins of its values.
type Loaded struct {
	*Config
	// File is the path of the configuration file, which need not exist; "" if there
	// is no home directory to hold one.
	File string

	merged  *koanf.Koanf
	origins map[string]origin
}

// Setting is a setting with its effective value and its origin.
type Setting struct {
	Key    string `json:"key"`    // "vault.read_only"
	Value  any    `json:"value"`  // a bool, int, string or []string; sizes and durations are strings
	Origin string `json:"origin"` // "FILE:LINE", a variable, a flag, "default", or "vault" for a state directory derived from the vault
}

// Settings returns every setting, sorted by key. Those without a section come
// first, as TOML requires.
func (l *Loaded) Settings() []Setting {
	all := make([]Setting, len(settings))
	for i, s := range settings {
		all[i] = Setting{Key: s.key, Value: plain(l.merged.Get(s.key)), Origin: cmp.Or(l.origins[s.key].place, "default")}
		if s.key == "state" && all[i].Value != l.State {
			all[i].Value, all[i].Origin = l.State, "vault"
		}
	}
	slices.SortStableFunc(all, func(a, b Setting) int {
		return cmp.Compare(strings.Count(a.Key, "."), strings.Count(b.Key, "."))
	})
	return all
}

// TOML returns the setting as a line of a configuration file, without its
// section.
func (s Setting) TOML() string {
	return s.Key[strings.LastIndexByte(s.Key, '.')+1:] + " = " + tomlText(s.Value)
}

// sessionKeys lists the settings of a session. Each client has its own values, from
// its flags, environment and file.
var sessionKeys = []string{"vault.read_only", "vault.allow", "search.mode", "search.limit", "limits.result_bytes", "prompts.folder"}

// processKeys lists the settings of the process that reads them.
var processKeys = []string{"state", "vault.path", "log.level", "log.file"}

// isDaemons reports whether a setting belongs to the daemon, which all sessions
// share.
func isDaemons(key string) bool {
	return !slices.Contains(sessionKeys, key) && !slices.Contains(processKeys, key)
}

// Passed is a setting of the daemon that a client passed.
type Passed struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // in the form of Loaded.Text
	Remark string `json:"remark"` // why it has no effect, and the line to add to the file
}

// Passed returns the settings of the daemon that came from the environment or a
// flag. A daemon that several clients share reads its settings from the file only.
func (l *Loaded) Passed() []Passed {
	var all []Passed
	for _, s := range settings {
		from := l.origins[s.key]
		if !from.passed || !isDaemons(s.key) {
			continue
		}
		section, name, _ := strings.Cut(s.key, ".")
		all = append(all, Passed{Key: s.key, Value: l.Text(s.key), Remark: printable(fmt.Sprintf(
			"%s has no effect: %s is a setting of the daemon, which all clients share. Add %s = %s under [%s] to %s, then run notesd restart",
			from.place, s.key, name, tomlText(plain(l.merged.Get(s.key))), section, l.File))})
	}
	return all
}

// Text returns the value of a setting as text; equal values have equal texts.
func (l *Loaded) Text(key string) string { return fmt.Sprint(l.merged.Get(key)) }

// Waiting returns the sorted keys of the daemon's and the log's settings that differ
// in a configuration that was read later. A running daemon keeps the values that it
// was started with.
func (l *Loaded) Waiting(later *Loaded) []string {
	var keys []string
	for _, s := range settings {
		if (isDaemons(s.key) || strings.HasPrefix(s.key, "log.")) && !reflect.DeepEqual(l.merged.Get(s.key), later.merged.Get(s.key)) {
			keys = append(keys, s.key)
		}
	}
	return keys
}
