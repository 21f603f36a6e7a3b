package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Effective is a setting with its effective value and its origin.
type Effective struct {
	Key    string `json:"key"` // "vault.read_only"
	Value  any    `json:"value"`
	Origin string `json:"origin"` // "FILE:LINE", a variable, a flag, "default", or "vault" for a state directory derived from the vault
}

// Explain merges the sources like Load and returns every setting with its origin.
// The settings are sorted by key; those without a section come first, as TOML
// requires.
func Explain(src Sources) ([]Effective, error) {
	l, err := Read(src)
	if err != nil {
		return nil, err
	}
	all := make([]Effective, len(settings))
	for i, s := range settings {
		all[i] = Effective{Key: s.key, Value: l.values[s.key], Origin: "default"}
		if made, ok := l.origins[s.key]; ok {
			all[i].Origin = made.place
		} else if s.key == "state" && l.State != "" {
			all[i].Value, all[i].Origin = l.State, "vault"
		}
		switch v := all[i].Value.(type) {
		case time.Duration:
			all[i].Value = durationText(v)
		case Bytes:
			all[i].Value = v.String()
		case []string:
			all[i].Value = append([]string{}, v...)
		}
	}
	slices.SortStableFunc(all, func(a, b Effective) int {
		return cmp.Compare(strings.Count(a.Key, "."), strings.Count(b.Key, "."))
	})
	return all, nil
}

// TOML returns the setting as a line of a configuration file, without its
// section.
func (e Effective) TOML() string {
	name := e.Key[strings.LastIndexByte(e.Key, '.')+1:]
	if list, ok := e.Value.([]string); ok {
		quoted := make([]string, len(list))
		for i, s := range list {
			quoted[i] = quote(s)
		}
		return name + " = [" + strings.Join(quoted, ", ") + "]"
	}
	if reflect.ValueOf(e.Value).Kind() == reflect.String {
		return name + " = " + quote(fmt.Sprint(e.Value))
	}
	return fmt.Sprintf("%s = %v", name, e.Value)
}

// quote returns a TOML string. It does not escape control characters, which no
// setting holds.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// durationText formats a duration in the syntax of parseDuration.
func durationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String() // 1h0m0s
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// String formats a size in the syntax of a configuration file.
func (b Bytes) String() string {
	for _, unit := range []struct {
		name string
		size Bytes
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b >= unit.size && b%unit.size == 0 {
			return fmt.Sprintf("%d %s", b/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d", int64(b))
}
