package config

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// setting describes one key. It is derived from a field of Config.
type setting struct {
	key  string // "vault.read_only"
	typ  reflect.Type
	def  any                       // the default
	want func(v any) (want string) // rule for v, or nil; see rules
	path bool                      // a path that is made absolute
}

var (
	typeBool     = reflect.TypeFor[bool]()
	typeInt      = reflect.TypeFor[int]()
	typeString   = reflect.TypeFor[string]()
	typeStrings  = reflect.TypeFor[[]string]()
	typeBytes    = reflect.TypeFor[Bytes]()
	typeDuration = reflect.TypeFor[time.Duration]()
)

// settings lists all keys, sorted.
var settings = makeSettings()

func makeSettings() []setting {
	var all []setting
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for field, value := range v.Fields() {
			key := prefix + field.Tag.Get("koanf")
			if key == prefix+"-" {
				continue // set by Load, not by a layer
			}
			if field.Type.Kind() == reflect.Struct {
				walk(key+".", value)
				continue
			}
			all = append(all, setting{
				key:  key,
				typ:  field.Type,
				def:  value.Interface(),
				want: rules[key],
				path: slices.Contains(paths, key),
			})
		}
	}
	walk("", reflect.ValueOf(Default()))
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	return all
}

// find returns the setting with the given key.
func find(key string) (setting, bool) {
	i, ok := slices.BinarySearchFunc(settings, key, func(s setting, key string) int { return strings.Compare(s.key, key) })
	if !ok {
		return setting{}, false
	}
	return settings[i], true
}

// isSection reports whether key is the name of a section.
func isSection(key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// variable returns the name of the key's environment variable.
func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
